//! The way back: from states of the model to the starts, with the schedule of the main run.
//!
//! A state x of the model is led back to start k with probability A_kc of its cell c. The weight of that
//! path is what a chain from k that had ended in x would have: with W = w A_kc n / n_k, both directions
//! are samples of one work distribution (Crooks). Where the way back finds W far above Z, chains of the
//! main run end far too seldom: that mass is not reached.

use super::cells::cells;
use super::prepare::{Prepared, TRIAL_BETAS};
use super::sampler::{State, drawn};
use crate::Result;
use crate::math::log_sum_exp;
use lnz_kernels::random::Random;

/// States of a source that are led back at most.
const STATES: usize = 128;
/// Sweeps before that: what was drawn twice goes apart.
const SWEEPS: usize = 50;
/// Work on the way back is normal about log Z + s^2 / 2, if that on the way there is about log Z - s^2 / 2
/// with variance s^2. Beyond this many s a state is not reached, and never within e^3.
const DEVIATIONS: f64 = 3.0;
const LEAST_EXCESS: f64 = 3.0;

/// What the way back has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Backward {
    /// Bennett's acceptance ratio of both directions.
    pub(super) log_z: f64,
    /// The mass that the chains of the main run do not reach, relative to Z, and its error.
    pub(super) unreached: f64,
    pub(super) unreached_error: f64,
}

/// From the states of both trials back to the fitted starts. `forward` are the W of the main run,
/// `numbers` the chains of its starts.
pub(super) fn backward(
    prepared: &Prepared<'_>,
    forward: &[f64],
    numbers: &[usize],
    log_z: f64,
    betas: &[f64],
    random: &mut Random,
) -> Result<Backward> {
    let own = led_back(prepared, &prepared.pool, numbers, betas, random)?;
    // The variance of log w falls as 1 / betas.
    let variance = prepared.design.variance * TRIAL_BETAS as f64 / betas.len() as f64;
    let excess = (variance / 2.0 + DEVIATIONS * variance.sqrt()).max(LEAST_EXCESS);
    let mut found = unreached(&own, log_z + excess, 1.0);
    let flips = &prepared.flips.trial_states;
    // What little mass the flips have found is little that can be missed.
    let mass = (prepared.flips_trial.weights.log_z - log_z).exp().min(1.0);
    if mass > LEAST_MASS {
        let others = led_back(prepared, flips, numbers, betas, random)?;
        let by_flips = unreached(&others, log_z + excess, mass);
        if by_flips.0 > found.0 {
            found = by_flips;
        }
    }
    let log_z = acceptance_ratio(forward, &own);
    Ok(Backward { log_z, unreached: found.0, unreached_error: found.1 })
}

/// Mass below this share of Z is not looked for.
const LEAST_MASS: f64 = 0.01;

/// The part of the states that is not reached, and its error: no less than that of one state.
fn unreached(works: &[f64], highest: f64, mass: f64) -> (f64, f64) {
    let n = works.len().max(1) as f64;
    let part = works.iter().filter(|w| **w > highest).count() as f64 / n;
    (mass * part, mass * (part * (1.0 - part) / n).sqrt().max(1.0 / n))
}

fn led_back(
    prepared: &Prepared<'_>,
    pool: &[(f64, State)],
    numbers: &[usize],
    betas: &[f64],
    random: &mut Random,
) -> Result<Vec<f64>> {
    let Prepared { sampler, fitted, design, .. } = prepared;
    let log_weights: Vec<f64> = pool.iter().map(|(weight, _)| *weight).collect();
    if log_sum_exp(&log_weights) == f64::NEG_INFINITY {
        return Ok(vec![]);
    }
    let chosen = drawn(&log_weights, sampler.fewer(STATES), random);
    let first: Vec<State> = chosen.into_iter().map(|i| pool[i].1.clone()).collect();
    let (states, _) = sampler.sweep(&first, SWEEPS, 0)?;
    let homes = cells(&fitted.phases, &states);
    let starts = fitted.starts();
    let mut of_start: Vec<Vec<usize>> = vec![vec![]; starts.len()];
    for (i, &cell) in homes.iter().enumerate() {
        let mut left = random.uniform();
        let taker = (0..starts.len()).find(|&k| {
            left -= design.shares[k][cell];
            left < 0.0
        });
        of_start[taker.unwrap_or(cell)].push(i);
    }
    let total: usize = numbers.iter().sum();
    let mut works = Vec::new();
    for (k, members) in of_start.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
        let from: Vec<State> = members.iter().map(|&i| states[i].clone()).collect();
        let samples = sampler.reverse(&starts[k].start, &from, betas)?;
        let parts = (total as f64 / numbers[k] as f64).ln();
        works.extend(
            samples
                .iter()
                .zip(members)
                .map(|(sample, &i)| sample + design.shares[k][homes[i]].ln() + parts),
        );
    }
    Ok(works)
}

/// Bennett's acceptance ratio: the C for which the sum over the chains there of
/// `1 / (1 + e^(C - W) n_there / n_back)` is that over the chains back of `1 / (1 + e^(W - C) n_back / n_there)`.
fn acceptance_ratio(there: &[f64], back: &[f64]) -> f64 {
    if there.is_empty() || back.is_empty() {
        return f64::NAN;
    }
    let ratio = (there.len() as f64 / back.len() as f64).ln();
    let too_low = |c: f64| {
        let forward: f64 = there.iter().map(|w| 1.0 / (1.0 + (ratio + c - w).exp())).sum();
        let backward: f64 = back.iter().map(|w| 1.0 / (1.0 + (w - c - ratio).exp())).sum();
        forward > backward
    };
    let all = there.iter().chain(back).copied().filter(|w| w.is_finite());
    let (mut low, mut high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), w| (l.min(w), h.max(w)));
    (low, high) = (low - ratio.abs() - 50.0, high + ratio.abs() + 50.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if too_low(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::log_mean_exp;

    #[test]
    fn both_directions_of_gaussian_work_give_the_same_log_z() {
        // Forward work N(z - s^2/2, s^2) goes with backward work N(z + s^2/2, s^2).
        let mut random = Random::stream(3, lnz_kernels::random::Purpose::Model, 0);
        let (z, s, n) = (7.0, 1.5, 20_000);
        let there: Vec<f64> = (0..n).map(|_| z - s * s / 2.0 + s * random.normal()).collect();
        let back: Vec<f64> = (0..n / 2).map(|_| z + s * s / 2.0 + s * random.normal()).collect();
        let found = acceptance_ratio(&there, &back);
        // The forward mean alone has an error of sqrt((e^(s^2) - 1) / n) = 0.02; the ratio a smaller one.
        assert!((found - z).abs() < 0.04, "{found}");
        assert!((log_mean_exp(&there) - z).abs() < 0.08);
    }

    #[test]
    fn states_that_are_reached_too_seldom_are_counted() {
        let (part, error) = unreached(&[10.0, 10.5, 14.0, 9.0], 13.0, 0.5);
        assert_eq!((part, error), (0.125, 0.5 * 0.25));
    }
}
