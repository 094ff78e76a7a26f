//! `lnz exact`: log Z as a sum over all states.

use crate::args::ExactArgs;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::request::Plan;
use lnz_app::run;
use std::process::ExitCode;

pub(crate) fn run(args: &ExactArgs) -> Result<ExitCode> {
    let source = args.model.load()?;
    let watch = Watch::new(args.run.quiet);
    let result = on_threads(args.run.threads, || {
        Ok(run::estimate(source.stored(), &source.name, &Plan::exact(args.force), &watch)?)
    });
    watch.finish();
    report::print(&result?.report, args.run.json)?;
    Ok(ExitCode::SUCCESS)
}
