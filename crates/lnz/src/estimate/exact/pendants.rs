//! Sparse parts that hang on the rest, summed out so that a smaller RBM is left.

use super::SparseModel;
use crate::math::{exp_m1, ln_1p, log_sum_exp, softplus};
use crate::{Component, Rbm, Result};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;

/// A connected part of an RBM without what hangs on the rest of it, and what that adds to its log Z.
pub(crate) struct Folded {
    /// What is left, its weights and biases changed.
    pub(crate) model: Rbm,
    /// The units that are left, by their index in the whole.
    pub(crate) component: Component,
    /// log Z of the part is that of `model` plus this.
    pub(crate) log_factor: f64,
}

/// Sums out units until none of these rules applies; None if none ever did.
///
/// 1. A unit with one neighbour is a number and a change of that neighbour's bias.
/// 2. Two neighbours with two neighbours each, a - u - v - b, are a weight between a and b, which are in
///    different layers; a chain of any length so becomes a weight or a single unit.
/// 3. Two units with the same two neighbours are one such unit: any coupling of the two neighbours is
///    that of some unit on both.
///
/// Nothing else stays an RBM in general: a unit with two neighbours that obeys none of the rules would
/// couple two units of the same layer, and one with three leaves a term in all three.
pub(crate) fn fold(whole: &Rbm, component: &Component) -> Result<Option<Folded>> {
    // Dense models are told without a copy of them.
    if !has_unit_with_few_neighbours(whole, component) {
        return Ok(None);
    }
    let sparse = SparseModel::of_component(whole, component);
    let few = |unit: usize| sparse.neighbours(unit).len() <= 2;
    let mut pending: Vec<u32> = (0..sparse.units()).filter(|&u| few(u)).map(|u| u as u32).collect();
    let mut graph = Graph::of(&sparse);
    while let Some(unit) = pending.pop() {
        graph.apply(unit, &mut pending);
    }
    let left: Vec<u32> =
        (0..sparse.units() as u32).filter(|&u| !graph.neighbours[u as usize].is_empty()).collect();
    match left.len() == sparse.units() {
        true => Ok(None),
        false => Ok(Some(graph.folded(component, &left)?)),
    }
}

/// Some unit has two neighbours or fewer.
fn has_unit_with_few_neighbours(whole: &Rbm, component: &Component) -> bool {
    fn are_few(weights: impl Iterator<Item = f64>) -> bool {
        weights.filter(|&weight| weight != 0.0).nth(2).is_none()
    }
    let weights = &whole.weights();
    let Component { visible, hidden } = component;
    visible.iter().any(|&i| are_few(hidden.iter().map(|&j| weights[[i, j]])))
        || hidden.iter().any(|&j| are_few(visible.iter().map(|&i| weights[[i, j]])))
}

/// Units with their biases, and weights between them.
struct Graph {
    neighbours: Vec<BTreeMap<u32, f64>>,
    biases: Vec<f64>,
    log_factor: f64,
}

impl Graph {
    fn of(model: &SparseModel) -> Self {
        let list = |unit| model.neighbours(unit).iter().copied().collect();
        Self {
            neighbours: (0..model.units()).map(list).collect(),
            biases: model.biases().to_vec(),
            log_factor: 0.0,
        }
    }

    fn degree(&self, unit: u32) -> usize {
        self.neighbours[unit as usize].len()
    }

    fn bias(&mut self, unit: u32) -> &mut f64 {
        &mut self.biases[unit as usize]
    }

    /// Applies the first rule that fits this unit; units that another rule may now fit become pending.
    fn apply(&mut self, unit: u32, pending: &mut Vec<u32>) {
        let around: Vec<(u32, f64)> = self.neighbours[unit as usize]
            .iter()
            .map(|(&other, &weight)| (other, weight))
            .collect();
        match around[..] {
            // A pair is left alone, because a model needs both layers.
            [(other, weight)] if self.degree(other) > 1 => {
                let bias = self.biases[unit as usize];
                self.log_factor += softplus(bias);
                *self.bias(other) += softplus(bias + weight) - softplus(bias);
                self.remove(unit);
                pending.push(other);
            }
            [a, b] => {
                if let Some((next, from)) =
                    [(a, b), (b, a)].into_iter().find(|(next, _)| self.degree(next.0) == 2)
                {
                    self.series(unit, next, from, pending);
                } else if let Some(twin) = self.twin(unit, a.0, b.0) {
                    self.merge(unit, twin, a.0, b.0);
                    pending.extend([a.0, b.0, unit]);
                }
            }
            _ => {}
        }
    }

