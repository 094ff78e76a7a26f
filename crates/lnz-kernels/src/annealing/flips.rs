//! Heat-bath flips of single units with the other layer summed out: how chains leave a phase.

use crate::annealing::elementwise::exp2;
use crate::annealing::fixed::{Fixed, Layer};
use crate::bits::Bits;
use crate::random::Random;
use crate::simd::Simd;
use std::f64::consts::LN_2;

/// Vectors whose factors, each in (1, 2], can be multiplied in f64 over 16 lanes.
const VECTORS_PER_LOGARITHM: usize = 60;

/// The layer that is summed out: the weights into it and its sums for a block of chains.
pub(crate) struct SummedOut<'a, T: Fixed> {
    pub(crate) layer: &'a Layer<T>,
    pub(crate) sums: &'a mut [T],
    pub(crate) chains: usize,
    /// -log2(e) beta times the step of the grid.
    pub(crate) scale: f32,
}

/// Flips up to `flips` randomly chosen units of one chain, each with the probability that the flipped
/// state has among the two; returns the units that changed an odd number of times, through `bits`.
///
/// `log_odds` is the linear part of each unit, `exponent_bias` -log2(e) times the bias of each unit
/// that is summed out.
///
/// # Safety
/// See [`Simd`]; `exponent_bias` is padded to whole tiles.
#[inline(always)]
pub(crate) unsafe fn flip_units<S: Simd, T: Fixed>(
    out: &mut SummedOut<'_, T>,
    chain: usize,
    bits: &mut Bits,
    log_odds: &[f64],
    exponent_bias: &[f32],
    flips: usize,
    random: &mut Random,
) {
    // SAFETY: by the caller.
    unsafe {
        let mut marginal = log_marginal::<S, T>(out, chain, exponent_bias, None);
        for _ in 0..flips {
            let unit = random.below(log_odds.len());
            let sign = if bits.get(chain, unit) { -1.0 } else { 1.0 };
            let flipped =
                log_marginal::<S, T>(out, chain, exponent_bias, Some((unit, sign as f32)));
            let gain = flipped - marginal + sign * log_odds[unit];
            // u < 1 / (1 + e^-gain).
            let u = random.uniform();
            if u + u * (-gain).exp() < 1.0 {
                bits.set(chain, unit, sign > 0.0);
                change_sums::<S, T>(out, chain, unit, sign > 0.0);
                marginal = flipped;
            }
        }
    }
}

/// sum_j softplus(v_j) over the layer summed out, as it is or with one unit flipped.
///
/// # Safety
/// See [`flip_units`].
#[inline(always)]
unsafe fn log_marginal<S: Simd, T: Fixed>(
    out: &SummedOut<'_, T>,
    chain: usize,
    exponent_bias: &[f32],
    flipped: Option<(usize, f32)>,
) -> f64 {
    // SAFETY: tiles lie within sums, weights and bias.
    unsafe {
        let (zero, one) = (S::splat(0.0), S::splat(1.0));
        let scale = S::splat(out.scale);
        let mut total = 0.0;
        let mut product = one;
        let mut vectors = 0;
        let mut lanes = 0;
        let mut padding = 0;
        for tile in &out.layer.tiles {
            let width = tile.rows * T::PER_ROW;
            let sums = out.sums[lanes * out.chains + chain * width..].as_ptr();
            let bias = exponent_bias[tile.first..].as_ptr();
            let mut linear = zero;
            for v in 0..tile.units.div_ceil(16) {
                let mut sum = T::load::<S>(sums.add(16 * v));
                if let Some((unit, sign)) = flipped {
                    let row = out.layer.weights[tile.offset + unit * width..].as_ptr();
                    sum = S::mul_add(T::load::<S>(row.add(16 * v)), S::splat(sign), sum);
                }
                let exponent = S::mul_add(sum, scale, S::load(bias.add(16 * v)));
                let e = exp2::<S>(S::sub(zero, S::abs(exponent)));
                product = S::mul_add(product, e, product);
                linear = S::add(linear, S::max(S::sub(zero, exponent), zero));
                vectors += 1;
            }
            total += LN_2 * S::sum_f64(linear);
            if vectors + 4 > VECTORS_PER_LOGARITHM {
                total += S::product_f64(product).ln();
                (product, vectors) = (one, 0);
            }
            padding += tile.units.next_multiple_of(16) - tile.units;
            lanes += width;
        }
        // Padded units have no bias and no weights: softplus(0) each.
        total + S::product_f64(product).ln() - padding as f64 * LN_2
    }
}

/// Adds the weights of a unit that went on, or subtracts those of one that went off.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn change_sums<S: Simd, T: Fixed>(
    out: &mut SummedOut<'_, T>,
    chain: usize,
    unit: usize,
    on: bool,
) {
    let mut lanes = 0;
    for tile in &out.layer.tiles {
        let width = tile.rows * T::PER_ROW;
        let from = lanes * out.chains + chain * width;
        let sums = out.sums[from..from + width].as_mut_ptr().cast::<u8>();
        let row = out.layer.weights[tile.offset + unit * width..][..width].as_ptr().cast::<u8>();
        for r in 0..tile.rows {
            // SAFETY: both are a tile wide.
            unsafe {
                let (sum, weight) = (S::load_row(sums.add(64 * r)), S::load_row(row.add(64 * r)));
                let new = if on { T::add::<S>(sum, weight) } else { T::sub::<S>(sum, weight) };
                S::store_row(sums.add(64 * r), new);
            }
        }
        lanes += width;
    }
}
