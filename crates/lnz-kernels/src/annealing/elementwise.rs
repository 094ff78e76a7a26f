//! From sums of weights to sampled units and weight increments, sixteen units at a time.

use crate::annealing::fixed::Fixed;
use crate::annealing::interleave::Interleave;
use crate::simd::Simd;
use crate::stream::Lanes;
use std::f32::consts::LOG2_E;

/// A loop over the vectors of a tile that the compiler cannot choose not to unroll.
macro_rules! for_each_of_four {
    ($v:ident => $body:block) => {
        for_each_of_four!(0, $v => $body);
        for_each_of_four!(1, $v => $body);
        for_each_of_four!(2, $v => $body);
        for_each_of_four!(3, $v => $body);
    };
    ($k:literal, $v:ident => $body:block) => {{
        let $v = $k;
        $body
    }};
}

/// 2^y for y in [-60, 60] (clamped), relative error below 2e-7.
///
/// Beyond that 1 + 2^-|y| is one in float32 anyway, while squares of 2^-126 would be subnormal numbers,
/// which are slow.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(crate) unsafe fn exp2<S: Simd>(y: S::F) -> S::F {
    // SAFETY: by the caller.
    unsafe { exp2_in_stages::<S, (), 1>([y], &mut (), 8)[0] }
}

/// [`exp2`] of some vectors, operation by operation: stages 1 to 7 of a draw.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn exp2_in_stages<S: Simd, B: Interleave<S>, const V: usize>(
    mut y: [S::F; V],
    beside: &mut B,
    stages: usize,
) -> [S::F; V] {
    // SAFETY: arithmetic only, but for what is done beside.
    unsafe {
        let zeros = [S::splat(0.0); V];
        let (mut integer, mut f, mut f2) = (zeros, zeros, zeros);
        let (mut high, mut middle, mut low) = (zeros, zeros, zeros);
        for v in 0..V {
            y[v] = S::clamp(y[v], 60.0);
        }
        beside.after(1, stages, [&mut y]);
        for v in 0..V {
            (integer[v], f[v]) = S::split(y[v]);
        }
        beside.after(2, stages, [&mut integer, &mut f]);
        // Degree 5 on [-1/2, 1/2] by Estrin's scheme.
        for v in 0..V {
            high[v] = S::mul_add(f[v], S::splat(1.327_645_7e-3), S::splat(9.675_541e-3));
            middle[v] = S::mul_add(f[v], S::splat(5.550_713_5e-2), S::splat(0.240_221_2));
        }
        beside.after(3, stages, [&mut high, &mut middle]);
        for v in 0..V {
            low[v] = S::mul_add(f[v], S::splat(0.693_146_94), S::splat(1.0));
            f2[v] = S::mul(f[v], f[v]);
        }
        beside.after(4, stages, [&mut low, &mut f2]);
        for v in 0..V {
            middle[v] = S::mul_add(high[v], f2[v], middle[v]);
        }
        beside.after(5, stages, [&mut middle]);
        for v in 0..V {
            low[v] = S::mul_add(middle[v], f2[v], low[v]);
        }
        beside.after(6, stages, [&mut low]);
        for v in 0..V {
            low[v] = S::scale(low[v], integer[v]);
        }
        beside.after(7, stages, [&mut low]);
        low
    }
}

/// What sampling the units of a chain and tile gives.
#[derive(Clone, Copy)]
pub(crate) struct Sampled<S: Simd> {
    /// The new units.
    pub(crate) bits: u64,
    /// To be added over the lanes. Hidden: the increment of log w. Visible: the sum of `linear` over
    /// units that are on.
    pub(crate) sum: S::F,
}

/// Constants of a step for the hidden layer.
#[derive(Clone, Copy)]
pub(crate) struct HiddenStep {
    /// Value of an integer of one.
    pub(crate) step: f32,
    /// The inverse temperature before and after the step.
    pub(crate) beta: f64,
    pub(crate) next: f64,
}

/// Above this |d| the Taylor series of the weight increment is not accurate enough: the next term is
/// below `d^5 / 1200` per unit.
const LARGEST_TAYLOR: f32 = 0.3;

