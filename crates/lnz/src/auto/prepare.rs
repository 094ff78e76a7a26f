//! Everything that is fixed before the main run: modes, core, pilots and the trial of each family.

use super::core::Core;
use super::family::{Anneals, Family, IslandPlace, Pilot};
use super::family::{flips_family, means_family, modes_family};
use super::modes::find_modes;
use super::schedule::schedule;
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
/// Relative error of a trial that can be told from others.
const CLEAR_TRIAL: f64 = 0.3;
/// A trial so far below another one is not repeated.
const HOPELESS: f64 = 5.0;

/// How the model is sampled for the means family. Neither first state is enough: on one trained model
/// of 784 x 500 units the mean-field state leads all chains into one region, on another random states
/// do (docs/decisions.md).
const MEANS: Sampling = Sampling {
    sampler: Sampler::Gibbs,
    initial: InitialState::Random,
    samples: 320,
    steps: 100,
    layout: ChainLayout::Parallel,
    epsilon: 0.05,
};

/// The same from the mean-field state; all chains begin alike, so fewer tell as much.
const MEAN_FIELD: Sampling = Sampling { initial: InitialState::MeanField, samples: 128, ..MEANS };

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
    /// How much of the core's exact sum replaces its sampled one; see [`Tally::summary`].
    pub(super) core_share: f64,
}

/// What a quick search says about a model, to be held against the result of another method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondOpinion {
    /// log of an exact sum over some states: log Z is not below it.
    pub lower_bound: f64,
    /// Trials of the families of starts.
    pub trials: Vec<FamilyReport>,
}

/// Searches for modes and tries the families of starts, with about 0.2 million chain-steps.
pub fn second_opinion(model: &Rbm, seed: u64, observer: &dyn Observer) -> Result<SecondOpinion> {
    if model.hidden() == 0 {
        let lower_bound = crate::exact_log_z(model, observer)?;
        return Ok(SecondOpinion { lower_bound, trials: vec![] });
    }
    let prepared = prepare(model, &Auto { seed, ..Auto::default() }, observer)?;
    let trials = prepared.ready.iter().map(|ready| ready.report).collect();
    Ok(SecondOpinion { lower_bound: prepared.core.log_z, trials })
}

/// Sum of all |weights| and |biases| up to which float64 resolves log Z to 0.002 nats.
const MOST_ENERGY: f64 = 1e13;

/// Refuses energies that swallow a factor in Z.
fn check_energy(model: &Rbm) -> Result<()> {
    let biases = model.visible_bias().into_iter().chain(model.hidden_bias());
    let energy: f64 = model.weights().iter().chain(biases).map(|v| v.abs()).sum();
    if energy > MOST_ENERGY {
        let found = format!("so large that the energies reach {energy:.1e}");
        let expected = format!("energies below {MOST_ENERGY:e}, where float64 resolves log Z");
        return Err(Error::setting("weights", found, expected));
    }
    Ok(())
}

