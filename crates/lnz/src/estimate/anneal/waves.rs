//! Shares out chains under a time limit: wave after wave, each as large as the time that is left allows.

use super::{Finished, Run};
use crate::{Error, Rbm, Result};
use lnz_kernels::{CHAINS_PER_BUILD, GROUP, LARGEST_BLOCK, share_out};
use rayon::prelude::*;
use std::time::Instant;

/// Groups of chains that the tables of a block cost, whatever the number of its chains.
const GROUPS_FOR_TABLES: f64 = CHAINS_PER_BUILD / GROUP as f64;

/// Groups in a block at most.
const MOST_GROUPS: usize = LARGEST_BLOCK / GROUP;

/// A wave begins if it is predicted to end with this share of the time to spare.
const SPARE: f64 = 0.05;

/// Steps of the probe that predicts the first wave.
const PROBE_STEPS: usize = 3;

/// Chains in a block of a run that somebody may not want to wait for: a run that is stopped keeps the
/// blocks that have finished, and smaller ones would make it slower.
const BLOCK_OF_A_LONG_RUN: usize = 256;

/// Seconds for one chain-step of one weight in 16 bits, and of one unit that is drawn, on a processor of
/// 2020: what decides that a run is long, or too long to begin.
const SECONDS_PER_WEIGHT: f64 = 5e-12;
const SECONDS_PER_UNIT: f64 = 5e-10;
const LONG_RUN: f64 = 10.0;

/// Seconds for one chain-step of a model: what decides how work is split, or that it would take too long.
pub(in crate::estimate) fn seconds_per_step(model: &Rbm) -> f64 {
    let weights = SECONDS_PER_WEIGHT * model.weights().len() as f64;
    weights + SECONDS_PER_UNIT * (model.visible() + model.hidden()) as f64
}

/// Seconds for one flip with the other layer summed out, which looks at all of that layer's `units`: about as much as
/// two that are drawn.
pub(in crate::estimate) fn seconds_per_flip(units: usize) -> f64 {
    2.0 * SECONDS_PER_UNIT * units as f64
}

/// Seconds for the least that is a result: one group of chains on each thread.
pub(in crate::estimate) fn least_seconds(model: &Rbm, steps: usize) -> f64 {
    let weights = (1.0 + GROUPS_FOR_TABLES) * SECONDS_PER_WEIGHT * model.weights().len() as f64;
    let units = SECONDS_PER_UNIT * (model.visible() + model.hidden()) as f64;
    (GROUP * steps) as f64 * (weights + units)
}

/// Blocks without a time limit: as large as is fast, but not so large that nothing of a long run has
/// finished when it is stopped.
pub(super) fn blocks(chains: usize, steps: usize, weights: usize) -> Vec<(usize, usize)> {
    let work = chains as f64 * steps as f64 * weights as f64;
    let seconds = work * SECONDS_PER_WEIGHT / rayon::current_num_threads() as f64;
    let blocks = share_out(chains);
    match blocks.first() {
        Some(&(_, largest)) if seconds > LONG_RUN && largest > BLOCK_OF_A_LONG_RUN => {
            let groups = chains.div_ceil(GROUP);
            let step = BLOCK_OF_A_LONG_RUN / GROUP;
            let size = |first: usize| (chains - first * GROUP).min(BLOCK_OF_A_LONG_RUN);
            (0..groups).step_by(step).map(|first| (first, size(first))).collect()
        }
        _ => blocks,
    }
}

impl Run<'_> {
    /// Runs as many chains as the time allows, in their order; refuses if it does not allow one wave of
    /// the smallest blocks.
    pub(super) fn in_waves(&self, seconds: f64) -> Result<Vec<Finished>> {
        let clock = Instant::now();
        let left = || seconds - clock.elapsed().as_secs_f64();
        let threads = rayon::current_num_threads();
        let groups = self.settings.chains.div_ceil(GROUP);
        let Some(per_step) = self.probe() else { return Ok(vec![]) };
        let least = per_step * self.schedule.intervals() as f64;
        if least > left() {
            return Err(Error::TooSlow { allowed: seconds, least });
        }
        let mut finished = Vec::new();
        // Predicted for a block of one group; the wave before is the best prediction of the next.
        let (mut last, mut last_groups) = (least, 1);
        let mut next = 0;
        while next < groups {
            let predicted = |groups: usize| {
                last * (groups as f64 + GROUPS_FOR_TABLES)
                    / (last_groups as f64 + GROUPS_FOR_TABLES)
            };
            let enough = (groups - next).div_ceil(threads);
            // The probe has seen the beginning of the path alone: the first wave is a small one, unless
            // all chains would fit five times over.
            let most = match next {
                0 if 5.0 * predicted(enough.min(MOST_GROUPS)) < left() => MOST_GROUPS,
                0 => 1,
                _ => (2 * last_groups).min(MOST_GROUPS),
            };
            let fits = |groups: &usize| predicted(*groups) < (1.0 - SPARE) * left();
            let Some(size) = (1..=enough.min(most)).rev().find(fits) else { break };
            let wave: Vec<(usize, usize)> = (next..groups)
                .step_by(size)
                .take(threads)
                .map(|first| (first, (self.settings.chains - first * GROUP).min(size * GROUP)))
                .collect();
            next = (next + size * threads).min(groups);
            let begun = Instant::now();
            let blocks: Vec<Option<Finished>> =
                wave.into_par_iter().map(|(group, chains)| self.block(group, chains)).collect();
            (last, last_groups) = (begun.elapsed().as_secs_f64(), size);
            let all = blocks.iter().all(Option::is_some);
            finished.extend(blocks.into_iter().flatten());
            if !all {
                break;
            }
        }
        Ok(finished)
    }

    /// Seconds for a step of a block of one group; `None` if the observer stopped it.
    fn probe(&self) -> Option<f64> {
        let range = self.range(0, GROUP.min(self.settings.chains));
        let mut walkers = self.engine.walkers(range, self.observer);
        walkers.draw_start();
        let mut unused = vec![0.0; walkers.chains()];
        let mut fastest = f64::INFINITY;
        for _ in 0..PROBE_STEPS {
            let clock = Instant::now();
            walkers.weigh(0.5, 0.5, &mut unused);
            walkers.sweep(0.5);
            fastest = fastest.min(clock.elapsed().as_secs_f64());
            if walkers.have_stopped() {
                return None;
            }
        }
        Some(fastest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_has_blocks_that_finish_one_after_the_other() {
        let short = blocks(1024, 1024, 784 * 500);
        assert_eq!(short, share_out(1024));
        let long = blocks(4000, 1 << 16, 784 * 500);
        assert!(long.iter().all(|&(_, chains)| chains <= BLOCK_OF_A_LONG_RUN));
        let mut next = 0;
        for &(group, chains) in &long {
            assert_eq!(group * GROUP, next);
            next += chains;
        }
        assert_eq!(next, 4000);
    }
}
