//! A table that can become HTML, Markdown or CSV.

use maud::{Markup, html};

/// Rows of text under a head; numbers know their value, so that they can be sorted.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Stands above the table.
    pub caption: String,
    /// Names of the columns.
    pub head: Vec<&'static str>,
    /// As many cells each as the head has names.
    pub rows: Vec<Vec<Cell>>,
}

/// Text, or a number as text.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// What a number is sorted by.
    pub value: Option<f64>,
}

impl Table {
    /// A table without rows.
    pub fn new(caption: impl Into<String>, head: &[&'static str]) -> Self {
        Self { caption: caption.into(), head: head.to_vec(), rows: Vec::new() }
    }

    /// Whether a column has numbers, perhaps besides signs that there is none.
    pub fn has_numbers(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row[column].value.is_some())
    }

    /// As HTML, of the class `sortable`; nothing without rows.
    pub fn html(&self) -> Markup {
        let class: Vec<Option<&str>> =
            (0..self.head.len()).map(|k| self.has_numbers(k).then_some("n")).collect();
        html! {
            @if !self.rows.is_empty() {
                div.scroll tabindex="0" {
                    table.sortable {
                        caption { (self.caption) }
                        thead {
                            tr { @for (name, class) in self.head.iter().zip(&class) { th class=[class] scope="col" { (name) } } }
                        }
                        tbody {
                            @for row in &self.rows {
                                tr { @for (cell, class) in row.iter().zip(&class) { td class=[class] data-v=[cell.value] { (cell.text) } } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// As CSV, without the caption; numbers as they are shown.
    pub fn csv(&self) -> String {
        let quoted = |text: &str| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let head = self.head.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
        let line = |row: &Vec<Cell>| {
            row.iter().map(|cell| quoted(&cell.text)).collect::<Vec<_>>().join(",") + "\n"
        };
        head + &self.rows.iter().map(line).collect::<String>()
    }

    /// As Markdown, without the caption.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.head.iter().map(|name| (*name).to_owned()).collect());
        text += &format!("|{}\n", "---|".repeat(self.head.len()));
        for row in &self.rows {
            text += &line(row.iter().map(|cell| cell.text.replace('|', "\\|")).collect());
        }
        text
    }
}

impl Cell {
    /// A cell that is sorted as text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None }
    }

    /// A cell that is sorted by its value, however it is written.
    pub fn number(value: f64, text: impl Into<String>) -> Self {
        Self { text: text.into(), value: Some(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("a < b", &["name", "steps"]);
        table.rows.push(vec![Cell::text("x|y & z"), Cell::number(1.5e6, "1.5 M")]);
        table
    }

    #[test]
    fn numbers_carry_the_value_that_they_are_sorted_by() {
        let html = table().html().into_string();
        assert!(html.contains(r#"<td class="n" data-v="1500000">1.5 M</td>"#), "{html}");
        assert!(html.contains("<td>x|y &amp; z</td>") && html.contains("a &lt; b"), "{html}");
        assert_eq!(Table::new("empty", &["name"]).html().into_string(), "");
    }

    #[test]
    fn a_number_that_is_missing_stands_in_line_with_the_others() {
        let mut table = table();
        table.rows.push(vec![Cell::text("none"), Cell::text("–")]);
        let html = table.html().into_string();
        assert!(html.contains(r#"<td class="n">–</td>"#), "{html}");
        assert!(html.contains(r#"<th scope="col">name"#), "{html}");
        assert!(html.contains(r#"<th class="n" scope="col">steps"#), "{html}");
        assert!(table.has_numbers(1) && !table.has_numbers(0));
    }

    #[test]
    fn commas_and_quotes_do_not_break_csv() {
        let mut table = Table::new("", &["name", "log Z"]);
        table.rows.push(vec![Cell::text("a, \"b\""), Cell::number(1.5, "1.5")]);
        assert_eq!(table.csv(), "name,log Z\n\"a, \"\"b\"\"\",1.5\n");
    }

    #[test]
    fn bars_do_not_break_markdown() {
        assert_eq!(table().markdown(), "| name | steps |\n|---|---|\n| x\\|y & z | 1.5 M |\n");
    }
}
