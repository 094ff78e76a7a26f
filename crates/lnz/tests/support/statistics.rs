//! Small models with known log Z, and the test that an estimate of Z is unbiased.

use lnz::{Gwgm, Rbm, exact_log_z};

/// Weights and biases from a normal distribution of mean zero.
pub(crate) fn gaussian(visible: usize, hidden: usize, spread: f64, seed: u64) -> Rbm {
    let family = Gwgm {
        visible,
        hidden,
        mu_mu: 0.0,
        sigma_mu: 0.0,
        mu_sigma: spread,
        sigma_sigma: 0.0,
        lambda: 1.0,
    };
    family.generate(seed).unwrap()
}

pub(crate) fn exact(model: &Rbm) -> f64 {
    exact_log_z(model, &()).unwrap()
}

/// A mean with its standard error.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// The mean of independent ratios Z^/Z is 1 within 4 standard errors, and the standard error is below
/// `sharpness`, without which the test would say little.
///
/// `rounding` is what float32 arithmetic may add to a ratio that hardly varies.
pub(crate) fn assert_unbiased(ratios: &[f64], sharpness: f64, rounding: f64, what: &str) {
    let (mean, error) = mean_and_error(ratios);
    assert!(error < sharpness, "{what}: the standard error is {error}");
    assert!(
        (mean - 1.0).abs() < 4.0 * error + rounding,
        "{what}: the mean of Z^/Z is {mean} +- {error}"
    );
}
