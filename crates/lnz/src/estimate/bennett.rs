//! Bennett's acceptance ratio: log Z from work in both directions.

use crate::math::{exp, ln};

/// Bennett's acceptance ratio: the C for which the sum over the chains there of
/// `1 / (1 + e^(C - W) n_there / n_back)` is that over the chains back of `1 / (1 + e^(W - C) n_back / n_there)`.
pub(super) fn acceptance_ratio(there: &[f64], back: &[f64]) -> f64 {
    if there.is_empty() || back.is_empty() {
        return f64::NAN;
    }
    let ratio = ln(there.len() as f64 / back.len() as f64);
    let too_low = |c: f64| {
        let forward: f64 = there.iter().map(|w| 1.0 / (1.0 + exp(ratio + c - w))).sum();
        let backward: f64 = back.iter().map(|w| 1.0 / (1.0 + exp(w - c - ratio))).sum();
        forward > backward
    };
    let all = there.iter().chain(back).copied().filter(|w| w.is_finite());
    let (mut low, mut high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), w| (l.min(w), h.max(w)));
    (low, high) = (low - ratio.abs() - 50.0, high + ratio.abs() + 50.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if too_low(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::log_mean_exp;
    use lnz_kernels::random::Random;

    #[test]
    fn both_directions_of_gaussian_work_give_the_same_log_z() {
        // Forward work N(z - s^2/2, s^2) goes with backward work N(z + s^2/2, s^2).
        let mut random = Random::stream(3, lnz_kernels::random::Purpose::Model, 0);
        let (z, s, n) = (7.0, 1.5, 20_000);
        let there: Vec<f64> = (0..n).map(|_| z - s * s / 2.0 + s * random.normal()).collect();
        let back: Vec<f64> = (0..n / 2).map(|_| z + s * s / 2.0 + s * random.normal()).collect();
        let found = acceptance_ratio(&there, &back);
        // The forward mean alone has an error of sqrt((e^(s^2) - 1) / n) = 0.02; the ratio a smaller one.
        assert!((found - z).abs() < 0.04, "{found}");
        assert!((log_mean_exp(&there) - z).abs() < 0.08);
    }
}
