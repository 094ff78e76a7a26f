//! Phases: groups of chains that sweeps of the model do not join.

use super::effort::{STATES, STAYING};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

/// Two chains are in one phase if they are no farther apart than twice what a chain moves by itself.
const REACH: f32 = 2.0;
/// What a chain moves is that of the quietest fifth: those that do not wander between phases.
const QUIETEST: usize = 5;

/// The means of each phase, from the means of chains over two windows, one after the other.
/// `heights` say which phases matter most.
pub(super) fn phases(
    before: &Array2<f32>,
    after: &Array2<f32>,
    heights: &[f64],
) -> Vec<Array1<f64>> {
    let centres = spread_out(after, heights, reach(before, after));
    let (centres, now) = settled(after, centres);
    let earlier = nearest_of_all(before, &centres);
    let joined = joined(centres.len(), &earlier, &now);
    let of: Vec<usize> = now.iter().map(|&centre| joined[centre]).collect();
    let mut labels = of.clone();
    labels.sort_unstable();
    labels.dedup();
    labels.iter().map(|label| mean_of(after, &of, *label).mapv(f64::from)).collect()
}

/// The sum of squares, in lanes of its own so that they can be added side by side.
fn distance(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> f32 {
    let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else {
        return a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    };
    let mut lanes = [0.0_f32; 16];
    for (a, b) in a.chunks(16).zip(b.chunks(16)) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += (a - b) * (a - b);
        }
    }
    lanes.iter().sum()
}

fn reach(before: &Array2<f32>, after: &Array2<f32>) -> f32 {
    let rows = before.rows().into_iter().zip(after.rows());
    let mut moved: Vec<f32> = rows.map(|(a, b)| distance(a, b)).collect();
    moved.sort_by(f32::total_cmp);
    // A unit's worth of difference is nothing, however cold the model.
    (REACH * moved[moved.len() / QUIETEST]).max(1.0)
}

/// Chains that are farther from each other than `reach`, and near enough to all others: at most as many as are
/// looked at closely, half of them the highest ones, half those that are farthest from all others.
fn spread_out(means: &Array2<f32>, heights: &[f64], reach: f32) -> Vec<Array1<f32>> {
    let mut centres = Vec::new();
    let mut nearest = vec![f32::INFINITY; means.nrows()];
    while centres.len() < STATES {
        let height = |k: usize| if nearest[k] > reach { heights[k] } else { f64::NEG_INFINITY };
        let next = match centres.len() < STATES / 2 {
            true => (0..nearest.len()).fold(0, |a, b| if height(b) > height(a) { b } else { a }),
            false => (0..nearest.len()).fold(0, |a, b| if nearest[b] > nearest[a] { b } else { a }),
        };
        if nearest[next] <= reach {
            break;
        }
        for (k, row) in means.rows().into_iter().enumerate() {
            nearest[k] = nearest[k].min(distance(row, means.row(next)));
        }
        centres.push(means.row(next).to_owned());
    }
    centres
}

/// A few rounds of moving each centre to the mean of its chains.
fn settled(means: &Array2<f32>, mut centres: Vec<Array1<f32>>) -> (Vec<Array1<f32>>, Vec<usize>) {
    let mut of = nearest_of_all(means, &centres);
    for _ in 0..3 {
        for (k, centre) in centres.iter_mut().enumerate() {
            if of.contains(&k) {
                *centre = mean_of(means, &of, k);
            }
        }
        of = nearest_of_all(means, &centres);
    }
    (centres, of)
}

fn nearest_of_all(means: &Array2<f32>, centres: &[Array1<f32>]) -> Vec<usize> {
    let nearest = |row: ArrayView1<'_, f32>| {
        let distances: Vec<f32> = centres.iter().map(|c| distance(row, c.view())).collect();
        (0..distances.len()).fold(0, |a, b| if distances[b] < distances[a] { b } else { a })
    };
    (0..means.nrows()).into_par_iter().map(|k| nearest(means.row(k))).collect()
}

fn mean_of(means: &Array2<f32>, of: &[usize], label: usize) -> Array1<f32> {
    let members: Vec<usize> = (0..of.len()).filter(|&k| of[k] == label).collect();
    means.select(Axis(0), &members).sum_axis(Axis(0)) / members.len().max(1) as f32
}

/// The label of each centre after those have become one between which most chains do not stay where they were.
fn joined(centres: usize, earlier: &[usize], now: &[usize]) -> Vec<usize> {
    let mut moved = Array2::<f64>::zeros((centres, centres));
    for (&from, &to) in earlier.iter().zip(now) {
        moved[[from, to]] += 1.0;
    }
    let count = &moved.sum_axis(Axis(0)) + &moved.sum_axis(Axis(1));
    connected(centres, |a, b| {
        let exchanged = moved[[a, b]] + moved[[b, a]];
        exchanged / count[a].min(count[b]).max(1.0) > 1.0 - STAYING
    })
}

/// The smallest member of the connected component of each element; `linked` is symmetric.
pub(super) fn connected(n: usize, linked: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut of: Vec<usize> = (0..n).collect();
    for a in 0..n {
        for b in 0..a {
            if of[a] != of[b] && linked(a, b) {
                let (low, high) = (of[a].min(of[b]), of[a].max(of[b]));
                of.iter_mut().filter(|label| **label == high).for_each(|label| *label = low);
            }
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_that_stay_apart_are_phases_and_those_that_mix_are_one() {
        // Ten chains near zero, ten near one, and ten that go from one half to the other.
        let still = |k: usize, i: usize| if k < 10 { 0.0 } else { f32::from((i % 7) < 6) };
        let mixing = |k: usize, i: usize, t: usize| f32::from((i + k + t).is_multiple_of(2));
        let window = |t: usize| {
            Array2::from_shape_fn((30, 20), |(k, i)| match k {
                0..20 => still(k, i),
                _ => mixing(k, i, t),
            })
        };
        let found = phases(&window(0), &window(1), &[0.0; 30]);
        assert_eq!(found.len(), 3);
        assert!(found.iter().any(|means| means.sum() == 0.0));
    }

    #[test]
    fn links_are_followed_through_others() {
        assert_eq!(connected(5, |a, b| a.abs_diff(b) == 2), [0, 1, 0, 1, 0]);
    }
}