/// Hidden units of one chain and a tile of V vectors: h ~ sigma(next a), and sum_j softplus(next a_j) -
/// softplus(beta a_j); whether an input is too large for that, and the sum to be taken from
/// [`softplus_increment`].
///
/// # Safety
/// See [`Simd`]; `sums` and `bias` are valid for 16 V values.
#[inline(always)]
pub(crate) unsafe fn sample_hidden<S: Simd, T: Fixed, B: Interleave<S>, const V: usize>(
    constants: &HiddenStep,
    sums: *const T,
    bias: *const f32,
    random: &mut Lanes<S>,
    beside: &mut B,
) -> (Sampled<S>, bool) {
    // SAFETY: by the caller.
    unsafe {
        let zero = S::splat(0.0);
        let mut sampled = HiddenSampled { bits: 0, vectors: 0, sum: zero, largest: zero };
        if B::SIDE_BY_SIDE {
            sampled.add::<T, B, V>(constants, sums, bias, random, beside);
        } else {
            for v in 0..V {
                let (sums, bias) = (sums.add(16 * v), bias.add(16 * v));
                sampled.add::<T, B, 1>(constants, sums, bias, random, beside);
            }
        }
        let HiddenSampled { bits, sum, largest, .. } = sampled;
        let too_large = S::bits(S::less(S::splat(LARGEST_TAYLOR), largest)) != 0;
        (Sampled { bits, sum }, too_large)
    }
}

/// The hidden units of some vectors.
struct HiddenSampled<S: Simd> {
    bits: u64,
    vectors: usize,
    /// The increment of log w, to be added over the lanes.
    sum: S::F,
    /// The largest |d|.
    largest: S::F,
}

impl<S: Simd> HiddenSampled<S> {
    /// V more vectors.
    ///
    /// # Safety
    /// See [`sample_hidden`].
    #[inline(always)]
    unsafe fn add<T: Fixed, B: Interleave<S>, const V: usize>(
        &mut self,
        constants: &HiddenStep,
        sums: *const T,
        bias: *const f32,
        random: &mut Lanes<S>,
        beside: &mut B,
    ) {
        const STAGES: usize = 19;
        let step = constants.next - constants.beta;
        // SAFETY: by the caller.
        unsafe {
            let scale = S::splat(constants.step);
            let exponent = S::splat(-(constants.next as f32) * LOG2_E);
            let delta = S::splat(step as f32);
            let one = S::splat(1.0);
            let zeros = [S::splat(0.0); V];
            let (mut a, mut y, mut u) = (zeros, zeros, zeros);
            for v in 0..V {
                let sum = T::load::<S>(sums.add(16 * v));
                a[v] = S::mul_add(sum, scale, S::load(bias.add(16 * v)));
            }
            beside.after(0, STAGES, [&mut a]);
            for v in 0..V {
                y[v] = S::mul(a[v], exponent);
            }
            let mut p = exp2_in_stages::<S, B, V>(y, beside, STAGES);
            for v in 0..V {
                p[v] = S::add(one, p[v]);
            }
            beside.after(8, STAGES, [&mut p]);
            for_each_of_four!(v => {
                if v < V {
                    u[v] = random.uniforms();
                    p[v] = S::div(one, p[v]);
                    beside.after(9 + v, STAGES, [&mut u[v..=v], &mut p[v..=v]]);
                } else {
                    beside.after(9 + v, STAGES, []);
                }
            });
            // d (p - q d (1/2 - d ((1 - 2p)/6 - d (1 - 6q)/24))) with q = p (1 - p).
            let (mut d, mut q, mut tail) = (zeros, zeros, zeros);
            for v in 0..V {
                self.bits |= S::bits(S::less(u[v], p[v])) << (16 * self.vectors);
                self.vectors += 1;
                d[v] = S::mul(a[v], delta);
            }
            beside.after(13, STAGES, [&mut d]);
            for v in 0..V {
                q[v] = S::neg_mul_add(p[v], p[v], p[v]);
                tail[v] = S::neg_mul_add(p[v], S::splat(1.0 / 3.0), S::splat(1.0 / 6.0));
            }
            beside.after(14, STAGES, [&mut q, &mut tail]);
            for v in 0..V {
                self.largest = S::max_abs(self.largest, d[v]);
                let fourth = S::neg_mul_add(q[v], S::splat(0.25), S::splat(1.0 / 24.0));
                tail[v] = S::neg_mul_add(d[v], fourth, tail[v]);
            }
            beside.after(15, STAGES, [std::slice::from_mut(&mut self.largest), &mut tail]);
            for v in 0..V {
                q[v] = S::mul(q[v], d[v]);
                tail[v] = S::neg_mul_add(d[v], tail[v], S::splat(0.5));
            }
            beside.after(16, STAGES, [&mut q, &mut tail]);
            for v in 0..V {
                p[v] = S::neg_mul_add(q[v], tail[v], p[v]);
            }
            beside.after(17, STAGES, [&mut p]);
            for v in 0..V {
                self.sum = S::mul_add(d[v], p[v], self.sum);
            }
            beside.after(18, STAGES, [std::slice::from_mut(&mut self.sum)]);
        }
    }
}

