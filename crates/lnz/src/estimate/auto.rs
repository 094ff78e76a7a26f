//! The default estimator: a sum over the phases of a model, each from a start that is fitted to it.
//!
//! 1. Split the model into components; sum exactly what is cheap to sum.
//! 2. Sum the states of highest weight exactly: the core (`modes`, `core`).
//! 3. Search for phases: first states of many kinds, swept and clustered (`search`).
//! 4. Fit a start to each phase and one to the whole (`fit`); every phase has a cell (`cells`). Where
//!    combinations of blocks have no cell of their own, fit the phases of each block (`blocks`).
//! 5. Run a trial from every start (`trial`), and one with flips from the uniform distribution (`prepare`).
//! 6. Its chains say how many chains each start gets, and its share in each cell (`design`).
//! 7. Lead states that the trials found back to the starts (`backward`); fit what is not reached, too.
//! 8. Anneal fresh chains in rounds, in the way that promises most (`promise`); add them up over the cells (`rounds`,
//!    `tally`).
//! 9. Interval and verdict follow from these numbers (`tally`, `verdict`).
//!
//! Nothing is chosen from the samples of the main run but when to stop, so that Z^ is unbiased. See
//! docs/method.md.

mod backward;
mod batch;
mod blocks;
mod blocks_trial;
mod cells;
mod cluster;
mod core;
mod crossover;
mod design;
mod effort;
mod family;
mod fit;
mod marks;
mod modes;
mod opinion;
mod orders;
mod parts;
mod prepare;
mod promise;
mod result;
mod rounds;
mod sampler;
mod schedule;
mod search;
mod strong;
mod student;
mod tally;
mod trial;
mod verdict;
mod whole_progress;

pub(super) use orders::{KIND, carry_out};

pub use family::Family;
pub(super) use opinion::{Fitting, fit_model};
pub use opinion::{SecondOpinion, second_opinion};
pub use result::{AutoRun, FamilyReport, FoundPhase, Sampled};
pub(super) use student::student_95;

use super::decided::decided;
use crate::exact_cost;
use crate::observer::Observer;
use crate::{
    Cost, Deadline, Details, Effort, Error, Estimator, Exact, Finding, Precision, Rbm, Result,
};
use ndarray::Array1;
use parts::Parts;
use std::time::Instant;

/// Settings of the default estimator.
#[derive(Debug, Clone, PartialEq)]
pub struct Auto {
    /// Split into components and enumerate those for which that is affordable.
    pub shortcuts: bool,
    /// Enumeration is affordable when it is predicted to take at most this long in all.
    pub exact_seconds: f64,
    /// Standard error of log Z at which sampling ends, in nats.
    pub target_error: f64,
    /// No round begins that would probably end after this time.
    pub max_seconds: f64,
    /// Exactly this many rounds, whatever the error and the time: repeats a run bit for bit.
    pub rounds: Option<usize>,
    /// States whose neighbours are summed exactly, at most; zero turns the core off.
    pub core: usize,
    /// Means of the visible units in a data set: the start of the means family.
    pub data_means: Option<Array1<f64>>,
    /// Means of the visible units in the phases of a similar model, such as the last one along a training
    /// run ([`AutoRun::starts`]): one more kind of first states in the search.
    pub similar_means: Vec<Array1<f64>>,
    /// Resolution of the weights that the chains see.
    pub precision: Precision,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            shortcuts: true,
            // People wait ten seconds for an exact number.
            exact_seconds: 10.0,
            // A tenth of what makes a difference to most likelihoods, at seconds on trained models.
            target_error: 0.03,
            max_seconds: 60.0,
            rounds: None,
            // Past this, more states add nothing on the models that a core helps.
            core: 4096,
            data_means: None,
            similar_means: vec![],
            precision: Precision::default(),
            seed: 0,
        }
    }
}

impl Auto {
    /// Refuses settings that are not fit for a model.
    pub fn check(&self, model: &Rbm) -> Result<()> {
        let positive = |setting, value: f64| {
            if value > 0.0 {
                return Ok(());
            }
            Err(Error::setting(setting, value, "a number above 0"))
        };
        positive("target_error", self.target_error)?;
        positive("max_seconds", self.max_seconds)?;
        if self.rounds == Some(0) {
            return Err(Error::setting("rounds", 0, "at least 1"));
        }
        let data = self.data_means.iter().map(|means| ("the list of data means", means.len()));
        let similar = self.similar_means.iter();
        let similar = similar.map(|means| ("a list of means of a similar model", means.len()));
        let expected = model.visible();
        match data.chain(similar).find(|(_, found)| *found != expected) {
            Some((what, found)) => Err(Error::Width { what: what.into(), found, expected }),
            None => Ok(()),
        }
    }

