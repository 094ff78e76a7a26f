//! `lnz score`: the log-likelihood of data under a model.

mod report;

use crate::args::{LogZMethod, ScoreArgs};
use crate::data_sets;
use crate::failure::{INTERRUPTED, usage};
use crate::log_z::LogZ;
use crate::progress::Watch;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::data::{DataFormat, DataOptions, DataReader};
use lnz::io;
use lnz_app::Source;
use lnz_app::report::ModelSummary;
use lnz_app::request::{AnnealingRequest, Method, Request};
use report::ScoreReport;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode> {
    reject_contradictions(args)?;
    if let Some(path) = &args.out {
        io::check_values_path(path)?;
    }
    let source = args.model.load()?;
    let model = source.model();
    let known = match (args.log_z.given, &args.log_z.result) {
        (Some(value), _) => Some(LogZ::given(value)?),
        (None, Some(path)) => Some(LogZ::read(path, model)?),
        (None, None) => None,
    };
    let options = DataOptions {
        width: Some(model.visible()),
        binarize: args.binarize.into(),
        seed: args.seed,
    };
    let mut reader = DataReader::open(&data_sets::resolve(&args.data)?, options)?;
    let watch = Watch::new(args.run.quiet);
    let outcome = on_threads(args.run.threads, || {
        // The data first: what is wrong with it is known before minutes go into log Z.
        let clock = Instant::now();
        let scores = lnz::score(model, &mut reader, &watch)?;
        let seconds = clock.elapsed().as_secs_f64();
        let (log_z, stopped) = match known {
            Some(log_z) => (log_z, false),
            None => log_z(args, &source, &watch)?,
        };
        let summary = ModelSummary::new(&source.name, model);
        let mut report = ScoreReport::new(args, summary, &scores, log_z, seconds);
        if reader.format() == DataFormat::Libsvm {
            report.mention_width(scores.data_means.as_slice().unwrap_or_default());
        }
        Ok((report, scores, stopped))
    });
    watch.finish();
    let (report, scores, stopped) = outcome?;
    report.print(args.run.json)?;
    if let Some(path) = &args.out {
        let log_z = report.log_z;
        let values: Vec<f64> = scores.log_marginals.iter().map(|f| f - log_z).collect();
        io::write_values(path, "log_likelihood", &values)?;
    }
    Ok(if stopped { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// log Z by the default method, and whether Ctrl-C has cut it short.
fn log_z(args: &ScoreArgs, source: &Source, watch: &Watch) -> Result<(LogZ, bool)> {
    // Not from the means of the data: all data sets then share one log Z.
    let request = Request {
        method: match args.log_z.method {
            Some(LogZMethod::Exact) => Method::Exact,
            Some(LogZMethod::Auto) | None => Method::Auto,
        },
        no_exact: args.log_z.no_exact,
        auto: args.auto.request(),
        annealing: AnnealingRequest { seed: args.seed, ..Default::default() },
        ..Request::default()
    };
    let outcome = lnz_app::run::estimate(source.stored(), &source.name, &request.plan()?, watch)?;
    Ok((LogZ::estimated(&outcome.report)?, outcome.stopped))
}

/// An option that would have no effect is a misunderstanding, and better said than ignored.
fn reject_contradictions(args: &ScoreArgs) -> Result<()> {
    let log_z = &args.log_z;
    let method = log_z.method.map(|_| "--method");
    let sampling = args.auto.typed().or(log_z.no_exact.then_some("--no-exact"));
    let known = log_z.given.map(|_| "--log-z").or(log_z.result.as_ref().map(|_| "--result"));
    match (known, log_z.method, method.or(sampling), sampling) {
        (Some(known), _, Some(option), _) => Err(usage(format!(
            "{option} has no effect with {known}, which has log Z already; drop one of them"
        ))),
        (None, Some(LogZMethod::Exact), _, Some(option)) => {
            Err(usage(format!("{option} has no effect with --method exact; drop one of them")))
        }
        _ => Ok(()),
    }
}
