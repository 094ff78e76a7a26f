//! `lnz estimate`: log Z of a model and how far to trust it.

use crate::args::{EstimateArgs, MethodArg};
use crate::failure::{INTERRUPTED, usage};
use crate::model_source::Source;
use crate::plan::AisPlan;
use crate::progress::Watch;
use crate::report::{ModelSummary, Report};
use crate::run::{self, Patience};
use anyhow::Result;
use lnz::{Rbm, io};
use std::process::ExitCode;

pub(crate) fn run(args: &EstimateArgs) -> Result<ExitCode> {
    reject_contradictions(args)?;
    // Everything that can be refused is refused before the first second of work.
    let plan = AisPlan::new(&args.start, &args.annealing, args.transpose)?;
    if let Some(path) = &args.save_weights {
        io::check_npy_path(path)?;
    }
    let source = Source::load(&args.model)?;
    let watch = Watch::new(args.run.quiet);
    let outcome = run::on_threads(args.run.threads, || {
        let (method, reason) = choose(args, source.model())?;
        let mut outcome = match method {
            Method::Exact => exact(&source, &watch)?,
            Method::Ais => ais(&source, &plan, &watch)?,
        };
        outcome.report = outcome.report.chosen_because(reason);
        Ok(outcome)
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

enum Method {
    Exact,
    Ais,
}

/// What `--method auto` does: the exact value where it is cheap and nothing that only sampling
/// understands was asked for, otherwise the paper's recommended strategy. Also says why.
fn choose(args: &EstimateArgs, model: &Rbm) -> Result<(Method, Option<&'static str>)> {
    Ok(match args.method {
        MethodArg::Exact => (Method::Exact, None),
        MethodArg::Ais => (Method::Ais, None),
        MethodArg::Auto if args.no_exact || sampling_option(args).is_some() => (Method::Ais, None),
        MethodArg::Auto if run::exact_is_cheap(model)? => {
            (Method::Exact, Some("chosen because it is cheap here; --no-exact samples instead"))
        }
        MethodArg::Auto => (Method::Ais, Some("chosen because the exact value is out of reach")),
    })
}

fn exact(source: &Source, watch: &Watch) -> Result<Outcome> {
    let run = run::exact(source.model(), Patience::Limited, watch)?;
    let report = Report::of_exact(ModelSummary::new(&source.name, source.model()), &run);
    Ok(Outcome { report, samples: None, stopped: false })
}

fn ais(source: &Source, plan: &AisPlan, watch: &Watch) -> Result<Outcome> {
    let run = run::ais(source, plan, watch)?;
    let report = Report::of_ais(ModelSummary::new(&source.name, source.model()), plan, &run);
    let stopped = run.annealed.samples.len() < run.annealed.requested;
    Ok(Outcome { report, samples: Some(run.annealed.samples), stopped })
}

fn reject_contradictions(args: &EstimateArgs) -> Result<()> {
    if args.method != MethodArg::Exact {
        return Ok(());
    }
    if args.no_exact {
        return Err(usage("--method exact and --no-exact contradict each other; drop one of them"));
    }
    if let Some(option) = sampling_option(args) {
        return Err(usage(format!(
            "{option} has no effect with --method exact; use --method ais, or drop it"
        )));
    }
    Ok(())
}

/// The first option given that only sampling understands.
fn sampling_option(args: &EstimateArgs) -> Option<&'static str> {
    let (start, annealing) = (&args.start, &args.annealing);
    let typed = [
        ("--start", start.start.is_some()),
        ("--init", start.init.is_some()),
        ("--epsilon", start.epsilon.is_some()),
        ("--samples", start.samples.is_some()),
        ("--steps", start.steps.is_some()),
        ("--flips", start.flips.is_some()),
        ("--chain-layout", start.chain_layout.is_some()),
        ("--data", start.data.is_some()),
        ("--betas", annealing.betas.is_some()),
        ("--chains", annealing.chains.is_some()),
        ("--schedule", annealing.schedule.is_some()),
        ("--transpose", args.transpose),
        ("--precision", annealing.precision.is_some()),
        ("--save-weights", args.save_weights.is_some()),
    ];
    typed.into_iter().find(|(_, typed)| *typed).map(|(option, _)| option)
}
