//! From inputs to probabilities and to units that are drawn with them.

use crate::annealing::exponential::exp2;
use crate::learning::layers::LANES;
use crate::simd::Simd;
use crate::stream::Stream;
use std::f32::consts::LOG2_E;

/// Inputs become probabilities.
#[inline(always)]
pub(crate) fn probabilities<S: Simd>(simd: S, values: &mut [f32]) {
    for vector in values.as_chunks_mut::<LANES>().0 {
        simd.store(vector, sigmoid(simd, simd.load(vector)))
    }
}

/// Inputs become probabilities, and `on` the units that are drawn with them, also as bits.
#[inline(always)]
pub(crate) fn sample<S: Simd>(
    simd: S,
    values: &mut [f32],
    units: usize,
    stream: &mut Stream,
    on: &mut Vec<u32>,
    bits: &mut [u16],
) {
    let (drawn, padding) = values.split_at_mut(units.next_multiple_of(LANES));
    on.clear();
    on.reserve(drawn.len() + LANES);
    let (mut random, to, mut count) = (stream.load(simd), on.as_mut_ptr(), 0);
    for (v, vector) in drawn.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let p = sigmoid(simd, simd.load(vector));
        simd.store(vector, p);
        let chosen = simd.less(random.uniforms(), p);
        // SAFETY: there is room for a vector after each of those before.
        count += unsafe { simd.store_indices(to.add(count), chosen, (LANES * v) as u32) };
        if let Some(place) = bits.get_mut(v) {
            *place = simd.bits(chosen) as u16;
        }
    }
    // SAFETY: `count` units were written.
    unsafe { on.set_len(count) };
    stream.store(random);
    probabilities(simd, padding);
}

/// The same units as `sample` draws, without their probabilities.
#[inline(always)]
pub(crate) fn draw<S: Simd>(
    simd: S,
    inputs: &[f32],
    units: usize,
    stream: &mut Stream,
    on: &mut Vec<u32>,
    bits: &mut [u16],
) {
    let inputs = &inputs[..units.next_multiple_of(LANES)];
    on.clear();
    on.reserve(inputs.len() + LANES);
    let (mut random, to, mut count) = (stream.load(simd), on.as_mut_ptr(), 0);
    let one = simd.splat(1.0);
    let vectors = inputs.as_chunks::<LANES>().0.iter().zip(bits);
    for (v, (vector, bits)) in vectors.enumerate() {
        let e = exp2(simd, simd.mul(simd.load(vector), simd.splat(-LOG2_E)));
        let chosen = less_than_reciprocal(simd, random.uniforms(), simd.add(one, e));
        // SAFETY: there is room for a vector after each of those before.
        count += unsafe { simd.store_indices(to.add(count), chosen, (LANES * v) as u32) };
        *bits = simd.bits(chosen) as u16;
    }
    // SAFETY: `count` units were written.
    unsafe { on.set_len(count) };
    stream.store(random);
}

/// u < 1 / a in float32; nearly always without the division.
#[inline(always)]
pub(crate) fn less_than_reciprocal<S: Simd>(simd: S, u: S::F, a: S::F) -> S::Mask {
    // It is the same as u a < 1 but for two roundings, which are much smaller than this.
    const UNSURE: f32 = 1.0 / 1_048_576.0;
    let product = simd.mul(u, a);
    let less = simd.less(product, simd.splat(1.0 - UNSURE));
    if simd.bits(less) == simd.bits(simd.less(product, simd.splat(1.0 + UNSURE))) {
        return less;
    }
    simd.less(u, simd.div(simd.splat(1.0), a))
}

#[inline(always)]
fn sigmoid<S: Simd>(simd: S, a: S::F) -> S::F {
    let one = simd.splat(1.0);
    simd.div(one, simd.add(one, exp2(simd, simd.mul(a, simd.splat(-LOG2_E)))))
}
