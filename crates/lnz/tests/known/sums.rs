//! Sums in log space, written apart from the library that they are to judge.

/// log(1 + exp(x)).
pub(super) fn softplus(x: f64) -> f64 {
    // Past 40 the rest is below the last digit of 1.
    if x.abs() > 40.0 { x.max(0.0) } else { x.max(0.0) + (-x.abs()).exp().ln_1p() }
}

/// log(exp(a) + exp(b)).
pub(super) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// log of the sum of exponentials.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + logs.iter().map(|log| (log - highest).exp()).sum::<f64>().ln()
}

/// For p = 0, ..., n the log of the sum over all states of n units with p of them on.
///
/// These are the elementary symmetric polynomials of exp(bias); with equal biases, binomial
/// coefficients times powers.
pub(super) fn log_counts(biases: &[f64]) -> Vec<f64> {
    let mut logs = vec![0.0];
    for &bias in biases {
        logs.push(f64::NEG_INFINITY);
        for p in (1..logs.len()).rev() {
            logs[p] = log_add(logs[p], logs[p - 1] + bias);
        }
    }
    logs
}
