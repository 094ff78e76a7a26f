//! The default estimator: finds the modes that annealing alone misses.

mod core;
mod family;
mod modes;
mod tally;

pub use family::Family;

use self::core::Core;
use crate::kernel::Landscape;
use crate::observer::{Observer, Phase, Progress};
use crate::random::Purpose;
use crate::start::{InitialState, Sampling};
use crate::{Error, Rbm, Result, Start};
use family::{Anneals, IslandPlace, flips_family, means_family, modes_family, schedule};
use modes::find_modes;
use ndarray::Array1;
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;
use tally::{Summary, Tally, combine};

/// Settings of the default estimator.
#[derive(Debug, Clone, PartialEq)]
pub struct Auto {
    /// Standard error of log Z at which sampling ends, in nats.
    pub target_error: f64,
    /// Time after which no further round begins.
    pub max_seconds: f64,
    /// Exactly so many rounds, whatever error and time say.
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
            target_error: 0.1,
            max_seconds: 60.0,
            rounds: None,
            core: 4096,
            data_means: None,
            seed: 0,
        }
    }
}

/// What the default estimator found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AutoEstimate {
    /// log Z.
    pub log_z: f64,
    /// Its standard error.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// log of the exact sum over the core: log Z is not below it.
    pub lower_bound: Option<f64>,
    /// States in that sum.
    pub core_states: usize,
    /// The families of starts: what the trial found, and what the main run did.
    pub families: Vec<FamilyReport>,
    /// Effective sample size of the main run.
    pub ess: f64,
    /// Share of the largest weight in Z.
    pub max_weight_share: f64,
    /// The sampler's own estimate of the core.
    pub sampled_core: f64,
    /// Rounds of the main run.
    pub rounds: usize,
    /// Chains of the main run.
    pub chains: usize,
    /// Intervals of its schedules.
    pub betas: usize,
    /// Chain-steps in all, pilots and trials included.
    pub chain_steps: u64,
}

/// One family in a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FamilyReport {
    /// Which one.
    pub family: Family,
    /// Its estimate in the trial, and the relative error of Z there.
    pub trial_log_z: f64,
    /// Relative error of Z in the trial.
    pub trial_error: f64,
    /// Its weight in the main run; zero if it was left out.
    pub share: f64,
    /// Its estimate in the main run.
    pub log_z: Option<f64>,
    /// Relative error of Z in the main run.
    pub std_error: Option<f64>,
}

/// Share of the main run below which a family is left out.
const LEAST_SHARE: f64 = 0.2;
/// Islands of a trial and of a round.
const TRIAL_ISLANDS: usize = 4;
const ISLANDS: usize = 8;
/// Intervals of the schedule of a trial and of the main run.
const TRIAL_BETAS: usize = 512;
const BETAS: usize = 1024;
/// Chains of an island in a trial and in the first round; twice as many when they are resampled.
const ISLAND_CHAINS: usize = 16;

