//! The settings of a run under the names of their options.

use crate::plan::{AisPlan, StartPlan};
use lnz::data::Binarize;
use lnz::{Auto, ChainLayout, Flips, InitialState, Precision, Sampled, Sampler};
use serde::Serialize;

/// All settings that decide a result; null where an option does not apply.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Settings {
    pub(super) start: Option<&'static str>,
    pub(super) init: Option<InitialState>,
    pub(super) epsilon: Option<f64>,
    pub(super) samples: Option<usize>,
    pub(super) steps: Option<usize>,
    pub(super) flips: Option<String>,
    pub(super) chain_layout: Option<ChainLayout>,
    pub(super) data: Option<String>,
    pub(super) binarize: Option<&'static str>,
    pub(super) betas: Option<usize>,
    pub(super) schedule: Option<String>,
    pub(super) chains: Option<usize>,
    pub(super) transpose: Option<bool>,
    pub(super) precision: Option<Precision>,
    pub(super) seed: Option<u64>,
    pub(super) target_error: Option<f64>,
    pub(super) max_seconds: Option<f64>,
    pub(super) rounds: Option<usize>,
    pub(super) core: Option<usize>,
}

impl Settings {
    /// The rounds are those that were run: the number that repeats the result.
    pub(crate) fn of_auto(settings: &Auto, sampled: &[Sampled]) -> Self {
        Self {
            betas: sampled.iter().map(|part| part.betas).max(),
            chains: Some(sampled.iter().map(|part| part.chains).sum()),
            seed: Some(settings.seed),
            target_error: Some(settings.target_error),
            max_seconds: Some(settings.max_seconds),
            rounds: sampled.iter().map(|part| part.rounds).max(),
            core: Some(settings.core),
            ..Self::default()
        }
    }

    /// The precision is the one that was used, which may not be the one asked for.
    pub(crate) fn of_ais(plan: &AisPlan, precision: Precision) -> Self {
        let schedule = match &plan.schedule_file {
            Some(path) => path.display().to_string(),
            None => "linear".to_owned(),
        };
        let common = Self {
            betas: Some(plan.schedule.intervals()),
            schedule: Some(schedule),
            chains: Some(plan.annealing.chains),
            transpose: Some(plan.transpose),
            precision: Some(precision),
            seed: Some(plan.annealing.seed),
            ..Self::default()
        };
        match &plan.start {
            StartPlan::Uniform => Self { start: Some("uniform"), ..common },
            StartPlan::Data { file, binarize, epsilon } => Self {
                start: Some("data"),
                epsilon: Some(*epsilon),
                data: file.as_ref().map(|path| path.display().to_string()),
                binarize: file.as_ref().map(|_| match binarize {
                    Binarize::None => "none",
                    Binarize::Threshold => "threshold",
                    Binarize::Bernoulli => "bernoulli",
                }),
                ..common
            },
            StartPlan::Sampled(sampling) => Self {
                start: Some(match sampling.sampler {
                    Sampler::Gibbs => "gibbs",
                    Sampler::Metropolis { .. } => "metropolis",
                }),
                init: Some(sampling.initial),
                epsilon: Some(sampling.epsilon),
                samples: Some(sampling.samples),
                steps: Some(sampling.steps),
                flips: match sampling.sampler {
                    Sampler::Gibbs => None,
                    Sampler::Metropolis { flips: Flips::Units(n) } => Some(n.to_string()),
                    Sampler::Metropolis { flips: Flips::Percent(p) } => Some(format!("{p}%")),
                },
                chain_layout: Some(sampling.layout),
                ..common
            },
        }
    }
}

/// As it is typed.
pub(super) fn init_name(init: InitialState) -> &'static str {
    match init {
        InitialState::Zero => "zero",
        InitialState::One => "one",
        InitialState::Random => "random",
        InitialState::MeanField => "mf",
        InitialState::Pseudoinverse => "ps",
    }
}
