//! Models of known log Z against exact sums, and `auto` against them: a small `cargo xtask calibrate`.

use crate::known::banded::{self, Banded};
use crate::known::branches::{Branches, Shape};
use crate::known::coexistence::{CurieWeiss, Phases};
use crate::known::collective::Collective;
use crate::known::groups::{Groups, Order};
use crate::known::hubs::Hub;
use crate::known::lattice::{CRITICAL, Coupling, Edges, Lattice, torus_log_z};
use crate::known::occupations;
use crate::known::patterns::{Prototypes, Trained};
use crate::known::planted::Planted;
use crate::known::strokes::{Negative, Strokes};
use crate::known::trees::Tree;
use crate::known::{Solved, families};
use lnz::{Auto, Estimate, Rbm, Schedule, Start, anneal, auto, exact_log_z};
use ndarray::{Array1, Array2};

/// A truth against the library's exact sum: both add up at most some million terms in float64.
#[track_caller]
fn assert_exact(solved: lnz::Result<Solved>) {
    let Solved { model, log_z } = solved.unwrap();
    assert_eq!(model.constant(), 0.0, "files have no place for a constant");
    let exact = exact_log_z(&model, &()).unwrap();
    // What units of both layers add to -E is rounded once each before it is summed.
    let sizes = model.weights().into_iter().chain(model.visible_bias()).chain(model.hidden_bias());
    let rounding = 1e-11 + 4.0 * f64::EPSILON * sizes.map(|value| value.abs()).sum::<f64>();
    assert!((log_z - exact).abs() < rounding, "{log_z} instead of {exact}");
}

#[test]
fn bands_agree_with_exact_sums() {
    for (visible, hidden, window) in [(1, 1, 1), (4, 3, 2), (9, 14, 3), (12, 18, 5), (14, 9, 14)] {
        for (mean, spread) in [(0.0, 0.5), (0.0, 4.0), (1.0, 0.5), (-2.0, 20.0)] {
            assert_exact(Banded { visible, hidden, window, mean, spread }.generate(7));
        }
    }
}

#[test]
fn bands_know_units_without_weights() {
    let family = Banded { visible: 6, hidden: 4, window: 2, mean: 0.0, spread: 0.0 };
    let Solved { model, log_z } = family.generate(1).unwrap();
    let biases = model.visible_bias().into_iter().chain(model.hidden_bias());
    let sum: f64 = biases.map(|&b| lnz::math::softplus(b)).sum();
    assert!((log_z - sum).abs() < 1e-12 * sum);
    assert_eq!(banded::log_z(&model), log_z);
}

#[test]
fn curie_weiss_models_agree_with_exact_sums() {
    for phases in [Phases::Mirrored, Phases::Weighted] {
        for roughness in [0.0, 0.3] {
            let family = CurieWeiss { visible: 14, hidden: 90, phases, roughness };
            (0..3).for_each(|seed| assert_exact(family.generate(seed)));
        }
    }
    // A phase of a smaller model is not hidden: every chain may come across it.
    let phases = Phases::Hidden;
    assert_exact(CurieWeiss { visible: 20, hidden: 100, phases, roughness: 0.0 }.generate(0));
}

#[test]
fn curie_weiss_models_agree_with_a_sum_over_both_layers() {
    let (visible, hidden, weight, b, c) = (60, 45, 0.09, -1.9, -2.6);
    let model = Rbm::new(
        Array2::from_elem((visible, hidden), weight),
        Array1::from_elem(visible, b),
        Array1::from_elem(hidden, c),
    )
    .unwrap();
    let log_choose = |n: usize, k: usize| -> f64 {
        (0..k).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum()
    };
    let mut sum = 0.0;
    for p in 0..=visible {
        for q in 0..=hidden {
            let (on, hidden_on) = (p as f64, q as f64);
            let minus_energy = weight * on * hidden_on + b * on + c * hidden_on;
            sum += (log_choose(visible, p) + log_choose(hidden, q) + minus_energy).exp();
        }
    }
    let log_z = occupations::log_z(&model, &[(0..visible).collect()]);
    assert!((log_z - sum.ln()).abs() < 1e-11, "{log_z} instead of {}", sum.ln());
    // In two groups it is the same.
    let halves = [(0..20).collect(), (20..visible).collect()];
    assert!((occupations::log_z(&model, &halves) - sum.ln()).abs() < 1e-11);
}

#[test]
fn groups_agree_with_exact_sums() {
    for (groups, order, roughness) in [
        (1, Order::Agreeing, 0.0),
        (2, Order::Agreeing, 0.0),
        (3, Order::Agreeing, 0.3),
        (3, Order::Competing, 0.0),
    ] {
        let family = Groups { visible: 15, hidden: 24, groups, order, roughness };
        (0..3).for_each(|seed| assert_exact(family.generate(seed)));
    }
}

#[test]
fn hubs_agree_with_exact_sums() {
    for (hub, roughness) in [(0, 0.0), (1, 0.0), (1, 0.3), (3, 0.0)] {
        let phases = Phases::Weighted;
        let block = CurieWeiss { visible: 9, hidden: 60, phases, roughness };
        let family = Hub { blocks: 2, block, hub };
        (0..3).for_each(|seed| assert_exact(family.generate(seed)));
    }
}

#[test]
fn branches_agree_with_exact_sums() {
    for shape in [Shape::Chain, Shape::Star, Shape::Tree] {
        let phases = Phases::Weighted;
        let block = CurieWeiss { visible: 6, hidden: 60, phases, roughness: 0.0 };
        let family = Branches { blocks: 3, block, shape, pull: 0.5 };
        (0..3).for_each(|seed| assert_exact(family.generate(seed)));
    }
}

