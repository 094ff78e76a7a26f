//! Artificial models of the paper: Gaussian weights with Gaussian moments, and blocks of them.

mod spins;

pub use spins::Spins;

use crate::{Error, Rbm, Result};
use lnz_kernels::random::{Purpose, Random};
use ndarray::{Array1, Array2};
use serde::Serialize;

/// Gaussian Weights with Gaussian Moments (GWGM): the parameters of a family of models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gwgm {
    /// Number of visible units.
    pub visible: usize,
    /// Number of hidden units.
    pub hidden: usize,
    /// Mean of the mean of the weights.
    pub mu_mu: f64,
    /// Standard deviation of the mean of the weights.
    pub sigma_mu: f64,
    /// Mean of the standard deviation of the weights.
    pub mu_sigma: f64,
    /// Standard deviation of the standard deviation of the weights.
    pub sigma_sigma: f64,
    /// Factor of both moments for the biases.
    pub lambda: f64,
}

impl Gwgm {
    /// The paper's hardest family: 20 x 180, (-10, 10, 20, 10, 0.1).
    pub const HARDEST: Gwgm = Gwgm {
        visible: 20,
        hidden: 180,
        mu_mu: -10.0,
        sigma_mu: 10.0,
        mu_sigma: 20.0,
        sigma_sigma: 10.0,
        lambda: 0.1,
    };

    /// One model of the family. A negative standard deviation, which the paper leaves open, counts
    /// by its absolute value.
    pub fn generate(&self, seed: u64) -> Result<Rbm> {
        let numbers = [
            ("mu_mu", self.mu_mu),
            ("sigma_mu", self.sigma_mu),
            ("mu_sigma", self.mu_sigma),
            ("sigma_sigma", self.sigma_sigma),
            ("lambda", self.lambda),
        ];
        for (setting, value) in numbers {
            if !value.is_finite() {
                return Err(Error::setting(setting, value, "a finite number"));
            }
        }
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

/// A Block Matrix System (BMS): `blocks` GWGM models side by side, seeded from `seed` upwards.
///
/// Shuffling hides the blocks from the eye and from algorithms that read the order of units; Z is
/// the same.
pub fn block_system(family: &Gwgm, blocks: usize, shuffle: bool, seed: u64) -> Result<Rbm> {
    if blocks == 0 {
        return Err(Error::setting("blocks", 0, "at least 1"));
    }
    let parts: Vec<Rbm> =
        (0..blocks as u64).map(|k| family.generate(seed.wrapping_add(k))).collect::<Result<_>>()?;
    let model = Rbm::block_diagonal(&parts)?;
    if !shuffle {
        return Ok(model);
    }
    let mut random = Random::stream(seed, Purpose::Model, 1);
    let visible_order = random.permutation(model.visible());
    let hidden_order = random.permutation(model.hidden());
    model.permuted(&visible_order, &hidden_order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_reproducible_and_scales_its_biases() {
        let family = Gwgm { hidden: 500, ..Gwgm::HARDEST };
        let model = family.generate(5).unwrap();
        assert_eq!(model, family.generate(5).unwrap());
        assert_ne!(model, family.generate(6).unwrap());
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let weights: Vec<f64> = model.weights().iter().copied().collect();
        let (w, c) = (mean(weights.clone()), mean(model.hidden_bias().to_vec()));
        let spread = mean(weights.iter().map(|v| (v - w).powi(2)).collect()).sqrt();
        // The bias means are 0.1 of the weight means within 5 standard errors of 500 draws.
        assert!((c - 0.1 * w).abs() < 5.0 * 0.1 * spread * (1.0 / 500f64 + 1.0 / 10_000f64).sqrt());
    }

    #[test]
    fn blocks_become_components_even_when_shuffled() {
        let family = Gwgm { visible: 4, hidden: 6, ..Gwgm::HARDEST };
        let model = block_system(&family, 3, true, 1).unwrap();
        assert_eq!((model.visible(), model.hidden()), (12, 18));
        assert_eq!(model.components().len(), 3);
        assert!(block_system(&family, 0, true, 1).is_err());
    }
}
