//! The cells of a model: for every state the fitted product under which it is most likely.

use super::sampler::State;
use crate::{Result, Start};
use ndarray::Array1;

/// Means are pulled into [EPSILON, 1 - EPSILON]: a start may be too wide, not too narrow.
pub(super) const EPSILON: f64 = 0.05;

/// A product of independent units, fitted to means.
#[derive(Clone)]
pub(super) struct Product {
    pub(super) start: Start,
    log_normaliser: f64,
}

impl Product {
    pub(super) fn fitted(means: &Array1<f64>) -> Result<Self> {
        Ok(Self::of(Start::from_means(means.view(), EPSILON)?))
    }

    pub(super) fn of(start: Start) -> Self {
        let log_normaliser = start.log_z0(0);
        Self { start, log_normaliser }
    }

    fn log_density(&self, state: &State) -> f64 {
        let on = self.start.bias().iter().zip(state).filter(|(_, on)| **on);
        on.map(|(b, _)| b).sum::<f64>() - self.log_normaliser
    }
}

/// The cell that a state is in.
pub(super) fn cell(products: &[Product], state: &State) -> usize {
    if products.len() == 1 {
        return 0;
    }
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, product) in products.iter().enumerate() {
        let density = product.log_density(state);
        if density > best.0 {
            best = (density, k);
        }
    }
    best.1
}

/// The cells of some states.
pub(super) fn cells(products: &[Product], states: &[State]) -> Vec<usize> {
    states.iter().map(|state| cell(products, state)).collect()
}
