//! A table that can become HTML or Markdown.

use crate::escape::escape;

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

    /// As HTML, of the class `sortable`; nothing without rows.
    pub fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let head: String = self
            .head
            .iter()
            .map(|name| format!("<th scope=\"col\">{}</th>", escape(name)))
            .collect();
        let mut body = String::new();
        for row in &self.rows {
            body += "<tr>";
            for cell in row {
                let text = escape(&cell.text);
                body += &match cell.value {
                    Some(value) => format!("<td class=\"n\" data-v=\"{value}\">{text}</td>"),
                    None => format!("<td>{text}</td>"),
                };
            }
            body += "</tr>\n";
        }
        format!(
            "<div class=\"scroll\"><table class=\"sortable\"><caption>{}</caption><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n",
            escape(&self.caption)
        )
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
        let html = table().html();
        assert!(html.contains(r#"<td class="n" data-v="1500000">1.5 M</td>"#), "{html}");
        assert!(html.contains("<td>x|y &amp; z</td>") && html.contains("a &lt; b"), "{html}");
        assert_eq!(Table::new("empty", &["name"]).html(), "");
    }

    #[test]
    fn bars_do_not_break_markdown() {
        assert_eq!(table().markdown(), "| name | steps |\n|---|---|\n| x\\|y & z | 1.5 M |\n");
    }
}