/// Samples log Z of a model.
pub fn auto(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<AutoEstimate> {
    let begin = Instant::now();
    let stopped = || Error::Cancelled { reached: "before the first round".into() };
    let Prepared { core, annealers, mut chain_steps } = prepare(model, settings, observer)?;

    // A trial of each family chooses those that take part; its samples are used for nothing else.
    let mut families = Vec::new();
    for ready in &annealers {
        let betas = schedule(&ready.pilot, TRIAL_BETAS);
        let islands = TRIAL_ISLANDS * ready.annealer.chains_factor();
        let mut tally = Tally::default();
        let places = places(0, islands, ISLAND_CHAINS, settings.seed, Purpose::Trial);
        run_islands(&*ready.annealer, &betas, places, &core, &mut tally, observer)
            .ok_or_else(stopped)?;
        chain_steps += (islands * ISLAND_CHAINS * TRIAL_BETAS) as u64;
        let trial = tally.summary(&core);
        families.push(FamilyReport {
            family: ready.annealer.family(),
            trial_log_z: trial.log_weights,
            trial_error: trial.weights_error,
            share: 0.0,
            log_z: None,
            std_error: None,
        });
    }
    share_by_trial(&mut families);

    let schedules: Vec<Vec<f64>> = annealers.iter().map(|r| schedule(&r.pilot, BETAS)).collect();
    let mut tallies: Vec<Tally> = annealers.iter().map(|_| Tally::default()).collect();
    let mut rounds = 0;
    let mut best: Option<Summary> = None;
    let mut last_round = 0.0;
    loop {
        let round_begin = Instant::now();
        let before: Vec<usize> = tallies.iter().map(Tally::islands).collect();
        let mut finished = true;
        for (k, ready) in annealers.iter().enumerate().filter(|(k, _)| families[*k].share > 0.0) {
            // Each round doubles the chains.
            let growth = 1 << rounds.max(1) - 1;
            let chains = ISLAND_CHAINS * ready.annealer.chains_factor() * growth;
            let places = places(before[k], ISLANDS, chains, settings.seed, Purpose::Anneal);
            let tally = &mut tallies[k];
            if run_islands(&*ready.annealer, &schedules[k], places, &core, tally, observer)
                .is_none()
            {
                finished = false;
                break;
            }
            chain_steps += (ISLANDS * chains * BETAS) as u64;
        }
        if !finished {
            break;
        }
        rounds += 1;
        let parts: Vec<(f64, Summary)> = families
            .iter()
            .zip(&tallies)
            .filter(|(family, _)| family.share > 0.0)
            .map(|(family, tally)| (family.share, tally.summary(&core)))
            .collect();
        let summary = combine(&parts);
        observer.progress(Progress {
            phase: Phase::Anneal,
            done: rounds as u64,
            total: settings.rounds.unwrap_or(rounds + 1) as u64,
            log_z: Some(summary.log_z),
            beta: None,
        });
        best = Some(summary);
        last_round = last_round * 0.0 + round_begin.elapsed().as_secs_f64();
        let enough = match settings.rounds {
            Some(wanted) => rounds >= wanted,
            None => {
                summary.relative_error <= settings.target_error
                    || begin.elapsed().as_secs_f64() + 2.0 * last_round > settings.max_seconds
            }
        };
        if enough || observer.cancelled() {
            break;
        }
    }
    let summary = best.ok_or_else(stopped)?;
    for (family, tally) in families.iter_mut().zip(&tallies).filter(|(f, _)| f.share > 0.0) {
        let summary = tally.summary(&core);
        family.log_z = Some(summary.log_z);
        family.std_error = Some(summary.relative_error);
    }
    let islands: usize = tallies.iter().map(Tally::islands).sum();
    Ok(AutoEstimate {
        log_z: summary.log_z,
        std_error: summary.relative_error,
        interval: interval(&summary, islands, core.log_z),
        lower_bound: (core.states() > 0).then_some(core.log_z),
        core_states: core.states(),
        families,
        ess: summary.ess,
        max_weight_share: summary.largest_share,
        sampled_core: summary.log_core,
        rounds,
        chains: summary.chains,
        betas: BETAS,
        chain_steps,
    })
}

/// Everything that is fixed before the main run.
struct Prepared {
    core: Core,
    annealers: Vec<Ready>,
    chain_steps: u64,
}

struct Ready {
    annealer: Box<dyn Anneals>,
    pilot: family::Pilot,
}

/// Sum of all |weights| and |biases| up to which float64 resolves log Z to 0.002 nats.
const MOST_ENERGY: f64 = 1e13;

/// Refuses what cannot be sampled: nothing to sum out, or energies that swallow a factor in Z.
fn check_model(model: &Rbm) -> Result<()> {
    if model.hidden() == 0 {
        let expected = "at least 1 to sample; without them log Z is exact, choose that";
        return Err(Error::setting("hidden units", 0, expected));
    }
    let biases = model.visible_bias().into_iter().chain(model.hidden_bias());
    let energy: f64 = model.weights().iter().chain(biases).map(|v| v.abs()).sum();
    if energy > MOST_ENERGY {
        let found = format!("so large that the energies reach {energy:.1e}");
        let expected = format!("energies below {MOST_ENERGY:e}, where float64 resolves log Z");
        return Err(Error::setting("weights", found, expected));
    }
    Ok(())
}

fn prepare(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Prepared> {
    check_model(model)?;
    let swapped = model.transposed()?;
    let visible_is_small = model.visible() <= model.hidden();
    let (small, large) = if visible_is_small { (model, &swapped) } else { (&swapped, model) };
    let out_of_range =
        || Error::setting("weights", "a value near the limit of float32", "weights below 1e30");
    let stopped = || Error::Cancelled { reached: "while preparing".into() };
    let mut chain_steps = 0;
    let mut pilot = |annealer: Box<dyn Anneals>| -> Result<Ready> {
        let pilot = annealer.pilot(settings.seed, observer).ok_or_else(stopped)?;
        chain_steps += (pilot.states.len() * pilot.spread.len()) as u64;
        Ok(Ready { annealer, pilot })
    };
    let flips = pilot(flips_family(small).ok_or_else(out_of_range)?)?;
    let landscape = Landscape::new(small);
    let found = find_modes(&landscape, flips.pilot.states.clone(), settings.seed);
    let core = Core::build(&landscape, &found, settings.core, model.constant());
    let modes = pilot(modes_family(large, &landscape, &found).ok_or_else(out_of_range)?)?;
    let means = match &settings.data_means {
        Some(means) if means.len() != model.visible() => {
            let (found, expected) = (means.len(), model.visible());
            return Err(Error::Width { what: "data_means".into(), found, expected });
        }
        Some(means) => {
            let start = Start::from_means(means.view(), MEANS_EPSILON)?;
            means_family(model, &start, !visible_is_small)
        }
        None => {
            let start = Start::sampled(large, &MEANS, settings.seed, observer)?;
            means_family(large, &start, true)
        }
    };
    let means = pilot(means.ok_or_else(out_of_range)?)?;
    if settings.data_means.is_none() {
        chain_steps += (MEANS.samples * MEANS.steps) as u64;
    }
    Ok(Prepared { core, annealers: vec![modes, means, flips], chain_steps })
}

const MEANS_EPSILON: f64 = 0.05;
/// How the model is sampled for the means family. Random first states: on a trained model of 784 x
/// 500 units the mean-field state leads all chains into one region (449.6 instead of 451.0).
const MEANS: Sampling = Sampling {
    sampler: crate::start::Sampler::Gibbs,
    initial: InitialState::Random,
    samples: 512,
    steps: 100,
    layout: crate::start::ChainLayout::Parallel,
    epsilon: MEANS_EPSILON,
};

/// Islands `first..first + count` of a family.
fn places(
    first: usize,
    count: usize,
    chains: usize,
    seed: u64,
    purpose: Purpose,
) -> Vec<IslandPlace> {
    (first..first + count).map(|index| IslandPlace { index, chains, seed, purpose }).collect()
}

/// Runs islands in parallel and counts them in order; `None` if the observer stopped one.
fn run_islands(
    annealer: &dyn Anneals,
    betas: &[f64],
    places: Vec<IslandPlace>,
    core: &Core,
    tally: &mut Tally,
    observer: &dyn Observer,
) -> Option<()> {
    let islands: Option<Vec<_>> =
        places.into_par_iter().map(|place| annealer.island(betas, place, observer)).collect();
    islands?.iter().for_each(|island| tally.add(island, core));
    Some(())
}

/// Leaves out families whose trial lies clearly below the highest; the others share the main run by
/// the inverse variance of their trials.
fn share_by_trial(families: &mut [FamilyReport]) {
    let Some(best) = families.iter().max_by(|a, b| a.trial_log_z.total_cmp(&b.trial_log_z)) else {
        return;
    };
    let (best, best_error) = (best.trial_log_z, best.trial_error);
    for family in families.iter_mut() {
        let error = family.trial_error.hypot(best_error);
        if family.trial_log_z > best - 0.15 - 2.5 * error.min(2.0) {
            // No family is better than an error of 2% can tell.
            family.share = 1.0 / (family.trial_error.powi(2) + 0.02f64.powi(2));
        }
    }
    // A family that would hardly count is not worth its time.
    let total: f64 = families.iter().map(|family| family.share).sum();
    let counts = |family: &FamilyReport| family.share > LEAST_SHARE * total;
    families.iter_mut().filter(|family| !counts(family)).for_each(|family| family.share = 0.0);
    let total: f64 = families.iter().map(|family| family.share).sum();
    families.iter_mut().for_each(|family| family.share /= total);
}

/// 95% interval of log Z: symmetric on the scale of Z by Student's t, and not below the core.
///
/// Chains that all agree still say no more than that what they have not seen is probably below 3 / n
/// of Z (the rule of three).
fn interval(summary: &Summary, islands: usize, log_core: f64) -> [f64; 2] {
    let reach = student_95(islands.saturating_sub(1)) * summary.relative_error;
    let lower = if reach < 1.0 { summary.log_z + (-reach).ln_1p() } else { log_core };
    let unseen = 3.0 / summary.weights_ess.max(1.0);
    [lower.max(log_core), summary.log_z + reach.max(unseen).ln_1p()]
}

/// Two-sided 95% quantile of Student's t (Cornish and Fisher's expansion; within 1% from 5 on).
fn student_95(freedom: usize) -> f64 {
    let z: f64 = 1.959_963_984_540_054;
    let n = freedom.max(1) as f64;
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
}
