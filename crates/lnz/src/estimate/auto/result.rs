//! What the default method tells: the parts that were sampled, their phases, and the ways to anneal them.

use super::{Auto, Family};
use crate::check::Measured;
use crate::json::{real, reals, some_real};
use ndarray::Array1;
use serde::Serialize;

/// What the default method has to tell besides log Z, where it had to sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AutoRun {
    /// The settings.
    pub settings: Auto,
    /// Components that were enumerated.
    pub exact_components: usize,
    /// The parts that were sampled: the components that could not be enumerated, or the whole model.
    pub sampled: Vec<Sampled>,
    /// Means of the visible units in the phases that were found, the largest first; those of units that were
    /// not sampled are 1/2. For [`Auto::similar_means`] of another model.
    pub starts: Vec<Array1<f64>>,
}

/// The result of sampling a model or one of its components.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sampled {
    /// Visible units.
    pub visible: usize,
    /// Hidden units.
    pub hidden: usize,
    /// log Z.
    pub log_z: f64,
    /// Its standard error; mass that is missed is part of it where that is warned of.
    #[serde(serialize_with = "real")]
    pub std_error: f64,
    /// 95% interval.
    #[serde(serialize_with = "reals")]
    pub interval: [f64; 2],
    /// log of the exact sum over the core.
    pub log_core: Option<f64>,
    /// Relative error of Z from the weights alone, without the core.
    #[serde(serialize_with = "real")]
    pub weights_error: f64,
    /// The standard error that was aimed at.
    pub target_error: f64,
    /// The sampler's own estimate of the same sum.
    #[serde(serialize_with = "some_real")]
    pub log_sampled_core: Option<f64>,
    /// States in the core.
    pub core_states: usize,
    /// The exact sum takes the place of what the chains see of it.
    pub core_used: bool,
    /// The phases that the sum goes over, the largest first.
    pub phases: Vec<FoundPhase>,
    /// Where the sum goes over combinations of blocks instead: about what share of Z each phase of a block has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Vec<f64>>,
    /// Means of the visible units in the phases that starts were fitted to.
    #[serde(skip)]
    pub starts: Vec<Array1<f64>>,
    /// The ways to anneal: what the trial found, and what the main run did.
    pub families: Vec<FamilyReport>,
    /// Effective sample size of the main run.
    pub ess: f64,
    /// Share of the largest weight in Z.
    pub max_weight_share: f64,
    /// Rounds of the main run.
    pub rounds: usize,
    /// Chains of the main run.
    pub chains: usize,
    /// Those of them that are independent: one of each island where they were resampled.
    #[serde(skip)]
    pub independent: usize,
    /// Intervals of its schedules.
    pub betas: usize,
    /// The log weight of every chain of the main run, the mean of whose weights is Z without the core.
    #[serde(skip)]
    pub log_weights: Vec<f64>,
    /// Chain-steps in all, pilots and trials included.
    pub chain_steps: u64,
    /// log Z from both directions together: the main run, and chains that go back from states of the
    /// trials to the starts (Bennett's acceptance ratio).
    pub log_reverse: Option<f64>,
    /// Mass that other runs have found and that the chains of the main run do not reach, relative to Z.
    #[serde(serialize_with = "some_real")]
    pub unreached: Option<f64>,
    /// Its error.
    #[serde(serialize_with = "some_real")]
    pub unreached_error: Option<f64>,
    /// The observer ended the run.
    pub stopped: bool,
}

/// A phase of the model: states that sweeps do not leave in the time of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoundPhase {
    /// Its share of Z.
    pub share: f64,
    /// Relative error of its part of Z.
    pub relative_error: f64,
    /// The kinds of first states that lead there.
    pub found_by: Vec<&'static str>,
}

/// One family in a result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FamilyReport {
    /// Which one.
    pub family: Family,
    /// log Z from its weights alone in the trial.
    #[serde(serialize_with = "real")]
    pub trial_log_z: f64,
    /// Relative error of Z there.
    #[serde(serialize_with = "real")]
    pub trial_error: f64,
    /// Its weight in the main run; zero if it was left out.
    pub share: f64,
    /// Its estimate in the main run, core included.
    #[serde(serialize_with = "some_real")]
    pub log_z: Option<f64>,
    /// Relative error of Z there.
    #[serde(serialize_with = "some_real")]
    pub std_error: Option<f64>,
    /// log Z from its weights alone in the main run, to be held against the trial, and its error.
    pub weights: Option<(f64, f64)>,
}

impl FamilyReport {
    pub(crate) fn trial(&self) -> Measured {
        Measured { log_z: self.trial_log_z, error: self.trial_error }
    }
}
