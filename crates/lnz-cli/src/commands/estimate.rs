//! `lnz estimate`: log Z of a model and how far to trust it.

use super::{folder, many};
use crate::args::EstimateArgs;
use crate::failure::usage;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::io;
use lnz_app::report::Report;
use lnz_app::run::{self, Outcome};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &EstimateArgs) -> Result<ExitCode> {
    let started = Instant::now();
    // Everything that can be refused is refused before the first second of work.
    let plan = args.request()?.plan()?;
    if let Some(path) = &args.save_weights {
        io::check_npy_path(path)?;
    }
    args.answer.check()?;
    args.judged.report.check()?;
    if many::are_meant(args) {
        if args.folder.path.is_some() || args.save_weights.is_some() || args.answer.is_wanted() {
            return Err(usage("{run}, {save_weights} and {save_pr} are for one model"));
        }
        return many::run(args, &plan);
    }
    args.refuse_sharing()?;
    if let Some(path) = &args.folder.path {
        let report = folder::estimate(args, path)?;
        return finish(args, &report, false);
    }
    // A fixed number of rounds takes the time that it takes.
    let limit = plan.max_seconds().filter(|_| args.auto.rounds.is_none());
    let watch = Watch::within(args.judged.run.quiet, started, limit);
    let outcome = on_threads(args.judged.run.threads, || {
        let source = args.reading.load(&args.models[0])?;
        Ok(run::estimate(source.stored(), &source.name, &plan, started, &watch)?)
    });
    watch.finish();
    let Outcome { report, stopped, .. } = outcome?;
    finish(args, &report, stopped)
}

/// Shows a result, saves what is to be saved, and judges it.
fn finish(args: &EstimateArgs, report: &Report, stopped: bool) -> Result<ExitCode> {
    report::write_page(report, &args.judged.report)?;
    report::print(report, args.judged.run.json)?;
    if let (Some(path), Some(run)) = (&args.save_weights, report.finding.ais()) {
        io::write_npy(path, ndarray::ArrayView1::from(&run.annealed.samples).into_dyn())?;
    }
    args.answer.write(report.finding.log_z)?;
    Ok(args.judged.exit_code(stopped, report.finding.diagnosis.verdict.name()))
}
