//! Elimination on grids: Kaufman's formula, symmetries, cost, interruption.

use crate::exact_sparse::{assert_close, eliminated, energy};
use crate::known::numbers::Numbers;
use lnz::math::softplus;
use lnz::{Error, Exact, Observer, Phase, Progress, Rbm, Result, SparseModel};
use lnz::{exact_cost, exact_cost_sparse, exact_log_z, exact_log_z_sparse, exact_log_z_within};
use ndarray::{Array1, Array2};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Couplings of a grid of units, closed to a torus or not.
fn grid(rows: usize, columns: usize, closed: bool) -> Vec<(usize, usize)> {
    let unit = |row: usize, column: usize| row % rows * columns + column % columns;
    let mut pairs = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            if closed || column + 1 < columns {
                pairs.push((unit(row, column), unit(row, column + 1)));
            }
            if closed || row + 1 < rows {
                pairs.push((unit(row, column), unit(row + 1, column)));
            }
        }
    }
    pairs
}

/// A grid as an RBM: the black fields of the chess board are visible, the white ones hidden.
fn chess_board(
    rows: usize,
    columns: usize,
    closed: bool,
    mut coupling: impl FnMut() -> f64,
) -> Array2<f64> {
    let is_black = |unit: usize| (unit / columns + unit % columns).is_multiple_of(2);
    let place = |unit: usize| (0..unit).filter(|&other| is_black(other) == is_black(unit)).count();
    let black = (0..rows * columns).filter(|&unit| is_black(unit)).count();
    let mut weights = Array2::zeros((black, rows * columns - black));
    for (i, j) in grid(rows, columns, closed) {
        let (visible, hidden) = if is_black(i) { (i, j) } else { (j, i) };
        weights[[place(visible), place(hidden)]] += coupling();
    }
    weights
}

fn noisy_chess_board(rows: usize, columns: usize, scale: f64, seed: u64) -> Rbm {
    let mut numbers = Numbers::new(2, seed);
    let weights = chess_board(rows, columns, false, || scale * numbers.normal());
    let (visible, hidden) = weights.dim();
    Rbm::new(
        weights,
        Array1::from_shape_simple_fn(visible, || scale * numbers.normal()),
        Array1::from_shape_simple_fn(hidden, || scale * numbers.normal()),
    )
    .unwrap()
}

/// log Z of Ising spins on a torus with the same coupling K everywhere and no field (Kaufman, 1949):
///
/// Z = 1/2 (2 sinh 2K)^(mn/2) [prod 2 cosh(m g_odd / 2) + prod 2 sinh(m g_odd / 2)
///                            + prod 2 cosh(m g_even / 2) + prod 2 sinh(m g_even / 2)]
///
/// over g_1, g_3, ..., g_(2n-1) and g_0, g_2, ..., g_(2n-2), with
/// cosh g_q = cosh(2K) coth(2K) - cos(pi q / n) and g_0 = 2K + log tanh K, which may be negative.
fn kaufman(n: usize, m: usize, k: f64) -> f64 {
    let double = 2.0 * k;
    let gamma = |q: usize| match q {
        0 => double + k.tanh().ln(),
        _ => {
            let angle = std::f64::consts::PI * q as f64 / n as f64;
            (double.cosh() / double.tanh() - angle.cos()).acosh()
        }
    };
    let half = m as f64 / 2.0;
    let product = |first: usize, f: fn(f64) -> f64| -> f64 {
        (0..n).map(|r| 2.0 * f(half * gamma(2 * r + first))).product()
    };
    let sum = product(1, f64::cosh)
        + product(1, f64::sinh)
        + product(0, f64::cosh)
        + product(0, f64::sinh);
    (sum / 2.0).ln() + (n * m) as f64 / 2.0 * (2.0 * double.sinh()).ln()
}

