//! The path of distributions that leads from a start distribution to a model.
//!
//! One start: `log p~_beta(x) = ((1 - beta) B + beta b).x + log sum_h exp(beta a.h)`.
//! A mixture of starts: `log p~_beta(x) = log sum_z exp((1 - beta)(alpha_z + B_z.x)) + beta b.x +
//! log sum_h exp(beta a.h)`, where `alpha_z` is the log share of a component less its log Z.
//! The sum over h is `sum_j softplus(beta a_j)` for hidden units that are 0 or 1.

mod schedule;
mod start;

pub use schedule::Schedule;
pub use start::Start;
pub(crate) use start::check_epsilon;

use crate::Rbm;
use crate::math::log_sum_exp;
use ndarray::{Array1, ArrayView1};
use std::borrow::Cow;

/// Where the chains of a path start.
pub(crate) enum Origin {
    /// Independent units.
    Units(Start),
    /// A mixture of independent units.
    Mixture(Vec<Component>),
}

/// A component of a mixture: independent units with bias B_z.
pub(crate) struct Component {
    pub(crate) bias: Array1<f64>,
    /// Its probability at the start.
    pub(crate) share: f64,
    /// `alpha_z = log share - log sum_x exp(B_z.x)`.
    log_alpha: f64,
}

/// A model and where its chains start.
pub(crate) struct Path<'m> {
    model: Cow<'m, Rbm>,
    origin: Origin,
}

impl<'m> Path<'m> {
    /// From independent units, each B a float32 as the kernels hold it.
    pub(crate) fn new(model: Cow<'m, Rbm>, start: &Start) -> Self {
        Self { model, origin: Origin::Units(start.as_float32()) }
    }

    /// From a mixture of independent units; the shares sum to one.
    pub(crate) fn from_mixture(
        model: Cow<'m, Rbm>,
        biases: Vec<Array1<f64>>,
        shares: &[f64],
    ) -> Self {
        let component = |(bias, &share): (Array1<f64>, &f64)| {
            let log_z = model.visible_units().log_sum(bias.iter().copied());
            Component { bias, share, log_alpha: share.ln() - log_z }
        };
        let components = biases.into_iter().zip(shares).map(component).collect();
        Self { model, origin: Origin::Mixture(components) }
    }

    /// The model, with the layer that is annealed as the visible one.
    pub(crate) fn model(&self) -> &Rbm {
        &self.model
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The bias of the start, or of one component of it.
    pub(crate) fn bias(&self, component: usize) -> &Array1<f64> {
        match &self.origin {
            Origin::Units(start) => start.bias(),
            Origin::Mixture(components) => &components[component].bias,
        }
    }

    /// What turns the log weight of a chain at the model into a sample of log Z.
    ///
    /// It is log Z_0. At the end of a mixture each of its components counts as one, so that their
    /// number is taken off.
    pub(crate) fn log_z0(&self) -> f64 {
        let hidden = self.model.hidden_units().log_states(self.model.hidden());
        let visible = match &self.origin {
            Origin::Units(start) => {
                self.model.visible_units().log_sum(start.bias().iter().copied())
            }
            Origin::Mixture(components) => -(components.len() as f64).ln(),
        };
        hidden + visible + self.model.constant()
    }

    /// `(1 - beta)(alpha_z + B_z.x)` of each component of a mixture.
    pub(crate) fn log_components(&self, beta: f64, x: ArrayView1<'_, f64>) -> Vec<f64> {
        let Origin::Mixture(components) = &self.origin else { return vec![] };
        components.iter().map(|c| (1.0 - beta) * (c.log_alpha + c.bias.dot(&x))).collect()
    }

    /// `log p~_beta(x)`, without the model's constant; `a` are the hidden inputs of `x`.
    pub(crate) fn log_density(
        &self,
        beta: f64,
        x: ArrayView1<'_, f64>,
        a: ArrayView1<'_, f64>,
    ) -> f64 {
        let model_bias = &self.model.visible_bias() * beta;
        let linear = match &self.origin {
            Origin::Units(start) => (start.bias() * (1.0 - beta) + &model_bias).dot(&x),
            Origin::Mixture(_) => log_sum_exp(&self.log_components(beta, x)) + model_bias.dot(&x),
        };
        linear + self.model.hidden_units().log_sum(a.iter().map(|&a| beta * a))
    }
}
