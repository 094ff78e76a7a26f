//! `auto` against models of known log Z: a small version of `cargo xtask calibrate`.

#[path = "known/families.rs"]
mod known;

use known::{Family, banded, banded::Banded, families};
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
    let biases = model.visible_bias().iter().chain(model.hidden_bias()).copied();
    let sum: f64 = biases.map(lnz::math::softplus).sum();
    assert!((log_z - sum).abs() < 1e-12 * sum);
    assert_eq!(banded::log_z(&model), log_z);
}
