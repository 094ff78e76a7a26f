//! The settings of a run under the names of their options.

use crate::request::{AisPlan, DataSource, Plan, StartPlan};
use lnz::data::Binarize;
use lnz::{ChainLayout, Details, Effort, Finding, InitialState, Precision, Sampler};
use serde::Serialize;

/// All settings that decide a result; null where an option does not apply.
#[derive(Debug, Clone, Default, Serialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Settings {
    pub start: Option<&'static str>,
    pub init: Option<InitialState>,
    pub epsilon: Option<f64>,
    pub samples: Option<usize>,
    pub steps: Option<usize>,
    pub flips: Option<String>,
    pub chain_layout: Option<ChainLayout>,
    pub data: Option<String>,
    pub binarize: Option<Binarize>,
    pub betas: Option<usize>,
    pub schedule: Option<String>,
    pub chains: Option<usize>,
    pub transpose: Option<bool>,
    pub precision: Option<Precision>,
    pub seed: Option<u64>,
    pub target_error: Option<f64>,
    pub max_seconds: Option<f64>,
    pub rounds: Option<usize>,
    pub core: Option<usize>,
    pub no_exact: Option<bool>,
    pub no_check: Option<bool>,
    /// A limit of time has ended the sampling of the start.
    pub start_was_cut: Option<bool>,
}

impl Settings {
    /// The settings of a run: as planned, but for what only the run has decided.
    pub(crate) fn new(plan: &Plan, finding: &Finding) -> Self {
        let Effort { betas, chains, rounds, seed, .. } = finding.effort;
        // What can be summed exactly has no need of a limit that was not asked for.
        let max_seconds = match (plan, &finding.details) {
            (Plan::Auto { .. }, Details::Exact(_)) => None,
            _ => plan.max_seconds(),
        };
        let common = Self { betas, chains, rounds, seed, max_seconds, ..Self::default() };
        match (plan, &finding.details) {
            (Plan::Ais(plan), Details::Ais(run)) => Self {
                no_check: Some(!plan.check),
                start_was_cut: run.start_was_cut.then_some(true),
                ..common.of_ais(plan, run.annealed.precision)
            },
            (_, Details::Auto(run)) => Self {
                target_error: Some(run.settings.target_error),
                core: Some(run.settings.core),
                no_exact: Some(!run.settings.shortcuts),
                ..common
            },
            (Plan::Exact { .. }, _) => common,
            (Plan::Ready { no_check, .. }, _) => Self { no_check: Some(*no_check), ..common },
            _ => common,
        }
    }

    /// The precision is the one that was used, which may not be the one asked for.
    fn of_ais(self, plan: &AisPlan, precision: Precision) -> Self {
        let common = Self {
            schedule: Some(plan.schedule_name.clone()),
            transpose: Some(plan.transpose),
            precision: Some(precision),
            start: Some(plan.start.kind().name()),
            ..self
        };
        match &plan.start {
            StartPlan::Uniform => common,
            StartPlan::Data { source, binarize, epsilon } => Self {
                epsilon: Some(*epsilon),
                data: source.as_ref().map(DataSource::name),
                binarize: source.as_ref().map(|_| *binarize),
                ..common
            },
            StartPlan::Sampled(sampling) => Self {
                init: Some(sampling.initial),
                epsilon: Some(sampling.epsilon),
                samples: Some(sampling.samples),
                steps: Some(sampling.steps),
                flips: match sampling.sampler {
                    Sampler::Gibbs => None,
                    Sampler::Metropolis { flips } => Some(flips.to_string()),
                },
                chain_layout: Some(sampling.layout),
                ..common
            },
        }
    }
}
