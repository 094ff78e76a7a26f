//! A result on standard output, for programs or for people.

mod spark;

use crate::args::{ReportArgs, TableArgs};
use crate::terminal::{Table, bad, good, print_json, value};
use lnz_app::report::{Line, Report, Tone};
use lnz_app::{Spelling, page};

/// Prints the result of an estimate.
pub(crate) fn print(report: &Report, json: bool) -> anyhow::Result<()> {
    match json {
        true => print_json(report),
        false => {
            let mut lines = report.lines(Spelling::Flags);
            // Pictures of characters are for people, and not for files.
            if console::Term::stdout().is_term() {
                let last = lines.len() - 1;
                lines.splice(last..last, spark::lines(&report.trace()));
            }
            print_lines(lines)
        }
    }
}

/// Writes the page of an estimate, if one is wanted.
pub(crate) fn write_page(report: &Report, wanted: &ReportArgs) -> anyhow::Result<()> {
    let json = serde_json::to_value(report)?;
    let words = page::words(&report.lines(Spelling::Flags));
    // A limit of time ends a run after as many rounds as the machine manages.
    let more = match (report.settings.rounds, report.settings.max_seconds) {
        (Some(rounds), Some(_)) => format!("--rounds {rounds}"),
        _ => String::new(),
    };
    wanted.write_repeating(&more, |command| page::estimate(&json, &words, &report.trace(), command))
}

/// Prints a result for people.
pub(crate) fn print_lines(lines: Vec<Line>) -> anyhow::Result<()> {
    let mut table = Table::default();
    for Line { label, lead, text } in lines {
        let lead = match lead {
            None => String::new(),
            Some((Tone::Value, lead)) => value().apply_to(lead).to_string(),
            Some((Tone::Good, lead)) => good().apply_to(lead).to_string(),
            Some((Tone::Bad, lead)) => bad().apply_to(lead).to_string(),
        };
        table.line(label, lead + &text);
    }
    crate::terminal::print(&table.text())
}

/// A table as it is wanted: in columns, as Markdown or as CSV.
pub(crate) fn table(table: &lnz_figures::Table, wanted: &TableArgs) -> String {
    match (wanted.markdown, wanted.csv) {
        (true, _) => table.markdown(),
        (_, true) => table.csv(),
        _ => crate::terminal::fitted(table),
    }
}
