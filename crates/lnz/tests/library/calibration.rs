//! `auto` against models of known log Z: a small version of `cargo xtask calibrate`.

use crate::known::{Family, banded, banded::Banded, families};
use lnz::{Auto, auto, exact_log_z};

#[test]
fn the_transfer_matrix_agrees_with_enumeration() {
    for (visible, hidden, window) in [(1, 1, 1), (4, 3, 2), (9, 14, 3), (12, 18, 5), (14, 9, 14)] {
        for (mean, spread) in [(0.0, 0.5), (0.0, 4.0), (1.0, 0.5), (-2.0, 20.0)] {
            let family = Family::Banded(Banded { visible, hidden, window, mean, spread });
            let (model, log_z) = family.generate(7).unwrap();
            let exact = exact_log_z(&model, &()).unwrap();
            // A sum of some thousand terms in float64.
            let rounding = 1e-11 * exact.abs().max(1.0);
            assert!((log_z - exact).abs() < rounding, "{}: {log_z} {exact}", family.name());
        }
    }
}

#[test]
fn the_transfer_matrix_knows_units_without_weights() {
    let family = Banded { visible: 6, hidden: 4, window: 2, mean: 0.0, spread: 0.0 };
    let (model, log_z) = Family::Banded(family).generate(1).unwrap();
    let biases = model.visible_bias().into_iter().chain(model.hidden_bias());
    let sum: f64 = biases.map(|&b| lnz::math::softplus(b)).sum();
    assert!((log_z - sum).abs() < 1e-12 * sum);
    assert_eq!(banded::log_z(&model), log_z);
}

/// Intervals of n that must hold the truth: fewer happen once in a thousand times to intervals that
/// hold it with probability 0.95 each.
fn least_coverage(n: usize) -> usize {
    let (mut probability, mut sum) = (0.05f64.powi(n as i32), 0.0);
    for k in 0..n {
        sum += probability;
        if sum > 1e-3 {
            return k;
        }
        probability *= (n - k) as f64 / (k + 1) as f64 * 0.95 / 0.05;
    }
    n
}

#[test]
fn the_least_coverage_is_a_quantile_of_the_binomial_distribution() {
    assert_eq!([1, 25, 50].map(least_coverage), [0, 19, 42]);
}

#[test]
fn auto_is_calibrated_on_models_that_it_has_to_sample() {
    // Two ways to a Gaussian model: the core holds most of it, or the sampler is on its own.
    let cores = |family: &Family| match family {
        Family::Gaussian(gaussian) if gaussian.hidden == 60 => vec![4096, 0],
        _ => vec![4096],
    };
    let (mut runs, mut covered) = (0, 0);
    for family in families().iter().filter(|family| family.is_quick()) {
        let (model, log_z) = family.generate(100).unwrap();
        for core in cores(family) {
            // Ends by its error alone, so that the result does not depend on the machine.
            let settings =
                Auto { shortcuts: false, core, max_seconds: 1e6, seed: 1, ..Auto::default() };
            let found = auto(&model, &settings, &()).unwrap();
            let error = found.log_z - log_z;
            let [low, high] = found.interval;
            let rounding = 1e-9 * log_z.abs();
            runs += 1;
            covered += usize::from((low - rounding..=high + rounding).contains(&log_z));
            assert!(error.abs() <= 0.5, "{}, core {core}: off by {error}", family.name());
        }
    }
    assert!(covered >= least_coverage(runs), "{covered} of {runs} intervals hold the truth");
}
