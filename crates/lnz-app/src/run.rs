//! Runs a plan on a model, measures it and reports.

use crate::report::{ModelSummary, Report};
use crate::request::{AisPlan, Plan, StartPlan};
use crate::{Error, Result};
use lnz::io::StoredModel;
use lnz::{Annealed, Auto, AutoEstimate, Diagnosis, Estimate, Observer, Rbm, SecondOpinion};
use lnz::{anneal, exact_cost, exact_log_z_within, second_opinion};
use std::borrow::Cow;
use std::time::Instant;

/// `auto` takes the exact value when it is predicted to be at most this far away.
const CHEAP_SECONDS: f64 = 10.0;

/// An exact value is refused, unless it is asked for twice, when it is predicted to take longer.
const PATIENCE_SECONDS: f64 = 600.0;

/// What an estimate returns.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The result as it is shown.
    pub report: Report,
    /// The annealing run, where the method is plain AIS.
    pub annealed: Option<Annealed>,
    /// The observer ended the run early.
    pub stopped: bool,
}

/// log Z of a model as planned; `name` is what the report calls the model.
pub fn estimate(
    stored: &StoredModel,
    name: &str,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let exactly = |choice| {
        let run = exact(&stored.model, Patience::Limited, observer)?;
        let report = Report::of_exact(ModelSummary::new(name, &stored.model), &run);
        Ok(Outcome { report: report.chosen_because(choice), annealed: None, stopped: false })
    };
    match plan {
        Plan::Exact => exactly(None),
        Plan::Auto { settings, data } if settings.shortcuts && exact_is_cheap(&stored.model)? => {
            settings.check(&stored.model)?;
            let choice = match data {
                None => "chosen because it is cheap here; {no_exact=on} samples instead",
                Some(data) => {
                    data.check_data(stored, settings.seed)?;
                    "chosen because it is cheap here, and needs no data; {no_exact=on} samples instead"
                }
            };
            exactly(Some(choice))
        }
        Plan::Auto { settings, data } => {
            sampled_by_default(stored, name, settings, data.as_ref(), observer)
        }
        Plan::Ais { plan, check } => {
            let opinion = match check {
                true => opinion(&stored.model, plan.annealing.seed, observer),
                false => None,
            };
            let run = ais(stored, plan, opinion.as_ref(), observer)?;
            let model = ModelSummary::new(name, &stored.model);
            let report = Report::of_ais(model, plan, &run, opinion.as_ref());
            let stopped = run.annealed.samples.len() < run.annealed.requested;
            Ok(Outcome { report, annealed: Some(run.annealed), stopped })
        }
    }
}

fn sampled_by_default(
    stored: &StoredModel,
    name: &str,
    settings: &Auto,
    data: Option<&StartPlan>,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let data_means = data.map(|plan| plan.data_means(stored, settings.seed)).transpose()?;
    let run = auto(&stored.model, Auto { data_means, ..settings.clone() }, observer)?;
    let stopped = run.estimate.sampled.iter().any(|part| part.stopped);
    let report = Report::of_auto(ModelSummary::new(name, &stored.model), &run);
    Ok(Outcome { report, annealed: None, stopped })
}

/// What AIS found, at what cost.
#[derive(Debug, Clone)]
pub struct AisRun {
    /// The run.
    pub annealed: Annealed,
    /// Its statistics.
    pub estimate: Estimate,
    /// How far to trust it.
    pub diagnosis: Diagnosis,
    /// Time to find the start.
    pub start_seconds: f64,
    /// Time to anneal.
    pub seconds: f64,
    /// Chains times betas.
    pub chain_steps: u64,
}

/// What the default estimator found, at what cost.
#[derive(Debug, Clone)]
pub struct AutoRun {
    /// As it was run.
    pub settings: Auto,
    /// The result.
    pub estimate: AutoEstimate,
    /// Time in all.
    pub seconds: f64,
}

/// One run of the default estimator.
pub fn auto(model: &Rbm, settings: Auto, observer: &dyn Observer) -> Result<AutoRun> {
    let clock = Instant::now();
    let estimate = lnz::auto(model, &settings, observer)?;
    Ok(AutoRun { settings, estimate, seconds: clock.elapsed().as_secs_f64() })
}

/// What a quick search says about a model; nothing if it was stopped, or cannot be asked.
pub fn opinion(model: &Rbm, seed: u64, observer: &dyn Observer) -> Option<SecondOpinion> {
    second_opinion(model, seed, observer).ok()
}

/// One run of annealed importance sampling, held against the opinion of a search.
pub fn ais(
    stored: &StoredModel,
    plan: &AisPlan,
    opinion: Option<&SecondOpinion>,
    observer: &dyn Observer,
) -> Result<AisRun> {
    let model = match plan.transpose {
        true => Cow::Owned(stored.model.transposed().map_err(|_| no_layer_to_start_from())?),
        false => Cow::Borrowed(&stored.model),
    };
    let clock = Instant::now();
    let start = plan.start.start(stored, &model, plan.annealing.seed, observer)?;
    let start_seconds = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let annealed = anneal(&model, &start, &plan.schedule, &plan.annealing, observer)?;
    let seconds = clock.elapsed().as_secs_f64();
    let estimate = Estimate::from_samples(&annealed.samples);
    let diagnosis = Diagnosis::of_annealing(&estimate, annealed.requested, opinion);
    let chain_steps = annealed.samples.len() as u64 * plan.schedule.intervals() as u64;
    Ok(AisRun { annealed, estimate, diagnosis, start_seconds, seconds, chain_steps })
}

fn no_layer_to_start_from() -> Error {
    Error::options("{transpose} needs hidden units, but the model has none; drop it")
}

/// An exact value and its cost.
#[derive(Debug, Clone, Copy)]
pub struct ExactRun {
    /// The value.
    pub log_z: f64,
    /// States that were visited.
    pub states: f64,
    /// Time that it took.
    pub seconds: f64,
}

/// How long an enumeration may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Some minutes.
    Limited,
    /// As long as it needs.
    Forced,
}

/// The exact value by enumeration, or an up-front refusal that says how long it would take.
pub fn exact(model: &Rbm, patience: Patience, observer: &dyn Observer) -> Result<ExactRun> {
    let limit = match patience {
        Patience::Limited => PATIENCE_SECONDS,
        Patience::Forced => f64::INFINITY,
    };
    let states = exact_cost(model)?.states;
    let clock = Instant::now();
    let log_z = exact_log_z_within(model, limit, observer)?;
    Ok(ExactRun { log_z, states, seconds: clock.elapsed().as_secs_f64() })
}

/// The exact value is a few seconds away.
pub fn exact_is_cheap(model: &Rbm) -> Result<bool> {
    Ok(exact_cost(model)?.seconds <= CHEAP_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{DataSource, Request};
    use ndarray::{Array1, Array2};

    #[test]
    fn means_that_an_exact_value_does_not_need_have_to_fit_all_the_same() {
        let model = Rbm::new(Array2::ones((3, 2)), Array1::zeros(3), Array1::zeros(2)).unwrap();
        let stored = StoredModel::from(model);
        let mut request = Request::default();
        for (means, fits) in [(3, true), (4, false)] {
            request.start.data = Some(DataSource::Means(Array1::from_elem(means, 0.5)));
            let found = estimate(&stored, "m", &request.plan().unwrap(), &());
            match fits {
                true => assert_eq!(found.unwrap().report.std_error, 0.0),
                false => {
                    use lnz::Error::Width;
                    assert!(matches!(
                        found,
                        Err(Error::Library(Width { found: 4, expected: 3, .. }))
                    ))
                }
            }
        }
    }
}
