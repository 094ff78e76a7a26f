//! Exchange of groups: from two states, those that differ from one of them in a single group of units.
//!
//! A model of weakly joined blocks has a phase for each combination of theirs, and two states that differ in
//! several blocks lead to those between them. Where there are no blocks but local order, as in a band or a
//! lattice, states differ in domains, and the best of each can be had (the clusters of Houdayer).

use super::effort::{CLEARLY, FEW, LEAST_SHARE, STATES, TRIED};
use super::sampler::{Guess, State};
use crate::Rbm;
use crate::math::{ln, sigmoid};
use ndarray::{Array1, Array2, ArrayView1};
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges that are neither a block nor an alternative and that are weighed, at most.
const MOST_TRIED: usize = 4 * STATES;

/// The log of the weight of a phase with these means, as mean-field theory has it: energy and entropy.
pub(super) fn log_weight(model: &Rbm, means: &Array1<f64>) -> f64 {
    let inner = means.iter().filter(|&&m| m > 0.0 && m < 1.0);
    let entropy: f64 = inner.map(|&m| -m * ln(m) - (1.0 - m) * ln(1.0 - m)).sum();
    model.log_marginal(means.view()) + entropy
}

/// What the phase of highest weight can take from other states, block by block.
#[derive(Default)]
pub(super) struct Exchanges {
    /// Its means.
    pub(super) base: Array1<f64>,
    /// Blocks that can be exchanged independently of each other.
    pub(super) blocks: Vec<Block>,
    /// Exchanges that overlap with these.
    others: Vec<Exchange>,
}

/// Units that are exchanged together, and what they may be: as in the phase of highest weight, or as elsewhere.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) units: Vec<usize>,
    pub(super) alternatives: Vec<Alternative>,
}

#[derive(Clone)]
pub(super) struct Alternative {
    /// The means of the units of the block.
    pub(super) means: Vec<f64>,
    /// By how much it changes the log weight.
    pub(super) gain: f64,
}

/// Where an exchange belongs: it is a block of its own, an alternative of a block, or neither.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    NewBlock,
    Alternative(usize),
    Other,
}

/// A group of units with other means.
struct Exchange {
    units: Vec<usize>,
    means: Vec<f64>,
    gain: f64,
}

impl Exchanges {
    /// Goes through states in the order of their weight. An exchange that leads higher becomes the phase that
    /// the next ones are compared with.
    pub(super) fn of(model: &Rbm, means: &Array2<f32>, log_weights: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..log_weights.len()).collect();
        order.sort_by(|&a, &b| log_weights[b].total_cmp(&log_weights[a]));
        let mut base = Phase::of(model, means.row(order[0]));
        let mut top = log_weights[order[0]];
        let mut found = Self { base: base.visible.clone(), ..Self::default() };
        let mut seen = BTreeSet::new();
        for &k in &order[1..] {
            let other = Phase::of(model, means.row(k));
            let groups = groups(model, &base, &other);
            // With one group it is the other state that comes out, which is there already.
            let leads_elsewhere = groups.len() > 1;
            for units in groups {
                let means: Vec<f64> = units.iter().map(|&unit| other.visible[unit]).collect();
                let place = found.place(&units, &means);
                let child = base.taking(&units, &other);
                let is_one_more = place == Place::Other;
                if is_one_more
                    && (!leads_elsewhere
                        || seen.len() == MOST_TRIED
                        || !seen.insert(rounded(&child)))
                {
                    continue;
                }
                let gain = log_weight(model, &child) - top;
                found.add(place, Exchange { units, means, gain });
                if gain > 0.0 {
                    (base, top) = (Phase::with(model, child), top + gain);
                    found.base.assign(&base.visible);
                }
            }
        }
        found
    }

    /// Where an exchange belongs.
    fn place(&self, units: &[usize], means: &[f64]) -> Place {
        let common = |block: &Block| block.units.iter().filter(|u| units.contains(u)).count();
        let mut overlaps = self.blocks.iter().map(common).enumerate().filter(|(_, c)| *c > 0);
        match (overlaps.next(), overlaps.next()) {
            (None, _) => Place::NewBlock,
            // Most units of both.
            (Some((k, common)), None)
                if 2 * common > units.len().max(self.blocks[k].units.len()) =>
            {
                let here = self.within(k, units, means);
                let is_known = |other: &Alternative| 2 * differ(&other.means, &here) < here.len();
                match self.blocks[k].alternatives.iter().any(is_known) {
                    true => Place::Other,
                    false => Place::Alternative(k),
                }
            }
            _ => Place::Other,
        }
    }

    /// The means of the units of a block after an exchange.
    fn within(&self, block: usize, units: &[usize], means: &[f64]) -> Vec<f64> {
        let mut all = self.base.clone();
        units.iter().zip(means).for_each(|(&unit, &mean)| all[unit] = mean);
        self.blocks[block].units.iter().map(|&unit| all[unit]).collect()
    }

    fn add(&mut self, place: Place, exchange: Exchange) {
        let Exchange { units, means, gain } = &exchange;
        let block = match place {
            Place::NewBlock if *gain > ln(LEAST_SHARE) => {
                let of_base = units.iter().map(|&unit| self.base[unit]).collect();
                let base = Alternative { means: of_base, gain: 0.0 };
                self.blocks.push(Block { units: units.clone(), alternatives: vec![base] });
                self.blocks.len() - 1
            }
            Place::Alternative(k) if *gain > ln(LEAST_SHARE) => k,
            _ => return self.others.push(exchange),
        };
        let (means, gain) = (self.within(block, units, means), *gain);
        let alternatives = &mut self.blocks[block].alternatives;
        alternatives.push(Alternative { means, gain });
        // Gains are relative to the phase of highest weight.
        if gain > 0.0 {
            alternatives.iter_mut().for_each(|alternative| alternative.gain -= gain);
        }
    }

    /// States to begin at: the combinations of highest weight, and then the other exchanges.
    pub(super) fn first_states(&self) -> Vec<Guess> {
        let mut combinations: Vec<(f64, Array1<f64>)> = vec![(0.0, self.base.clone())];
        // The alternatives of a single block are there already.
        for block in self.blocks.iter().filter(|_| self.blocks.len() > 1) {
            let with = |(gain, means): &(f64, Array1<f64>), alternative: &Alternative| {
                let mut means = means.clone();
                let values = block.units.iter().zip(&alternative.means);
                values.for_each(|(&unit, &mean)| means[unit] = mean);
                (gain + alternative.gain, means)
            };
            let extended = combinations.iter().flat_map(|combination| {
                block.alternatives.iter().map(move |other| with(combination, other))
            });
            combinations = extended.collect();
            combinations.sort_by(|a, b| b.0.total_cmp(&a.0));
            combinations.truncate(STATES / 2);
        }
        let single = |exchange: &Exchange| {
            let mut means = self.base.clone();
            let values = exchange.units.iter().zip(&exchange.means);
            values.for_each(|(&unit, &mean)| means[unit] = mean);
            means
        };
        let combined = combinations.into_iter().map(|(_, means)| means);
        let mut others: Vec<&Exchange> = self.others.iter().collect();
        others.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for means in combined.chain(others.into_iter().map(single)) {
            let state = rounded(&means);
            if found.len() < STATES && seen.insert(state.clone()) {
                found.push(("exchange of groups", state));
            }
        }
        found
    }
}

