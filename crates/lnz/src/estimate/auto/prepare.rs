//! Everything that is fixed before the main run: known states, phases, fitted starts, trials, the design.

use super::cells::cells;
use super::core::{Core, pack};
use super::design::Design;
use super::fit::{Fitted, fit, fit_whole};
use super::modes::find_modes;
use super::sampler::{ISLAND, Pool, Run, Sampler, State};
use super::schedule::{Pilot, schedule};
use super::search::{Found, search};
use super::tally::{Chain, Shares, Summary, Tally};
use super::{Auto, Family, FamilyReport};
use crate::check::Measured;
use crate::energy::check_resolved;
use crate::observer::{Observer, Phase, Progress};
use crate::{Rbm, Result, Start};
use lnz_kernels::FreeEnergy;
use lnz_kernels::random::{Purpose, Random};
use serde::Serialize;

/// Intervals of the trial of the fitted starts, its chains with one start (twice as many with several), and
/// of each start at least.
pub(super) const TRIAL_BETAS: usize = 1024;
const TRIAL_CHAINS: usize = 256;
const LEAST_CHAINS: usize = 32;
/// Particles of the pilot of the flips, and intervals and islands of their trial.
const PARTICLES: usize = 64;
const FLIP_BETAS: usize = 448;
const FLIP_ISLANDS: usize = 8;
/// Flips per step at most: each costs as much as many units of a Gibbs step.
const MOST_FLIPS: usize = 6;
/// Islands that are so far below the fitted starts need no more of them.
const HOPELESS: f64 = 5.0;
/// A core with a smaller share of Z is not worth its trouble.
const LEAST_CORE: f64 = 1e-3;
/// Trials that differ by less than this, whatever their errors, find the same.
const SAME: f64 = 0.15;

/// A model with its layers in both orders.
pub(super) struct Layers {
    large: Rbm,
    small: Rbm,
}

impl Layers {
    pub(super) fn of(model: &Rbm) -> Result<Self> {
        check_resolved(model)?;
        let (this, that) = (model.clone(), model.transposed()?);
        Ok(match model.visible() >= model.hidden() {
            true => Self { large: this, small: that },
            false => Self { large: that, small: this },
        })
    }
}

/// What the main run is made from.
pub(super) struct Prepared<'a> {
    pub(super) sampler: Sampler<'a>,
    pub(super) flips: FlipsWay<'a>,
    pub(super) core: Core,
    /// The exact sum over the core takes the place of what the chains see of it.
    pub(super) with_core: bool,
    pub(super) fitted: Fitted,
    pub(super) design: Design,
    pub(super) found: Found,
    /// States of the trial with their log weights.
    pub(super) pool: Pool,
    pub(super) trial: Summary,
    pub(super) flips_trial: Summary,
    /// The way of the main run.
    pub(super) way: Family,
}

/// The way from the uniform distribution of the smaller layer, with flips and resampling.
pub(super) struct FlipsWay<'a> {
    pub(super) sampler: Sampler<'a>,
    pilot: Pilot,
    flips: usize,
    start: Start,
    /// What the pilot makes of log Z.
    pilot_log_z: f64,
    pub(super) trial_states: Pool,
}

impl<'a> FlipsWay<'a> {
    fn new(sampler: Sampler<'a>) -> Result<(Self, Vec<State>)> {
        let n = sampler.large.visible();
        let flips = n.div_ceil(10).clamp(2, MOST_FLIPS);
        let mut pilot = Pilot::default();
        let ends = sampler.pilot(flips, PARTICLES, &mut pilot)?;
        let (start, pilot_log_z) = (Start::uniform(n), ends.log_z());
        let way = Self { sampler, pilot, flips, start, pilot_log_z, trial_states: vec![] };
        Ok((way, ends.states))
    }

    /// Resampled islands.
    pub(super) fn islands(
        &mut self,
        betas: usize,
        islands: usize,
        core: &Core,
    ) -> Result<Vec<Chain>> {
        let betas = self.pilot.schedule(betas);
        let (chains, resampled) = (islands * ISLAND, Some(ISLAND));
        let run = Run { start: &self.start, betas: &betas, chains, resampled, others: true };
        let ends = self.sampler.anneal_flipping(&run, self.flips)?;
        let chain = |(sample, state): (&f64, &State)| Chain {
            sample: *sample,
            cell: 0,
            known: core.contains(&pack(state)),
        };
        let found = ends.samples.iter().zip(&ends.states).map(chain).collect();
        let size = (chains as f64).ln();
        self.trial_states.extend(ends.samples.iter().map(|s| s - size).zip(ends.others));
        Ok(found)
    }
}

