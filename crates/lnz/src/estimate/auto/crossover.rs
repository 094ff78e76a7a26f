//! Exchange of groups: from two states, those that differ from one of them in a single group of units.
//!
//! A model of weakly joined blocks has a phase for each combination of theirs, and two states that differ in
//! several blocks lead to those between them. Where there are no blocks but local order, as in a band or a
//! lattice, states differ in domains, and the best of each can be had (the clusters of Houdayer).

use super::effort::{ASCENTS, CLEARLY, LEAST_SHARE, NEGLIGIBLE, STATES};
use super::sampler::{Guess, State};
use super::strong::{Strong, grouped};
use crate::Rbm;
use crate::math::{exp, ln, log_sum_exp, sigmoid};
use ndarray::{Array1, Array2, ArrayView1};
use rayon::prelude::*;
use std::collections::BTreeSet;

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

/// The phase of highest weight so far.
struct Heaviest {
    phase: Phase,
    log_weight: f64,
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
        let phase = Phase::of(model, means.row(order[0]));
        let mut found = Self { base: phase.visible.clone(), ..Self::default() };
        let mut heaviest = Heaviest { phase, log_weight: log_weights[order[0]] };
        let mut seen = BTreeSet::new();
        let mut rest = &order[1..];
        while !rest.is_empty() {
            // Side by side, as long as the phase that they are compared with stays the same.
            let compared = |&k: &usize| {
                let other = Phase::of(model, means.row(k));
                let groups = groups(model, &heaviest.phase, &other);
                (other, groups)
            };
            let together = &rest[..rest.len().min(ASCENTS)];
            for (other, groups) in together.par_iter().map(compared).collect::<Vec<_>>() {
                rest = &rest[1..];
                if found.take(model, &mut heaviest, &other, groups, &mut seen) {
                    break;
                }
            }
        }
        found
    }

    /// Adds what the heaviest phase can take from another state; true if it becomes another phase by that.
    fn take(
        &mut self,
        model: &Rbm,
        heaviest: &mut Heaviest,
        other: &Phase,
        groups: Vec<Vec<usize>>,
        seen: &mut BTreeSet<State>,
    ) -> bool {
        // With one group it is the other state that comes out, which is there already.
        let leads_elsewhere = groups.len() > 1;
        let mut is_another = false;
        for units in groups {
            let means: Vec<f64> = units.iter().map(|&unit| other.visible[unit]).collect();
            let place = self.place(&units, &means);
            let child = heaviest.phase.taking(&units, other);
            let is_one_more = place == Place::Other;
            if is_one_more
                && (!leads_elsewhere || seen.len() == MOST_TRIED || !seen.insert(rounded(&child)))
            {
                continue;
            }
            let gain = log_weight(model, &child) - heaviest.log_weight;
            self.add(place, Exchange { units, means, gain });
            if gain > 0.0 {
                let log_weight = heaviest.log_weight + gain;
                *heaviest = Heaviest { phase: Phase::with(model, child), log_weight };
                self.base.assign(&heaviest.phase.visible);
                is_another = true;
            }
        }
        is_another
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

    /// The combinations of highest weight, the heaviest first, each with what it gains.
    fn combinations(&self) -> Vec<(f64, Array1<f64>)> {
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
        combinations
    }

    /// The combinations that hold all of the weight but a negligible part, as far as they are looked at.
    pub(super) fn that_count(&self) -> Vec<State> {
        let of_block = |block: &Block| {
            log_sum_exp(&block.alternatives.iter().map(|other| other.gain).collect::<Vec<_>>())
        };
        let total: f64 = self.blocks.iter().map(of_block).sum();
        let mut left = 1.0;
        let counts = |(gain, _): &&(f64, Array1<f64>)| {
            let counts = left > NEGLIGIBLE;
            left -= exp(gain - total);
            counts
        };
        self.combinations().iter().take_while(counts).map(|(_, means)| rounded(means)).collect()
    }

    /// States to begin at: the combinations of highest weight, and then the other exchanges.
    pub(super) fn first_states(&self) -> Vec<Guess> {
        let single = |exchange: &Exchange| {
            let mut means = self.base.clone();
            let values = exchange.units.iter().zip(&exchange.means);
            values.for_each(|(&unit, &mean)| means[unit] = mean);
            means
        };
        let combined = self.combinations().into_iter().map(|(_, means)| means);
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

/// The visible units in which two states differ, in strongly coupled groups: first those that hang together by
/// couplings that are strong for both units, then those that any unit's strongest couplings lead to. A hub that
/// differs, too, makes one group of its blocks in the second way; the first cuts domains where a coupling is weak.
fn groups(model: &Rbm, one: &Phase, other: &Phase) -> Vec<Vec<usize>> {
    let (v, h) = (differing(&one.visible, &other.visible), differing(&one.hidden, &other.hidden));
    let weights = model.weights();
    // What it gains that both units are as they are in one state, and not mixed.
    let gain = |i: usize, j: usize| (weights[[v[i].0, h[j].0]] * v[i].1 * h[j].1).max(0.0);
    let gains = Array2::from_shape_fn((v.len(), h.len()), |(i, j)| gain(i, j));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for strong in [Strong::ForBoth, Strong::ForOne] {
        for group in grouped(gains.view(), strong) {
            let units = group.visible.into_iter().map(|i| v[i].0).collect();
            if !groups.contains(&units) {
                groups.push(units);
            }
        }
    }
    groups
}

/// The units whose means differ, and by how much.
fn differing(one: &Array1<f64>, other: &Array1<f64>) -> Vec<(usize, f64)> {
    let difference = one.iter().zip(other).map(|(a, b)| a - b).enumerate();
    difference.filter(|(_, d)| d.abs() > CLEARLY).collect()
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

    #[test]
    fn blocks_are_exchanged_one_by_one_though_a_hub_differs_too() {
        // A visible unit that is weakly coupled to all hidden ones.
        let mut weights = Array2::zeros((9, 2));
        weights.slice_mut(ndarray::s![..4, 0]).fill(4.0);
        weights.slice_mut(ndarray::s![4..8, 1]).fill(4.0);
        weights.row_mut(8).fill(0.5);
        let model = Rbm::new(weights, Array1::from_elem(9, -2.0), array![-8.0, -8.0]).unwrap();
        let all = |mean: f32| Phase::of(&model, Array1::from_elem(9, mean).view());
        let found = groups(&model, &all(0.05), &all(0.95));
        assert!(
            found.contains(&vec![0, 1, 2, 3]) && found.contains(&vec![4, 5, 6, 7]),
            "{found:?}"
        );
    }

    #[test]
    fn combinations_count_until_a_negligible_part_of_the_weight_is_left() {
        let block = |unit: usize, gain: f64| {
            let alternative = |mean, gain| Alternative { means: vec![mean], gain };
            Block {
                units: vec![unit],
                alternatives: vec![alternative(0.1, 0.0), alternative(0.9, gain)],
            }
        };
        // Shares of 1/2 and 1/2, 3/4 and 1/4, and all but e^-20.
        let blocks = vec![block(0, 0.0), block(1, -ln(3.0)), block(2, -20.0)];
        let found = Exchanges { base: array![0.1, 0.1, 0.1], blocks, others: vec![] };
        let mut states = found.that_count();
        states.sort_unstable();
        let expected = [[false, false], [false, true], [true, false], [true, true]];
        assert_eq!(states, expected.map(|[a, b]| vec![a, b, false]));
    }
}
