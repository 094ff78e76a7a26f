//! Elementary functions with the same bits on every machine, and numerically safe sums on the log scale.
//!
//! Those of the standard library are the ones of the C library at hand, and no two of these agree in the
//! last bit. Where a result depends on a function, it is one of these; a lint sees to that.

/// e^x.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// e^x - 1.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// The natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// log(1 + x).
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// The logarithm to base 2.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// The cosine.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// The tangent.
#[inline]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// x^y.
#[inline]
pub fn powf(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// sqrt(x^2 + y^2).
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// log(1 + e^x), for any finite x.
#[inline]
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + ln_1p(exp(-x.abs()))
}

/// 1 / (1 + e^-x).
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// log(p / (1 - p)).
#[inline]
pub fn logit(p: f64) -> f64 {
    ln(p / (1.0 - p))
}

/// log(sum of e^v), never overflowing; minus infinity for an empty slice.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let sum: CompensatedSum = values.iter().map(|v| exp(v - largest)).collect();
    largest + ln(sum.total())
}

/// log(mean of e^v): the estimate of log Z from the samples s_i, equation (20) of the paper.
pub fn log_mean_exp(values: &[f64]) -> f64 {
    log_sum_exp(values) - ln(values.len() as f64)
}

/// log(e^a + e^b).
pub fn log_add_exp(a: f64, b: f64) -> f64 {
    log_sum_exp(&[a, b])
}

/// A sum that keeps the rounding error of each addition (Neumaier's variant of Kahan's).
#[derive(Debug, Clone, Copy, Default)]
pub struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    pub fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
    }

    /// Multiplies the sum so far; exact for a power of two.
    pub fn scale(&mut self, factor: f64) {
        self.sum *= factor;
        self.lost *= factor;
    }

    pub fn total(self) -> f64 {
        self.sum + self.lost
    }
}

impl FromIterator<f64> for CompensatedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|v| sum.add(v));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_is_exact_at_zero_and_linear_far_out() {
        assert_eq!(softplus(0.0), 2f64.ln());
        assert_eq!(softplus(800.0), 800.0);
        assert_eq!(softplus(-800.0), 0.0);
        assert!((softplus(-40.0) / (-40f64).exp() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn log_sum_exp_survives_thousands() {
        let value = log_sum_exp(&[5000.0, 5000.0]);
        assert!((value - (5000.0 + 2f64.ln())).abs() < 1e-12);
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY, 1.0]), 1.0);
    }

    #[test]
    fn logit_undoes_sigmoid() {
        for x in [-3.0, 0.0, 0.7, 5.0] {
            assert!((logit(sigmoid(x)) - x).abs() < 1e-12);
        }
    }

    #[test]
    fn compensated_sum_keeps_what_plain_addition_loses() {
        let sum: CompensatedSum = [1e16, 1.0, -1e16].into_iter().collect();
        assert_eq!(sum.total(), 1.0);
    }
}