/// The chains of one fitted start, and the states in which they ended.
pub(super) fn from_start(
    sampler: &Sampler<'_>,
    fitted: &Fitted,
    core: &Core,
    start: &Start,
    chains: usize,
    betas: &[f64],
) -> Result<(Vec<Chain>, Vec<State>)> {
    let others = core.states() > 0;
    let run = Run { start, betas, chains, resampled: None, others };
    let ends = sampler.anneal(&run)?;
    let cells = cells(&fitted.phases, &ends.states);
    let known = |i: usize| others && core.contains(&pack(&ends.others[i]));
    let chain = |i: usize| Chain { sample: ends.samples[i], cell: cells[i], known: known(i) };
    Ok(((0..chains).map(chain).collect(), ends.states))
}

/// Flips have one cell and account for all of it.
pub(super) fn alone() -> Shares {
    vec![vec![1.0]]
}

pub(super) fn prepare<'a>(
    layers: &'a Layers,
    settings: &Auto,
    observer: &'a dyn Observer,
) -> Result<Prepared<'a>> {
    let stage = |done: u64| {
        observer.progress(Progress::new(Phase::Prepare, done, 5));
    };
    let Layers { large, small } = layers;
    let seed = settings.seed;
    let sampler = Sampler::new([large, small], settings.precision, seed, observer);
    let mut random = Random::stream(seed, Purpose::Modes, 1 << 50);
    stage(0);
    let (mut flips, pilot_states) = FlipsWay::new(sampler.swapped())?;
    stage(1);
    let free_energy = FreeEnergy::new(small);
    let modes = find_modes(&free_energy, pilot_states, seed, observer);
    let constant = large.constant();
    let core = Core::build(&free_energy, &modes, settings.core, constant, observer);
    stage(2);
    let found =
        search(&sampler, &flips.sampler, settings.data_means.as_ref(), &mut random, observer)?;
    stage(3);
    let fitted = fit(&sampler, &found, &mut random)?;
    stage(4);
    let starts = fitted.starts();
    let betas = schedule(TRIAL_BETAS);
    let all = sampler.fewer(TRIAL_CHAINS) * if starts.len() > 1 { 2 } else { 1 };
    let count = (all / starts.len()).max(LEAST_CHAINS);
    let mut tally = Tally::new(starts.len(), 1);
    let mut states = Vec::new();
    for (k, product) in starts.iter().enumerate() {
        let (chains, ends) = from_start(&sampler, &fitted, &core, &product.start, count, &betas)?;
        tally.chains[k] = chains;
        states.push(ends);
    }
    let design = Design::from_trial(&tally, fitted.phases.len());
    let log_weight = |k: usize, chain: &Chain| {
        chain.sample + design.shares[k][chain.cell].ln() - (tally.chains[k].len() as f64).ln()
    };
    let pool = states.into_iter().enumerate().flat_map(|(k, states)| {
        let log_weights: Vec<f64> = tally.chains[k].iter().map(|c| log_weight(k, c)).collect();
        log_weights.into_iter().zip(states)
    });
    let pool: Pool = pool.filter(|(w, _)| *w > f64::NEG_INFINITY).collect();
    let by = |with: bool| tally.summary(&design.shares, &core, with);
    // Most of Z is better known exactly; a part of it where that makes the error smaller.
    let share = (core.log_z - by(false).log_z).exp();
    let with_core = share > 0.5 || (share > LEAST_CORE && by(true).error < by(false).error);
    let trial = by(with_core);
    let flips_trial = try_flips(&mut flips, &core, trial.weights.log_z)?;
    let way = choose(trial.weights, flips_trial.weights);
    let with_core = match way {
        Family::Phases => with_core,
        Family::Flips => core.log_z > flips_trial.log_z - std::f64::consts::LN_2,
    };
    stage(5);
    Ok(Prepared {
        sampler,
        flips,
        core,
        with_core,
        fitted,
        design,
        found,
        pool,
        trial,
        flips_trial,
        way,
    })
}

