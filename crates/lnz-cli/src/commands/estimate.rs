//! `lnz estimate`: log Z of a model and how far to trust it.

use crate::args::{EstimateArgs, MethodArg};
use crate::failure::{INTERRUPTED, usage};
use crate::model_source::Source;
use crate::plan::AisPlan;
use crate::progress::Watch;
use crate::report::{ModelSummary, Report};
use crate::run::{self, Patience};
use anyhow::Result;
use lnz::data::Binarize;
use lnz::{Auto, io};
use std::process::ExitCode;

pub(crate) fn run(args: &EstimateArgs) -> Result<ExitCode> {
    reject_contradictions(args)?;
    // Everything that can be refused is refused before the first second of work.
    let method = method(args);
    let plan = match method {
        Method::Ais => Some(AisPlan::new(&args.start, &args.annealing, args.transpose)?),
        _ => None,
    };
    if let Some(path) = &args.save_weights {
        io::check_npy_path(path)?;
    }
    let source = Source::load(&args.model)?;
    let watch = Watch::new(args.run.quiet);
    let outcome = run::on_threads(args.run.threads, || match (&plan, method) {
        (Some(plan), _) => ais(args, &source, plan, &watch),
        (None, Method::Exact) => exact(&source, None, &watch),
        (None, _) if !args.no_exact && run::exact_is_cheap(source.model())? => exact(
            &source,
            Some("chosen because it is cheap here; --no-exact samples instead"),
            &watch,
        ),
        (None, _) => auto(args, &source, &watch),
    });
    watch.finish();
    let outcome = outcome?;
    outcome.report.print(args.run.json)?;
    if let (Some(path), Some(samples)) = (&args.save_weights, &outcome.samples) {
        io::write_npy(path, ndarray::ArrayView1::from(samples).into_dyn())?;
    }
    Ok(if outcome.stopped { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

struct Outcome {
    report: Report,
    samples: Option<Vec<f64>>,
    stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Auto,
    Ais,
    Exact,
}

/// What was asked for: options that only plain AIS understands select it.
fn method(args: &EstimateArgs) -> Method {
    match args.method {
        MethodArg::Exact => Method::Exact,
        MethodArg::Ais => Method::Ais,
        MethodArg::Auto if ais_option(args).is_some() => Method::Ais,
        MethodArg::Auto => Method::Auto,
    }
}

fn exact(source: &Source, choice: Option<&'static str>, watch: &Watch) -> Result<Outcome> {
    let run = run::exact(source.model(), Patience::Limited, watch)?;
    let report = Report::of_exact(ModelSummary::new(&source.name, source.model()), &run);
    Ok(Outcome { report: report.chosen_because(choice), samples: None, stopped: false })
}

fn ais(args: &EstimateArgs, source: &Source, plan: &AisPlan, watch: &Watch) -> Result<Outcome> {
    let opinion = match args.no_check {
        true => None,
        false => run::opinion(source, plan.annealing.seed, watch),
    };
    let run = run::ais(source, plan, opinion.as_ref(), watch)?;
    let model = ModelSummary::new(&source.name, source.model());
    let report = Report::of_ais(model, plan, &run, opinion.as_ref());
    let stopped = run.annealed.samples.len() < run.annealed.requested;
    Ok(Outcome { report, samples: Some(run.annealed.samples), stopped })
}

fn auto(args: &EstimateArgs, source: &Source, watch: &Watch) -> Result<Outcome> {
    let defaults = Auto::default();
    let data_means = match &args.start.data {
        None => None,
        Some(path) => Some(run::data_means(
            path,
            source.model(),
            args.start.binarize.map_or(Binarize::None, Into::into),
            args.annealing.seed,
        )?),
    };
    let settings = Auto {
        shortcuts: !args.no_exact,
        target_error: args.auto.target_error.unwrap_or(defaults.target_error),
        max_seconds: args.auto.max_seconds.unwrap_or(defaults.max_seconds),
        rounds: args.auto.rounds,
        core: args.auto.core.unwrap_or(defaults.core),
        data_means,
        seed: args.annealing.seed,
        ..defaults
    };
    let run = run::auto(source, settings, watch)?;
    let stopped = run.estimate.sampled.iter().any(|part| part.stopped);
    let report = Report::of_auto(ModelSummary::new(&source.name, source.model()), &run);
    Ok(Outcome { report, samples: None, stopped })
}

fn reject_contradictions(args: &EstimateArgs) -> Result<()> {
    let has_no_effect = |option: &str, other: &str, instead: &str| {
        Err(usage(format!("{option} has no effect with {other}; {instead}, or drop it")))
    };
    if args.method == MethodArg::Exact {
        if args.no_exact {
            return Err(usage(
                "--method exact and --no-exact contradict each other; drop one of them",
            ));
        }
        let data = args.start.data.is_some().then_some("--data");
        if let Some(option) = ais_option(args).or(args.auto.typed()).or(data) {
            return has_no_effect(option, "--method exact", "use --method ais or auto");
        }
    }
    if let (Method::Ais, Some(option)) = (method(args), args.auto.typed()) {
        let ais = ais_option(args).filter(|_| args.method == MethodArg::Auto);
        return has_no_effect(option, ais.unwrap_or("--method ais"), "use --method auto");
    }
    if method(args) == Method::Auto && args.start.binarize.is_some() && args.start.data.is_none() {
        return Err(usage("--binarize needs --data, the file whose values it changes"));
    }
    Ok(())
}

/// The first option given that only plain AIS understands.
fn ais_option(args: &EstimateArgs) -> Option<&'static str> {
    let (start, annealing) = (&args.start, &args.annealing);
    let typed = [
        ("--start", start.start.is_some()),
        ("--init", start.init.is_some()),
        ("--epsilon", start.epsilon.is_some()),
        ("--samples", start.samples.is_some()),
        ("--steps", start.steps.is_some()),
        ("--flips", start.flips.is_some()),
        ("--chain-layout", start.chain_layout.is_some()),
        ("--betas", annealing.betas.is_some()),
        ("--chains", annealing.chains.is_some()),
        ("--schedule", annealing.schedule.is_some()),
        ("--transpose", args.transpose),
        ("--precision", annealing.precision.is_some()),
        ("--save-weights", args.save_weights.is_some()),
        ("--no-check", args.no_check),
    ];
    typed.into_iter().find(|(_, typed)| *typed).map(|(option, _)| option)
}
