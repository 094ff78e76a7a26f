//! Elimination against enumeration, transfer matrices and Kaufman's formula.

use crate::known::{Solved, banded, numbers::Numbers};
use lnz::math::{log_sum_exp, softplus};
use lnz::{Error, Exact, Observer, Phase, Progress, Rbm, Result, SparseModel};
use lnz::{exact_cost, exact_cost_sparse, exact_log_z, exact_log_z_sparse, exact_log_z_within};
use ndarray::{Array1, Array2};
use proptest::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn eliminated(model: &SparseModel) -> f64 {
    exact_log_z_sparse(model, &Exact::FORCED, &()).unwrap()
}

/// Equal up to the rounding of some thousand operations on numbers of the size of the energies.
#[track_caller]
fn assert_close(found: f64, expected: f64, energy: f64) {
    let error = (found - expected).abs();
    let bound = 1e-12 * (1.0 + energy.abs().max(expected.abs()));
    assert!(error < bound, "{found} instead of {expected}: {error:e} is not below {bound:e}");
}

/// Sum over all states of all units.
fn naive(model: &SparseModel) -> f64 {
    let minus_energies: Vec<f64> = (0..1usize << model.units())
        .map(|state| {
            let is_on = |unit: usize| state >> unit & 1 == 1;
            let of_unit = |unit: usize| {
                let before = model.neighbours(unit).iter().filter(|(j, _)| (*j as usize) < unit);
                let coupled = before.filter(|(j, _)| is_on(*j as usize));
                model.biases()[unit] + coupled.map(|(_, weight)| weight).sum::<f64>()
            };
            (0..model.units()).filter(|&unit| is_on(unit)).map(of_unit).sum::<f64>()
        })
        .collect();
    model.constant() + log_sum_exp(&minus_energies)
}

fn energy(model: &SparseModel) -> f64 {
    let of_unit = |unit| {
        let weights: f64 = model.neighbours(unit).iter().map(|(_, w)| w.abs()).sum();
        model.biases()[unit].abs() + weights
    };
    (0..model.units()).map(of_unit).sum()
}

/// Up to ten units, any pair coupled, couplings from gentle to a thousand.
fn any_sparse() -> impl Strategy<Value = SparseModel> {
    (1usize..=10, prop::sample::select(vec![0.1, 1.0, 8.0, 150.0, 1e3])).prop_flat_map(
        |(units, scale)| {
            let biases = prop::collection::vec(-scale..scale, units);
            let pair = (0..units, 0..units, -scale..scale);
            let pairs = prop::collection::vec(pair, 0..2 * units + 1);
            (biases, pairs).prop_map(|(biases, mut pairs)| {
                pairs.retain(|(i, j, _)| i != j);
                SparseModel::new(biases, &pairs).unwrap()
            })
        },
    )
}

