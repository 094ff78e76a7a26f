//! A model for the tests of the kernels: its float64 formulas are what they are compared with.

use crate::Parameters;
use crate::math::softplus;
use crate::random::{Purpose, Random};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use std::convert::Infallible;

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
    ) -> Result<Self, Infallible> {
        Ok(Self { weights, visible_bias, hidden_bias, constant: 0.0 })
    }

    pub(crate) fn with_constant(self, constant: f64) -> Result<Self, Infallible> {
        Ok(Self { constant, ..self })
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

/// Gaussian weights whose mean and spread are Gaussian themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gwgm {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) mu_mu: f64,
    pub(crate) sigma_mu: f64,
    pub(crate) mu_sigma: f64,
    pub(crate) sigma_sigma: f64,
    pub(crate) lambda: f64,
}

impl Gwgm {
    pub(crate) const HARDEST: Gwgm = Gwgm {
        visible: 20,
        hidden: 180,
        mu_mu: -10.0,
        sigma_mu: 10.0,
        mu_sigma: 20.0,
        sigma_sigma: 10.0,
        lambda: 0.1,
    };

    pub(crate) fn generate(&self, seed: u64) -> Result<Rbm, Infallible> {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let mean = self.mu_mu + self.sigma_mu * random.normal();
        let spread = (self.mu_sigma + self.sigma_sigma * random.normal()).abs();
        let mut gaussian = |scale: f64| scale * (mean + spread * random.normal());
        let weights = Array2::from_shape_simple_fn((self.visible, self.hidden), || gaussian(1.0));
        let visible_bias = Array1::from_shape_simple_fn(self.visible, || gaussian(self.lambda));
        let hidden_bias = Array1::from_shape_simple_fn(self.hidden, || gaussian(self.lambda));
        Rbm::new(weights, visible_bias, hidden_bias)
    }
}
