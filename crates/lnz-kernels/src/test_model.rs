//! A model for the tests of the kernels: its float64 formulas are what they are compared with.

use crate::Parameters;
use crate::math::softplus;
use crate::random::{Purpose, Random};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

#[derive(Debug, Clone)]
pub(crate) struct Rbm {
    weights: Array2<f64>,
    visible_bias: Array1<f64>,
    hidden_bias: Array1<f64>,
    constant: f64,
}

impl Rbm {
    pub(crate) fn new(
        weights: Array2<f64>,
        visible_bias: Array1<f64>,
        hidden_bias: Array1<f64>,
    ) -> Self {
        Self { weights, visible_bias, hidden_bias, constant: 0.0 }
    }

    /// All parameters Gaussian around zero.
    pub(crate) fn gaussian(visible: usize, hidden: usize, spread: f64, seed: u64) -> Self {
        Self::drawn(visible, hidden, |_, normal| spread * normal, seed)
    }

    /// Weights in the tens, most of them negative: few states have all the mass.
    pub(crate) fn hard(visible: usize, hidden: usize, seed: u64) -> Self {
        let value =
            |is_bias, normal| if is_bias { 2.0 * normal - 1.0 } else { 20.0 * normal - 10.0 };
        Self::drawn(visible, hidden, value, seed)
    }

    /// Parameters made from standard normal numbers: `value(is it a bias, number)`.
    fn drawn(visible: usize, hidden: usize, value: impl Fn(bool, f64) -> f64, seed: u64) -> Self {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let mut draw = |is_bias| value(is_bias, random.normal());
        let weights = Array2::from_shape_simple_fn((visible, hidden), || draw(false));
        let visible_bias = Array1::from_shape_simple_fn(visible, || draw(true));
        let hidden_bias = Array1::from_shape_simple_fn(hidden, || draw(true));
        Self::new(weights, visible_bias, hidden_bias)
    }

    pub(crate) fn with_constant(self, constant: f64) -> Self {
        Self { constant, ..self }
    }

    pub(crate) fn visible(&self) -> usize {
        self.weights.nrows()
    }

    pub(crate) fn hidden(&self) -> usize {
        self.weights.ncols()
    }

    pub(crate) fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    pub(crate) fn visible_bias(&self) -> ArrayView1<'_, f64> {
        self.visible_bias.view()
    }

    pub(crate) fn hidden_bias(&self) -> ArrayView1<'_, f64> {
        self.hidden_bias.view()
    }

    pub(crate) fn hidden_input(&self, x: ArrayView1<'_, f64>) -> Array1<f64> {
        x.dot(&self.weights) + &self.hidden_bias
    }

    pub(crate) fn log_marginal(&self, x: ArrayView1<'_, f64>) -> f64 {
        let hidden: f64 = self.hidden_input(x).iter().map(|&a| softplus(a)).sum();
        self.constant + self.visible_bias.dot(&x) + hidden
    }
}

impl<'a> From<&'a Rbm> for Parameters<'a> {
    fn from(model: &'a Rbm) -> Self {
        Self {
            weights: model.weights(),
            visible_bias: model.visible_bias(),
            hidden_bias: model.hidden_bias(),
            constant: model.constant,
        }
    }
}
