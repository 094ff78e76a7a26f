//! From sums of weights to sampled units and weight increments, sixteen units at a time.

use crate::annealing::exponential::{exp2, exp2_in_stages};
use crate::annealing::fixed::Fixed;
use crate::annealing::interleave::Interleave;
use crate::math::ln;
use crate::simd::Simd;
use crate::stream::Lanes;
use std::array::from_ref;
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
#[inline(always)]
pub(crate) fn sample_hidden<S: Simd, T: Fixed, B: Interleave<S>, const V: usize>(
    simd: S,
    constants: &HiddenStep,
    sums: &[[T; 16]; V],
    bias: &[[f32; 16]; V],
    random: &mut Lanes<S>,
    interleave: &mut B,
) -> (Sampled<S>, bool) {
    let zero = simd.splat(0.0);
    let mut sampled = HiddenSampled { bits: 0, vectors: 0, sum: zero, largest: zero };
    if B::SIDE_BY_SIDE {
        sampled.add::<T, B, V>(simd, constants, sums, bias, random, interleave);
    } else {
        for v in 0..V {
            let (sums, bias) = (from_ref(&sums[v]), from_ref(&bias[v]));
            sampled.add::<T, B, 1>(simd, constants, sums, bias, random, interleave);
        }
    }
    let HiddenSampled { bits, sum, largest, .. } = sampled;
    let too_large = simd.bits(simd.less(simd.splat(LARGEST_TAYLOR), largest)) != 0;
    (Sampled { bits, sum }, too_large)
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
    #[inline(always)]
    fn add<T: Fixed, B: Interleave<S>, const V: usize>(
        &mut self,
        simd: S,
        constants: &HiddenStep,
        sums: &[[T; 16]; V],
        bias: &[[f32; 16]; V],
        random: &mut Lanes<S>,
        interleave: &mut B,
    ) {
        const STAGES: usize = 19;
        let step = constants.next - constants.beta;
        let scale = simd.splat(constants.step);
        let exponent = simd.splat(-(constants.next as f32) * LOG2_E);
        let delta = simd.splat(step as f32);
        let one = simd.splat(1.0);
        let zeros = [simd.splat(0.0); V];
        let (mut a, mut y, mut u) = (zeros, zeros, zeros);
        for v in 0..V {
            let sum = T::load(simd, &sums[v]);
            a[v] = simd.mul_add(sum, scale, simd.load(&bias[v]));
        }
        interleave.after(0, STAGES, [&mut a]);
        for v in 0..V {
            y[v] = simd.mul(a[v], exponent);
        }
        let mut p = exp2_in_stages::<S, B, V>(simd, y, interleave, STAGES);
        for v in 0..V {
            p[v] = simd.add(one, p[v]);
        }
        interleave.after(8, STAGES, [&mut p]);
        for_each_of_four!(v => {
            if v < V {
                u[v] = random.uniforms();
                p[v] = simd.div(one, p[v]);
                interleave.after(9 + v, STAGES, [&mut u[v..=v], &mut p[v..=v]]);
            } else {
                interleave.after(9 + v, STAGES, []);
            }
        });
        // d (p - q d (1/2 - d ((1 - 2p)/6 - d (1 - 6q)/24))) with q = p (1 - p).
        let (mut d, mut q, mut tail) = (zeros, zeros, zeros);
        for v in 0..V {
            self.bits |= simd.bits(simd.less(u[v], p[v])) << (16 * self.vectors);
            self.vectors += 1;
            d[v] = simd.mul(a[v], delta);
        }
        interleave.after(13, STAGES, [&mut d]);
        for v in 0..V {
            q[v] = simd.neg_mul_add(p[v], p[v], p[v]);
            tail[v] = simd.neg_mul_add(p[v], simd.splat(1.0 / 3.0), simd.splat(1.0 / 6.0));
        }
        interleave.after(14, STAGES, [&mut q, &mut tail]);
        for v in 0..V {
            self.largest = simd.max_abs(self.largest, d[v]);
            let fourth = simd.neg_mul_add(q[v], simd.splat(0.25), simd.splat(1.0 / 24.0));
            tail[v] = simd.neg_mul_add(d[v], fourth, tail[v]);
        }
        interleave.after(15, STAGES, [std::slice::from_mut(&mut self.largest), &mut tail]);
        for v in 0..V {
            q[v] = simd.mul(q[v], d[v]);
            tail[v] = simd.neg_mul_add(d[v], tail[v], simd.splat(0.5));
        }
        interleave.after(16, STAGES, [&mut q, &mut tail]);
        for v in 0..V {
            p[v] = simd.neg_mul_add(q[v], tail[v], p[v]);
        }
        interleave.after(17, STAGES, [&mut p]);
        for v in 0..V {
            self.sum = simd.mul_add(d[v], p[v], self.sum);
        }
        interleave.after(18, STAGES, [std::slice::from_mut(&mut self.sum)]);
    }
}