/// sum_j softplus(next a_j) - softplus(beta a_j) over one chain and tile, for inputs of any size.
///
/// # Safety
/// See [`softplus_sum`].
#[inline(always)]
pub(crate) unsafe fn softplus_increment<S: Simd, T: Fixed>(
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
pub(crate) unsafe fn softplus_sum<S: Simd, T: Fixed>(
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
pub(crate) unsafe fn sample_visible<S: Simd, T: Fixed, B: Interleave<S>, const V: usize>(
    scale: f32,
    sums: *const T,
    exponent_bias: *const f32,
    linear: *const f32,
    random: &mut Lanes<S>,
    beside: &mut B,
) -> Sampled<S> {
    // SAFETY: by the caller.
    unsafe {
        if B::SIDE_BY_SIDE {
            let total = S::splat(0.0);
            return visible_vectors::<S, T, B, V>(
                scale,
                sums,
                exponent_bias,
                linear,
                random,
                beside,
                total,
            );
        }
        let mut sampled = Sampled { bits: 0, sum: S::splat(0.0) };
        for v in 0..V {
            let k = 16 * v;
            let more = visible_vectors::<S, T, B, 1>(
                scale,
                sums.add(k),
                exponent_bias.add(k),
                linear.add(k),
                random,
                beside,
                sampled.sum,
            );
            sampled = Sampled { bits: sampled.bits | more.bits << k, sum: more.sum };
        }
        sampled
    }
}

/// [`sample_visible`] for V vectors, operation by operation; the sum is added to `total`.
///
/// # Safety
/// See [`sample_visible`].
#[inline(always)]
unsafe fn visible_vectors<S: Simd, T: Fixed, B: Interleave<S>, const V: usize>(
    scale: f32,
    sums: *const T,
    exponent_bias: *const f32,
    linear: *const f32,
    random: &mut Lanes<S>,
    beside: &mut B,
    mut total: S::F,
) -> Sampled<S> {
    const STAGES: usize = 13;
    // SAFETY: by the caller.
    unsafe {
        let scale = S::splat(scale);
        let one = S::splat(1.0);
        let mut y = [one; V];
        for v in 0..V {
            let sum = T::load::<S>(sums.add(16 * v));
            y[v] = S::mul_add(sum, scale, S::load(exponent_bias.add(16 * v)));
        }
        beside.after(0, STAGES, [&mut y]);
        let e = exp2_in_stages::<S, B, V>(y, beside, STAGES);
        // u < 1 / (1 + e) without the division.
        let mut u = [one; V];
        for_each_of_four!(v => {
            if v < V {
                u[v] = random.uniforms();
                u[v] = S::mul_add(u[v], e[v], u[v]);
                beside.after(8 + v, STAGES, [&mut u[v..=v]]);
            } else {
                beside.after(8 + v, STAGES, []);
            }
        });
        let mut bits = 0;
        for v in 0..V {
            let on = S::less(u[v], one);
            bits |= S::bits(on) << (16 * v);
            total = S::add_where(on, total, S::load(linear.add(16 * v)));
        }
        beside.after(12, STAGES, [std::slice::from_mut(&mut total)]);
        Sampled { bits, sum: total }
    }
}
