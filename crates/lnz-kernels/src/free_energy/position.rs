//! The log marginal F(x) of a layer and how it changes when a unit flips, in float64.
//!
//! Plain loops over eight lanes, compiled for each instruction set: no operation is reordered, so
//! the bits are the same on all of them.

use crate::Parameters;
use crate::simd::{Kernel, Level, Simd, dispatch};
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

pub(crate) const LANES: usize = 8;
/// Padding: softplus of it is exactly zero in float64.
pub(crate) const NOTHING: f64 = -1e6;

impl FreeEnergy {
    pub fn new<'m>(model: impl Into<Parameters<'m>>) -> Self {
        let model = model.into();
        let (units, others) = model.weights.dim();
        let width = others.next_multiple_of(LANES);
        let mut weights = vec![0.0; units * width];
        for (i, row) in model.weights.rows().into_iter().enumerate() {
            for (j, &w) in row.iter().enumerate() {
                weights[i * width + j] = w;
            }
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
        let mut marginal = 0.0;
        let kernel = FlipKernel { inputs: &inputs, row: &inputs, sign: 0.0, out: &mut marginal };
        dispatch(self.level, kernel);
        Position { x, inputs, linear, marginal }
    }

    /// a(x) of the other layer.
    pub fn inputs(&self, position: &Position) -> Array1<f64> {
        Array1::from(position.inputs[..self.others].to_vec())
    }

    /// F after flipping unit `i`, and its hidden part.
    pub fn flipped(&self, position: &Position, i: usize) -> (f64, f64) {
        let sign = if position.x[i] { -1.0 } else { 1.0 };
        let mut marginal = 0.0;
        let kernel =
            FlipKernel { inputs: &position.inputs, row: self.row(i), sign, out: &mut marginal };
        dispatch(self.level, kernel);
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

/// sum_j softplus(a_j + sign w_j).
struct FlipKernel<'a> {
    inputs: &'a [f64],
    row: &'a [f64],
    sign: f64,
    out: &'a mut f64,
}

impl Kernel for FlipKernel<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        *self.out = sum_of_softplus(self.inputs, self.row, self.sign);
    }
}

/// sum_j softplus(a_j).
pub(crate) fn softplus_of_all(mut inputs: Vec<f64>, level: Level) -> f64 {
    inputs.resize(inputs.len().next_multiple_of(LANES), NOTHING);
    let mut sum = 0.0;
    dispatch(level, FlipKernel { inputs: &inputs, row: &inputs, sign: 0.0, out: &mut sum });
    sum
}

/// sum_j softplus(a_j + sign w_j); whole lanes only.
#[inline(always)]
pub(crate) fn sum_of_softplus(inputs: &[f64], row: &[f64], sign: f64) -> f64 {
    let mut total = 0.0;
    // A product of 1000 factors in (1, 2] does not overflow.
    for (inputs, row) in inputs.chunks(1000 * LANES).zip(row.chunks(1000 * LANES)) {
        let mut product = [1.0f64; LANES];
        let mut linear = [0.0f64; LANES];
        for (a, w) in inputs.chunks_exact(LANES).zip(row.chunks_exact(LANES)) {
            for k in 0..LANES {
                let input = a[k] + sign * w[k];
                linear[k] += if input > 0.0 { input } else { 0.0 };
                product[k] *= 1.0 + exp_of_negative(-input.abs());
            }
        }
        total += linear.iter().sum::<f64>() + product.iter().map(|p| p.ln()).sum::<f64>();
    }
    total
}

/// e^x for x <= 0, relative error below 1e-13; zero beyond -700.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f64) -> f64 {
    // 1.5 * 2^52: adding it rounds to an integer, which then sits in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let clamped = if x < -700.0 { -700.0 } else { x };
    let shifted = clamped * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, so that the reduction is exact.
    let r = (clamped - n * 6.931_471_803_691_238e-1) - n * 1.908_214_929_270_587_7e-10;
    let mut p = 1.0 / 479_001_600.0;
    for factor in [39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0] {
        p = p * r + 1.0 / factor;
    }
    let p = (((p * r + 1.0 / 6.0) * r + 0.5) * r + 1.0) * r + 1.0;
    let value = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < -700.0 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Random};
    use crate::test_model::Gwgm;

    #[test]
    fn exponentials_are_accurate() {
        for k in 0..7000 {
            let x = -f64::from(k) * 0.1;
            assert!((exp_of_negative(x) / x.exp() - 1.0).abs() < 1e-13, "{x}");
        }
        assert_eq!(exp_of_negative(-1e6), 0.0);
        assert_eq!(exp_of_negative(0.0), 1.0);
    }

    #[test]
    fn flips_follow_the_log_marginal() {
        for (visible, hidden) in [(20, 180), (7, 9), (3, 1), (4, 0)] {
            let model = Gwgm { visible, hidden, ..Gwgm::HARDEST }.generate(1).unwrap();
            let landscape = FreeEnergy::new(&model);
            let mut random = Random::stream(1, Purpose::Model, 3);
            let mut position =
                landscape.position((0..visible).map(|_| random.happens(0.5)).collect());
            for _ in 0..100 {
                let i = random.below(visible);
                let (height, marginal) = landscape.flipped(&position, i);
                landscape.flip(&mut position, i, marginal);
                let x: Array1<f64> = position.x.iter().map(|&x| f64::from(x)).collect();
                let expected = model.log_marginal(x.view());
                assert!((height - expected).abs() < 1e-11 * expected.abs().max(1.0));
                assert!((position.height() - expected).abs() < 1e-11 * expected.abs().max(1.0));
            }
        }
    }
}