/// A few islands first; more unless they find nothing. Flips are dear on large models, so that a pilot
/// far below leads to a short look only.
fn try_flips(flips: &mut FlipsWay<'_>, core: &Core, fitted: f64) -> Result<Summary> {
    let mut tally = Tally::new(1, ISLAND);
    let hopeless = flips.pilot_log_z < fitted - 2.0 * HOPELESS;
    let betas = if hopeless { FLIP_BETAS / 4 } else { FLIP_BETAS };
    for islands in [2, FLIP_ISLANDS - 2] {
        tally.chains[0].extend(flips.islands(betas, islands, core)?);
        if tally.summary(&alone(), core, false).log_z < fitted - HOPELESS {
            break;
        }
    }
    // All islands together are one estimate.
    let size = (FLIP_ISLANDS as f64 / (tally.chains[0].len() / ISLAND) as f64).ln();
    flips.trial_states.iter_mut().for_each(|(weight, _)| *weight -= size);
    Ok(tally.summary(&alone(), core, false))
}

/// The fitted starts, unless flips find clearly more, or find no less and know it better.
fn choose(fitted: Measured, flips: Measured) -> Family {
    let allowed = SAME + 2.5 * fitted.error.hypot(flips.error).min(2.0);
    let more = flips.log_z > fitted.log_z + allowed;
    let less = flips.log_z < fitted.log_z - allowed;
    if more || (!less && flips.error < fitted.error) { Family::Flips } else { Family::Phases }
}

impl Prepared<'_> {
    pub(super) fn chain_steps(&self) -> u64 {
        self.sampler.chain_steps() + self.flips.sampler.chain_steps()
    }

    /// What the trials have found.
    pub(super) fn trials(&self) -> Vec<FamilyReport> {
        let report = |family: Family, summary: &Summary| FamilyReport {
            family,
            trial_log_z: summary.weights.log_z,
            trial_error: summary.weights.error,
            share: f64::from(u8::from(family == self.way)),
            log_z: None,
            std_error: None,
            weights: None,
        };
        vec![report(Family::Phases, &self.trial), report(Family::Flips, &self.flips_trial)]
    }
}

/// What a quick search says about a model, for comparison with the result of another method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SecondOpinion {
    /// log of an exact sum over some states: log Z is not below it.
    pub lower_bound: f64,
    /// Short runs from other starts.
    pub trials: Vec<FamilyReport>,
}

/// Searches for modes and makes short runs from a fitted start and with flips, with about half a million
/// chain-steps.
pub fn second_opinion(model: &Rbm, seed: u64, observer: &dyn Observer) -> Result<SecondOpinion> {
    if model.hidden() == 0 {
        let lower_bound = crate::exact_log_z(model, observer)?;
        return Ok(SecondOpinion { lower_bound, trials: vec![] });
    }
    let layers = Layers::of(model)?;
    let settings = Auto { seed, ..Auto::default() };
    let precision = settings.precision;
    let sampler = Sampler::new([&layers.large, &layers.small], precision, seed, observer);
    let mut random = Random::stream(seed, Purpose::Modes, 1 << 50);
    let (mut flips, pilot_states) = FlipsWay::new(sampler.swapped())?;
    let free_energy = FreeEnergy::new(&layers.small);
    let modes = find_modes(&free_energy, pilot_states, seed, observer);
    let core = Core::build(&free_energy, &modes, settings.core, model.constant(), observer);
    let found = search(&sampler, &flips.sampler, None, &mut random, observer)?;
    let (_, whole) = fit_whole(&sampler, &found, &mut random)?;
    let flips = try_flips(&mut flips, &core, whole.log_z)?;
    let report = |family: Family, found: Measured| FamilyReport {
        family,
        trial_log_z: found.log_z,
        trial_error: found.error,
        share: 0.0,
        log_z: None,
        std_error: None,
        weights: None,
    };
    let trials = vec![report(Family::Phases, whole), report(Family::Flips, flips.weights)];
    Ok(SecondOpinion { lower_bound: core.log_z, trials })
}
