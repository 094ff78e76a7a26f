//! A table that can become HTML or Markdown.

/// Rows of text under a head; numbers know their value, so that they can be sorted.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) text: String,
    /// What a number is sorted by.
    pub(super) value: Option<f64>,
}

impl Table {
    pub(super) fn new(caption: impl Into<String>, head: &[&'static str]) -> Self {
        Self { caption: caption.into(), head: head.to_vec(), rows: Vec::new() }
    }

    pub(super) fn html(&self) -> String {
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

    pub(super) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.head.iter().map(|name| (*name).to_owned()).collect());
        text += &format!("|{}\n", "---|".repeat(self.head.len()));
        for row in &self.rows {
            text += &line(row.iter().map(|cell| cell.text.replace('|', "\\|")).collect());
        }
        text
    }
}

/// Text between tags or in attributes.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), value: None }
}

pub(super) fn number(value: f64, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), value: Some(value) }
}
