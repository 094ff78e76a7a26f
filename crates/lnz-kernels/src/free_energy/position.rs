//! The log marginal F(x) of a layer and how it changes when a unit flips, in float64.
//!
//! Plain loops over eight lanes, compiled for each instruction set: no operation is reordered, so
//! the bits are the same on all of them.

use crate::Parameters;
use crate::free_energy::softplus::{LANES, NOTHING, sum_of_flipped};
use crate::simd::Level;
use ndarray::Array1;

/// F(x) = b.x + sum_j softplus(a_j(x)) of the visible layer of a model, without its constant.
pub struct FreeEnergy {
    units: usize,
    /// Other units, and the same rounded up to whole lanes.
    others: usize,
    width: usize,
    bias: Vec<f64>,
    other_bias: Vec<f64>,
    /// Row by row, padded with zeros.
    weights: Vec<f64>,
    level: Level,
}

/// A state with its inputs, kept up to date as units flip.
#[derive(Debug, Clone)]
pub struct Position {
    pub x: Vec<bool>,
    /// Inputs of the other layer, padded with values whose softplus is zero.
    inputs: Vec<f64>,
    /// b.x.
    linear: f64,
    /// sum_j softplus(a_j).
    marginal: f64,
}

impl Position {
    /// F(x).
    pub fn height(&self) -> f64 {
        self.linear + self.marginal
    }
}

impl FreeEnergy {
    pub fn new<'m>(model: impl Into<Parameters<'m>>) -> Self {
        let model = model.into();
        let (units, others) = model.weights.dim();
        let width = others.next_multiple_of(LANES);
        let mut weights = vec![0.0; units * width];
        for (to, from) in weights.chunks_exact_mut(width.max(1)).zip(model.weights.rows()) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Self {
            units,
            others,
            width,
            bias: model.visible_bias.to_vec(),
            other_bias: model.hidden_bias.to_vec(),
            weights,
            level: Level::detect(),
        }
    }

    pub fn units(&self) -> usize {
        self.units
    }

    /// Work of one evaluation of F after a flip, in units of the other layer.
    pub fn others(&self) -> usize {
        self.others
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.weights[i * self.width..(i + 1) * self.width]
    }

    pub fn position(&self, x: Vec<bool>) -> Position {
        let mut inputs = vec![NOTHING; self.width];
        inputs[..self.others].copy_from_slice(&self.other_bias);
        let mut linear = 0.0;
        for i in (0..self.units).filter(|&i| x[i]) {
            linear += self.bias[i];
            for (a, w) in inputs.iter_mut().zip(self.row(i)) {
                *a += w;
            }
        }
        let marginal = sum_of_flipped(self.level, &inputs, &inputs, 0.0);
        Position { x, inputs, linear, marginal }
    }

    /// a(x) of the other layer.
    pub fn inputs(&self, position: &Position) -> Array1<f64> {
        Array1::from(position.inputs[..self.others].to_vec())
    }

    /// F after flipping unit `i`, and its hidden part.
    pub fn flipped(&self, position: &Position, i: usize) -> (f64, f64) {
        let sign = if position.x[i] { -1.0 } else { 1.0 };
        let marginal = sum_of_flipped(self.level, &position.inputs, self.row(i), sign);
        (position.linear + sign * self.bias[i] + marginal, marginal)
    }

    /// Flips unit `i`, whose hidden part `flipped` has given.
    pub fn flip(&self, position: &mut Position, i: usize, marginal: f64) {
        let sign = if position.x[i] { -1.0 } else { 1.0 };
        position.x[i] = !position.x[i];
        position.linear += sign * self.bias[i];
        position.marginal = marginal;
        for (a, w) in position.inputs.iter_mut().zip(self.row(i)) {
            *a += sign * w;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Random};
    use crate::test_model::Rbm;

    #[test]
    fn flips_follow_the_log_marginal() {
        for (visible, hidden) in [(20, 180), (7, 9), (3, 1), (4, 0)] {
            let model = Rbm::hard(visible, hidden, 1);
            let energy = FreeEnergy::new(&model);
            let mut random = Random::stream(1, Purpose::Model, 3);
            let mut position = energy.position((0..visible).map(|_| random.happens(0.5)).collect());
            for _ in 0..100 {
                let i = random.below(visible);
                let (height, marginal) = energy.flipped(&position, i);
                energy.flip(&mut position, i, marginal);
                let x: Array1<f64> = position.x.iter().map(|&x| f64::from(x)).collect();
                let expected = model.log_marginal(x.view());
                assert!((height - expected).abs() < 1e-11 * expected.abs().max(1.0));
                assert!((position.height() - expected).abs() < 1e-11 * expected.abs().max(1.0));
            }
        }
    }
}
