//! The units of a layer: the sum over all their values, and how they are drawn.
//!
//! Given their inputs a, the units h of a layer have the density `exp(a.h)`. All that a path and a
//! chain in float64 must know about them is here; [`Rbm`](crate::Rbm) has one `Layer` for each side.

use crate::math::{sigmoid, softplus};
use lnz_kernels::random::Random;
use ndarray::Array1;

/// What values the units of a layer take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Layer {
    /// Each unit is 0 or 1.
    #[default]
    Binary,
}

impl Layer {
    /// `log sum_h exp(a.h)` over all values of the layer, for the inputs a.
    pub(crate) fn log_sum(self, inputs: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Binary => inputs.map(softplus).sum(),
        }
    }

    /// The same for this many units without input: the log of the number of their states.
    pub(crate) fn log_states(self, units: usize) -> f64 {
        match self {
            Self::Binary => units as f64 * std::f64::consts::LN_2,
        }
    }

    /// Units drawn from `exp(a.h)`, for the inputs a.
    pub(crate) fn draw(self, inputs: Array1<f64>, random: &mut Random) -> Array1<f64> {
        match self {
            Self::Binary => inputs.mapv_into(|a| f64::from(random.happens(sigmoid(a)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnz_kernels::random::Purpose;
    use ndarray::array;

    #[test]
    fn a_binary_layer_sums_over_all_its_states() {
        let inputs = [0.3, -1.2, 2.0];
        let state = |s: usize| (0..3).map(|j| (s >> j & 1) as f64 * inputs[j]).sum::<f64>();
        let sum: f64 = (0..8).map(|s| state(s).exp()).sum();
        assert!((Layer::Binary.log_sum(inputs.into_iter()) - sum.ln()).abs() < 1e-14);
        assert!((Layer::Binary.log_states(3) - 8f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn a_binary_unit_is_on_with_the_probability_of_its_input() {
        let mut random = Random::stream(1, Purpose::Start, 0);
        let (n, inputs) = (10_000, array![0.7, -2.0]);
        let sum = (0..n).fold(Array1::zeros(2), |sum: Array1<f64>, _| {
            sum + Layer::Binary.draw(inputs.clone(), &mut random)
        });
        for (on, &input) in sum.iter().zip(&inputs) {
            let p = sigmoid(input);
            // Five standard errors of n independent draws.
            assert!((on / n as f64 - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt());
        }
    }
}
