//! Elimination against enumeration, transfer matrices and sums by hand.

use crate::known::{Solved, banded, numbers::Numbers};
use lnz::math::{log_sum_exp, softplus};
use lnz::{Error, Exact, Rbm, SparseModel};
use lnz::{exact_cost, exact_cost_sparse, exact_log_z, exact_log_z_sparse};
use ndarray::{Array1, Array2};
use proptest::prelude::*;

pub(crate) fn eliminated(model: &SparseModel) -> f64 {
    exact_log_z_sparse(model, &Exact::FORCED, &()).unwrap()
}

/// Equal up to the rounding of some thousand operations on numbers of the size of the energies.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, energy: f64) {
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

pub(crate) fn energy(model: &SparseModel) -> f64 {
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

#[test]
fn bands_agree_with_the_transfer_matrix() {
    for (seed, window, mean, spread) in [(1, 4, 0.5, 1.0), (2, 9, 0.0, 2.0), (3, 6, 3.0, 20.0)] {
        let band = banded::Banded { visible: 90, hidden: 80, window, mean, spread };
        let Solved { model, log_z: expected } = band.generate(seed).unwrap();
        assert!(exact_cost(&model).unwrap().width.is_some());
        assert_close(exact_log_z(&model, &()).unwrap(), expected, energy(&(&model).into()));
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

#[test]
fn energies_beyond_float64_are_an_error() {
    let model = SparseModel::new(vec![0.0; 3], &[(0, 1, 9e306), (1, 2, 9e306)]).unwrap();
    let error = exact_log_z_sparse(&model, &Exact::FORCED, &()).unwrap_err();
    assert!(matches!(error, Error::Overflow));
}
