//! The trial: what each family finds with a few chains decides which ones make the main run.

use super::FamilyReport;
use super::annealer::Annealer;
use super::core::Core;
use super::family::IslandPlace;
use super::pilot::Pilot;
use super::schedule::schedule;
use super::tally::{Summary, Tally};
use crate::observer::Observer;
use lnz_kernels::GROUP;
use lnz_kernels::random::Purpose;
use rayon::prelude::*;

/// Islands of a trial; twice as many where they are resampled.
const TRIAL_ISLANDS: usize = 4;
/// Chains of an island in a trial and in the first round.
pub(super) const ISLAND_CHAINS: usize = 16;
/// Intervals of the schedule of a trial.
const TRIAL_BETAS: usize = 448;
/// Relative error of a trial that can be told from others.
const CLEAR_TRIAL: f64 = 0.3;
/// A trial so far below another one is not repeated.
const HOPELESS: f64 = 5.0;

/// A family with its pilot, before the trial.
pub(super) struct Candidate {
    annealer: Annealer,
    pub(super) pilot: Pilot,
}

/// A family after the trial.
pub(super) struct Ready {
    pub(super) annealer: Annealer,
    pub(super) pilot: Pilot,
    pub(super) report: FamilyReport,
    /// How much of the core's exact sum replaces its sampled one; see [`Tally::summary`].
    pub(super) core_share: f64,
}

impl Candidate {
    /// Runs the pilot; `None` if the observer stopped it.
    pub(super) fn new(annealer: Annealer, seed: u64, observer: &dyn Observer) -> Option<Self> {
        let pilot = Pilot::run(&annealer, seed, observer)?;
        Some(Self { annealer, pilot })
    }

    /// What the islands say about the family.
    fn ready(self, tally: &Tally, summary: &Summary) -> Ready {
        let report = FamilyReport {
            family: self.annealer.family,
            trial_log_z: summary.log_weights,
            trial_error: summary.weights_error,
            share: 0.0,
            log_z: None,
            std_error: None,
            weights: None,
        };
        let core_share = tally.best_core_share();
        Ready { annealer: self.annealer, pilot: self.pilot, report, core_share }
    }
}

/// Tries all families, shares out the main run, and counts the chain-steps, those of the pilots
/// included; `None` if the observer stopped it.
///
/// All get a few chains first. A few that disagree say nothing: then four times as many, twice at
/// most, but not for a family that another one has left far behind.
pub(super) fn try_all(
    candidates: Vec<Candidate>,
    core: &Core,
    seed: u64,
    observer: &dyn Observer,
) -> Option<(Vec<Ready>, u64)> {
    let schedules: Vec<_> = candidates.iter().map(|c| schedule(&c.pilot, TRIAL_BETAS)).collect();
    let mut tallies: Vec<Tally> = candidates.iter().map(|_| Tally::default()).collect();
    let mut summaries: Vec<Option<Summary>> = vec![None; candidates.len()];
    let pilots = candidates.iter().map(|c| c.pilot.states.len() * c.pilot.spread.len());
    let mut chain_steps = pilots.sum::<usize>() as u64;
    for growth in [1, 4, 16] {
        let highest =
            summaries.iter().flatten().map(|s| s.log_weights).fold(f64::NEG_INFINITY, f64::max);
        for (k, candidate) in candidates.iter().enumerate() {
            let is_clear =
                |s: &Summary| s.is_settled(CLEAR_TRIAL) || s.log_weights < highest - HOPELESS;
            if summaries[k].as_ref().is_some_and(is_clear) {
                continue;
            }
            let annealer = &candidate.annealer;
            let (islands, chains) =
                (TRIAL_ISLANDS * annealer.chains_factor(), ISLAND_CHAINS * growth);
            let places = places(&tallies[k], islands, chains, seed, Purpose::Trial);
            run_islands(annealer, &schedules[k], places, core, &mut tallies[k], observer)?;
            chain_steps += (islands * chains * TRIAL_BETAS) as u64;
            summaries[k] = Some(tallies[k].summary(core, 0.0));
        }
    }
    let summaries: Option<Vec<Summary>> = summaries.into_iter().collect();
    let tried = candidates.into_iter().zip(&tallies).zip(summaries?);
    let mut ready: Vec<Ready> =
        tried.map(|((candidate, tally), summary)| candidate.ready(tally, &summary)).collect();
    share_by_trial(&mut ready);
    Some((ready, chain_steps))
}

/// The next islands of a family, with random numbers that none before them used.
pub(super) fn places(
    tally: &Tally,
    islands: usize,
    chains: usize,
    seed: u64,
    purpose: Purpose,
) -> Vec<IslandPlace> {
    let (index, group) = (tally.islands(), tally.groups());
    let place = |k: usize| IslandPlace {
        index: index + k,
        group: group + k * chains.div_ceil(GROUP),
        chains,
        seed,
        purpose,
    };
    (0..islands).map(place).collect()
}

/// Runs islands in parallel and counts them in order; `None` if the observer stopped one.
pub(super) fn run_islands(
    annealer: &Annealer,
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
