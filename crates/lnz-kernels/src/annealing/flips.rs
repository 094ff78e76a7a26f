//! Heat-bath flips of single units with the other layer summed out: how chains leave a phase.

use crate::aligned::{rows, rows_mut};
use crate::annealing::exponential::exp2;
use crate::annealing::fixed::{Fixed, Layer};
use crate::annealing::groups::groups;
use crate::bits::Bits;
use crate::math::{exp, ln};
use crate::random::Random;
use crate::simd::Simd;
use crate::stop::Stop;
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
    /// Units that are chosen in each chain.
    pub(crate) flips: usize,
}

impl<T: Fixed> SummedOut<'_, T> {
    /// What the flips of one chain take, in weights looked at by tables.
    pub(crate) fn work(&self) -> usize {
        self.flips * self.layer.tiles.len() * 64
    }
}

/// The linear parts of the energy.
#[derive(Clone, Copy)]
pub(crate) struct Linear<'a> {
    /// Of each unit that may be flipped.
    pub(crate) log_odds: &'a [f64],
    /// -log2(e) times the bias of each unit that is summed out, padded to whole tiles.
    pub(crate) exponent_bias: &'a [f32],
}

/// Flips units of all chains, group by group; false if it was told to stop on the way.
#[inline(always)]
pub(crate) fn flip_groups<S: Simd, T: Fixed>(
    simd: S,
    out: &mut SummedOut<'_, T>,
    linear: Linear<'_>,
    bits: &mut Bits,
    randoms: &mut [Random],
    stop: &mut Stop<'_>,
) -> bool {
    for (group, random) in groups(out.chains).zip(randoms) {
        if stop.before(group.len() * out.work()) {
            return false;
        }
        for chain in group {
            flip_units(simd, out, linear, chain, bits, random);
        }
    }
    true
}

/// Flips up to `out.flips` randomly chosen units of one chain, each with the probability that the flipped
/// state has among the two.
#[inline(always)]
fn flip_units<S: Simd, T: Fixed>(
    simd: S,
    out: &mut SummedOut<'_, T>,
    linear: Linear<'_>,
    chain: usize,
    bits: &mut Bits,
    random: &mut Random,
) {
    let Linear { log_odds, exponent_bias } = linear;
    let mut marginal = log_marginal(simd, out, chain, exponent_bias, None);
    for _ in 0..out.flips {
        let unit = random.below(log_odds.len());
        let sign = if bits.get(chain, unit) { -1.0 } else { 1.0 };
        let flipped = log_marginal(simd, out, chain, exponent_bias, Some((unit, sign as f32)));
        let gain = flipped - marginal + sign * log_odds[unit];
        // u < 1 / (1 + e^-gain).
        let u = random.uniform();
        if u + u * exp(-gain) < 1.0 {
            bits.set(chain, unit, sign > 0.0);
            change_sums(simd, out, chain, unit, sign > 0.0);
            marginal = flipped;
        }
    }
}

/// sum_j softplus(v_j) over the layer summed out, as it is or with one unit flipped.
#[inline(always)]
fn log_marginal<S: Simd, T: Fixed>(
    simd: S,
    out: &SummedOut<'_, T>,
    chain: usize,
    exponent_bias: &[f32],
    flipped: Option<(usize, f32)>,
) -> f64 {
    let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
    let scale = simd.splat(out.scale);
    let mut total = 0.0;
    let mut product = one;
    let mut factors = 0;
    let mut lanes = 0;
    let mut padding = 0;
    for tile in &out.layer.tiles {
        let width = tile.rows * T::PER_ROW;
        let count = tile.units.div_ceil(16);
        let sums = &vectors(&out.sums[lanes * out.chains + chain * width..])[..count];
        let bias = &vectors(&exponent_bias[tile.first..])[..count];
        let flipped = flipped.map(|(unit, sign)| {
            (&vectors(&out.layer.weights[tile.offset + unit * width..])[..count], sign)
        });
        let mut linear = zero;
        for v in 0..count {
            let mut sum = T::load(simd, &sums[v]);
            if let Some((weights, sign)) = flipped {
                sum = simd.mul_add(T::load(simd, &weights[v]), simd.splat(sign), sum);
            }
            let exponent = simd.mul_add(sum, scale, simd.load(&bias[v]));
            let e = exp2(simd, simd.sub(zero, simd.abs(exponent)));
            product = simd.mul_add(product, e, product);
            linear = simd.add(linear, simd.max(simd.sub(zero, exponent), zero));
            factors += 1;
        }
        total += LN_2 * simd.sum_f64(linear);
        if factors + 4 > VECTORS_PER_LOGARITHM {
            total += ln(simd.product_f64(product));
            (product, factors) = (one, 0);
        }
        padding += tile.units.next_multiple_of(16) - tile.units;
        lanes += width;
    }
    // Padded units have no bias and no weights: softplus(0) each.
    total + ln(simd.product_f64(product)) - padding as f64 * LN_2
}

/// Adds the weights of a unit that went on, or subtracts those of one that went off.
#[inline(always)]
fn change_sums<S: Simd, T: Fixed>(
    simd: S,
    out: &mut SummedOut<'_, T>,
    chain: usize,
    unit: usize,
    on: bool,
) {
    let mut lanes = 0;
    for tile in &out.layer.tiles {
        let width = tile.rows * T::PER_ROW;
        let from = lanes * out.chains + chain * width;
        let sums = rows_mut(&mut out.sums[from..from + width]);
        let weights = rows(&out.layer.weights[tile.offset + unit * width..][..width]);
        for (sum, weight) in sums.iter_mut().zip(weights) {
            let (old, weight) = (simd.load_row(sum), simd.load_row(weight));
            let new = if on { T::add(simd, old, weight) } else { T::sub(simd, old, weight) };
            simd.store_row(sum, new);
        }
        lanes += width;
    }
}

/// Whole vectors.
#[inline(always)]
fn vectors<T>(values: &[T]) -> &[[T; 16]] {
    values.as_chunks().0
}
