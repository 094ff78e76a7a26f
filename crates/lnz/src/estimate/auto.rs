//! The default estimator: a sum over the phases of a model, each from a start that is fitted to it.
//!
//! 1. Split the model into components; sum exactly what is cheap to sum.
//! 2. Sum the states of highest weight exactly: the core (`modes`, `core`).
//! 3. Search for phases: first states of many kinds, swept and clustered (`search`).
//! 4. Fit a start to each phase and one to the whole (`fit`); every phase has a cell (`cells`).
//! 5. Run a trial from every start (`trial`), and one with flips from the uniform distribution (`prepare`).
//! 6. Its chains say how many chains each start gets, and its share in each cell (`design`).
//! 7. Lead states that the trials found back to the starts (`backward`); fit what is not reached, too.
//! 8. Anneal fresh chains in rounds, and add them up over the cells (`rounds`, `tally`).
//! 9. Interval and verdict follow from these numbers (`tally`, `verdict`).
//!
//! Nothing is chosen from the samples of the main run but when to stop, so that Z^ is unbiased. See
//! docs/method.md.

mod backward;
mod batch;
mod blocks;
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
mod orders;
mod prepare;
mod rounds;
mod sampler;
mod schedule;
mod search;
mod strong;
mod student;
mod tally;
mod told;
mod trial;
mod verdict;

pub(super) use orders::{KIND, carry_out};

pub use family::Family;
pub(super) use prepare::{Fitting, fit_model};
pub use prepare::{SecondOpinion, second_opinion};
pub(super) use student::student_95;

use super::decided::decided;
use super::exact::pendants;
use crate::check::Measured;
use crate::json::{real, reals, some_real};
use crate::math::softplus;
use crate::observer::Observer;
use crate::{
    Component, Cost, Deadline, Details, Effort, Error, Estimator, Exact, Finding, Precision, Rbm,
    Result,
};
use crate::{exact_cost, exact_log_z};
use ndarray::Array1;
use serde::Serialize;
use std::borrow::Cow;
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
    /// Its standard error.
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

/// A model taken apart: what was summed, and what is left to sample.
struct Parts<'a> {
    /// log Z of the components that were summed, and their number.
    exact: f64,
    exact_components: usize,
    to_sample: Vec<Part<'a>>,
}

/// A component that has to be sampled, or the whole model.
struct Part<'a> {
    model: Cow<'a, Rbm>,
    /// Its visible units; `None` for all.
    visible: Option<Vec<usize>>,
}

impl<'a> Parts<'a> {
    fn of(model: &'a Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Self> {
        if !settings.shortcuts && model.hidden() > 0 {
            let whole = Part { model: Cow::Borrowed(model), visible: None };
            return Ok(Self { exact: 0.0, exact_components: 0, to_sample: vec![whole] });
        }
        let components = model.components();
        let affordable =
            decided(observer, "exact-parts", || affordable(model, &components, settings))?;
        let mut parts =
            Self { exact: model.constant(), exact_components: 0, to_sample: Vec::new() };
        for (component, affordable) in components.into_iter().zip(affordable) {
            if component.visible.is_empty() {
                let biases = component.hidden.iter().map(|&j| model.hidden_bias()[j]);
                parts.exact += biases.map(softplus).sum::<f64>();
                parts.exact_components += 1;
                continue;
            }
            let part = model.restricted_to(&component)?;
            if component.hidden.is_empty() || affordable {
                parts.exact += exact_log_z(&part, observer)?;
                parts.exact_components += 1;
            } else if let Some(folded) = pendants::fold(model, &component)? {
                // What hangs on the rest is summed out, and a smaller model is left to be sampled.
                parts.exact += folded.log_factor;
                let visible = Some(folded.component.visible);
                parts.to_sample.push(Part { model: Cow::Owned(folded.model), visible });
            } else {
                let visible = Some(component.visible);
                parts.to_sample.push(Part { model: Cow::Owned(part), visible });
            }
        }
        Ok(parts)
    }

    /// The means of the phases of all parts, side by side; a part with fewer of them repeats its largest.
    fn starts(&self, sampled: &[Sampled], units: usize) -> Vec<Array1<f64>> {
        let most = sampled.iter().map(|part| part.starts.len()).max().unwrap_or(0);
        let start = |k: usize| {
            let mut means = Array1::from_elem(units, 0.5);
            for (part, found) in self.to_sample.iter().zip(sampled) {
                let Some(of_part) = found.starts.get(k).or(found.starts.first()) else { continue };
                match &part.visible {
                    None => means.assign(of_part),
                    Some(visible) => {
                        visible.iter().zip(of_part).for_each(|(&i, &mean)| means[i] = mean);
                    }
                }
            }
            means
        };
        (0..most).map(start).collect()
    }

    /// Samples what is left; the parts share the time and the error between them.
    fn sample(&self, settings: &Auto, observer: &dyn Observer) -> Result<Vec<Sampled>> {
        let observer = &told::Told::of(&self.to_sample, self.exact, observer);
        let count = self.to_sample.len().max(1) as f64;
        let share = Auto {
            max_seconds: settings.max_seconds / count,
            target_error: settings.target_error / count.sqrt(),
            ..settings.clone()
        };
        let sample = |part: &Part<'_>| {
            let of_part = |means: &Array1<f64>| match &part.visible {
                None => means.clone(),
                Some(visible) => means.select(ndarray::Axis(0), visible),
            };
            let data_means = settings.data_means.as_ref().map(of_part);
            let similar_means = settings.similar_means.iter().map(of_part).collect();
            let settings = Auto { data_means, similar_means, ..share.clone() };
            rounds::sample(&part.model, &settings, observer)
        };
        self.to_sample.iter().map(sample).collect()
    }
}

/// The components that can be summed exactly: one after the other, while the time lasts.
fn affordable(model: &Rbm, components: &[Component], settings: &Auto) -> Result<Vec<bool>> {
    let mut seconds_left = settings.seconds_for_sums();
    let each = components.iter().map(|component| {
        if component.visible.is_empty() {
            return Ok(true);
        }
        let seconds = exact_cost(&model.restricted_to(component)?)?.seconds;
        let affordable = component.hidden.is_empty() || seconds <= seconds_left;
        if affordable {
            seconds_left -= seconds;
        }
        Ok(affordable)
    });
    each.collect()
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
