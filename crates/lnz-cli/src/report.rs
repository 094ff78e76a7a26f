//! A result on standard output, for programs or for people.

use crate::terminal::{Table, bad, good, print_json, value};
use lnz_app::Spelling;
use lnz_app::report::{Line, Report, Tone};

/// Prints the result of an estimate.
pub(crate) fn print(report: &Report, json: bool) -> anyhow::Result<()> {
    if json {
        return print_json(report);
    }
    let mut table = Table::default();
    for Line { label, lead, text } in report.lines(Spelling::Flags) {
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
