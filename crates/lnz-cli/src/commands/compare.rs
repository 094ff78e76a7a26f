//! `lnz compare`: several strategies side by side on one model.

use crate::args::CompareArgs;
use crate::interrupt;
use crate::progress::Watch;
use crate::report;
use crate::terminal::{self, Table, bad, value};
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::compare::{Comparison, compare};
use lnz_app::numbers::{duration, exact};
use lnz_app::page;
use std::process::ExitCode;

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let plan = args.request().plan()?;
    args.report.check()?;
    let source = args.model.load()?;
    let watch = Watch::new(args.run.quiet);
    let comparison = on_threads(args.run.threads, || {
        Ok(compare(source.stored(), &source.name, &plan, &|name| watch.begin(name), &watch)?)
    });
    watch.finish();
    let comparison = comparison?;
    let json = comparison.to_json();
    args.report.write(|command| page::compare(&json, comparison.note(), command))?;
    if args.run.json {
        terminal::print_json(&json)?;
    } else if args.table.markdown || args.table.csv {
        terminal::print(&report::table(&comparison.table(), &args.table))?;
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
    let rows = terminal::fitted(&comparison.table());
    let rows = ["suspect", "unchecked"]
        .iter()
        .fold(rows, |rows, doubt| rows.replace(doubt, &bad().apply_to(doubt).to_string()));
    let mut text = format!("{}\n{rows}", head.text());
    if let Some(note) = comparison.note() {
        let mut below = Table::default();
        below.line("note", note);
        text += &format!("\n{}", below.text());
    }
    text
}
