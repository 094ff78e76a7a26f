//! The trait that every method implements, and the result that every method returns.

use super::Details;
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
    /// The same with an interval that does not exclude what is proven: where log Z cannot be below a
    /// bound, and the interval ends below it, nothing is known about its upper end.
    pub(crate) fn with_floor_respected(mut self) -> Self {
        if let Some(floor) = self.lower_bound.filter(|floor| self.interval[1] < *floor) {
            self.interval = match self.diagnosis.verdict {
                Verdict::Suspect => [floor, f64::INFINITY],
                // By so little that no test has found it worth a warning.
                _ => [self.interval[0], floor],
            };
        }
        self
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
