//! Units that hang on a single other one, summed out so that a smaller RBM is left.

use crate::math::softplus;
use crate::{Component, Rbm, Result};
use ndarray::{Array1, ArrayView2};

/// A connected part of an RBM without the units that hang on a single other one, and what those add to
/// its log Z; None if there are no such units.
pub(crate) struct Folded {
    /// What is left, its biases changed.
    pub(crate) model: Rbm,
    /// The units that are left, by their index in the whole.
    pub(crate) component: Component,
    /// log Z of the part is that of `model` plus this.
    pub(crate) log_factor: f64,
}

/// Sums out units with one neighbour, again and again, until every unit has two or one pair is left.
///
/// With u on v alone, `sum over u of e^(u (b_u + w v))` is `1 + e^b_u` for v off and `1 + e^(b_u + w)`
/// for v on: a number and a change of the bias of v. A unit with two neighbours would couple these to
/// each other, and one layer with couplings is no RBM any more.
pub(crate) fn fold(whole: &Rbm, component: &Component) -> Result<Option<Folded>> {
    let mut hanging = Hanging::new(whole, component);
    let mut pending: Vec<usize> =
        (0..hanging.degree.len()).filter(|&unit| hanging.degree[unit] == 1).collect();
    let mut log_factor = 0.0;
    while let Some(unit) = pending.pop() {
        let Some((other, weight)) = hanging.only_neighbour(unit) else { continue };
        let bias = hanging.bias[unit];
        log_factor += softplus(bias);
        hanging.bias[other] += softplus(bias + weight) - softplus(bias);
        hanging.degree[unit] = 0;
        hanging.degree[other] -= 1;
        if hanging.degree[other] == 1 {
            pending.push(other);
        }
    }
    let left: Vec<usize> =
        (0..hanging.degree.len()).filter(|&unit| hanging.degree[unit] > 0).collect();
    if left.len() == hanging.degree.len() {
        return Ok(None);
    }
    let first_hidden = component.visible.len();
    let visible = left.iter().filter(|&&unit| unit < first_hidden);
    let hidden = left.iter().filter(|&&unit| unit >= first_hidden);
    let biases = |units: &[usize]| units.iter().map(|&unit| hanging.bias[unit]).collect();
    let (visible, hidden): (Vec<usize>, Vec<usize>) =
        (visible.copied().collect(), hidden.copied().collect());
    let (visible_bias, hidden_bias): (Array1<f64>, Array1<f64>) =
        (biases(&visible), biases(&hidden));
    let component = Component {
        visible: visible.iter().map(|&unit| component.visible[unit]).collect(),
        hidden: hidden.iter().map(|&unit| component.hidden[unit - first_hidden]).collect(),
    };
    let weights = whole.restricted_to(&component)?.weights().to_owned();
    let model = Rbm::new(weights, visible_bias, hidden_bias)?;
    Ok(Some(Folded { model, component, log_factor }))
}

/// The units of a component, first the visible ones.
struct Hanging<'a> {
    weights: ArrayView2<'a, f64>,
    component: &'a Component,
    bias: Vec<f64>,
    /// Neighbours that are left; zero for a unit that is gone.
    degree: Vec<usize>,
}

impl<'a> Hanging<'a> {
    fn new(whole: &'a Rbm, component: &'a Component) -> Self {
        let weights = whole.weights();
        let visible = component.visible.iter().map(|&i| whole.visible_bias()[i]);
        let hidden = component.hidden.iter().map(|&j| whole.hidden_bias()[j]);
        let bias: Vec<f64> = visible.chain(hidden).collect();
        let mut degree = vec![0; bias.len()];
        for (v, &i) in component.visible.iter().enumerate() {
            let row = weights.row(i);
            let hidden = component.hidden.iter().enumerate();
            for (h, _) in hidden.filter(|&(_, &j)| row[j] != 0.0) {
                degree[v] += 1;
                degree[component.visible.len() + h] += 1;
            }
        }
        Self { weights, component, bias, degree }
    }

    /// The unit that this one hangs on, unless that in turn hangs on this one: a pair is left alone,
    /// because a model needs both layers.
    fn only_neighbour(&self, unit: usize) -> Option<(usize, f64)> {
        let first_hidden = self.component.visible.len();
        let others =
            if unit < first_hidden { first_hidden..self.bias.len() } else { 0..first_hidden };
        let weight = |other: usize| {
            let (v, h) = (unit.min(other), unit.max(other) - first_hidden);
            self.weights[[self.component.visible[v], self.component.hidden[h]]]
        };
        let is_neighbour = |&other: &usize| self.degree[other] > 0 && weight(other) != 0.0;
        let other = others.into_iter().find(is_neighbour)?;
        (self.degree[unit] == 1 && self.degree[other] > 1).then(|| (other, weight(other)))
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
                let rest = model.restricted_to(&folded.component).unwrap();
                assert_eq!(rest.weights(), folded.model.weights());
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
}
