//! Positive numbers beyond the range of float64: a mantissa times a power of two.

use crate::math::{CompensatedSum, exp, ln};
use std::f64::consts::{LN_2, LOG2_E};

/// ln 2 - LN_2: what the float64 constant lacks.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// `mantissa * 2^exponent`; the exponent is a whole number.
///
/// It is a float64 because exponents of e^W for weights of 1e300 must fit as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    pub mantissa: f64,
    pub exponent: f64,
}

impl Scaled {
    pub const ONE: Self = Self { mantissa: 1.0, exponent: 0.0 };

    /// e^x, with a mantissa in [2^-1/2, 2^1/2].
    pub fn exp(x: f64) -> Self {
        let exponent = (x * LOG2_E).round();
        // From 2^52 on the exponent itself is rounded and says nothing about the mantissa.
        let known = exponent.abs() < (1u64 << 52) as f64;
        let rest =
            if known { (-exponent).mul_add(LN_2_REST, (-exponent).mul_add(LN_2, x)) } else { 0.0 };
        Self { mantissa: exp(rest), exponent }
    }

    /// The product; mantissas multiply, so a chain of k factors from [`Scaled::exp`] stays within 2^(+-k/2).
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Self { mantissa: self.mantissa * other.mantissa, exponent: self.exponent + other.exponent }
    }

    /// The same number with a mantissa in [1, 2); the mantissa must be normal.
    pub fn normalized(self) -> Self {
        let shift = (self.mantissa.to_bits() >> 52) as i32 - 1023;
        let mantissa = self.mantissa * power_of_two(f64::from(-shift));
        Self { mantissa, exponent: self.exponent + f64::from(shift) }
    }

    /// The natural logarithm.
    pub fn ln(self) -> f64 {
        // A mantissa far from 1 would have its logarithm cancel against the exponent's.
        let Self { mantissa, exponent } = self.normalized();
        exponent.mul_add(LN_2, ln(mantissa))
    }
}

/// A compensated sum of [`Scaled`] numbers.
#[derive(Debug, Clone, Copy)]
pub struct ScaledSum {
    sum: CompensatedSum,
    /// Terms enter relative to 2^reference, the largest exponent so far.
    reference: f64,
}

impl ScaledSum {
    pub fn add(&mut self, term: Scaled) {
        if term.mantissa == 0.0 {
            return;
        }
        if term.exponent > self.reference {
            self.sum.scale(power_of_two(self.reference - term.exponent));
            self.reference = term.exponent;
        }
        self.sum.add(term.mantissa * power_of_two(term.exponent - self.reference));
    }

    pub fn total(self) -> Scaled {
        Scaled { mantissa: self.sum.total(), exponent: self.reference }
    }
}

impl Default for ScaledSum {
    fn default() -> Self {
        Self { sum: CompensatedSum::default(), reference: f64::NEG_INFINITY }
    }
}

/// 2^k for a whole number k up to 1000; zero below -1000.
fn power_of_two(k: f64) -> f64 {
    if k < -1000.0 { 0.0 } else { f64::from_bits(((k as i64 + 1023) as u64) << 52) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_come_back_as_their_logarithm() {
        for x in [0.0, 1.0, -1.0, 0.3, 700.0, -745.2, 1e4, -1e6, 123_456.789, 1e300, -1e300] {
            let scaled = Scaled::exp(x);
            assert!((scaled.ln() - x).abs() <= 1e-15 * x.abs().max(1.0), "{x}");
            assert!((0.7..1.5).contains(&scaled.mantissa), "{x}");
            assert_eq!(scaled.exponent.fract(), 0.0);
        }
    }

    #[test]
    fn a_sum_follows_its_largest_term() {
        let mut sum = ScaledSum::default();
        for x in [-1e6, 5000.0, 4000.0, 5000.0, -1e300] {
            sum.add(Scaled::exp(x));
        }
        assert_eq!(sum.total().ln(), 5000.0 + LN_2);
    }
}
