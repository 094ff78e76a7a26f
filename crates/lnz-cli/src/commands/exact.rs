//! `lnz exact`: log Z as a sum over all states.

use super::folder;
use crate::args::ExactArgs;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::io;
use lnz_app::report::Report;
use lnz_app::request::Plan;
use lnz_app::{network, run};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &ExactArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let plan = args.request().plan()?;
    args.answer.check()?;
    args.report.check()?;
    let report = match &args.folder.path {
        Some(path) => folder::exact(args, path)?,
        None => at_once(args, &plan, started)?,
    };
    report::write_page(&report, &args.report)?;
    report::print(&report, args.run.json)?;
    args.answer.write(report.finding.log_z)?;
    Ok(ExitCode::SUCCESS)
}

/// In one go; networks that are too large for a matrix are summed as they are.
fn at_once(args: &ExactArgs, plan: &Plan, started: Instant) -> Result<Report> {
    let watch = Watch::within(args.run.quiet, started, args.max_seconds);
    let report = match io::read_large_network(&args.model.model)? {
        Some(network) => {
            let name = args.model.model.display().to_string();
            let settings = args.request().settings()?;
            on_threads(args.run.threads, || {
                let limit = args.max_seconds;
                Ok(network::exact(&network, &name, &settings, limit, started, &watch)?)
            })
        }
        None => {
            let source = args.model.load()?;
            on_threads(args.run.threads, || {
                let stored = source.stored();
                Ok(run::estimate(stored, &source.name, plan, started, &watch)?.report)
            })
        }
    };
    watch.finish();
    report
}