/// sum_j softplus(next a_j) - softplus(beta a_j) over one chain and tile, for inputs of any size.
#[inline(always)]
pub(crate) fn softplus_increment<S: Simd, T: Fixed>(
    simd: S,
    constants: &HiddenStep,
    sums: &[[T; 16]],
    bias: &[[f32; 16]],
) -> f64 {
    let HiddenStep { step, beta, next } = *constants;
    // Not a closure: that would be compiled without the processor features of the caller, and every
    // operation in it would be a call.
    let before = softplus_sum(simd, step, beta, sums, bias);
    softplus_sum(simd, step, next, sums, bias) - before
}

/// sum_j softplus(beta a_j) over one chain and tile, with units beyond the model counted as log 2: whole
/// vectors of sums and of biases.
///
/// The linear part is added up in f64; 1 + e^-|a| lies in (1, 2], and a product of 64 of them cannot
/// overflow, so there is one logarithm for all.
#[inline(always)]
pub(crate) fn softplus_sum<S: Simd, T: Fixed>(
    simd: S,
    step: f32,
    beta: f64,
    sums: &[[T; 16]],
    bias: &[[f32; 16]],
) -> f64 {
    let scale = simd.splat(step);
    let exponent = simd.splat(-(beta as f32) * LOG2_E);
    let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
    let mut product = one;
    let mut linear = 0.0;
    for (sums, bias) in sums.iter().zip(bias) {
        let a = simd.mul_add(T::load(simd, sums), scale, simd.load(bias));
        let e = exp2(simd, simd.mul(simd.abs(a), exponent));
        product = simd.mul_add(product, e, product);
        linear += simd.sum_f64(simd.max(a, zero));
    }
    beta * linear + ln(simd.product_f64(product))
}

/// Visible units of one chain and a tile of V vectors: x ~ sigma(v) with v = (1 - beta) B + beta (b + W h),
/// and the sum of `linear` (b - B) over those that are on.
///
/// `exponent_bias` is -log2(e) ((1 - beta) B + beta b) and `scale` -log2(e) beta times the step.
#[inline(always)]
pub(crate) fn sample_visible<S: Simd, T: Fixed, B: Interleave<S>, const V: usize>(
    simd: S,
    scale: f32,
    sums: &[[T; 16]; V],
    exponent_bias: &[[f32; 16]; V],
    linear: &[[f32; 16]; V],
    random: &mut Lanes<S>,
    interleave: &mut B,
) -> Sampled<S> {
    if B::SIDE_BY_SIDE {
        let total = simd.splat(0.0);
        return visible_vectors::<S, T, B, V>(
            scale,
            sums,
            exponent_bias,
            linear,
            random,
            interleave,
            total,
        );
    }
    let mut sampled = Sampled { bits: 0, sum: simd.splat(0.0) };
    for v in 0..V {
        let more = visible_vectors::<S, T, B, 1>(
            scale,
            from_ref(&sums[v]),
            from_ref(&exponent_bias[v]),
            from_ref(&linear[v]),
            random,
            interleave,
            sampled.sum,
        );
        sampled = Sampled { bits: sampled.bits | more.bits << (16 * v), sum: more.sum };
    }
    sampled
}

/// [`sample_visible`] for V vectors, operation by operation; the sum is added to `total`.
#[inline(always)]
fn visible_vectors<S: Simd, T: Fixed, B: Interleave<S>, const V: usize>(
    scale: f32,
    sums: &[[T; 16]; V],
    exponent_bias: &[[f32; 16]; V],
    linear: &[[f32; 16]; V],
    random: &mut Lanes<S>,
    interleave: &mut B,
    mut total: S::F,
) -> Sampled<S> {
    const STAGES: usize = 13;
    let simd = random.simd();
    let scale = simd.splat(scale);
    let one = simd.splat(1.0);
    let mut y = [one; V];
    for v in 0..V {
        let sum = T::load(simd, &sums[v]);
        y[v] = simd.mul_add(sum, scale, simd.load(&exponent_bias[v]));
    }
    interleave.after(0, STAGES, [&mut y]);
    let e = exp2_in_stages::<S, B, V>(simd, y, interleave, STAGES);
    // u < 1 / (1 + e) without the division.
    let mut u = [one; V];
    for_each_of_four!(v => {
        if v < V {
            u[v] = random.uniforms();
            u[v] = simd.mul_add(u[v], e[v], u[v]);
            interleave.after(8 + v, STAGES, [&mut u[v..=v]]);
        } else {
            interleave.after(8 + v, STAGES, []);
        }
    });
    let mut bits = 0;
    for v in 0..V {
        let on = simd.less(u[v], one);
        bits |= simd.bits(on) << (16 * v);
        total = simd.add_where(on, total, simd.load(&linear[v]));
    }
    interleave.after(12, STAGES, [std::slice::from_mut(&mut total)]);
    Sampled { bits, sum: total }
}