#[test]
fn tori_agree_with_kaufmans_formula() {
    // Two by two spins: every pair of neighbours is coupled twice, four energies to add.
    let by_hand = (12.0 + 4.0 * 3.2f64.cosh()).ln();
    assert!((kaufman(2, 2, 0.4) - by_hand).abs() < 1e-13);
    for (rows, columns) in [(4, 6), (6, 4), (4, 10), (8, 8)] {
        for k in [0.1, 0.4406867935097715, 0.9] {
            let weights = chess_board(rows, columns, true, || k);
            let (visible, hidden) = weights.dim();
            let model =
                Rbm::from_spins(weights, Array1::zeros(visible), Array1::zeros(hidden)).unwrap();
            let expected = kaufman(rows, columns, k);
            assert_close(eliminated(&(&model).into()), expected, 0.0);
            assert_close(exact_log_z(&model, &()).unwrap(), expected, 0.0);
        }
    }
}

#[test]
fn permuting_and_transposing_keep_log_z() {
    for scale in [0.5, 60.0, 1e3] {
        let model = noisy_chess_board(12, 11, scale, 5);
        let log_z = exact_log_z(&model, &()).unwrap();
        let energy = energy(&(&model).into());
        assert!(exact_cost(&model).unwrap().width.is_some());
        assert_close(exact_log_z(&model.transposed().unwrap(), &()).unwrap(), log_z, energy);
        let mut numbers = Numbers::new(5, 2);
        let mut shuffled = |n: usize| {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_cached_key(|_| numbers.normal().to_bits());
            order
        };
        let (rows, columns) = (shuffled(model.visible()), shuffled(model.hidden()));
        let permuted = model.permuted(&rows, &columns).unwrap();
        assert_close(exact_log_z(&permuted, &()).unwrap(), log_z, energy);
    }
}

#[test]
fn weights_of_a_thousand_agree_with_enumeration_on_grids() {
    for (seed, scale) in [(1, 40.0), (2, 100.0), (3, 1e3), (4, 1e5)] {
        // Small enough to be enumerated.
        let model = noisy_chess_board(5, 5, scale, seed);
        let sparse = SparseModel::from(&model);
        assert_eq!(exact_cost(&model).unwrap().width, None);
        assert_close(eliminated(&sparse), exact_log_z(&model, &()).unwrap(), energy(&sparse));
    }
}

#[test]
fn forbidden_pairs_count_independent_sets() {
    // e^-1000 is nothing beside 1: log Z counts the sets of fields without neighbours, 1234 on a board
    // of 4 x 4 and 5598861 on one of 6 x 6 (A006506).
    for (rows, columns, sets) in [(4, 4, 1234.0), (6, 6, 5_598_861.0)] {
        let weights = chess_board(rows, columns, false, || -1e3);
        let (visible, hidden) = weights.dim();
        let model = Rbm::new(weights, Array1::zeros(visible), Array1::zeros(hidden)).unwrap();
        let found = eliminated(&(&model).into());
        assert!((found - f64::ln(sets)).abs() < 1e-12, "{} sets", found.exp());
    }
}

#[test]
fn units_without_couplings_add_their_own() {
    let lonely = SparseModel::new(vec![0.3, -2.0, 1e3], &[]).unwrap().with_constant(7.0).unwrap();
    assert_close(eliminated(&lonely), 7.0 + softplus(0.3) + softplus(-2.0) + 1e3, 0.0);
    assert_eq!(eliminated(&SparseModel::new(vec![], &[]).unwrap()), 0.0);

    let model = noisy_chess_board(10, 10, 1.0, 6);
    let mut weights = Array2::zeros((52, 51));
    weights.slice_mut(ndarray::s![1..51, ..50]).assign(&model.weights());
    let mut visible_bias = Array1::from_elem(52, -0.7);
    visible_bias.slice_mut(ndarray::s![1..51]).assign(&model.visible_bias());
    let mut hidden_bias = Array1::from_elem(51, 0.4);
    hidden_bias.slice_mut(ndarray::s![..50]).assign(&model.hidden_bias());
    let larger = Rbm::new(weights, visible_bias, hidden_bias).unwrap();
    let expected = exact_log_z(&model, &()).unwrap() + 2.0 * softplus(-0.7) + softplus(0.4);
    assert_close(exact_log_z(&larger, &()).unwrap(), expected, 0.0);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for scale in [0.7, 200.0] {
        let model = noisy_chess_board(16, 16, scale, 7);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| exact_log_z(&model, &())).unwrap().to_bits()
        };
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(5));
    }
}

