//! From the log weights of independent chains to log Z with its error.

use crate::json::{real, reals};
use crate::math::{exp, ln_1p, log_mean_exp};
use serde::Serialize;

/// An estimate of log Z with its statistics.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Log of the mean of exp(s_i): equation (20) of the paper.
    pub log_z: f64,
    /// Standard error of `log_z`, to first order in the relative error of the mean weight.
    #[serde(serialize_with = "real")]
    pub std_error: f64,
    /// 95% interval of log Z from the spread of the weights alone. It cannot know of modes that no
    /// chain has visited.
    #[serde(serialize_with = "reals")]
    pub interval: [f64; 2],
    /// Mean of the samples s_i, a lower bound of log Z in expectation.
    pub mean_sample: f64,
    /// Standard deviation of the samples s_i.
    pub std_sample: f64,
    /// Effective sample size, (sum w)^2 / sum w^2.
    pub ess: f64,
    /// Share of the largest weight in the sum.
    pub max_weight_share: f64,
    /// Number of chains.
    pub chains: usize,
}

/// Two-sided 95% quantile of the normal distribution.
const NORMAL_95: f64 = 1.959_963_984_540_054;

impl Estimate {
    /// Statistics of the samples `s_i = log w_i + log Z_0`; there must be at least one.
    ///
    /// The interval is symmetric on the scale of Z, `Z (1 +- 1.96 r)` with r the relative standard
    /// error, so on the log scale its lower arm is the longer one; when r is so large that the lower
    /// end would not exist, it falls back to the mean sample.
    pub fn from_samples(samples: &[f64]) -> Self {
        let n = samples.len() as f64;
        let log_z = log_mean_exp(samples);
        let weights: Vec<f64> = samples.iter().map(|s| exp(s - log_z)).collect();
        // The mean of these weights is 1 by construction.
        let sum: f64 = weights.iter().sum();
        let sum_of_squares: f64 = weights.iter().map(|w| w * w).sum();
        let variance =
            weights.iter().map(|w| (w - 1.0) * (w - 1.0)).sum::<f64>() / (n - 1.0).max(1.0);
        let std_error = if samples.len() > 1 { (variance / n).sqrt() } else { f64::INFINITY };
        let mean_sample = samples.iter().sum::<f64>() / n;
        let std_sample = (samples.iter().map(|s| (s - mean_sample).powi(2)).sum::<f64>()
            / (n - 1.0).max(1.0))
        .sqrt();
        let reach = NORMAL_95 * std_error;
        let lower = if reach < 1.0 { log_z + ln_1p(-reach) } else { f64::NEG_INFINITY };
        Self {
            log_z,
            std_error,
            interval: [lower.max(mean_sample.min(log_z)), log_z + ln_1p(reach)],
            mean_sample,
            std_sample,
            ess: sum * sum / sum_of_squares,
            max_weight_share: weights.iter().copied().fold(0.0, f64::max) / sum,
            chains: samples.len(),
        }
    }
}

/// The error of a value, from what it would be without one group of samples after the other (jackknife).
pub(super) fn jackknife_error(without: &[f64]) -> f64 {
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let squares: f64 = without.iter().map(|x| (x - mean).powi(2)).sum();
    (squares * (n - 1.0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_have_no_error() {
        let estimate = Estimate::from_samples(&[700.0; 8]);
        assert_eq!(estimate.log_z, 700.0);
        assert_eq!(estimate.std_error, 0.0);
        assert_eq!(estimate.interval, [700.0, 700.0]);
        assert_eq!(estimate.ess, 8.0);
        assert_eq!(estimate.max_weight_share, 0.125);
    }

    #[test]
    fn one_weight_that_dominates_is_visible() {
        let estimate = Estimate::from_samples(&[0.0, 0.0, 0.0, 50.0]);
        assert!((estimate.log_z - (50.0 - 4f64.ln())).abs() < 1e-12);
        assert!((estimate.ess - 1.0).abs() < 1e-12);
        assert!(estimate.max_weight_share > 0.999);
        assert!(estimate.std_error > 0.9);
        assert_eq!(estimate.interval[0], estimate.mean_sample);
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        let values: [f64; 5] = [1.0, 4.0, 2.0, 8.0, 5.0];
        let without = values.map(|left_out| (values.iter().sum::<f64>() - left_out) / 4.0);
        // Mean 4, squared deviations 9 + 0 + 4 + 16 + 1 = 30.
        assert!((jackknife_error(&without) - (30.0f64 / 4.0 / 5.0).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn one_sample_admits_that_it_knows_no_error() {
        let estimate = Estimate::from_samples(&[3.0]);
        assert_eq!(estimate.log_z, 3.0);
        assert_eq!(estimate.std_error, f64::INFINITY);
        assert_eq!(estimate.interval[1], f64::INFINITY);
    }
}
