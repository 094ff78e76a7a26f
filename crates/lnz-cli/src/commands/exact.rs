//! `lnz exact`: log Z as a sum over all states.

use crate::args::ExactArgs;
use crate::progress::Watch;
use crate::report;
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::report::{ModelSummary, Report};
use lnz_app::run::{self, Patience};
use std::process::ExitCode;

pub(crate) fn run(args: &ExactArgs) -> Result<ExitCode> {
    let source = args.model.load()?;
    let patience = if args.force { Patience::Forced } else { Patience::Limited };
    let watch = Watch::new(args.run.quiet);
    let result = on_threads(args.run.threads, || {
        let run = run::exact(source.model(), patience, &watch)?;
        Ok(Report::of_exact(ModelSummary::new(&source.name, source.model()), &run))
    });
    watch.finish();
    report::print(&result?, args.run.json)?;
    Ok(ExitCode::SUCCESS)
}
