//! `lnz exact`: log Z as a sum over all states.

use crate::args::ExactArgs;
use crate::model_source::Source;
use crate::progress::Watch;
use crate::report::{ModelSummary, Report};
use crate::run::{self, Patience};
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn run(args: &ExactArgs) -> Result<ExitCode> {
    let source = Source::load(&args.model)?;
    let patience = if args.force { Patience::Forced } else { Patience::Limited };
    let watch = Watch::new(args.run.quiet);
    let report = run::on_threads(args.run.threads, || {
        let run = run::exact(source.model(), patience, &watch)?;
        Ok(Report::of_exact(ModelSummary::new(&source.name, source.model()), &run))
    });
    watch.finish();
    report?.print(args.run.json)?;
    Ok(ExitCode::SUCCESS)
}