/// The number of units that differ.
fn differ(one: &[f64], other: &[f64]) -> usize {
    one.iter().zip(other).filter(|(a, b)| (*a - *b).abs() > CLEARLY).count()
}

/// The means of both layers in a phase.
#[derive(Clone)]
struct Phase {
    visible: Array1<f64>,
    hidden: Array1<f64>,
}

impl Phase {
    fn of(model: &Rbm, means: ArrayView1<'_, f32>) -> Self {
        Self::with(model, means.mapv(f64::from))
    }

    fn with(model: &Rbm, visible: Array1<f64>) -> Self {
        let hidden = model.hidden_input(visible.view()).mapv(sigmoid);
        Self { visible, hidden }
    }

    /// Its visible means with those of some units from another phase.
    fn taking(&self, units: &[usize], other: &Self) -> Array1<f64> {
        let mut child = self.visible.clone();
        units.iter().for_each(|&unit| child[unit] = other.visible[unit]);
        child
    }
}

fn rounded(means: &Array1<f64>) -> State {
    means.iter().map(|&m| m > 0.5).collect()
}

/// The visible units in which two states differ, in strongly coupled groups, the largest first.
fn groups(model: &Rbm, one: &Phase, other: &Phase) -> Vec<Vec<usize>> {
    let (v, h) = (differing(&one.visible, &other.visible), differing(&one.hidden, &other.hidden));
    let weights = model.weights();
    // What it gains that both units are as they are in one state, and not mixed.
    let gain = |i: usize, j: usize| (weights[[v[i].0, h[j].0]] * v[i].1 * h[j].1).max(0.0);
    let gains = Array2::from_shape_fn((v.len(), h.len()), |(i, j)| gain(i, j));
    let (mut of_rows, mut of_columns) = (vec![0.0_f64; v.len()], vec![0.0_f64; h.len()]);
    for (row, strongest) in gains.rows().into_iter().zip(&mut of_rows) {
        for (&gain, of_column) in row.iter().zip(&mut of_columns) {
            *strongest = strongest.max(gain);
            *of_column = of_column.max(gain);
        }
    }
    let mut parent: Vec<usize> = (0..v.len()).collect();
    // For each hidden unit the last visible one that it is strongly coupled to.
    let mut last: Vec<Option<usize>> = vec![None; h.len()];
    for ((i, row), strongest) in gains.rows().into_iter().enumerate().zip(of_rows) {
        for ((&gain, of_column), last) in row.iter().zip(&of_columns).zip(&mut last) {
            if gain > 0.0 && gain > CLEARLY * strongest.min(*of_column) {
                let a = root(&mut parent, i);
                let b = root(&mut parent, last.replace(i).unwrap_or(i));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, (unit, _)) in v.iter().enumerate() {
        groups.entry(root(&mut parent, i)).or_default().push(*unit);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.truncate(TRIED);
    groups.retain(|group| group.len() >= FEW);
    groups
}

/// The units whose means differ, and by how much.
fn differing(one: &Array1<f64>, other: &Array1<f64>) -> Vec<(usize, f64)> {
    let difference = one.iter().zip(other).map(|(a, b)| a - b).enumerate();
    difference.filter(|(_, d)| d.abs() > CLEARLY).collect()
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
        let exchanges = Exchanges::of(&model, &means, &[of(0), of(1)]);
        let children = exchanges.first_states();
        assert!(children.iter().any(|(_, state)| state.iter().all(|&on| on)));
    }
}