#[test]
fn a_grid_is_cheap_and_its_width_is_told() {
    let model = noisy_chess_board(14, 14, 1.0, 8);
    let cost = exact_cost(&model).unwrap();
    assert!((14..=17).contains(&cost.width.unwrap()), "{cost:?}");
    assert_eq!(cost.free_units, 0);
    assert!(cost.states < 1e8 && cost.bytes < 1e7, "{cost:?}");
    let message = exact_log_z_within(&model, 1e-9, &()).unwrap_err().to_string();
    assert!(message.starts_with("exact elimination has width 1"), "{message}");
    assert!(message.contains("less than a second is allowed"), "{message}");
}

#[test]
fn a_width_beyond_reason_is_refused() {
    let pairs: Vec<_> = grid(70, 70, false).into_iter().map(|(i, j)| (i, j, 1.0)).collect();
    let model = SparseModel::new(vec![0.0; 4900], &pairs).unwrap();
    let error = exact_log_z_sparse(&model, &Exact::FORCED, &()).unwrap_err();
    assert!(matches!(error, Error::FarTooWide { width: 70..90, .. }), "{error}");

    // Everything coupled to everything: no order at all.
    let pairs: Vec<_> = (0..200).flat_map(|i| (0..i).map(move |j| (i, j, 1.0))).collect();
    let model = SparseModel::new(vec![0.0; 200], &pairs).unwrap();
    let error = exact_log_z_sparse(&model, &Exact::FORCED, &()).unwrap_err();
    assert!(matches!(error, Error::TooManyUnits { free_units: 200, .. }), "{error}");
}

#[derive(Default)]
struct Recorder {
    patience: Option<usize>,
    asked: AtomicUsize,
    last: Mutex<Option<Progress>>,
}

impl Observer for Recorder {
    fn progress(&self, progress: Progress) {
        *self.last.lock().unwrap() = Some(progress);
    }

    fn cancelled(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        self.patience.is_some_and(|patience| asked >= patience)
    }
}

#[test]
fn progress_ends_at_the_total_also_with_fixed_units() -> Result<()> {
    let pairs: Vec<_> = grid(8, 8, true).into_iter().map(|(i, j)| (i, j, 0.5)).collect();
    let model = SparseModel::new(vec![-0.1; 64], &pairs)?;
    for max_bytes in [None, Some(1e5)] {
        let settings = Exact { max_bytes, ..Exact::FORCED };
        let recorder = Recorder::default();
        exact_log_z_sparse(&model, &settings, &recorder)?;
        let last = recorder.last.lock().unwrap().unwrap();
        assert_eq!((last.phase, last.done), (Phase::Enumerate, last.total));
        assert_eq!(last.total as f64, exact_cost_sparse(&model, &settings)?.states);
    }
    Ok(())
}

#[test]
fn cancelling_stops_in_the_middle_of_a_table() {
    // A table of 2^26 entries is in the way, and of all steps there are but 169.
    let pairs: Vec<_> = grid(13, 13, true).into_iter().map(|(i, j)| (i, j, 0.5)).collect();
    let model = SparseModel::new(vec![0.0; 169], &pairs).unwrap();
    let recorder = Recorder { patience: Some(300), ..Recorder::default() };
    let error = exact_log_z_sparse(&model, &Exact::FORCED, &recorder).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
}
