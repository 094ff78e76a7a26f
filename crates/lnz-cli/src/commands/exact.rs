//! `lnz exact`: log Z as a sum over all states.

use crate::args::ExactArgs;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::io;
use lnz_app::request::{Plan, check_seconds};
use lnz_app::run;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &ExactArgs) -> Result<ExitCode> {
    let started = Instant::now();
    check_seconds(args.max_seconds)?;
    let plan = Plan::exact(args.force, args.max_seconds);
    if let Some(path) = &args.save_pr {
        io::check_npy_path(path)?;
    }
    args.report.check()?;
    let source = args.model.load()?;
    let watch = Watch::within(args.run.quiet, started, args.max_seconds);
    let result = on_threads(args.run.threads, || {
        Ok(run::estimate(source.stored(), &source.name, &plan, started, &watch)?)
    });
    watch.finish();
    let report = result?.report;
    report::write_page(&report, &args.report)?;
    report::print(&report, args.run.json)?;
    if let Some(path) = &args.save_pr {
        io::write_log_z(path, report.finding.log_z)?;
    }
    Ok(ExitCode::SUCCESS)
}
