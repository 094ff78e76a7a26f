//! `lnz compare`: several strategies side by side on one model.

use crate::args::CompareArgs;
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal::{self, Table, bad, label, value};
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::compare::{Comparison, compare};
use lnz_app::numbers::{duration, exact};
use std::process::ExitCode;

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let plan = args.request().plan()?;
    let source = args.model.load()?;
    let watch = Watch::new(args.run.quiet);
    let comparison = on_threads(args.run.threads, || {
        Ok(compare(source.stored(), &source.name, &plan, &|name| watch.begin(name), &watch)?)
    });
    watch.finish();
    let comparison = comparison?;
    if args.run.json {
        terminal::print_json(&comparison.to_json())?;
    } else {
        terminal::print(&to_text(&comparison))?;
    }
    Ok(if interrupt::requested() { ExitCode::from(interrupt::code()) } else { ExitCode::SUCCESS })
}

fn to_text(comparison: &Comparison) -> String {
    let mut head = Table::default();
    head.line("model", comparison.model.to_text());
    if let Some(found) = &comparison.exact {
        let log_z = value().apply_to(exact(found.log_z));
        head.line("exact", format!("{log_z}, {}", duration(found.cost.seconds)));
    }
    let mut text = head.text() + "\n";
    text += &format!("  {}\n", label().apply_to(comparison.titles()));
    let reference = comparison.reference();
    for row in &comparison.rows {
        let doubt = row.doubt().map(|doubt| format!("  {}", bad().apply_to(doubt)));
        text += &format!("  {}{}\n", row.to_text(reference), doubt.unwrap_or_default());
    }
    if let Some(note) = comparison.note() {
        text += &format!("\n  {}\n", note.replace('\n', "\n  "));
    }
    text
}
