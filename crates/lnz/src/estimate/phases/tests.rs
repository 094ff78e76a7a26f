//! The sum over phases against exact values.

use super::*;
use crate::exact_log_z;
use crate::math::softplus;
use ndarray::Array2;

/// Settings for small models: no second opinion, few steps.
fn quick(seed: u64) -> Phases {
    Phases { chains: 128, betas: 256, seed, check: false }
}

/// Independent blocks of equal weights, each with two phases: 2^blocks phases of known weight. The
/// labels 0 and 1 of every other unit are exchanged, so that nothing is uniform.
fn blocks(sizes: &[(usize, usize)], coupling: f64, tilt: f64) -> Rbm {
    let (visible, hidden) = sizes.iter().fold((0, 0), |(v, h), size| (v + size.0, h + size.1));
    let mut weights = Array2::zeros((visible, hidden));
    let (mut b, mut c) = (Array1::zeros(visible), Array1::zeros(hidden));
    let (mut v, mut h) = (0, 0);
    for &(n, m) in sizes {
        let weight = coupling / ((n * m) as f64).sqrt();
        for i in v..v + n {
            b[i] = -weight * m as f64 / 2.0 + tilt / n as f64;
            (h..h + m).for_each(|j| weights[[i, j]] = weight);
        }
        (h..h + m).for_each(|j| c[j] = -weight * n as f64 / 2.0);
        v += n;
        h += m;
    }
    let mut constant = 0.0;
    for i in (0..visible).step_by(2) {
        constant += b[i];
        b[i] = -b[i];
        for j in 0..hidden {
            c[j] += weights[[i, j]];
            weights[[i, j]] = -weights[[i, j]];
        }
    }
    Rbm::new(weights, b, c).unwrap().with_constant(constant).unwrap()
}

/// log Z of one block of equal weights: a sum over the number of visible units that are on.
fn log_z_of_block(n: usize, m: usize, coupling: f64, tilt: f64) -> f64 {
    let weight = coupling / ((n * m) as f64).sqrt();
    let (b, c) = (-weight * m as f64 / 2.0 + tilt / n as f64, -weight * n as f64 / 2.0);
    let mut log_binomial = 0.0;
    let mut terms = Vec::new();
    for k in 0..=n {
        let inputs = m as f64 * softplus(c + weight * k as f64);
        terms.push(log_binomial + b * k as f64 + inputs);
        log_binomial += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    log_sum_exp(&terms)
}

#[test]
fn phases_of_joined_blocks_are_all_found_and_add_up() {
    let (sizes, coupling, tilt) = ([(30, 24), (26, 20)], 7.0, 1.5);
    let model = blocks(&sizes, coupling, tilt);
    let truth: f64 = sizes.iter().map(|&(n, m)| log_z_of_block(n, m, coupling, tilt)).sum();
    let found = quick(1).estimate(&model, &()).unwrap();
    let Details::Phases(run) = &found.details else { panic!("another method") };
    assert!(run.phases.len() >= 4, "{:?}", run.phases);
    assert!((found.log_z - truth).abs() < 5.0 * found.std_error, "{} {truth}", found.log_z);
    assert!((run.phases.iter().map(|phase| phase.share).sum::<f64>() - 1.0).abs() < 1e-12);
}

/// The mean of Z over many seeds, whatever phases each run has found.
#[test]
fn the_sum_is_unbiased_over_seeds() {
    let model = blocks(&[(7, 6)], 5.0, 0.5);
    let truth = exact_log_z(&model, &()).unwrap();
    let ratios: Vec<f64> = (0..40)
        .map(|seed| {
            let settings = Phases { chains: 64, betas: 32, ..quick(seed) };
            (settings.estimate(&model, &()).unwrap().log_z - truth).exp()
        })
        .collect();
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let std_error = (variance / n).sqrt();
    assert!((mean - 1.0).abs() < 5.0 * std_error, "{mean} +- {std_error}");
    assert!(std_error < 0.1, "{std_error}: the test could not fail");
}

#[test]
fn exchanging_the_layers_changes_nothing_but_the_numbers_drawn() {
    let model = blocks(&[(12, 9)], 5.0, 1.0);
    let truth = exact_log_z(&model, &()).unwrap();
    for model in [model.transposed().unwrap(), model] {
        let found = quick(3).estimate(&model, &()).unwrap();
        assert!((found.log_z - truth).abs() < 5.0 * found.std_error.max(1e-3), "{}", found.log_z);
    }
}

#[test]
fn the_edges_are_answered() {
    let one = Rbm::new(Array2::ones((1, 1)), Array1::zeros(1), Array1::zeros(1)).unwrap();
    let alone = Rbm::new(Array2::zeros((3, 0)), Array1::ones(3), Array1::zeros(0)).unwrap();
    let loose = Rbm::new(Array2::zeros((4, 3)), Array1::ones(4), Array1::zeros(3)).unwrap();
    for model in [one, alone, loose] {
        let truth = exact_log_z(&model, &()).unwrap();
        let found = quick(0).estimate(&model, &()).unwrap();
        assert!((found.log_z - truth).abs() < 5.0 * found.std_error + 1e-5, "{}", found.log_z);
    }
    let refused = Phases { betas: 0, ..quick(0) };
    assert!(refused.estimate(&blocks(&[(3, 3)], 1.0, 0.0), &()).is_err());
}

#[test]
fn threads_change_no_bit() {
    let model = blocks(&[(12, 9), (8, 8)], 6.0, 1.0);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| quick(5).estimate(&model, &()).unwrap().log_z.to_bits())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn schedules_rise_from_start_to_model() {
    for intervals in [1, 2, 3, 10, 2048] {
        let betas = schedule(intervals);
        assert_eq!((betas[0], betas[intervals], betas.len()), (0.0, 1.0, intervals + 1));
        assert!(betas.windows(2).all(|pair| pair[0] < pair[1]), "{betas:?}");
    }
}
