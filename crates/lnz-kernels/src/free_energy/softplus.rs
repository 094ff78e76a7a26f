//! Sums of softplus in float64, eight lanes at a time.

use crate::math::ln;
use crate::simd::{Kernel, Level, Simd, dispatch};

pub(crate) const LANES: usize = 8;
/// Padding: softplus of it is exactly zero in float64.
pub(crate) const NOTHING: f64 = -1e6;

/// sum_j softplus(a_j + sign w_j).
struct FlipKernel<'a> {
    inputs: &'a [f64],
    row: &'a [f64],
    sign: f64,
    out: &'a mut f64,
}

impl Kernel for FlipKernel<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        *self.out = sum_of_softplus(self.inputs, self.row, self.sign);
    }
}

/// sum_j softplus(a_j + sign w_j); whole lanes only.
pub(crate) fn sum_of_flipped(level: Level, inputs: &[f64], row: &[f64], sign: f64) -> f64 {
    let mut sum = 0.0;
    dispatch(level, FlipKernel { inputs, row, sign, out: &mut sum });
    sum
}

/// sum_j softplus(a_j).
pub(crate) fn softplus_of_all(mut inputs: Vec<f64>, level: Level) -> f64 {
    inputs.resize(inputs.len().next_multiple_of(LANES), NOTHING);
    sum_of_flipped(level, &inputs, &inputs, 0.0)
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
        total += linear.iter().sum::<f64>() + product.iter().map(|&p| ln(p)).sum::<f64>();
    }
    total
}

/// e^x for x <= 0, relative error below 1e-13; zero beyond -700.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
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

    #[test]
    fn exponentials_are_accurate() {
        for k in 0..7000 {
            let x = -f64::from(k) * 0.1;
            assert!((exp_of_negative(x) / x.exp() - 1.0).abs() < 1e-13, "{x}");
        }
        assert_eq!(exp_of_negative(-1e6), 0.0);
        assert_eq!(exp_of_negative(0.0), 1.0);
    }
}
