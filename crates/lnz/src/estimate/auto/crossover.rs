//! Exchange of groups: from two states, those that differ from one of them in a single group of units.
//!
//! A model of weakly joined blocks has a phase for each combination of theirs, and two states that differ in
//! several blocks lead to those between them. Where there are no blocks but local order, as in a band or a
//! lattice, states differ in domains, and the best of each can be had (the clusters of Houdayer).

use super::effort::STATES;
use super::sampler::{Guess, State};
use crate::Rbm;
use crate::math::{ln, sigmoid};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;

/// A unit differs between two states if its means are this far apart.
const DIFFERENT: f64 = 0.3;
/// A coupling is strong above this share of the strongest of its units.
const STRONG: f64 = 0.25;
/// Groups of a pair that are exchanged at most, and units of a group worth the name.
const GROUPS: usize = 8;
const SMALLEST: usize = 4;

/// The log of the weight of a phase with these means, as mean-field theory has it: energy and entropy.
pub(super) fn log_weight(model: &Rbm, means: &Array1<f64>) -> f64 {
    let inner = means.iter().filter(|&&m| m > 0.0 && m < 1.0);
    let entropy: f64 = inner.map(|&m| -m * ln(m) - (1.0 - m) * ln(1.0 - m)).sum();
    model.log_marginal(means.view()) + entropy
}

/// Exchanges of one group between the phase of highest weight and other states, the highest first. An
/// exchange that leads higher becomes the one that the next ones are compared with.
pub(super) fn exchanges(model: &Rbm, means: &Array2<f32>, log_weights: &[f64]) -> Vec<Guess> {
    let mut order: Vec<usize> = (0..log_weights.len()).collect();
    order.sort_by(|&a, &b| log_weights[b].total_cmp(&log_weights[a]));
    let hidden = |means: &Array1<f64>| model.hidden_input(means.view()).mapv(sigmoid);
    let mut highest = means.row(order[0]).mapv(f64::from);
    let mut highest_hidden = hidden(&highest);
    let mut top = log_weights[order[0]];
    let mut found: BTreeMap<State, f64> = BTreeMap::new();
    for &k in order[1..].iter().take(STATES) {
        let other = means.row(k).mapv(f64::from);
        let other_hidden = hidden(&other);
        for group in groups(model, [&highest, &other], [&highest_hidden, &other_hidden]) {
            let mut child = highest.clone();
            group.iter().for_each(|&unit| child[unit] = other[unit]);
            let height = log_weight(model, &child);
            found.insert(rounded(&child), height);
            if height > top {
                (highest, top) = (child, height);
                highest_hidden = hidden(&highest);
            }
        }
    }
    let mut found: Vec<(State, f64)> = found.into_iter().collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().take(STATES).map(|(state, _)| ("exchange of groups", state)).collect()
}

fn rounded(means: &Array1<f64>) -> State {
    means.iter().map(|&m| m > 0.5).collect()
}

/// The visible units in which two states differ, in strongly coupled groups, the largest first; none
/// if there are not at least two groups.
fn groups(model: &Rbm, visible: [&Array1<f64>; 2], hidden: [&Array1<f64>; 2]) -> Vec<Vec<usize>> {
    let (v, h) = (differing(visible), differing(hidden));
    let weights = model.weights();
    // What it gains that both units are as they are in one state, and not mixed.
    let gain = |i: usize, j: usize| (weights[[v[i].0, h[j].0]] * v[i].1 * h[j].1).max(0.0);
    let strongest_of_row = |i: usize| (0..h.len()).map(|j| gain(i, j)).fold(0.0, f64::max);
    let rows: Vec<f64> = (0..v.len()).map(strongest_of_row).collect();
    let mut parent: Vec<usize> = (0..v.len()).collect();
    for j in 0..h.len() {
        let strongest = (0..v.len()).map(|i| gain(i, j)).fold(0.0, f64::max);
        let is_strong = |i: &usize| {
            let gain = gain(*i, j);
            gain > 0.0 && gain > STRONG * rows[*i].min(strongest)
        };
        let coupled: Vec<usize> = (0..v.len()).filter(is_strong).collect();
        for pair in coupled.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, (unit, _)) in v.iter().enumerate() {
        groups.entry(root(&mut parent, i)).or_default().push(*unit);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.truncate(GROUPS);
    match groups.get(1) {
        Some(second) if second.len() >= SMALLEST => groups,
        _ => vec![],
    }
}

/// The units whose means differ, and by how much.
fn differing([one, other]: [&Array1<f64>; 2]) -> Vec<(usize, f64)> {
    let difference = one.iter().zip(other).map(|(a, b)| a - b).enumerate();
    difference.filter(|(_, d)| d.abs() > DIFFERENT).collect()
}

fn root(parent: &mut [usize], mut k: usize) -> usize {
    while parent[k] != k {
        parent[k] = parent[parent[k]];
        k = parent[k];
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_phase_weighs_what_all_its_states_weigh_together() {
        // Independent units: the weight of the only phase is Z.
        let bias = array![0.3, -1.0, 2.0];
        let model = Rbm::new(Array2::zeros((3, 2)), bias.clone(), array![0.5, -0.5]).unwrap();
        let log_z = crate::exact_log_z(&model, &()).unwrap();
        assert!((log_weight(&model, &bias.mapv(sigmoid)) - log_z).abs() < 1e-12);
        // Frozen units have no entropy: only a state is left.
        let state = array![1.0, 0.0, 1.0];
        assert_eq!(log_weight(&model, &state), model.log_marginal(state.view()));
    }

    #[test]
    fn the_best_of_two_blocks_is_had_from_states_that_have_one_each() {
        // Two blocks of four units, each with a hidden unit that holds it together.
        let mut weights = Array2::zeros((8, 2));
        weights.slice_mut(ndarray::s![..4, 0]).fill(4.0);
        weights.slice_mut(ndarray::s![4.., 1]).fill(4.0);
        let model = Rbm::new(weights, Array1::from_elem(8, -2.0), array![-6.0, -6.0]).unwrap();
        let half = |on: std::ops::Range<usize>| {
            Array1::from_shape_fn(8, |i| if on.contains(&i) { 0.95f32 } else { 0.05 })
        };
        let means = ndarray::stack![ndarray::Axis(0), half(0..4), half(4..8)];
        let of = |k: usize| log_weight(&model, &means.row(k).mapv(f64::from));
        let children = exchanges(&model, &means, &[of(0), of(1)]);
        assert!(children.iter().any(|(_, state)| state.iter().all(|&on| on)));
    }
}
