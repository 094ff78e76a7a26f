//! The path of distributions that leads from a start distribution to a model.
//!
//! `log p~_beta(x) = ((1 - beta) B + beta b).x + log sum_h exp(beta a.h)`.
//!
//! The sum over h is `sum_j softplus(beta a_j)` for hidden units that are 0 or 1.

mod schedule;
mod start;

pub use schedule::Schedule;
pub use start::Start;
pub(crate) use start::check_epsilon;

use crate::Rbm;
use ndarray::{Array1, ArrayView1};
use std::borrow::Cow;

/// A model and where its chains start.
pub(crate) struct Path<'m> {
    model: Cow<'m, Rbm>,
    start: Start,
}

impl<'m> Path<'m> {
    /// From independent units, each B a float32 as the kernels hold it.
    pub(crate) fn new(model: Cow<'m, Rbm>, start: &Start) -> Self {
        Self { model, start: start.as_float32() }
    }

    /// The model, with the layer that is annealed as the visible one.
    pub(crate) fn model(&self) -> &Rbm {
        &self.model
    }

    /// B: the bias of the start.
    pub(crate) fn bias(&self) -> &Array1<f64> {
        self.start.bias()
    }

    /// log Z_0, which turns the log weight of a chain at the model into a sample of log Z.
    pub(crate) fn log_z0(&self) -> f64 {
        let hidden = self.model.hidden_units().log_states(self.model.hidden());
        let visible = self.model.visible_units().log_sum(self.bias().iter().copied());
        hidden + visible + self.model.constant()
    }

    /// `log p~_beta(x)`, without the model's constant; `a` are the hidden inputs of `x`.
    pub(crate) fn log_density(
        &self,
        beta: f64,
        x: ArrayView1<'_, f64>,
        a: ArrayView1<'_, f64>,
    ) -> f64 {
        let model_bias = &self.model.visible_bias() * beta;
        let linear = (self.bias() * (1.0 - beta) + &model_bias).dot(&x);
        linear + self.model.hidden_units().log_sum(a.iter().map(|&a| beta * a))
    }
}
