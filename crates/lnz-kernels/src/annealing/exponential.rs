//! Powers of two, sixteen at a time.

use crate::annealing::interleave::Interleave;
use crate::simd::Simd;

/// 2^y for y in [-60, 60] (clamped), relative error below 2e-7.
///
/// Beyond that 1 + 2^-|y| is one in float32 anyway, while squares of 2^-126 would be subnormal numbers,
/// which are slow.
#[inline(always)]
pub(crate) fn exp2<S: Simd>(simd: S, y: S::F) -> S::F {
    exp2_in_stages::<S, (), 1>(simd, [y], &mut (), 8)[0]
}

/// [`exp2`] of some vectors, operation by operation: stages 1 to 7 of a draw.
#[inline(always)]
pub(crate) fn exp2_in_stages<S: Simd, B: Interleave<S>, const V: usize>(
    simd: S,
    mut y: [S::F; V],
    interleave: &mut B,
    stages: usize,
) -> [S::F; V] {
    let zeros = [simd.splat(0.0); V];
    let (mut integer, mut f, mut f2) = (zeros, zeros, zeros);
    let (mut high, mut middle, mut low) = (zeros, zeros, zeros);
    for v in 0..V {
        y[v] = simd.clamp(y[v], 60.0);
    }
    interleave.after(1, stages, [&mut y]);
    for v in 0..V {
        (integer[v], f[v]) = simd.split(y[v]);
    }
    interleave.after(2, stages, [&mut integer, &mut f]);
    // Degree 5 on [-1/2, 1/2] by Estrin's scheme.
    for v in 0..V {
        high[v] = simd.mul_add(f[v], simd.splat(1.327_645_7e-3), simd.splat(9.675_541e-3));
        middle[v] = simd.mul_add(f[v], simd.splat(5.550_713_5e-2), simd.splat(0.240_221_2));
    }
    interleave.after(3, stages, [&mut high, &mut middle]);
    for v in 0..V {
        low[v] = simd.mul_add(f[v], simd.splat(0.693_146_94), simd.splat(1.0));
        f2[v] = simd.mul(f[v], f[v]);
    }
    interleave.after(4, stages, [&mut low, &mut f2]);
    for v in 0..V {
        middle[v] = simd.mul_add(high[v], f2[v], middle[v]);
    }
    interleave.after(5, stages, [&mut middle]);
    for v in 0..V {
        low[v] = simd.mul_add(middle[v], f2[v], low[v]);
    }
    interleave.after(6, stages, [&mut low]);
    for v in 0..V {
        low[v] = simd.scale(low[v], integer[v]);
    }
    interleave.after(7, stages, [&mut low]);
    low
}
