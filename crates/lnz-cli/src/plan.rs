//! From what was typed to what will run: AIS settings that are complete and do not contradict.

use crate::args::{AnnealingArgs, DEFAULT_BETAS, ScheduleArg, StartArgs, StartKind};
use crate::failure::usage;
use anyhow::Result;
use lnz::data::Binarize;
use lnz::{Annealing, Error, Flips, RunSettings, Sampler, Sampling, Schedule, StartedFrom};
use std::path::{Path, PathBuf};

/// One run of annealed importance sampling.
#[derive(Debug, Clone)]
pub(crate) struct AisPlan {
    pub(crate) start: StartPlan,
    pub(crate) schedule: Schedule,
    /// Where the schedule was read from, if it is not linear.
    pub(crate) schedule_file: Option<PathBuf>,
    pub(crate) transpose: bool,
    pub(crate) annealing: Annealing,
}

#[derive(Debug, Clone)]
pub(crate) enum StartPlan {
    Uniform,
    /// Means of a data file, or without one those stored with the model.
    Data {
        file: Option<PathBuf>,
        binarize: Binarize,
        epsilon: f64,
    },
    Sampled(Sampling),
}

/// Flipping all units is the variant of Metropolis that did best on the paper's hardest family.
const DEFAULT_FLIPS: Flips = Flips::Percent(100.0);

impl AisPlan {
    /// Checks that the options go together and fills in the defaults.
    pub(crate) fn new(
        start: &StartArgs,
        annealing: &AnnealingArgs,
        transpose: bool,
    ) -> Result<Self> {
        let plan = Self::with_start(start_plan(start)?, annealing, transpose)?;
        if transpose && matches!(plan.start, StartPlan::Data { .. }) {
            return Err(usage(
                "--start data has means of the visible units, but --transpose starts from the hidden ones; drop one of them, or use --start gibbs",
            ));
        }
        Ok(plan)
    }

    /// The same annealing from a start that was chosen otherwise.
    pub(crate) fn with_start(
        start: StartPlan,
        args: &AnnealingArgs,
        transpose: bool,
    ) -> Result<Self> {
        let (schedule, schedule_file) = match (&args.schedule, args.betas) {
            (Some(ScheduleArg::File(_)), Some(_)) => {
                return Err(usage(
                    "--betas does not go with --schedule FILE, which has its own number of betas; drop one of them",
                ));
            }
            (Some(ScheduleArg::File(path)), None) => (read_schedule(path)?, Some(path.clone())),
            (Some(ScheduleArg::Linear) | None, betas) => {
                (Schedule::linear(betas.unwrap_or(DEFAULT_BETAS))?, None)
            }
        };
        let defaults = Annealing::default();
        let annealing = Annealing {
            chains: args.chains.unwrap_or(defaults.chains),
            seed: args.seed,
            precision: args.precision.map_or(defaults.precision, Into::into),
        };
        Ok(Self { start, schedule, schedule_file, transpose, annealing })
    }

    /// What the advice of a warning depends on.
    pub(crate) fn run_settings(&self) -> RunSettings {
        RunSettings {
            betas: self.schedule_file.is_none().then(|| self.schedule.intervals()),
            chains: self.annealing.chains,
            start: match self.start {
                StartPlan::Uniform => StartedFrom::Uniform,
                StartPlan::Data { .. } => StartedFrom::Data,
                StartPlan::Sampled(_) => StartedFrom::Model,
            },
            transposed: self.transpose,
            max_seconds: None,
        }
    }
}

fn start_plan(args: &StartArgs) -> Result<StartPlan> {
    let kind = args.start.unwrap_or(match args.data {
        Some(_) => StartKind::Data,
        None => StartKind::Gibbs,
    });
    reject_unused(args, kind)?;
    let defaults = Sampling::default();
    let epsilon = args.epsilon.unwrap_or(defaults.epsilon);
    let sampled = |sampler| {
        StartPlan::Sampled(Sampling {
            sampler,
            initial: args.init.map_or(defaults.initial, Into::into),
            samples: args.samples.unwrap_or(defaults.samples),
            steps: args.steps.unwrap_or(defaults.steps),
            layout: args.chain_layout.map_or(defaults.layout, Into::into),
            epsilon,
        })
    };
    Ok(match kind {
        StartKind::Uniform => StartPlan::Uniform,
        StartKind::Data => StartPlan::Data {
            file: args.data.clone(),
            binarize: args.binarize.map_or(Binarize::None, Into::into),
            epsilon,
        },
        StartKind::Gibbs => sampled(Sampler::Gibbs),
        StartKind::Metropolis => {
            sampled(Sampler::Metropolis { flips: args.flips.unwrap_or(DEFAULT_FLIPS) })
        }
    })
}

/// An option that would have no effect is a misunderstanding, and better said than ignored.
fn reject_unused(args: &StartArgs, kind: StartKind) -> Result<()> {
    use StartKind::{Data, Gibbs, Metropolis};
    let options: [(&str, bool, &[StartKind]); 8] = [
        ("--init", args.init.is_some(), &[Gibbs, Metropolis]),
        ("--samples", args.samples.is_some(), &[Gibbs, Metropolis]),
        ("--steps", args.steps.is_some(), &[Gibbs, Metropolis]),
        ("--chain-layout", args.chain_layout.is_some(), &[Gibbs, Metropolis]),
        ("--flips", args.flips.is_some(), &[Metropolis]),
        ("--epsilon", args.epsilon.is_some(), &[Data, Gibbs, Metropolis]),
        ("--data", args.data.is_some(), &[Data]),
        ("--binarize", args.binarize.is_some() && args.data.is_some(), &[Data]),
    ];
    for (option, typed, kinds) in options {
        if typed && !kinds.contains(&kind) {
            let fitting: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            return Err(usage(format!(
                "{option} has no effect with --start {}; it is for --start {}",
                kind.name(),
                fitting.join(" or ")
            )));
        }
    }
    if args.binarize.is_some() && args.data.is_none() {
        return Err(usage("--binarize needs --data, the file whose values it changes"));
    }
    Ok(())
}

/// Numbers in a text file, apart by white space or commas.
fn read_schedule(path: &Path) -> Result<Schedule> {
    let failed = |problem: String| Error::File { path: path.to_owned(), problem };
    let text = std::fs::read_to_string(path)
        .map_err(|error| failed(format!("--schedule cannot be read: {error}")))?;
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let betas = words
        .map(|word| {
            word.parse().map_err(|_| {
                failed(format!("--schedule has the word {word:?}; expected numbers from 0 to 1"))
            })
        })
        .collect::<Result<Vec<f64>, Error>>()?;
    Schedule::from_betas(betas).map_err(|error| match error {
        Error::Setting { found, expected, .. } => {
            failed(format!("--schedule has {found}; expected {expected}")).into()
        }
        other => other.into(),
    })
}
