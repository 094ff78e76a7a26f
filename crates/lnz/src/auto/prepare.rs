//! Everything that is fixed before the main run: modes, core, pilots and the trial of each family.

use super::core::Core;
use super::family::{Anneals, IslandPlace, Pilot};
use super::family::{flips_family, means_family, modes_family, schedule};
use super::modes::find_modes;
use super::tally::Tally;
use super::{Auto, FamilyReport};
use crate::kernel::Landscape;
use crate::observer::{Observer, Phase, Progress};
use crate::random::Purpose;
use crate::start::{ChainLayout, InitialState, Sampler, Sampling};
use crate::{Error, Rbm, Result, Start};
use rayon::prelude::*;
use serde::Serialize;

/// Islands of a trial; twice as many where they are resampled.
const TRIAL_ISLANDS: usize = 4;
/// Chains of an island in a trial and in the first round.
pub(super) const ISLAND_CHAINS: usize = 16;
/// Intervals of the schedule of a trial.
const TRIAL_BETAS: usize = 512;
/// Share of the main run below which a family is left out.
const LEAST_SHARE: f64 = 0.2;

/// How the model is sampled for the means family. Random first states: on a trained model of 784 x
/// 500 units the mean-field state leads all chains into one region (docs/decisions.md).
const MEANS: Sampling = Sampling {
    sampler: Sampler::Gibbs,
    initial: InitialState::Random,
    samples: 512,
    steps: 100,
    layout: ChainLayout::Parallel,
    epsilon: 0.05,
};

/// The core and the families, each with its pilot and its trial.
pub(super) struct Prepared {
    pub(super) core: Core,
    pub(super) ready: Vec<Ready>,
    pub(super) chain_steps: u64,
}

pub(super) struct Ready {
    pub(super) annealer: Box<dyn Anneals>,
    pub(super) pilot: Pilot,
    pub(super) report: FamilyReport,
}

/// What a quick search says about a model, to be held against the result of another method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondOpinion {
    /// log of an exact sum over some states: log Z is not below it.
    pub lower_bound: f64,
    /// Trials of the three families of starts.
    pub trials: Vec<FamilyReport>,
}

/// Searches for modes and tries the three families of starts, with about 0.2 million chain-steps.
pub fn second_opinion(model: &Rbm, seed: u64, observer: &dyn Observer) -> Result<SecondOpinion> {
    if model.hidden() == 0 {
        let lower_bound = crate::exact_log_z(model, observer)?;
        return Ok(SecondOpinion { lower_bound, trials: vec![] });
    }
    let prepared = prepare(model, &Auto { seed, ..Auto::default() }, observer)?;
    let trials = prepared.ready.iter().map(|ready| ready.report).collect();
    Ok(SecondOpinion { lower_bound: prepared.core.log_z, trials })
}

pub(super) fn prepare(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Prepared> {
    let swapped = model.transposed()?;
    let visible_is_small = model.visible() <= model.hidden();
    let (small, large) = if visible_is_small { (model, &swapped) } else { (&swapped, model) };
    let stage = |done: u64| {
        let (phase, total) = (Phase::Prepare, 4);
        observer.progress(Progress { phase, done, total, log_z: None, beta: None });
    };
    let mut chain_steps = 0;
    let mut try_out = |annealer: Option<Box<dyn Anneals>>, core: &Core| -> Result<Ready> {
        let annealer = annealer.ok_or_else(out_of_range)?;
        let pilot = annealer.pilot(settings.seed, observer).ok_or_else(stopped)?;
        let islands = TRIAL_ISLANDS * annealer.chains_factor();
        let places = places(0, islands, ISLAND_CHAINS, settings.seed, Purpose::Trial);
        let mut tally = Tally::default();
        let betas = schedule(&pilot, TRIAL_BETAS);
        run_islands(&*annealer, &betas, places, core, &mut tally, observer).ok_or_else(stopped)?;
        chain_steps += (pilot.states.len() * pilot.spread.len()) as u64;
        chain_steps += (islands * ISLAND_CHAINS * TRIAL_BETAS) as u64;
        let trial = tally.summary(core);
        let report = FamilyReport {
            family: annealer.family(),
            trial_log_z: trial.log_weights,
            trial_error: trial.weights_error,
            share: 0.0,
            log_z: None,
            std_error: None,
        };
        Ok(Ready { annealer, pilot, report })
    };
    stage(0);
    let flips = try_out(flips_family(small), &Core::default())?;
    stage(1);
    let landscape = Landscape::new(small);
    let modes = find_modes(&landscape, flips.pilot.states.clone(), settings.seed);
    if observer.cancelled() {
        return Err(stopped());
    }
    let core = Core::build(&landscape, &modes, settings.core, model.constant());
    stage(2);
    let modes = try_out(modes_family(large, &landscape, &modes), &core)?;
    stage(3);
    let means = match &settings.data_means {
        Some(means) => {
            let start = Start::from_means(means.view(), MEANS.epsilon)?;
            means_family(model, &start, !visible_is_small)
        }
        None => {
            let start = Start::sampled(large, &MEANS, settings.seed, observer)?;
            means_family(large, &start, true)
        }
    };
    let means = try_out(means, &core)?;
    if settings.data_means.is_none() {
        chain_steps += (MEANS.samples * MEANS.steps) as u64;
    }
    stage(4);
    let mut ready = vec![modes, means, flips];
    share_by_trial(&mut ready);
    Ok(Prepared { core, ready, chain_steps })
}

fn out_of_range() -> Error {
    let found = "a value near the limit of float32";
    Error::setting("weights", found, "weights below 1e30, or another method")
}

pub(super) fn stopped() -> Error {
    Error::Cancelled { reached: "while preparing the first round".into() }
}

/// Islands `first..first + count` of a family.
pub(super) fn places(
    first: usize,
    count: usize,
    chains: usize,
    seed: u64,
    purpose: Purpose,
) -> Vec<IslandPlace> {
    (first..first + count).map(|index| IslandPlace { index, chains, seed, purpose }).collect()
}

/// Runs islands in parallel and counts them in order; `None` if the observer stopped one.
pub(super) fn run_islands(
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
///
/// The weights alone decide, not the sum with the core: where the core is everything, even a family
/// that sees nothing of it would look perfect.
fn share_by_trial(ready: &mut [Ready]) {
    let highest =
        ready.iter().map(|r| r.report).max_by(|a, b| a.trial_log_z.total_cmp(&b.trial_log_z));
    let Some(best) = highest else { return };
    for FamilyReport { trial_log_z, trial_error, share, .. } in
        ready.iter_mut().map(|r| &mut r.report)
    {
        let error = trial_error.hypot(best.trial_error).min(2.0);
        if *trial_log_z > best.trial_log_z - 0.15 - 2.5 * error {
            // No trial can tell an error below 2%.
            *share = 1.0 / (trial_error.powi(2) + 0.02f64.powi(2));
        }
    }
    let total = |ready: &[Ready]| ready.iter().map(|r| r.report.share).sum::<f64>();
    let least = LEAST_SHARE * total(ready);
    ready.iter_mut().filter(|r| r.report.share < least).for_each(|r| r.report.share = 0.0);
    let total = total(ready);
    ready.iter_mut().for_each(|r| r.report.share /= total);
}
