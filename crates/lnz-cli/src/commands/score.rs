//! `lnz score`: the log-likelihood of data under a model.

use crate::args::ScoreArgs;
use crate::failure::usage;
use crate::progress::Watch;
use crate::threads::on_threads;
use crate::{report, terminal};
use anyhow::Result;
use lnz::{Deadline, io};
use lnz_app::likelihood::{LogZ, ScoreRequest};
use lnz_app::page::{self, Trace};
use lnz_app::request::{AnnealingRequest, Plan, Request};
use lnz_app::{Source, Spelling, run};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode> {
    let started = Instant::now();
    reject_contradictions(args)?;
    let plan = request(args).plan()?;
    if let Some(path) = &args.out {
        io::check_values_path(path)?;
    }
    args.judged.report.check()?;
    let watch = Watch::within(args.judged.run.quiet, started, args.limit.max_seconds);
    let source = args.model.load()?;
    let (name, stored) = (source.name.as_str(), source.stored());
    let known = match (args.log_z.given, &args.log_z.result) {
        (Some(value), _) => Some(LogZ::given(value)?),
        (None, Some(path)) => Some(LogZ::read(path, &stored.model)?),
        (None, None) => None,
    };
    let request = ScoreRequest { name, stored, binarize: args.grey.binarize, seed: args.seed };
    let outcome = on_threads(args.judged.run.threads, || {
        // A limit that was asked for is one for the whole command.
        let limit = args.limit.max_seconds.unwrap_or(f64::INFINITY);
        let deadline = Deadline::since(started, limit, &watch);
        let scored = request.file(&args.data, &deadline).map_err(|error| error.at(&deadline))?;
        let (log_z, trace, stopped) = match known {
            Some(log_z) => (log_z, Trace::default(), false),
            None => {
                let started = args.limit.max_seconds.map_or(Instant::now(), |_| started);
                log_z(&plan, &source, started, &watch)?
            }
        };
        Ok((scored.report(log_z), scored, trace, stopped))
    });
    watch.finish();
    let (likelihood, scored, trace, stopped) = outcome?;
    let (lines, values) =
        (likelihood.lines(Spelling::Flags), scored.log_likelihoods(likelihood.log_z));
    let json = serde_json::to_value(&likelihood)?;
    args.judged
        .report
        .write(|command| page::score(&json, &page::words(&lines), &values, &trace, command))?;
    match args.judged.run.json {
        true => terminal::print_json(&likelihood)?,
        false => report::print_lines(lines)?,
    }
    if let Some(path) = &args.out {
        io::write_values(path, "log_likelihood", &values)?;
    }
    Ok(args.judged.exit_code(stopped, likelihood.verdict.as_deref().unwrap_or_default()))
}

/// How log Z is estimated: not from the means of the data, so that all data sets share one log Z.
fn request(args: &ScoreArgs) -> Request {
    Request {
        method: args.log_z.method.unwrap_or_default(),
        no_exact: args.log_z.no_exact,
        max_seconds: args.limit.max_seconds,
        auto: args.auto.request(),
        annealing: AnnealingRequest { seed: args.seed, ..Default::default() },
        ..Request::default()
    }
}

/// The estimated log Z, what there is to show of it, and whether a signal has cut it short.
fn log_z(
    plan: &Plan,
    source: &Source,
    started: Instant,
    watch: &Watch,
) -> Result<(LogZ, Trace, bool)> {
    let outcome = run::estimate(source.stored(), &source.name, plan, started, watch)?;
    Ok((LogZ::estimated(&outcome.report)?, outcome.report.trace(), outcome.stopped))
}

/// An option that would have no effect is a misunderstanding, and better said than ignored.
fn reject_contradictions(args: &ScoreArgs) -> Result<()> {
    let log_z = &args.log_z;
    let method = log_z.method.map(|_| "--method");
    let estimated = method.or(args.auto.typed()).or(log_z.no_exact.then_some("--no-exact"));
    let known = log_z.given.map(|_| "--log-z").or(log_z.result.as_ref().map(|_| "--result"));
    match (known, estimated) {
        (Some(known), Some(option)) => Err(usage(format!(
            "{option} has no effect with {known}, which has log Z already; drop one of them"
        ))),
        _ => Ok(()),
    }
}
