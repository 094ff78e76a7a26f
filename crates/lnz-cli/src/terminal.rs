//! Writes to standard output: colours only on terminals, and no panic when a pipe closes.

use console::{Style, Term};
use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};

/// Somebody who sets NO_COLOR wants none, whatever else is set.
pub(crate) fn respect_no_color() {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        console::set_colors_enabled(false);
        console::set_colors_enabled_stderr(false);
    }
}

/// Prints the result of a command. A reader that has seen enough (`| head`) is not an error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(harmless(text).as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.map_err(|error| anyhow::anyhow!("standard output: {error}"))?),
    }
}

/// Text that does nothing to a terminal but colour it: names in a file, and of one, may hold any character.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(is_control) {
        safe.push_str(&rest[..at]);
        rest = &rest[at..];
        let kept = length_of_colour(rest);
        safe.push_str(&rest[..kept]);
        rest = &rest[kept..];
        if let Some(control) = rest.chars().next().filter(|_| kept == 0) {
            safe.extend(control.escape_default());
            rest = &rest[control.len_utf8()..];
        }
    }
    safe.push_str(rest);
    Cow::Owned(safe)
}

/// Bytes of the colour that a text begins with, such as `ESC [ 1 ; 3 1 m`.
fn length_of_colour(text: &str) -> usize {
    let Some(numbers) = text.strip_prefix("\x1b[") else { return 0 };
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(numbers.len());
    if numbers[end..].starts_with('m') { 2 + end + 1 } else { 0 }
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

/// Widths between which text follows the terminal.
const LEAST_WIDTH: usize = 40;
const MOST_WIDTH: usize = 100;

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
            let width = width.clamp(LEAST_WIDTH, MOST_WIDTH);
            text += &wrap(content, width - INDENT, &" ".repeat(INDENT));
            text.push('\n');
        }
        text
    }
}

/// Breaks lines at spaces; colours take no room, and what is longer than a line stays whole.
fn wrap(text: &str, width: usize, indent: &str) -> String {
    let options = textwrap::Options::new(indent.len() + width)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    // The first line stands behind its label.
    textwrap::fill(text, options).trim_start().to_owned()
}

/// A sentence on standard error, wrapped if that is a terminal.
pub(crate) fn wrapped_for_stderr(text: &str) -> String {
    match Term::stderr().size_checked() {
        Some((_, columns)) => {
            let width = usize::from(columns).clamp(LEAST_WIDTH, MOST_WIDTH);
            let options = textwrap::Options::new(width).break_words(false).subsequent_indent("  ");
            textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
        }
        None => text.to_owned(),
    }
}

/// The columns of the terminal, if standard output is one.
pub(crate) fn width() -> Option<usize> {
    Term::stdout().size_checked().map(|(_, columns)| usize::from(columns))
}

/// A table in columns that fit the terminal; without one, as wide as it is.
pub(crate) fn fitted(table: &lnz_figures::Table) -> String {
    match width() {
        None => columns(table, None),
        Some(width) => {
            let width = width.max(LEAST_WIDTH);
            let needed: usize = (0..table.head.len()).map(|k| longest_word(table, k) + GAP).sum();
            match needed <= width {
                true => columns(table, Some(width)),
                false => records(table, width),
            }
        }
    }
}

/// Between two columns, and left of the first.
const GAP: usize = 2;

/// The least width of a column in which no word and no number is broken.
fn longest_word(table: &lnz_figures::Table, column: usize) -> usize {
    let cells = table.rows.iter().map(|row| row[column].text.as_str());
    let words = cells.chain([table.head[column]]).flat_map(str::split_whitespace);
    words.map(textwrap::core::display_width).max().unwrap_or(0)
}

fn columns(table: &lnz_figures::Table, width: Option<usize>) -> String {
    use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
    let mut shown = comfy_table::Table::new();
    shown.load_preset(comfy_table::presets::NOTHING);
    if let Some(width) = width {
        shown.set_content_arrangement(ContentArrangement::Dynamic);
        shown.set_width(width as u16);
    }
    shown.set_header(table.head.iter().copied());
    for row in &table.rows {
        shown.add_row(row.iter().map(|cell| cell.text.as_str()));
    }
    for (k, column) in shown.column_iter_mut().enumerate() {
        let before = if k == 0 { GAP } else { 0 };
        let after = if k + 1 < table.head.len() { GAP } else { 0 };
        column.set_padding((before as u16, after as u16));
        let least = longest_word(table, k) + before + after;
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least as u16)));
        if table.has_numbers(k) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    shown.trim_fmt() + "\n"
}

/// A table whose columns do not fit: a line for each cell, behind the name of its column.
fn records(table: &lnz_figures::Table, width: usize) -> String {
    let longest = table.head.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(GAP + longest + GAP);
    let record = |row: &Vec<lnz_figures::Cell>| -> String {
        let line = |(name, cell): (&&str, &lnz_figures::Cell)| {
            let text = wrap(&cell.text, width.saturating_sub(indent.len()).max(1), &indent);
            format!("  {name:longest$}  {text}\n")
        };
        table.head.iter().zip(row).map(line).collect()
    };
    table.rows.iter().map(record).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_nothing_to_a_terminal_but_colour_it() {
        for harmless_text in ["plain\n\ttext", "\x1b[1;31mred\x1b[0m \u{e9}"] {
            assert_eq!(harmless(harmless_text), harmless_text);
        }
        let title = "\x1b]0;title\x07 \x1b[2J \x1b[31 \x1b[0mend\x1b";
        let shown = "\\u{1b}]0;title\\u{7} \\u{1b}[2J \\u{1b}[31 \x1b[0mend\\u{1b}";
        assert_eq!(harmless(title), shown);
    }

    #[test]
    fn long_lines_break_at_spaces_under_their_first_word() {
        assert_eq!(wrap("one two three", 8, "    "), "one two\n    three");
        assert_eq!(wrap("one\ntwo", 8, "  "), "one\n  two");
        assert_eq!(wrap("a   b", 8, ""), "a   b");
        let coloured = "\x1b[1mone\x1b[0m two three";
        assert_eq!(wrap(coloured, 8, "  "), "\x1b[1mone\x1b[0m two\n  three");
        assert_eq!(wrap("/a/very/long/path to", 8, "  "), "/a/very/long/path\n  to");
    }

    #[test]
    fn tables_fit_the_terminal() {
        use lnz_figures::{Cell, Table};
        let mut table = Table::new("", &["start", "log Z", "what it means for the reader"]);
        let about = "a text that is far too long for one line of a small terminal";
        table.rows.push(vec![Cell::text("gibbs mf"), Cell::number(1.5, "1.5"), Cell::text(about)]);
        table.rows.push(vec![Cell::text("ps"), Cell::number(1.5, "22.5"), Cell::text("short")]);
        for width in [40, 60, 80] {
            for shown in [columns(&table, Some(width)), records(&table, width)] {
                assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
                // No word is broken.
                for word in "start gibbs mf log Z 22.5 means terminal".split(' ') {
                    assert!(shown.split_whitespace().any(|one| one == word), "{word}: {shown}");
                }
            }
        }
        let wide = columns(&table, None);
        assert_eq!(wide.lines().count(), 3, "{wide}");
        assert!(wide.contains(about) && wide.contains("   1.5  "), "{wide}");
    }
}