pub(super) fn prepare(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Prepared> {
    check_energy(model)?;
    let swapped = model.transposed()?;
    let visible_is_small = model.visible() <= model.hidden();
    let (small, large) = if visible_is_small { (model, &swapped) } else { (&swapped, model) };
    let stage = |done: u64| {
        let (phase, total) = (Phase::Prepare, 4);
        observer.progress(Progress { phase, done, total, log_z: None, beta: None });
    };
    let mut chain_steps = 0;
    let pilot = |annealer: Option<Box<dyn Anneals>>| -> Result<(Box<dyn Anneals>, Pilot)> {
        let annealer = annealer.ok_or_else(out_of_range)?;
        let pilot = annealer.pilot(settings.seed, observer).ok_or_else(stopped)?;
        Ok((annealer, pilot))
    };
    let mut highest = f64::NEG_INFINITY;
    let mut trial = |(annealer, pilot): (Box<dyn Anneals>, Pilot), core: &Core| -> Result<Ready> {
        let betas = schedule(&pilot, TRIAL_BETAS);
        let mut tally = Tally::default();
        let mut summary = None;
        // A few chains that disagree say nothing: then four times as many, twice at most.
        for growth in [1, 4, 16] {
            let (islands, chains) =
                (TRIAL_ISLANDS * annealer.chains_factor(), ISLAND_CHAINS * growth);
            let places =
                places(tally.next_island(), islands, chains, settings.seed, Purpose::Trial);
            run_islands(&*annealer, &betas, places, core, &mut tally, observer)
                .ok_or_else(stopped)?;
            chain_steps += (islands * chains * TRIAL_BETAS) as u64;
            let now = *summary.insert(tally.summary(core, 0.0));
            highest = highest.max(now.log_weights);
            if now.is_settled(CLEAR_TRIAL) || now.log_weights < highest - HOPELESS {
                break;
            }
        }
        chain_steps += (pilot.states.len() * pilot.spread.len()) as u64;
        let Some(summary) = summary else { return Err(stopped()) };
        let core_share = tally.best_core_share();
        let report = FamilyReport {
            family: annealer.family(),
            trial_log_z: summary.log_weights,
            trial_error: summary.weights_error,
            share: 0.0,
            log_z: None,
            std_error: None,
            weights: None,
        };
        Ok(Ready { annealer, pilot, report, core_share })
    };
    stage(0);
    let flips = pilot(flips_family(small))?;
    stage(1);
    let landscape = Landscape::new(small);
    let modes = find_modes(&landscape, flips.1.states.clone(), settings.seed, observer);
    let core = Core::build(&landscape, &modes, settings.core, model.constant(), observer);
    if observer.cancelled() {
        return Err(stopped());
    }
    stage(2);
    let flips = trial(flips, &core)?;
    let modes = trial(pilot(modes_family(large, &landscape, &modes))?, &core)?;
    stage(3);
    let means = match &settings.data_means {
        Some(means) => {
            let start = Start::from_means(means.view(), MEANS.epsilon)?;
            means_family(Family::Means, model, &start, !visible_is_small)
        }
        None => {
            let start = Start::sampled(large, &MEANS, settings.seed, observer)?;
            means_family(Family::Means, large, &start, true)
        }
    };
    let means = trial(pilot(means)?, &core)?;
    let mut ready = vec![modes, means, flips];
    let start = Start::sampled(large, &MEAN_FIELD, settings.seed, observer)?;
    let mean_field = pilot(means_family(Family::MeanField, large, &start, true))?;
    ready.push(trial(mean_field, &core)?);
    chain_steps += (MEAN_FIELD.samples * MEAN_FIELD.steps) as u64;
    if settings.data_means.is_none() {
        chain_steps += (MEANS.samples * MEANS.steps) as u64;
    }
    stage(4);
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

/// Leaves out families whose trial lies clearly below the highest; the highest and the next share the
/// main run by the inverse variance of their trials, but neither has less than a quarter.
///
/// The weights alone decide, not the sum with the core: where the core is everything, even a family
/// that sees nothing of it would look perfect. And the highest takes part whatever its error: a small
/// error at a low value is how missed mass looks.
fn share_by_trial(ready: &mut [Ready]) {
    let mut order: Vec<usize> = (0..ready.len()).collect();
    order.sort_by(|&a, &b| ready[b].report.trial_log_z.total_cmp(&ready[a].report.trial_log_z));
    let best = ready[order[0]].report;
    let agrees = |report: &FamilyReport| {
        let error = report.trial_error.hypot(best.trial_error).min(2.0);
        report.trial_log_z > best.trial_log_z - 0.15 - 2.5 * error
    };
    // No trial can tell an error below 2%.
    let precision = |report: &FamilyReport| 1.0 / (report.trial_error.powi(2) + 0.02f64.powi(2));
    let second = order[1..]
        .iter()
        .copied()
        .filter(|&k| agrees(&ready[k].report))
        .max_by(|&a, &b| precision(&ready[a].report).total_cmp(&precision(&ready[b].report)));
    let share = second.map_or(0.0, |k| {
        let (a, b) = (precision(&best), precision(&ready[k].report));
        (b / (a + b)).clamp(0.25, 0.75)
    });
    ready[order[0]].report.share = 1.0 - share;
    if let Some(k) = second {
        ready[k].report.share = share;
    }
}
