//! Chooses weights and shifts so that a bound is as tight as it can be.

use super::buckets::{Buckets, Group};
use super::passes::{Choice, Slopes, backward, forward};
use crate::math::{exp, ln};
use crate::observer::{Phase, Progress};
use crate::{Error, Observer, Result};

/// Which side of log Z the bound is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// The part of the way to equal beliefs that the first step goes. All tables move at once, so that the
/// whole way is too far; 0.3 was best among 0.2 to 1 on grids and Chimera graphs.
const FIRST_STEP: f64 = 0.3;
/// A step this small gains nothing any more.
const LAST_STEP: f64 = 1e-3;
/// Probabilities below this count as this.
const LEAST_BELIEF: f64 = 1e-12;
/// The smallest weight, so that nothing is divided by zero.
const LEAST_WEIGHT: f64 = 1e-3;
/// The first weight of the negative ones of a floor.
const FIRST_NEGATIVE: f64 = -0.5;

/// The tightest bound found in so many passes, without the constant.
///
/// A step makes beliefs of a group more equal: where all are equal, no shift improves the bound (Liu
/// and Ihler, 2011, section 4.2). A step that makes the bound worse is taken back and halved.
pub(super) fn tighten(
    all: &Buckets,
    side: Side,
    passes: usize,
    observer: &dyn Observer,
) -> Result<f64> {
    let tightness = |bound: f64| match side {
        Side::Above => -bound,
        Side::Below => bound,
    };
    let mut choice = first_choice(all, side);
    let mut best = forward(all, &choice);
    if all.groups.is_empty() {
        return Ok(best.bound);
    }
    let mut slopes = backward(all, &best);
    let mut best_bound = best.bound;
    let mut step = FIRST_STEP;
    for pass in 1..passes {
        if observer.cancelled() {
            return Err(Error::Cancelled {
                reached: format!("in pass {pass} of {passes} for a bound"),
            });
        }
        let (done, total) = (pass as u64, passes as u64);
        let log_z = Some(best_bound);
        observer.progress(Progress { log_z, ..Progress::new(Phase::Bound, done, total) });
        let tried = moved(all, &choice, &slopes, side, step);
        let found = forward(all, &tried);
        if tightness(found.bound) > tightness(best_bound) {
            best_bound = found.bound;
            best = found;
            slopes = backward(all, &best);
            choice = tried;
            step = (1.1 * step).min(1.0);
        } else {
            step *= 0.5;
            if step < LAST_STEP {
                break;
            }
        }
    }
    Ok(best_bound)
}

/// Equal weights for a ceiling. For a floor one bucket of each group, the largest, has a weight above
/// one and the others have negative ones.
fn first_choice(all: &Buckets, side: Side) -> Choice {
    let mut weights = vec![1.0; all.buckets.len()];
    let mut shifts = vec![Vec::new(); all.buckets.len()];
    for group in &all.groups {
        let count = group.members.len() as f64;
        let positive = positive_member(all, group);
        for id in group.members.clone() {
            weights[id] = match side {
                Side::Above => 1.0 / count,
                Side::Below if id == positive => 1.0 - FIRST_NEGATIVE * (count - 1.0),
                Side::Below => FIRST_NEGATIVE,
            };
            shifts[id] = vec![0.0; group.entries];
        }
    }
    Choice { weights, shifts }
}

fn positive_member(all: &Buckets, group: &Group) -> usize {
    let first = group.members.start;
    group.members.clone().rev().max_by_key(|&id| all.buckets[id].scope.len()).unwrap_or(first)
}

/// The choice after a step.
fn moved(all: &Buckets, old: &Choice, slopes: &Slopes, side: Side, step: f64) -> Choice {
    let mut new = old.clone();
    for group in &all.groups {
        let members = group.members.clone();
        for state in 0..group.entries {
            let log_belief = |id: usize| ln(slopes.beliefs[id][state].max(LEAST_BELIEF));
            // The weights of a group add up to one.
            let mean: f64 = members.clone().map(|id| old.weights[id] * log_belief(id)).sum();
            for id in members.clone() {
                new.shifts[id][state] += step * old.weights[id] * (mean - log_belief(id));
            }
        }
        match side {
            Side::Above => {
                lighten(&mut new.weights[members.clone()], &slopes.entropies[members], step)
            }
            Side::Below => {
                let positive = positive_member(all, group);
                let most = slopes.entropies[positive];
                let mut rest = 0.0;
                for id in members.filter(|&id| id != positive) {
                    let factor = exp(step * (most - slopes.entropies[id]));
                    new.weights[id] = (new.weights[id] * factor).min(-LEAST_WEIGHT);
                    rest += new.weights[id];
                }
                new.weights[positive] = 1.0 - rest;
            }
        }
    }
    new
}

/// Less weight where the entropy is high, which is what a ceiling grows with.
fn lighten(weights: &mut [f64], entropies: &[f64], step: f64) {
    let mean: f64 = weights.iter().zip(entropies).map(|(weight, entropy)| weight * entropy).sum();
    for (weight, entropy) in weights.iter_mut().zip(entropies) {
        *weight = (*weight * exp(step * (mean - entropy))).max(LEAST_WEIGHT);
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
}
