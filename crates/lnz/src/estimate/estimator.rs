//! The trait that every method implements, and the result that every method returns.

use super::{Details, ProvenBounds};
use crate::json::some_count;
use crate::{Diagnosis, Observer, Rbm, Result, Verdict};
use serde::Serialize;
use std::fmt::Debug;

/// A method with its settings.
pub trait Estimator: Debug + Send + Sync {
    /// log Z of a model. Once the observer asks to stop, a method that has samples returns what they
    /// say; one that has none fails with [`Error::Cancelled`](crate::Error::Cancelled).
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding>;
}

/// log Z and how far to trust it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// log Z.
    pub log_z: f64,
    /// Its standard error; zero when no sampling was needed.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// A sum of exact parts that log Z is not below, whatever the samples say.
    pub lower_bound: Option<f64>,
    /// Bounds on both sides that were proven, where that was tried and says something.
    pub proven: Option<ProvenBounds>,
    /// How far to trust it.
    pub diagnosis: Diagnosis,
    /// Effective sample size: the smallest, where several parts were sampled.
    pub ess: Option<f64>,
    /// The observer ended the run before its time.
    pub stopped: bool,
    /// What ran.
    pub effort: Effort,
    /// What it took.
    pub cost: Cost,
    /// What only this method has to tell.
    pub details: Details,
}

impl Finding {
    /// Widens an interval that excludes what is proven: where log Z cannot be below a bound, and the
    /// interval ends below it, nothing is known about its upper end but a ceiling that is proven, too.
    pub fn respect_floor(&mut self) {
        let proven = self.proven.as_ref().map(|proven| proven.floor);
        let floor = self.lower_bound.into_iter().chain(proven).reduce(f64::max);
        if let Some(floor) = floor.filter(|floor| self.interval[1] < *floor) {
            let ceiling = self.proven.as_ref().map_or(f64::INFINITY, |proven| proven.ceiling);
            self.interval = match self.diagnosis.verdict {
                Verdict::Suspect => [floor, ceiling],
                // By so little that no test has found it worth a warning.
                _ => [self.interval[0], floor],
            };
        }
    }
}

/// The size of a sampling run, under the names of the settings; `None` where there is no such thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Effort {
    pub betas: Option<usize>,
    pub chains: Option<usize>,
    /// Rounds that were run: the number that repeats the result.
    pub rounds: Option<usize>,
    pub seed: Option<u64>,
}

/// What a result took. `seconds` and `chain_steps` are those of the annealing itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// Chains times betas.
    pub chain_steps: Option<u64>,
    /// States that were summed over.
    #[serde(serialize_with = "some_count")]
    pub states: Option<f64>,
    /// Time to anneal or to sum.
    pub seconds: f64,
    /// Time to find the start.
    pub start_seconds: Option<f64>,
}
