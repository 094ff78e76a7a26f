//! The default estimator: finds the modes that annealing alone misses, and says how far to trust it.
//!
//! Parts that can be enumerated are. For the rest: search for modes, sum the states of highest weight
//! exactly (the core), try families of starts, and let those that find the most mass anneal in
//! rounds until the error is small. See docs/method.md.

mod annealer;
mod core;
mod family;
mod modes;
mod population;
mod prepare;
mod recipe;
mod rounds;
mod schedule;
mod student;
mod tally;
mod trial;

pub use family::Family;
pub use prepare::{SecondOpinion, second_opinion};
pub(crate) use rounds::Bracket;
pub(crate) use tally::disagrees;

use crate::exact::pendants;
use crate::math::softplus;
use crate::observer::Observer;
use crate::{Diagnosis, Error, Rbm, Result, exact_cost, exact_log_z};
use ndarray::Array1;
use serde::Serialize;

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
    /// Exactly so many rounds, whatever error and time say: repeats a run bit for bit.
    pub rounds: Option<usize>,
    /// States whose neighbours are summed exactly, at most; zero turns the core off.
    pub core: usize,
    /// Means of the visible units in a data set: the start of the means family.
    pub data_means: Option<Array1<f64>>,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            shortcuts: true,
            // People wait ten seconds for an exact number.
            exact_seconds: 10.0,
            target_error: 0.1,
            max_seconds: 60.0,
            rounds: None,
            // Past this, more states add nothing on the models that a core helps.
            core: 4096,
            data_means: None,
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
        match &self.data_means {
            Some(means) if means.len() != model.visible() => Err(Error::Width {
                what: "the list of data means".into(),
                found: means.len(),
                expected: model.visible(),
            }),
            _ => Ok(()),
        }
    }
}

/// What the default estimator found.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoEstimate {
    /// log Z.
    pub log_z: f64,
    /// Its standard error; zero when no sampling was needed.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// log Z is not below this sum of exact parts.
    pub lower_bound: Option<f64>,
    /// How far to trust it.
    pub diagnosis: Diagnosis,
    /// Components that were enumerated.
    pub exact_components: usize,
    /// The parts that were sampled: the components that could not be enumerated, or the whole model.
    pub sampled: Vec<Sampled>,
}

/// The result of sampling a model or one of its components.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sampled {
    /// Visible units.
    pub visible: usize,
    /// Hidden units.
    pub hidden: usize,
    /// log Z.
    pub log_z: f64,
    /// Its standard error.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// log of the exact sum over the core.
    pub log_core: Option<f64>,
    /// Relative error of Z from the weights alone, without the core.
    pub weights_error: f64,
    /// The standard error that was aimed at.
    pub target_error: f64,
    /// The sampler's own estimate of the same sum.
    pub log_sampled_core: Option<f64>,
    /// States in the core.
    pub core_states: usize,
    /// The families of starts: what the trial found, and what the main run did.
    pub families: Vec<FamilyReport>,
    /// Effective sample size of the main run.
    pub ess: f64,
    /// Share of the largest weight in Z.
    pub max_weight_share: f64,
    /// Rounds of the main run.
    pub rounds: usize,
    /// Chains of the main run.
    pub chains: usize,
    /// Intervals of its schedules.
    pub betas: usize,
    /// Chain-steps in all, pilots and trials included.
    pub chain_steps: u64,
    /// log Z from annealing the other way, from the core to the start: with `log_z` a bracket, if the
    /// core represents the model. None without a core.
    pub log_reverse: Option<f64>,
    /// Relative error of Z there.
    pub reverse_error: Option<f64>,
    /// The observer ended the run.
    pub stopped: bool,
}

/// One family in a result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FamilyReport {
    /// Which one.
    pub family: Family,
    /// log Z from its weights alone in the trial.
    pub trial_log_z: f64,
    /// Relative error of Z there.
    pub trial_error: f64,
    /// Its weight in the main run; zero if it was left out.
    pub share: f64,
    /// Its estimate in the main run, core included.
    pub log_z: Option<f64>,
    /// Relative error of Z there.
    pub std_error: Option<f64>,
    /// log Z from its weights alone in the main run, to be held against the trial, and its error.
    pub weights: Option<(f64, f64)>,
}

/// log Z of a model: exact where that is affordable, sampled where not.
pub fn auto(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<AutoEstimate> {
    settings.check(model)?;
    let components = model.components();
    if !settings.shortcuts && model.hidden() > 0 {
        return Ok(add_up(0.0, 0, vec![rounds::sample(model, settings, observer)?]));
    }
    // The cheap ones first, while the time lasts.
    let mut seconds_left = settings.exact_seconds;
    let (mut exact, mut exact_components, mut to_sample) = (model.constant(), 0, Vec::new());
    for component in &components {
        if component.visible.is_empty() {
            exact +=
                component.hidden.iter().map(|&j| softplus(model.hidden_bias()[j])).sum::<f64>();
            exact_components += 1;
            continue;
        }
        let part = model.restricted_to(component)?;
        let seconds = exact_cost(&part)?.seconds;
        if component.hidden.is_empty() || seconds <= seconds_left {
            seconds_left -= seconds;
            exact += exact_log_z(&part, observer)?;
            exact_components += 1;
        } else if let Some(folded) = pendants::fold(model, component)? {
            // What hangs on the rest is summed out, and a smaller model is left to be sampled.
            exact += folded.log_factor;
            to_sample.push((folded.model, folded.component));
        } else {
            to_sample.push((part, component.clone()));
        }
    }
    let share = Auto {
        max_seconds: settings.max_seconds / to_sample.len().max(1) as f64,
        target_error: settings.target_error / (to_sample.len().max(1) as f64).sqrt(),
        ..settings.clone()
    };
    let sampled = to_sample
        .into_iter()
        .map(|(part, component)| {
            let data_means = settings
                .data_means
                .as_ref()
                .map(|means| means.select(ndarray::Axis(0), &component.visible));
            rounds::sample(&part, &Auto { data_means, ..share.clone() }, observer)
        })
        .collect::<Result<Vec<Sampled>>>()?;
    Ok(add_up(exact, exact_components, sampled))
}

/// log Z of independent parts: values add, errors add in quadrature.
fn add_up(exact: f64, exact_components: usize, sampled: Vec<Sampled>) -> AutoEstimate {
    let log_z = exact + sampled.iter().map(|s| s.log_z).sum::<f64>();
    let quadrature =
        |arm: &dyn Fn(&Sampled) -> f64| sampled.iter().map(|s| arm(s).powi(2)).sum::<f64>().sqrt();
    let below = quadrature(&|s| s.log_z - s.interval[0]);
    let above = quadrature(&|s| s.interval[1] - s.log_z);
    let cores: Option<Vec<f64>> = sampled.iter().map(|s| s.log_core).collect();
    AutoEstimate {
        log_z,
        std_error: quadrature(&|s| s.std_error),
        interval: [log_z - below, log_z + above],
        lower_bound: cores.map(|cores| exact + cores.iter().sum::<f64>()),
        diagnosis: Diagnosis::of_auto(&sampled),
        exact_components,
        sampled,
    }
}
