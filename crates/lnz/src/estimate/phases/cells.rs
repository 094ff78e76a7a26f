//! The cells of a model: for every state the fitted product under which it is most likely.

use super::sampler::{Mixture, State};
use crate::{Result, Start};
use ndarray::Array1;

/// Means are pulled into [EPSILON, 1 - EPSILON]: a start may be too wide, not too narrow.
const EPSILON: f64 = 0.05;

/// A product of independent units, fitted to the means of a phase.
pub(super) struct Product {
    pub(super) start: Start,
    log_normaliser: f64,
    /// How much of its group it holds.
    pub(super) weight: f64,
}

impl Product {
    pub(super) fn fitted(means: &Array1<f64>, weight: f64) -> Result<Self> {
        let start = Start::from_means(means.view(), EPSILON)?;
        let log_normaliser = start.log_z0(0);
        Ok(Self { start, log_normaliser, weight })
    }

    fn log_density(&self, state: &State) -> f64 {
        let on = self.start.bias().iter().zip(state).filter(|(_, on)| **on);
        on.map(|(b, _)| b).sum::<f64>() - self.log_normaliser
    }
}

/// Phases that the dynamics joins: one start, a mixture of their products, and the union of their cells.
pub(super) struct Group {
    pub(super) products: Vec<Product>,
    /// Its share of Z, as far as is known.
    pub(super) share: f64,
    /// Relative error of what is known.
    pub(super) error: f64,
}

impl Group {
    /// Half by what the products hold, half evenly: none may be left out by a noisy pilot.
    pub(super) fn start(&self) -> Mixture {
        let total: f64 = self.products.iter().map(|product| product.weight).sum();
        let even = 0.5 / self.products.len() as f64;
        let share = |product: &Product| 0.5 * product.weight / total + even;
        self.products.iter().map(|product| (product.start.clone(), share(product))).collect()
    }
}

/// The group and the product of it whose cell a state is in.
pub(super) fn cell(groups: &[Group], state: &State) -> (usize, usize) {
    let mut best = (f64::NEG_INFINITY, (0, 0));
    for (g, group) in groups.iter().enumerate() {
        for (p, product) in group.products.iter().enumerate() {
            let density = product.log_density(state);
            if density > best.0 {
                best = (density, (g, p));
            }
        }
    }
    best.1
}

/// The groups whose cells some states are in.
pub(super) fn homes(groups: &[Group], states: &[State]) -> Vec<usize> {
    states.iter().map(|state| cell(groups, state).0).collect()
}

/// The samples that are kept; the others weigh nothing.
pub(super) fn masked<C: Copy>(samples: &[f64], cells: &[C], keep: impl Fn(C) -> bool) -> Vec<f64> {
    let weight = |(sample, cell): (&f64, &C)| if keep(*cell) { *sample } else { f64::NEG_INFINITY };
    samples.iter().zip(cells).map(weight).collect()
}