    /// Means that the search begins from, and where they come from.
    fn hints(&self) -> Vec<(&'static str, &Array1<f64>)> {
        let data = self.data_means.iter().map(|means| ("data", means));
        data.chain(self.similar_means.iter().map(|means| ("similar model", means))).collect()
    }
}

impl Auto {
    /// A sum over all states of the model is allowed, and predicted to be affordable.
    pub fn sums_exactly(&self, model: &Rbm) -> Result<bool> {
        Ok(self.shortcuts && exact_cost(model)?.seconds <= self.seconds_for_sums())
    }

    /// What sums over states may be predicted to take: with a limit of time half of it, because predictions
    /// err; what takes a moment is always worth it.
    fn seconds_for_sums(&self) -> f64 {
        let half = if self.rounds.is_some() { f64::INFINITY } else { self.max_seconds / 2.0 };
        self.exact_seconds.min(half.max(A_MOMENT))
    }
}

/// Seconds that nobody counts.
const A_MOMENT: f64 = 0.1;

impl Estimator for Auto {
    /// log Z of a model: exact where that is affordable, sampled where not.
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        self.check(model)?;
        let clock = Instant::now();
        // A fixed number of rounds takes the time that it takes; a crew ends with a whole round.
        let fixed = self.rounds.is_some() || observer.crew().is_some();
        let limit = if fixed { f64::INFINITY } else { self.max_seconds };
        let for_sums = Deadline::since(clock, limit.max(2.0 * A_MOMENT), observer);
        if decided(observer, "exact", || self.sums_exactly(model))? {
            let found = Exact::FORCED.estimate(model, &for_sums);
            return found.map_err(|error| for_sums.explain(error));
        }
        let parts = Parts::of(model, self, &for_sums).map_err(|error| for_sums.explain(error))?;
        let deadline = Deadline::since(clock, limit, observer);
        let least: f64 =
            parts.to_sample.iter().map(|part| rounds::least_seconds(&part.model)).sum();
        if least > limit {
            return Err(Error::TooSlow { allowed: limit, least });
        }
        let sampled = parts.sample(self, &deadline).map_err(|error| deadline.explain(error))?;
        let mut found = add_up(self, &parts, sampled, model.visible());
        found.cost.seconds = clock.elapsed().as_secs_f64();
        Ok(found)
    }
}

/// `settings.estimate(model, observer)`: log Z of a model, exact where that is affordable, sampled where
/// not.
pub fn auto(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Finding> {
    settings.estimate(model, observer)
}

/// log Z of independent parts: values add, errors add in quadrature.
fn add_up(settings: &Auto, parts: &Parts<'_>, sampled: Vec<Sampled>, units: usize) -> Finding {
    let log_z = parts.exact + sampled.iter().map(|s| s.log_z).sum::<f64>();
    let quadrature =
        |arm: &dyn Fn(&Sampled) -> f64| sampled.iter().map(|s| arm(s).powi(2)).sum::<f64>().sqrt();
    let below = quadrature(&|s| s.log_z - s.interval[0]);
    let above = quadrature(&|s| s.interval[1] - s.log_z);
    let cores: Option<Vec<f64>> = sampled.iter().map(|s| s.log_core).collect();
    Finding {
        log_z,
        std_error: quadrature(&|s| s.std_error),
        interval: [log_z - below, log_z + above],
        lower_bound: cores.map(|cores| parts.exact + cores.iter().sum::<f64>()),
        proven: None,
        diagnosis: verdict::diagnose(&sampled),
        ess: sampled.iter().map(|part| part.ess).reduce(f64::min),
        stopped: sampled.iter().any(|part| part.stopped),
        effort: Effort {
            betas: sampled.iter().map(|part| part.betas).max(),
            chains: Some(sampled.iter().map(|part| part.chains).sum()),
            rounds: sampled.iter().map(|part| part.rounds).max(),
            seed: Some(settings.seed),
        },
        cost: Cost {
            chain_steps: Some(sampled.iter().map(|part| part.chain_steps).sum()),
            ..Cost::default()
        },
        details: Details::Auto(Box::new(AutoRun {
            settings: settings.clone(),
            exact_components: parts.exact_components,
            starts: parts.starts(&sampled, units),
            sampled,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_may_take_half_of_a_limited_time() {
        let within = |max_seconds, rounds| {
            Auto { max_seconds, rounds, ..Auto::default() }.seconds_for_sums()
        };
        assert_eq!(within(60.0, None), 10.0);
        assert_eq!(within(5.0, None), 2.5);
        assert_eq!(within(1e-9, None), A_MOMENT);
        assert_eq!(within(5.0, Some(1)), 10.0);
    }
}