#[test]
fn collective_phases_agree_with_exact_sums() {
    for local in [1, 2] {
        let phases = Phases::Weighted;
        let whole = CurieWeiss { visible: 20, hidden: 60, phases, roughness: 0.0 };
        let family = Collective { groups: 5, whole, local, strength: 2.0 };
        (0..3).for_each(|seed| assert_exact(family.generate(seed)));
    }
}

#[test]
fn planted_patterns_agree_with_exact_sums() {
    for (visible, patterns, copies) in [(40, 6, 1), (30, 2, 7), (25, 3, 4)] {
        let family = Planted { visible, patterns, copies, strength: 2.0, spread: 0.2 };
        (0..3).for_each(|seed| assert_exact(family.generate(seed)));
    }
}

#[test]
fn lattices_agree_with_exact_sums() {
    let couplings = [
        Coupling::Equal(0.6 * CRITICAL),
        Coupling::Equal(1.4 * CRITICAL),
        Coupling::Signs(1.0),
        Coupling::Gaussian(2.0),
    ];
    for (width, length) in [(1, 2), (2, 3), (3, 5), (4, 6), (6, 4)] {
        for coupling in couplings {
            for field in [0.0, 0.3] {
                let open = Lattice { width, length, edges: Edges::Open, coupling, field };
                assert_exact(open.generate(1));
                if width % 2 == 0 {
                    assert_exact(Lattice { edges: Edges::Tube, ..open }.generate(1));
                }
            }
        }
    }
}

#[test]
fn tori_agree_with_exact_sums_and_with_themselves_turned() {
    for ratio in [0.5, 0.99, 1.0, 1.01, 2.0] {
        let coupling = Coupling::Equal(ratio * CRITICAL);
        for (width, length) in [(4, 4), (4, 6), (6, 4)] {
            let edges = Edges::Torus;
            assert_exact(Lattice { width, length, edges, coupling, field: 0.0 }.generate(1));
        }
        let (tall, wide) =
            (torus_log_z(12, 30, ratio * CRITICAL), torus_log_z(30, 12, ratio * CRITICAL));
        assert!((tall - wide).abs() < 1e-12 * tall, "{tall} and {wide}");
    }
}

#[test]
fn trees_agree_with_exact_sums() {
    for (units, reach) in [(2, 1), (12, 1), (30, 4), (30, 30)] {
        let family = Tree { units, reach, coupling: 2.0, field: 0.5 };
        (0..3).for_each(|seed| assert_exact(family.generate(seed)));
    }
}

#[test]
fn enumerations_agree_with_exact_sums() {
    for strength in [0.5, 4.0, 50.0] {
        assert_exact(Prototypes { visible: 60, hidden: 9, strength }.generate(2));
        assert_exact(Prototypes { visible: 8, hidden: 30, strength }.generate(2));
    }
    assert_exact(Trained { visible: 50, hidden: 8, epochs: 5 }.generate(2));
    for negative in [Negative::Data, Negative::Last] {
        assert_exact(Strokes { hidden: 7, rate: 0.2, negative, updates: 50 }.generate(2));
    }
}

#[test]
fn pendants_and_blocks_agree_with_exact_sums() {
    let part = || Prototypes { visible: 12, hidden: 6, strength: 1.0 }.generate(3).unwrap();
    assert_exact(crate::known::behind_pendants(part(), 9, 8, 5));
    assert_exact(crate::known::side_by_side(&[part(), part()], 5));
}

#[test]
fn annealing_from_the_uniform_distribution_misses_hidden_phases() {
    let family = CurieWeiss { visible: 60, hidden: 50, phases: Phases::Hidden, roughness: 0.0 };
    let misses = |seed: &u64| {
        let Solved { model, log_z } = family.generate(*seed).unwrap();
        let schedule = Schedule::linear(256).unwrap();
        let settings = lnz::Annealing { chains: 64, seed: *seed, ..lnz::Annealing::default() };
        let start = Start::uniform(model.visible());
        let run = anneal(&model, &start, &schedule, &settings, &()).unwrap();
        // What it misses holds at least 90%: it finds no more than log(0.1) = -2.3, and some noise.
        Estimate::from_samples(&run.samples).log_z - log_z < -2.0
    };
    // None of 400 chains entered that phase. That one of 64 does is less likely than 64/400, and five
    // such models of eight come up three times in a thousand.
    let missed = (0..8).filter(misses).count();
    assert!(missed >= 4, "{missed} of 8 models");
}

#[test]
fn families_are_told_apart_by_name_and_are_many() {
    let families = families();
    let names: std::collections::HashSet<&str> = families.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.len(), families.len());
    let models: u64 = families.iter().map(|family| 2 * family.seeds).sum();
    assert!(models >= 600, "{models} models");
    let kinds: std::collections::HashSet<&str> = families.iter().map(|f| f.kind).collect();
    assert!(kinds.len() >= 12, "{kinds:?}");
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
    let (mut runs, mut covered) = (0, 0);
    for family in families().iter().filter(|family| family.is_quick) {
        let Solved { model, log_z } = family.generate(100).unwrap();
        // Ends by its error alone, so that the result does not depend on the machine.
        let settings = Auto { shortcuts: false, max_seconds: 1e6, seed: 1, ..Auto::default() };
        let found = auto(&model, &settings, &()).unwrap();
        let error = found.log_z - log_z;
        let [low, high] = found.interval;
        let rounding = 1e-9 * log_z.abs();
        runs += 1;
        covered += usize::from((low - rounding..=high + rounding).contains(&log_z));
        assert!(error.abs() <= 0.5, "{}: off by {error}", family.name);
    }
    assert!(covered >= least_coverage(runs), "{covered} of {runs} intervals hold the truth");
}
