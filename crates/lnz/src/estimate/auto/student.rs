//! Student's t distribution: how far off a mean may be when its error is an estimate as well.

use crate::math::{cos, powf, tan};
use std::f64::consts::FRAC_PI_2;

/// Steps of the integral.
const STEPS: usize = 4096;
/// Beyond this the normal distribution is within 0.1%.
const MANY: f64 = 2000.0;

/// Two-sided 95% quantile of Student's t.
///
/// With t = sqrt(n) tan(angle) the density is cos(angle)^(n - 1), which is integrated by midpoints.
pub(crate) fn student_95(freedom: f64) -> f64 {
    let n = freedom.clamp(1.0, MANY);
    let width = FRAC_PI_2 / STEPS as f64;
    let density = |k: usize| powf(cos((k as f64 + 0.5) * width), n - 1.0);
    let outside = 0.05 * (0..STEPS).map(density).sum::<f64>();
    // From the far end inwards, until 5% lie outside.
    let (mut k, mut sum) = (STEPS, 0.0);
    while sum < outside {
        k -= 1;
        sum += density(k);
    }
    let part = (sum - outside) / density(k);
    n.sqrt() * tan((k as f64 + part) * width)
}

#[cfg(test)]
mod tests {
    use super::student_95;

    #[test]
    fn quantiles_are_the_tabulated_ones() {
        let table = [(1.0, 12.7062), (2.0, 4.3027), (3.0, 3.1824), (7.0, 2.3646), (100.0, 1.9840)];
        for (freedom, t) in table {
            let found = student_95(freedom);
            assert!((found / t - 1.0).abs() < 1e-4, "{freedom}: {found} instead of {t}");
        }
        assert!((student_95(1e9) - 1.96).abs() < 2e-3);
    }
}
