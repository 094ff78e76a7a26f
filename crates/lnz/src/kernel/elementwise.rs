//! From sums of weights to sampled units and weight increments, sixteen units at a time.

use super::fixed::Fixed;
use super::simd::Simd;
use super::stream::Lanes;
use std::f32::consts::LOG2_E;

/// 2^y for y in [-60, 60] (clamped), relative error below 2e-7.
///
/// Beyond that 1 + 2^-|y| is one in float32 anyway, while squares of 2^-126 would be subnormal numbers,
/// which are slow.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(super) unsafe fn exp2<S: Simd>(y: S::F) -> S::F {
    // 1.5 * 2^23: adding it rounds to an integer, which then sits in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // SAFETY: arithmetic only.
    unsafe {
        let y = S::clamp(y, 60.0);
        let shifted = S::add(y, S::splat(ROUND));
        let f = S::sub(y, S::sub(shifted, S::splat(ROUND)));
        // Degree 5 on [-1/2, 1/2] by Estrin's scheme.
        let f2 = S::mul(f, f);
        let high = S::mul_add(f, S::splat(1.327_645_7e-3), S::splat(9.675_541e-3));
        let middle = S::mul_add(f, S::splat(5.550_713_5e-2), S::splat(0.240_221_2));
        let low = S::mul_add(f, S::splat(0.693_146_94), S::splat(1.0));
        let power = S::mul_add(S::mul_add(high, f2, middle), f2, low);
        S::add_exponent(power, shifted)
    }
}

/// What sampling the units of a chain and tile gives.
#[derive(Clone, Copy)]
pub(super) struct Sampled<S: Simd> {
    /// The new units.
    pub(super) bits: u64,
    /// To be added over the lanes. Hidden: the increment of log w. Visible: the sum of `linear` over
    /// units that are on.
    pub(super) sum: S::F,
}

/// Constants of a step for the hidden layer.
#[derive(Clone, Copy)]
pub(super) struct HiddenStep {
    /// Value of an integer of one.
    pub(super) step: f32,
    /// The inverse temperature before and after the step.
    pub(super) beta: f64,
    pub(super) next: f64,
}

/// Above this |d| the Taylor series of the weight increment is not accurate enough: the next term is
/// below `d^5 / 1200` per unit.
const LARGEST_TAYLOR: f32 = 0.3;

/// Hidden units of one chain and a tile of V vectors: h ~ sigma(next a), and sum_j softplus(next a_j) -
/// softplus(beta a_j); whether an
/// input is too large for that, and the sum to be taken from [`softplus_increment`].
///
/// # Safety
/// See [`Simd`]; `sums` and `bias` are valid for 16 V values.
#[inline(always)]
pub(super) unsafe fn sample_hidden<S: Simd, T: Fixed, const V: usize>(
    constants: &HiddenStep,
    sums: *const T,
    bias: *const f32,
    random: &mut Lanes<S>,
) -> (Sampled<S>, bool) {
    let step = constants.next - constants.beta;
    // SAFETY: by the caller.
    unsafe {
        let scale = S::splat(constants.step);
        let exponent = S::splat(-(constants.next as f32) * LOG2_E);
        let delta = S::splat(step as f32);
        let one = S::splat(1.0);
        let mut total = S::splat(0.0);
        let mut largest = total;
        let mut bits = 0;
        for v in 0..V {
            let sum = T::load::<S>(sums.add(16 * v));
            let a = S::mul_add(sum, scale, S::load(bias.add(16 * v)));
            let p = S::div(one, S::add(one, exp2::<S>(S::mul(a, exponent))));
            bits |= S::bits(S::less(random.uniforms(), p)) << (16 * v);
            // d (p - q d (1/2 - d ((1 - 2p)/6 - d (1 - 6q)/24))) with q = p (1 - p).
            let d = S::mul(a, delta);
            let q = S::neg_mul_add(p, p, p);
            let third = S::neg_mul_add(p, S::splat(1.0 / 3.0), S::splat(1.0 / 6.0));
            let fourth = S::neg_mul_add(q, S::splat(0.25), S::splat(1.0 / 24.0));
            let tail = S::neg_mul_add(d, S::neg_mul_add(d, fourth, third), S::splat(0.5));
            total = S::mul_add(d, S::neg_mul_add(S::mul(q, d), tail, p), total);
            largest = S::max_abs(largest, d);
        }
        let too_large = S::bits(S::less(S::splat(LARGEST_TAYLOR), largest)) != 0;
        (Sampled { bits, sum: total }, too_large)
    }
}

