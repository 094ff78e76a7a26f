//! Proven bounds against exact values.

#[path = "known/numbers.rs"]
#[allow(dead_code)]
mod numbers;

use lnz::{Bounds, Error, Exact, Observer, Rbm, SparseModel};
use lnz::{exact_log_z_sparse, proven_bounds, proven_bounds_sparse};
use ndarray::{Array1, Array2};
use numbers::Numbers;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn exact(model: &SparseModel) -> f64 {
    exact_log_z_sparse(model, &Exact::FORCED, &()).unwrap()
}

/// Up to sixteen units, any pair coupled, couplings from gentle to a thousand.
fn any_sparse() -> impl Strategy<Value = SparseModel> {
    let scales = prop::sample::select(vec![0.1, 1.0, 8.0, 150.0, 1e3]);
    (1usize..=16, scales).prop_flat_map(|(units, scale)| {
        let biases = prop::collection::vec(-scale..scale, units);
        let pairs = prop::collection::vec((0..units, 0..units, -scale..scale), 0..4 * units + 1);
        (biases, pairs, -5.0..5.0).prop_map(|(biases, mut pairs, constant)| {
            pairs.retain(|(i, j, _)| i != j);
            SparseModel::new(biases, &pairs).unwrap().with_constant(constant).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn log_z_is_between_the_bounds_however_small_the_tables(
        model in any_sparse(),
        entries in 100.0..3000.0,
        passes in 1usize..12,
    ) {
        let found = proven_bounds_sparse(&model, &Bounds { entries, passes }, &()).unwrap();
        let Some(found) = found else { return Ok(()) };
        let log_z = exact(&model);
        prop_assert!(found.floor <= log_z, "{log_z} is below {found:?}");
        prop_assert!(log_z <= found.ceiling, "{log_z} is above {found:?}");
    }

    #[test]
    fn without_cuts_both_bounds_are_log_z(model in any_sparse()) {
        let settings = Bounds { entries: 1e7, passes: 5 };
        let found = proven_bounds_sparse(&model, &settings, &()).unwrap().unwrap();
        prop_assert_eq!(found.cuts, 0);
        let size = model.biases().iter().map(|b| b.abs()).fold(1.0, f64::max);
        prop_assert!(found.ceiling - found.floor < 1e-10 * size, "{:?}", found);
    }
}

/// A square of spins with couplings of up to `strength`.
fn grid(side: usize, strength: f64, seed: u64) -> SparseModel {
    let mut numbers = Numbers::new(8, seed);
    let right = (0..side * side).filter(|i| i % side + 1 < side).map(|i| (i, i + 1));
    let pairs: Vec<_> = right
        .chain((0..side * (side - 1)).map(|i| (i, i + side)))
        .map(|(i, j)| (i, j, strength * numbers.normal()))
        .collect();
    SparseModel::new((0..side * side).map(|_| numbers.normal()).collect(), &pairs).unwrap()
}

#[test]
fn more_passes_and_larger_tables_tighten_the_bounds() {
    let model = grid(14, 2.0, 1);
    let log_z = exact(&model);
    let gaps = |entries, passes| {
        let found =
            proven_bounds_sparse(&model, &Bounds { entries, passes }, &()).unwrap().unwrap();
        assert!(found.floor <= log_z && log_z <= found.ceiling);
        assert!(found.cuts > 0);
        [log_z - found.floor, found.ceiling - log_z]
    };
    let first = gaps(2e4, 1);
    let more_passes = gaps(2e4, 60);
    let larger = gaps(1e5, 60);
    for k in 0..2 {
        assert!(more_passes[k] < 0.5 * first[k], "{more_passes:?} after {first:?}");
        assert!(larger[k] < more_passes[k], "{larger:?} after {more_passes:?}");
    }
}

#[test]
fn bounds_of_an_rbm_are_those_of_its_units() {
    let mut numbers = Numbers::new(9, 1);
    let weights = Array2::from_shape_fn((12, 10), |(i, j)| match (i + 2 * j) % 4 {
        0 => 2.0 * numbers.normal(),
        _ => 0.0,
    });
    let model = Rbm::new(weights, Array1::from_elem(12, 0.3), Array1::from_elem(10, -0.4))
        .unwrap()
        .with_constant(3.0)
        .unwrap();
    let settings = Bounds { entries: 300.0, passes: 10 };
    let found = proven_bounds(&model, &settings, &()).unwrap();
    assert_eq!(found, proven_bounds_sparse(&(&model).into(), &settings, &()).unwrap());
    let found = found.unwrap();
    let log_z = lnz::exact_log_z(&model, &()).unwrap();
    assert!(found.floor <= log_z && log_z <= found.ceiling, "{found:?} and {log_z}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let model = grid(12, 1.0, 2);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = Bounds { entries: 2e4, passes: 20 };
        pool.install(|| proven_bounds_sparse(&model, &settings, &())).unwrap().unwrap()
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(5));
}

#[test]
fn a_dense_model_or_too_little_room_gives_no_bounds() {
    let dense = Rbm::new(Array2::ones((100, 100)), Array1::zeros(100), Array1::zeros(100)).unwrap();
    assert_eq!(proven_bounds(&dense, &Bounds::default(), &()).unwrap(), None);
    let settings = Bounds { entries: 10.0, passes: 2 };
    assert_eq!(proven_bounds_sparse(&grid(12, 1.0, 3), &settings, &()).unwrap(), None);
}

struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn cancelled(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= 3
    }
}

#[test]
fn cancelling_stops_between_passes() {
    let settings = Bounds { entries: 2e4, passes: usize::MAX };
    let observer = Impatient(AtomicUsize::new(0));
    let error = proven_bounds_sparse(&grid(12, 1.0, 4), &settings, &observer).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    assert_eq!(observer.0.load(Ordering::Relaxed), 4);
}
