//! `lnz estimate`: log Z of a model and how far to trust it.

use crate::args::{AutoArgs, EstimateArgs, MethodArg};
use crate::failure::{INTERRUPTED, usage};
use crate::model_source::Source;
use crate::plan::AisPlan;
use crate::progress::Watch;
use crate::report::{ModelSummary, Report};
use crate::run::{self, Patience};
use anyhow::Result;
use lnz::data::Binarize;
use lnz::{Auto, io};
use std::path::Path;
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
        (None, _) => by_default(&source, DefaultMethod::typed(args), &watch),
    });
    watch.finish();
    let outcome = outcome?;
    outcome.report.print(args.run.json)?;
    if let (Some(path), Some(samples)) = (&args.save_weights, &outcome.samples) {
        io::write_npy(path, ndarray::ArrayView1::from(samples).into_dyn())?;
    }
    Ok(if outcome.stopped { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// What a method found.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    samples: Option<Vec<f64>>,
    /// Ctrl-C has ended it early.
    pub(crate) stopped: bool,
}

/// The default method and its settings, as typed.
pub(crate) struct DefaultMethod<'a> {
    pub(crate) options: &'a AutoArgs,
    pub(crate) no_exact: bool,
    pub(crate) seed: u64,
    /// A data set whose means are one of the starts.
    pub(crate) data: Option<(&'a Path, Binarize)>,
}

impl<'a> DefaultMethod<'a> {
    fn typed(args: &'a EstimateArgs) -> Self {
        let binarize = args.start.binarize.map_or(Binarize::None, Into::into);
        Self {
            options: &args.auto,
            no_exact: args.no_exact,
            seed: args.annealing.seed,
            data: args.start.data.as_deref().map(|path| (path, binarize)),
        }
    }
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

/// The exact value, and why it was chosen if that was not asked for.
pub(crate) fn exact(
    source: &Source,
    choice: Option<&'static str>,
    watch: &Watch,
) -> Result<Outcome> {
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

/// The exact value where it is cheap, otherwise `auto`.
pub(crate) fn by_default(
    source: &Source,
    method: DefaultMethod<'_>,
    watch: &Watch,
) -> Result<Outcome> {
    if !method.no_exact && run::exact_is_cheap(source.model())? {
        let choice = "chosen because it is cheap here; --no-exact samples instead";
        return exact(source, Some(choice), watch);
    }
    let means = |(path, binarize)| run::data_means(path, source.model(), binarize, method.seed);
    let (defaults, options) = (Auto::default(), method.options);
    let settings = Auto {
        shortcuts: !method.no_exact,
        target_error: options.target_error.unwrap_or(defaults.target_error),
        max_seconds: options.max_seconds.unwrap_or(defaults.max_seconds),
        rounds: options.rounds,
        core: options.core.unwrap_or(defaults.core),
        data_means: method.data.map(means).transpose()?,
        seed: method.seed,
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
