//! Runs a method on a model and measures it.

use crate::data_sets;
use crate::failure::usage;
use crate::model_source::Source;
use crate::plan::{AisPlan, StartPlan};
use crate::progress::Watch;
use anyhow::{Context, Result};
use lnz::data::{self, Binarize, DataOptions};
use lnz::{Annealed, Auto, AutoEstimate, Diagnosis, Estimate, Rbm, SecondOpinion, Start};
use lnz::{anneal, exact_cost, exact_log_z_within, second_opinion};
use ndarray::Array1;
use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

/// What AIS found, at what cost.
#[derive(Debug)]
pub(crate) struct AisRun {
    pub(crate) annealed: Annealed,
    pub(crate) estimate: Estimate,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) start_seconds: f64,
    pub(crate) seconds: f64,
    pub(crate) chain_steps: u64,
}

/// What the default estimator found, at what cost.
#[derive(Debug)]
pub(crate) struct AutoRun {
    pub(crate) settings: Auto,
    pub(crate) estimate: AutoEstimate,
    pub(crate) seconds: f64,
}

/// One run of the default estimator.
pub(crate) fn auto(source: &Source, settings: Auto, watch: &Watch) -> Result<AutoRun> {
    let clock = Instant::now();
    let estimate = lnz::auto(source.model(), &settings, watch)?;
    Ok(AutoRun { settings, estimate, seconds: clock.elapsed().as_secs_f64() })
}

/// What a quick search says about a model; nothing if it was stopped, or cannot be asked.
pub(crate) fn opinion(source: &Source, seed: u64, watch: &Watch) -> Option<SecondOpinion> {
    second_opinion(source.model(), seed, watch).ok()
}

/// One run of annealed importance sampling, held against the opinion of a search.
pub(crate) fn ais(
    source: &Source,
    plan: &AisPlan,
    opinion: Option<&SecondOpinion>,
    watch: &Watch,
) -> Result<AisRun> {
    let model = match plan.transpose {
        true => Cow::Owned(source.model().transposed().map_err(|_| no_layer_to_start_from())?),
        false => Cow::Borrowed(source.model()),
    };
    let clock = Instant::now();
    let start = start(source, &model, plan, watch)?;
    let start_seconds = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let annealed = anneal(&model, &start, &plan.schedule, &plan.annealing, watch)?;
    let seconds = clock.elapsed().as_secs_f64();
    let estimate = Estimate::from_samples(&annealed.samples);
    let diagnosis = Diagnosis::of_annealing(&estimate, annealed.requested, opinion);
    let chain_steps = annealed.samples.len() as u64 * plan.schedule.intervals() as u64;
    Ok(AisRun { annealed, estimate, diagnosis, start_seconds, seconds, chain_steps })
}

fn start(source: &Source, model: &Rbm, plan: &AisPlan, watch: &Watch) -> Result<Start> {
    let seed = plan.annealing.seed;
    Ok(match &plan.start {
        StartPlan::Uniform => Start::uniform(model.visible()),
        StartPlan::Sampled(sampling) => Start::sampled(model, sampling, seed, watch)?,
        StartPlan::Data { file: Some(path), binarize, epsilon } => {
            Start::from_means(data_means(path, model, *binarize, seed)?.view(), *epsilon)?
        }
        StartPlan::Data { file: None, epsilon, .. } => match &source.stored().data_means {
            Some(means) => Start::from_means(means.view(), *epsilon)?,
            None => {
                return Err(usage(format!(
                    "--start data needs --data FILE, because {} has no `data_means` of its own",
                    source.name
                )));
            }
        },
    })
}

/// Means of the visible units in a data file or fetched data set.
pub(crate) fn data_means(
    path: &Path,
    model: &Rbm,
    binarize: Binarize,
    seed: u64,
) -> Result<Array1<f64>> {
    let options = DataOptions { width: Some(model.visible()), binarize, seed };
    Ok(data::means(&data_sets::resolve(path)?, options)?)
}

fn no_layer_to_start_from() -> anyhow::Error {
    usage("--transpose needs hidden units, but the model has none; drop it")
}

/// Runs `work` on so many threads; all of the machine's without a number.
pub(crate) fn on_threads<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    match threads {
        None => work(),
        Some(n) => rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .with_context(|| format!("--threads {n}: cannot start them"))?
            .install(work),
    }
}

/// `auto` takes the exact value when it is predicted to be at most this far away.
const CHEAP_SECONDS: f64 = 10.0;

/// `lnz exact` asks for `--force` when it is predicted to take longer than this.
const PATIENCE_SECONDS: f64 = 600.0;

/// An exact value and its cost.
#[derive(Debug)]
pub(crate) struct ExactRun {
    pub(crate) log_z: f64,
    pub(crate) states: f64,
    pub(crate) seconds: f64,
}

/// How long an enumeration may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Some minutes.
    Limited,
    /// The user has asked for it.
    Forced,
}

/// The exact value by enumeration, or an up-front refusal that says how long it would take.
pub(crate) fn exact(model: &Rbm, patience: Patience, watch: &Watch) -> Result<ExactRun> {
    let limit = match patience {
        Patience::Limited => PATIENCE_SECONDS,
        Patience::Forced => f64::INFINITY,
    };
    let states = exact_cost(model)?.states;
    let clock = Instant::now();
    let log_z = exact_log_z_within(model, limit, watch)?;
    Ok(ExactRun { log_z, states, seconds: clock.elapsed().as_secs_f64() })
}

/// The exact value is a few seconds away.
pub(crate) fn exact_is_cheap(model: &Rbm) -> Result<bool> {
    Ok(exact_cost(model)?.seconds <= CHEAP_SECONDS)
}