/// Up to 9 x 12 units, a few of the weights different from zero.
fn any_sparse_rbm() -> impl Strategy<Value = Rbm> {
    let scales = prop::sample::select(vec![0.3, 2.0, 30.0, 1e3]);
    (1usize..=9, 1usize..=12, scales).prop_flat_map(|(visible, hidden, scale)| {
        let weight = prop_oneof![2 => Just(0.0), 1 => -scale..scale];
        let weights = prop::collection::vec(weight, visible * hidden);
        let biases = prop::collection::vec(-scale..scale, visible + hidden);
        (weights, biases).prop_map(move |(weights, biases)| {
            Rbm::new(
                Array2::from_shape_vec((visible, hidden), weights).unwrap(),
                Array1::from(biases[..visible].to_vec()),
                Array1::from(biases[visible..].to_vec()),
            )
            .unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn small_models_agree_with_the_sum_over_all_states(model in any_sparse()) {
        assert_close(eliminated(&model), naive(&model), energy(&model));
    }

    #[test]
    fn small_rbms_agree_with_enumeration(model in any_sparse_rbm()) {
        let sparse = SparseModel::from(&model);
        assert_close(eliminated(&sparse), exact_log_z(&model, &()).unwrap(), energy(&sparse));
    }

    #[test]
    fn fixing_units_for_lack_of_memory_changes_nothing(model in any_sparse(), bytes in 0u32..200) {
        let settings =
            Exact { max_bytes: Some(f64::from(bytes)), ..Exact::FORCED };
        let cost = exact_cost_sparse(&model, &settings).unwrap();
        prop_assert!(cost.bytes <= f64::from(bytes));
        let found = exact_log_z_sparse(&model, &settings, &()).unwrap();
        assert_close(found, eliminated(&model), energy(&model));
    }
}

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

#[test]
fn bands_agree_with_the_transfer_matrix() {
    for (seed, window, mean, spread) in [(1, 4, 0.5, 1.0), (2, 9, 0.0, 2.0), (3, 6, 3.0, 20.0)] {
        let band = banded::Banded { visible: 90, hidden: 80, window, mean, spread };
        let Solved { model, log_z: expected } = band.generate(seed).unwrap();
        assert!(exact_cost(&model).unwrap().width.is_some());
        assert_close(exact_log_z(&model, &()).unwrap(), expected, energy(&(&model).into()));
    }
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
fn chains_and_rings_of_a_hundred_thousand_agree_with_a_product_of_matrices() {
    let units = 100_000;
    let mut numbers = Numbers::new(3, 1);
    let biases: Vec<f64> = (0..units).map(|_| numbers.normal()).collect();
    let weights: Vec<f64> = (0..units).map(|_| 3.0 * numbers.normal()).collect();
    for closed in [false, true] {
        let pairs: Vec<_> =
            (0..units - usize::from(!closed)).map(|i| (i, (i + 1) % units, weights[i])).collect();
        let model = SparseModel::new(biases.clone(), &pairs).unwrap();
        // Entry [first][last]: the sum with these states of the first and the last unit so far.
        let mut sums = [[1.0, 0.0], [0.0, biases[0].exp()]];
        let mut log_scale = 0.0;
        for i in 1..units {
            for row in &mut sums {
                let on = biases[i].exp() * (row[0] + row[1] * weights[i - 1].exp());
                *row = [row[0] + row[1], on];
            }
            let largest = sums.iter().flatten().fold(0.0f64, |a, &b| a.max(b));
            sums.iter_mut().flatten().for_each(|sum| *sum /= largest);
            log_scale += largest.ln();
        }
        let last = if closed { weights[units - 1].exp() } else { 1.0 };
        let total = sums[0][0] + sums[0][1] + sums[1][0] + sums[1][1] * last;
        assert_close(eliminated(&model), log_scale + f64::ln(total), 0.0);
        assert_eq!(
            exact_cost_sparse(&model, &Exact::FORCED).unwrap().width,
            Some(if closed { 2 } else { 1 })
        );
    }
}

#[test]
fn stars_and_deep_trees_are_exact_for_weights_of_any_size() {
    let mut numbers = Numbers::new(4, 1);
    for scale in [1.0, 1e3, 1e6] {
        let leaves: Vec<f64> = (0..5000).map(|_| scale * numbers.normal()).collect();
        let pairs: Vec<_> = leaves.iter().enumerate().map(|(i, &w)| (0, i + 1, w)).collect();
        let star = SparseModel::new(vec![0.0; 5001], &pairs).unwrap();
        let off = 5000.0 * 2f64.ln();
        let on: f64 = leaves.iter().map(|&w| softplus(w)).sum();
        assert_close(eliminated(&star), log_sum_exp(&[off, on]), 0.0);
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
    // of 4 x 4 and 5598861 on one of 5 x 7 (A006506 and A089980).
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

/// A dense core, and the same with units that hang on it on both sides.
fn core_with_pendants(core: usize, pendants: usize) -> (Rbm, Rbm) {
    let mut numbers = Numbers::new(6, 1);
    let side = core + pendants;
    let mut weights = Array2::zeros((side, side));
    for ((i, j), weight) in weights.indexed_iter_mut() {
        let hangs = i >= core && j == i % core || j >= core && i == j % core;
        if i < core && j < core || hangs {
            *weight = numbers.normal();
        }
    }
    let mut bias = |n| Array1::from_shape_simple_fn(n, || numbers.normal());
    let (visible_bias, hidden_bias) = (bias(side), bias(side));
    let part = ndarray::s![..core];
    let inner = Rbm::new(
        weights.slice(ndarray::s![..core, ..core]).to_owned(),
        visible_bias.slice(part).to_owned(),
        hidden_bias.slice(part).to_owned(),
    );
    (Rbm::new(weights, visible_bias, hidden_bias).unwrap(), inner.unwrap())
}

#[test]
fn what_hangs_on_a_dense_core_costs_nothing() {
    let (model, core) = core_with_pendants(16, 60);
    let cost = exact_cost(&model).unwrap();
    assert_eq!((cost.free_units, cost.width), (16, None));
    assert_eq!(cost.states, exact_cost(&core).unwrap().states);
    let sparse = SparseModel::from(&model);
    assert_close(exact_log_z(&model, &()).unwrap(), eliminated(&sparse), energy(&sparse));
}

#[test]
fn sampling_leaves_out_what_hangs_on_the_rest() {
    let (model, _) = core_with_pendants(18, 40);
    // No time for the exact value of the core.
    let settings = lnz::Auto { exact_seconds: 0.0, rounds: Some(1), ..lnz::Auto::default() };
    let found = lnz::auto(&model, &settings, &()).unwrap();
    let exact = exact_log_z(&model, &()).unwrap();
    let [sampled] = found.sampled() else { panic!("{found:?}") };
    assert_eq!((sampled.visible, sampled.hidden), (18, 18));
    // Nearly all states are in the core, of which the standard error knows nothing; the interval does.
    let [low, high] = found.interval;
    assert!(low <= exact && exact <= high && high - low < 0.1, "{found:?} instead of {exact}");
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

#[test]
fn energies_beyond_float64_are_an_error() {
    let model = SparseModel::new(vec![0.0; 3], &[(0, 1, 9e306), (1, 2, 9e306)]).unwrap();
    let error = exact_log_z_sparse(&model, &Exact::FORCED, &()).unwrap_err();
    assert!(matches!(error, Error::Overflow));
}
