//! `lnz estimate`: log Z of a model and how far to trust it.

use crate::args::EstimateArgs;
use crate::interrupt;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::io;
use lnz_app::run;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &EstimateArgs) -> Result<ExitCode> {
    let started = Instant::now();
    // Everything that can be refused is refused before the first second of work.
    let plan = args.request()?.plan()?;
    if let Some(path) = &args.save_weights {
        io::check_npy_path(path)?;
    }
    if let Some(path) = &args.save_pr {
        io::check_npy_path(path)?;
    }
    args.report.check()?;
    let source = args.model.load()?;
    // A fixed number of rounds takes the time that it takes.
    let limit = plan.max_seconds().filter(|_| args.auto.rounds.is_none());
    let watch = Watch::within(args.run.quiet, started, limit);
    let outcome = on_threads(args.run.threads, || {
        Ok(run::estimate(source.stored(), &source.name, &plan, started, &watch)?)
    });
    watch.finish();
    let outcome = outcome?;
    report::write_page(&outcome.report, &args.report)?;
    report::print(&outcome.report, args.run.json)?;
    if let (Some(path), Some(run)) = (&args.save_weights, outcome.report.finding.ais()) {
        io::write_npy(path, ndarray::ArrayView1::from(&run.annealed.samples).into_dyn())?;
    }
    if let Some(path) = &args.save_pr {
        io::write_log_z(path, outcome.report.finding.log_z)?;
    }
    Ok(match outcome.stopped {
        true => ExitCode::from(interrupt::code()),
        false => args.verdict.exit_code(outcome.report.finding.diagnosis.verdict.name()),
    })
}
