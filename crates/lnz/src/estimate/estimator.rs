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
    /// Keeps proven bounds beside the result, and calls it suspect if it is outside them.
    pub fn hold_against(&mut self, mut bounds: ProvenBounds) {
        // A sum over known states may be a higher floor.
        bounds.floor = bounds.floor.max(self.lower_bound.unwrap_or(f64::NEG_INFINITY));
        let range = [bounds.floor, bounds.ceiling];
        self.diagnosis.hold_against(range, self.log_z, self.std_error);
        self.proven = Some(bounds);
    }

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

/// Two numbers that log Z is between, as far as float64 computes: rounding at its worst is allowed for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ProvenBounds {
    /// log Z is not below it.
    pub floor: f64,
    /// log Z is not above it.
    pub ceiling: f64,
    /// Units in the largest table.
    pub width: usize,
    /// Units that had to be summed out of several tables separately; with none, both bounds are log Z.
    pub cuts: usize,
}

impl ProvenBounds {
    /// The bounds are near enough to say something: within 10 nats or 5% of each other.
    pub fn say_something(&self) -> bool {
        self.ceiling - self.floor <= 10f64.max(0.05 * self.floor.abs().min(self.ceiling.abs()))
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