    fn remove(&mut self, unit: u32) {
        for (other, _) in std::mem::take(&mut self.neighbours[unit as usize]) {
            self.neighbours[other as usize].remove(&unit);
        }
    }

    /// `a - unit - next - b` becomes a weight between a and b.
    fn series(&mut self, unit: u32, next: (u32, f64), from: (u32, f64), pending: &mut Vec<u32>) {
        let (next, between) = next;
        let (a, to_a) = from;
        let beyond = self.neighbours[next as usize].iter().find(|(other, _)| **other != unit);
        let Some((&b, &to_b)) = beyond else { return };
        let (first, second) = (self.biases[unit as usize], self.biases[next as usize]);
        let table = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(a_on, b_on)| {
            let (x, y) = (first + a_on * to_a, second + b_on * to_b);
            log_sum_exp(&[0.0, x, y, x + y + between])
        });
        self.remove(unit);
        self.remove(next);
        let coupling = self.absorb(a, b, table);
        let weight = self.neighbours[a as usize].get(&b).copied().unwrap_or(0.0) + coupling;
        self.neighbours[a as usize].insert(b, weight);
        self.neighbours[b as usize].insert(a, weight);
        pending.extend([a, b]);
    }

    /// Adds a logarithm of a table over two units, at (0, 0), (1, 0), (0, 1) and (1, 1), to the biases;
    /// returns the coupling that is left.
    fn absorb(&mut self, a: u32, b: u32, [off, a_on, b_on, both]: [f64; 4]) -> f64 {
        self.log_factor += off;
        *self.bias(a) += a_on - off;
        *self.bias(b) += b_on - off;
        (both - a_on) - (b_on - off)
    }

    /// Another unit whose only neighbours are these two.
    fn twin(&self, unit: u32, a: u32, b: u32) -> Option<u32> {
        let fewer = if self.degree(a) <= self.degree(b) { a } else { b };
        let mut others = self.neighbours[fewer as usize].keys().copied();
        others.find(|&other| {
            let its = &self.neighbours[other as usize];
            other != unit && its.len() == 2 && its.contains_key(&a) && its.contains_key(&b)
        })
    }

    /// What a unit with these two neighbours adds for each of their states.
    fn table_of(&self, unit: u32, a: u32, b: u32) -> [f64; 4] {
        let bias = self.biases[unit as usize];
        let weight =
            |other: u32| self.neighbours[unit as usize].get(&other).copied().unwrap_or(0.0);
        let (to_a, to_b) = (weight(a), weight(b));
        [bias, bias + to_a, bias + to_b, bias + to_a + to_b].map(softplus)
    }

    /// Makes one unit of two with the same neighbours.
    ///
    /// A unit with bias -w and weights w and w couples them by `2 log cosh(w / 2)`, one with bias 0 and
    /// weights w and -w by the same with the other sign.
    fn merge(&mut self, unit: u32, twin: u32, a: u32, b: u32) {
        let (first, second) = (self.table_of(unit, a, b), self.table_of(twin, a, b));
        self.remove(twin);
        let coupling = self.absorb(a, b, [0, 1, 2, 3].map(|k| first[k] + second[k]));
        // acosh of e^(|J| / 2), twice, in a form that does not overflow.
        let size = coupling.abs() + 2.0 * ln_1p((-exp_m1(-coupling.abs())).sqrt());
        let (bias, to_b) = if coupling > 0.0 { (-size, size) } else { (0.0, -size) };
        *self.bias(unit) = bias;
        for (other, weight) in [(a, size), (b, to_b)] {
            self.neighbours[unit as usize].insert(other, weight);
            self.neighbours[other as usize].insert(unit, weight);
        }
        // What the new unit does to the biases is taken back; its coupling stays.
        self.absorb(a, b, self.table_of(unit, a, b).map(|value| -value));
    }

    /// The model on the units that are left.
    fn folded(self, component: &Component, left: &[u32]) -> Result<Folded> {
        let first_hidden = component.visible.len() as u32;
        let hidden_from = left.partition_point(|&unit| unit < first_hidden);
        let (visible, hidden) = left.split_at(hidden_from);
        let mut weights = Array2::zeros((visible.len(), hidden.len()));
        for (i, &v) in visible.iter().enumerate() {
            for (h, &weight) in &self.neighbours[v as usize] {
                if let Ok(j) = hidden.binary_search(h) {
                    weights[[i, j]] = weight;
                }
            }
        }
        let biases = |units: &[u32]| -> Array1<f64> {
            units.iter().map(|&unit| self.biases[unit as usize]).collect()
        };
        let model = Rbm::new(weights, biases(visible), biases(hidden))?;
        let component = Component {
            visible: visible.iter().map(|&v| component.visible[v as usize]).collect(),
            hidden: hidden.iter().map(|&h| component.hidden[(h - first_hidden) as usize]).collect(),
        };
        Ok(Folded { model, component, log_factor: self.log_factor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact_log_z;
    use lnz_kernels::random::{Purpose, Random};
    use ndarray::Array2;

    /// Some of the weights, and biases, drawn anew until the model is connected.
    fn connected(random: &mut Random, visible: usize, hidden: usize, share: f64) -> Rbm {
        loop {
            let weight = || 2.0 * random.normal() * f64::from(u8::from(random.happens(share)));
            let weights = Array2::from_shape_simple_fn((visible, hidden), weight);
            let mut bias = |n| Array1::from_shape_simple_fn(n, || random.normal());
            let model = Rbm::new(weights, bias(visible), bias(hidden)).unwrap();
            if model.components().len() == 1 {
                return model;
            }
        }
    }

    #[test]
    fn folding_keeps_log_z_and_leaves_nothing_hanging() {
        let mut random = Random::stream(1, Purpose::Model, 0);
        let mut folded_models = 0;
        for share in [0.25, 0.35, 0.5] {
            for _ in 0..40 {
                let model = connected(&mut random, 8, 9, share);
                let component = model.components().remove(0);
                let Some(folded) = fold(&model, &component).unwrap() else { continue };
                folded_models += 1;
                let log_z = exact_log_z(&folded.model, &()).unwrap() + folded.log_factor;
                assert!((log_z - exact_log_z(&model, &()).unwrap()).abs() < 1e-12);
                let again = folded.model.components().remove(0);
                assert!(fold(&folded.model, &again).unwrap().is_none());
                let left = folded.component.visible.len() + folded.component.hidden.len();
                assert!(
                    left < 17
                        && folded.model.weights().dim()
                            == (folded.component.visible.len(), folded.component.hidden.len())
                );
            }
        }
        assert!(folded_models > 60, "{folded_models}");
    }

    #[test]
    fn a_tree_becomes_a_pair() {
        let mut weights = Array2::zeros((4, 4));
        (0..4).for_each(|i| weights[[i, i]] = 1e3);
        (1..4).for_each(|i| weights[[i, i - 1]] = -0.5);
        let model = Rbm::new(weights, Array1::ones(4), Array1::zeros(4)).unwrap();
        let folded = fold(&model, &model.components()[0]).unwrap().unwrap();
        assert_eq!(folded.model.weights().dim(), (1, 1));
        let log_z = exact_log_z(&folded.model, &()).unwrap() + folded.log_factor;
        assert!((log_z - exact_log_z(&model, &()).unwrap()).abs() < 1e-11);
    }

    #[test]
    fn a_dense_model_is_left_as_it_is() {
        let model = connected(&mut Random::stream(2, Purpose::Model, 0), 5, 6, 1.0);
        assert!(fold(&model, &model.components()[0]).unwrap().is_none());
    }

    /// A dense core, and `chains` of `length` units each between two units of the core.
    fn core_with_chains(random: &mut Random, core: usize, chains: usize, length: usize) -> Rbm {
        let mut units: Vec<(usize, usize, f64)> = Vec::new();
        // By layer, how many units there are so far.
        let mut count = [core, core];
        for i in 0..core {
            units.extend((0..core).map(|j| (i, j, 0.0)));
        }
        for _ in 0..chains {
            let (mut layer, mut from) = (0, random.below(core));
            let mut link = |layer: usize, from: usize, to: usize| match layer {
                0 => units.push((from, to, 0.0)),
                _ => units.push((to, from, 0.0)),
            };
            for _ in 0..length {
                let to = count[1 - layer];
                count[1 - layer] += 1;
                link(layer, from, to);
                (layer, from) = (1 - layer, to);
            }
            link(layer, from, random.below(core));
        }
        let mut weights = Array2::zeros((count[0], count[1]));
        units.iter().for_each(|&(i, j, _)| weights[[i, j]] = 1.5 * random.normal());
        let mut bias = |n| Array1::from_shape_simple_fn(n, || random.normal());
        Rbm::new(weights, bias(count[0]), bias(count[1])).unwrap()
    }

    #[test]
    fn chains_between_units_of_the_core_become_weights_or_single_units() {
        let mut random = Random::stream(3, Purpose::Model, 0);
        for length in 1..6 {
            let model = core_with_chains(&mut random, 6, 4, length);
            let folded = fold(&model, &model.components()[0]).unwrap();
            let log_z = exact_log_z(&model, &()).unwrap();
            let Some(folded) = folded else {
                assert_eq!(length, 1);
                continue;
            };
            let found = exact_log_z(&folded.model, &()).unwrap() + folded.log_factor;
            assert!((found - log_z).abs() < 1e-11, "{found} instead of {log_z}");
            let left = folded.model.visible() + folded.model.hidden();
            match length % 2 {
                // The ends are in different layers: a weight.
                0 => assert_eq!(left, 12),
                // In the same one: a unit for each pair of ends, or none where both ends are one unit.
                _ => assert!(left <= 16, "{left}"),
            }
        }
    }

    #[test]
    fn units_with_the_same_two_neighbours_become_one() {
        for scale in [0.5, 5.0, 300.0] {
            let mut random = Random::stream(4, Purpose::Model, 0);
            // Three visible units, all coupled to three hidden ones; and ten on the first two of these.
            let weights = Array2::from_shape_fn((13, 3), |(i, j)| match i < 3 || j < 2 {
                true => scale * random.normal(),
                false => 0.0,
            });
            let mut bias = |n| Array1::from_shape_simple_fn(n, || random.normal());
            let model = Rbm::new(weights, bias(13), bias(3)).unwrap();
            let folded = fold(&model, &model.components()[0]).unwrap().unwrap();
            assert_eq!(folded.model.weights().dim(), (4, 3));
            let found = exact_log_z(&folded.model, &()).unwrap() + folded.log_factor;
            let log_z = exact_log_z(&model, &()).unwrap();
            assert!((found - log_z).abs() < 1e-11 * scale.max(1.0), "{found} instead of {log_z}");
        }
    }

    #[test]
    fn a_ring_becomes_a_pair() {
        let mut weights = Array2::zeros((5, 5));
        (0..5).for_each(|i| (weights[[i, i]], weights[[(i + 1) % 5, i]]) = (0.7, -1.1));
        let model = Rbm::new(weights, Array1::ones(5), Array1::zeros(5)).unwrap();
        let folded = fold(&model, &model.components()[0]).unwrap().unwrap();
        assert_eq!(folded.model.weights().dim(), (1, 1));
        let log_z = exact_log_z(&folded.model, &()).unwrap() + folded.log_factor;
        assert!((log_z - exact_log_z(&model, &()).unwrap()).abs() < 1e-12);
    }
}
