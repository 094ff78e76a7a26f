//! `lnz sample`: states of a model, drawn by parallel tempering.

use crate::args::SampleArgs;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::{Tempering, io};
use lnz_app::run;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &SampleArgs) -> Result<ExitCode> {
    let started = Instant::now();
    io::check_samples_path(&args.output)?;
    let defaults = Tempering::default();
    let settings = Tempering {
        columns: args.chains.unwrap_or(defaults.columns),
        rungs: args.rungs,
        seed: args.seed,
        ..defaults
    };
    settings.check()?;
    let watch = Watch::within(args.run.quiet, started, args.max_seconds);
    let drawn = on_threads(args.run.threads, || {
        let source = args.model.load()?;
        let (stored, limit) = (source.stored(), args.max_seconds);
        Ok(run::sample(stored, &source.name, args.count, &settings, limit, started, &watch)?)
    });
    watch.finish();
    let (samples, found) = drawn?;
    io::write_samples(&args.output, &samples)?;
    report::print(&found, args.run.json)?;
    Ok(args.verdict.exit_code(samples.diagnosis().verdict.name()))
}
