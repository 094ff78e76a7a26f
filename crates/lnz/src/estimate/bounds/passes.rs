//! One pass over all tables: forward for the bound, back for how it depends on everything.

use super::buckets::{Bucket, Buckets};
use crate::math::{exp, ln};
use rayon::prelude::*;

/// What may be chosen freely: any choice gives a bound.
#[derive(Clone)]
pub(super) struct Choice {
    /// The weight of each bucket in Hoelder's inequality; those of a group add up to one.
    pub(super) weights: Vec<f64>,
    /// What is added to the logarithm of each bucket's table, by the units that its group shares; over
    /// a group this adds up to zero. Empty for buckets without a group.
    pub(super) shifts: Vec<Vec<f64>>,
}

/// What a forward pass leaves.
pub(super) struct Forward {
    pub(super) bound: f64,
    /// For each bucket the logarithm of its sum, by the units that are left.
    sums: Vec<Vec<f64>>,
    /// For each bucket the probability that its unit is on, given the units that are left.
    on: Vec<Vec<f64>>,
}

/// How a bound depends on the choice.
pub(super) struct Slopes {
    /// For each bucket with a group, the probabilities of the states of the shared units: the
    /// derivatives with respect to the shifts.
    pub(super) beliefs: Vec<Vec<f64>>,
    /// For each bucket with a group, the entropy of its unit given the others: the derivatives with
    /// respect to the weights.
    pub(super) entropies: Vec<f64>,
}

/// The logarithm of a bound: `w log sum over the unit of (table)^(1/w)`, bucket after bucket.
pub(super) fn forward(all: &Buckets, choice: &Choice) -> Forward {
    let count = all.buckets.len();
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); count];
    let mut on: Vec<Vec<f64>> = vec![Vec::new(); count];
    for level in &all.levels {
        let sum_out = |&id: &usize| {
            let bucket = &all.buckets[id];
            sum_out(bucket, choice.weights[id], &choice.shifts[id], &sums)
        };
        let done: Vec<_> = level.par_iter().map(sum_out).collect();
        for (&id, (sum, probability)) in level.iter().zip(done) {
            sums[id] = sum;
            on[id] = probability;
        }
    }
    // What depends on no unit is left of the last unit of each part.
    let numbers = all.buckets.iter().zip(&sums).filter(|(bucket, _)| bucket.scope.len() == 1);
    Forward { bound: numbers.map(|(_, sum)| sum[0]).sum(), sums, on }
}

fn sum_out(bucket: &Bucket, weight: f64, shift: &[f64], sums: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let rest = bucket.scope.len() - 1;
    let mut off = vec![0.0; 1 << rest];
    let mut on = Vec::with_capacity(1 << rest);
    on.push(bucket.bias);
    let mut coupling = vec![0.0; rest];
    bucket.couplings.iter().for_each(|&(place, weight)| coupling[place - 1] += weight);
    for add in coupling {
        for k in 0..on.len() {
            on.push(on[k] + add);
        }
    }
    let tables = bucket.sources.iter().map(|part| (&part.projection, &sums[part.bucket][..]));
    let shared = bucket.group.iter().map(|shared| (&shared.projection, shift));
    for (projection, table) in tables.chain(shared) {
        projection.for_each_block(|begin, outside, places| {
            let (off, on) = (&mut off[begin..], &mut on[begin..]);
            for ((off, on), &place) in off.iter_mut().zip(on).zip(places) {
                let pair = &table[2 * (outside + place as usize)..][..2];
                *off += pair[0];
                *on += pair[1];
            }
        });
    }
    for (off, on) in off.iter_mut().zip(&mut on) {
        let difference = (*on - *off) / weight;
        let small = exp(-difference.abs());
        *off += weight * (difference.max(0.0) + ln(1.0 + small));
        *on = if difference >= 0.0 { 1.0 } else { small } / (1.0 + small);
    }
    (off, on)
}

/// How the bound changes with each shift and each weight.
pub(super) fn backward(all: &Buckets, forward: &Forward) -> Slopes {
    let count = all.buckets.len();
    let mut slopes = Slopes { beliefs: vec![Vec::new(); count], entropies: vec![0.0; count] };
    // For each bucket, how probable the states of the units are that its sum depends on.
    let mut outer: Vec<Vec<f64>> = vec![Vec::new(); count];
    for level in all.levels.iter().rev() {
        let part_of = |&id: &usize| {
            let bucket = &all.buckets[id];
            let outer = if bucket.scope.len() == 1 { &[1.0][..] } else { &outer[id] };
            distribute(bucket, outer, &forward.on[id], &forward.sums)
        };
        let done: Vec<Distributed> = level.par_iter().map(part_of).collect();
        for (&id, distributed) in level.iter().zip(done) {
            for (part, table) in all.buckets[id].sources.iter().zip(distributed.sources) {
                outer[part.bucket] = table;
            }
            outer[id] = Vec::new();
            slopes.beliefs[id] = distributed.belief;
            slopes.entropies[id] = distributed.entropy;
        }
    }
    slopes
}

struct Distributed {
    sources: Vec<Vec<f64>>,
    belief: Vec<f64>,
    entropy: f64,
}

fn distribute(bucket: &Bucket, outer: &[f64], on: &[f64], sums: &[Vec<f64>]) -> Distributed {
    let marginal = |projection: &super::projection::Projection, entries: usize| {
        let mut table = vec![0.0; entries];
        projection.for_each_block(|begin, outside, places| {
            let states = outer[begin..].iter().zip(&on[begin..]);
            for ((&outer, &on), &place) in states.zip(places) {
                let pair = &mut table[2 * (outside + place as usize)..][..2];
                pair[0] += outer * (1.0 - on);
                pair[1] += outer * on;
            }
        });
        table
    };
    let sources =
        bucket.sources.iter().map(|part| marginal(&part.projection, sums[part.bucket].len()));
    let sources = sources.collect();
    let Some(shared) = &bucket.group else {
        return Distributed { sources, belief: Vec::new(), entropy: 0.0 };
    };
    let entropy_of = |p: f64| if p > 0.0 { -p * ln(p) } else { 0.0 };
    let entropies =
        outer.iter().zip(on).map(|(outer, &on)| outer * (entropy_of(on) + entropy_of(1.0 - on)));
    Distributed {
        sources,
        belief: marginal(&shared.projection, shared.entries),
        entropy: entropies.sum(),
    }
}
