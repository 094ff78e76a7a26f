//! The log marginal F(x) of examples, in float32: how well a model does while it learns.

use crate::aligned::Aligned;
use crate::annealing::exponential::exp2;
use crate::learning::chain::{Example, are_ones};
use crate::learning::layers::{LANES, Layers};
use crate::learning::lists::Factored;
use crate::learning::row_sums::sum_examples;
use crate::math::ln;
use crate::simd::{Kernel, Level, Simd, dispatch};
use std::f32::consts::LOG2_E;

/// F(x) = b.x + sum_j softplus(a_j) of some examples.
pub fn log_marginals(level: Level, layers: &Layers, examples: &[Example<'_>]) -> Vec<f64> {
    let mut out = vec![0.0; examples.len()];
    dispatch(level, LogMarginals { layers, examples, out: &mut out });
    out
}

struct LogMarginals<'a> {
    layers: &'a Layers,
    examples: &'a [Example<'a>],
    out: &'a mut [f64],
}

impl Kernel for LogMarginals<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let hidden = &self.layers.hidden;
        let width = hidden.weights.width();
        let mut inputs = Aligned::zeroed(width * self.examples.len());
        let bias = self.layers.visible.bias();
        let outs = inputs.chunks_exact_mut(width);
        match are_ones(self.examples) {
            true => sum_examples::<S, &[u32]>(simd, hidden, self.examples, outs),
            false => sum_examples::<S, Factored<'_>>(simd, hidden, self.examples, outs),
        }
        let inputs = inputs.chunks_exact(width);
        for ((example, inputs), out) in self.examples.iter().zip(inputs).zip(self.out) {
            for (k, &unit) in example.units.iter().enumerate() {
                let value = example.values.get(k).unwrap_or(&1.0);
                *out += f64::from(bias[unit as usize]) * f64::from(*value);
            }
            let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
            // The factors lie in (1, 2]: 60 in each of 16 lanes do not overflow in f64.
            for part in inputs.chunks(60 * LANES) {
                let mut product = one;
                for vector in part.as_chunks::<LANES>().0 {
                    let a = simd.load(vector);
                    let e = exp2(simd, simd.mul(simd.abs(a), simd.splat(-LOG2_E)));
                    product = simd.mul_add(product, e, product);
                    *out += simd.sum_f64(simd.max(a, zero));
                }
                *out += ln(simd.product_f64(product));
            }
        }
    }
}
