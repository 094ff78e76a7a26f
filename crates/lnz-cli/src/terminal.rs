//! Writes to standard output: colours only on terminals, and no panic when a pipe closes.

use console::{Style, Term};
use std::io::{self, ErrorKind, Write};

/// Prints the result of a command. A reader that has seen enough (`| head`) is not an error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.map_err(|error| anyhow::anyhow!("standard output: {error}"))?),
    }
}

/// Prints one JSON object on one line.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Labels, of which there is one per line.
pub(crate) fn label() -> Style {
    Style::new().dim()
}

/// The number that was asked for.
pub(crate) fn value() -> Style {
    Style::new().bold()
}

/// Nothing to worry about.
pub(crate) fn good() -> Style {
    Style::new().green()
}

/// Worth a second look.
pub(crate) fn bad() -> Style {
    Style::new().yellow().bold()
}

/// Lines of `label   text`, aligned and wrapped to the terminal.
#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Vec<(String, String)>,
}

/// Room for the longest label and two spaces on its left.
const INDENT: usize = 11;

impl Table {
    pub(crate) fn line(&mut self, label: &str, text: impl Into<String>) {
        self.lines.push((label.to_owned(), text.into()));
    }

    pub(crate) fn text(&self) -> String {
        let width = usize::from(Term::stdout().size_checked().map_or(100, |(_, columns)| columns));
        let mut text = String::new();
        for (name, content) in &self.lines {
            let padding = " ".repeat(INDENT.saturating_sub(2 + name.chars().count()));
            match name.as_str() {
                "" => text += &" ".repeat(INDENT),
                name => text += &format!("  {}{padding}", label().apply_to(name)),
            }
            text += &wrap(content, width.clamp(50, 100) - INDENT, &" ".repeat(INDENT));
            text.push('\n');
        }
        text
    }
}

/// Breaks lines at spaces; colours take no room.
fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut wrapped = String::new();
    for (i, line) in text.lines().enumerate() {
        if i > 0 {
            wrapped += &format!("\n{indent}");
        }
        let mut column = 0;
        for (j, word) in line.split(' ').enumerate() {
            let length = console::measure_text_width(word);
            if j > 0 && column + 1 + length > width {
                wrapped += &format!("\n{indent}");
                column = 0;
            } else if j > 0 {
                wrapped.push(' ');
                column += 1;
            }
            wrapped += word;
            column += length;
        }
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_at_spaces_under_their_first_word() {
        assert_eq!(wrap("one two three", 8, "    "), "one two\n    three");
        assert_eq!(wrap("one\ntwo", 8, "  "), "one\n  two");
        assert_eq!(wrap("a   b", 8, ""), "a   b");
    }
}