/// sum_j softplus(next a_j) - softplus(beta a_j) over one chain and tile, for inputs of any size.
///
/// # Safety
/// See [`softplus_sum`].
#[inline(always)]
pub(super) unsafe fn softplus_increment<S: Simd, T: Fixed>(
    constants: &HiddenStep,
    units: usize,
    sums: *const T,
    bias: *const f32,
) -> f64 {
    let HiddenStep { step, beta, next } = *constants;
    // SAFETY: by the caller. Not a closure: that would be compiled without the processor features of
    // the caller, and every intrinsic in it would be a call.
    unsafe {
        let before = softplus_sum::<S, T>(step, beta, units, sums, bias);
        softplus_sum::<S, T>(step, next, units, sums, bias) - before
    }
}

/// sum_j softplus(beta a_j) over one chain and tile, with units beyond the model counted as log 2.
///
/// The linear part is added up in f64; 1 + e^-|a| lies in (1, 2], and a product of 64 of them cannot
/// overflow, so there is one logarithm for all.
///
/// # Safety
/// See [`Simd`]; `sums` and `bias` are valid for `units` rounded up to 16 values.
#[inline(always)]
pub(super) unsafe fn softplus_sum<S: Simd, T: Fixed>(
    step: f32,
    beta: f64,
    units: usize,
    sums: *const T,
    bias: *const f32,
) -> f64 {
    // SAFETY: by the caller.
    unsafe {
        let scale = S::splat(step);
        let exponent = S::splat(-(beta as f32) * LOG2_E);
        let (zero, one) = (S::splat(0.0), S::splat(1.0));
        let mut product = one;
        let mut linear = 0.0;
        for v in 0..units.div_ceil(16) {
            let sum = T::load::<S>(sums.add(16 * v));
            let a = S::mul_add(sum, scale, S::load(bias.add(16 * v)));
            let e = exp2::<S>(S::mul(S::abs(a), exponent));
            product = S::mul_add(product, e, product);
            linear += S::sum_f64(S::max(a, zero));
        }
        beta * linear + S::product_f64(product).ln()
    }
}

/// Visible units of one chain and a tile of V vectors: x ~ sigma(v) with v = (1 - beta) B + beta (b + W h),
/// and the sum of `linear` (b - B) over those that are on.
///
/// `exponent_bias` is -log2(e) ((1 - beta) B + beta b) and `scale` -log2(e) beta times the step.
///
/// # Safety
/// See [`Simd`]; all pointers are valid for 16 V values.
#[inline(always)]
pub(super) unsafe fn sample_visible<S: Simd, T: Fixed, const V: usize>(
    scale: f32,
    sums: *const T,
    exponent_bias: *const f32,
    linear: *const f32,
    random: &mut Lanes<S>,
) -> Sampled<S> {
    // SAFETY: by the caller.
    unsafe {
        let scale = S::splat(scale);
        let one = S::splat(1.0);
        let mut total = S::splat(0.0);
        let mut bits = 0;
        for v in 0..V {
            let sum = T::load::<S>(sums.add(16 * v));
            let e = exp2::<S>(S::mul_add(sum, scale, S::load(exponent_bias.add(16 * v))));
            // u < 1 / (1 + e) without the division.
            let u = random.uniforms();
            let on = S::less(S::mul_add(u, e, u), one);
            bits |= S::bits(on) << (16 * v);
            total = S::add(total, S::keep(on, S::load(linear.add(16 * v))));
        }
        Sampled { bits, sum: total }
    }
}
