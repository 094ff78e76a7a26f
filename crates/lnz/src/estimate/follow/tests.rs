//! Bridges between small models, where every number is known.

use super::*;
use crate::math::log_sum_exp;
use crate::{Gwgm, exact_log_z};
use ndarray::{Array1, Array2};

const VISIBLE: usize = 6;

fn family(sigma: f64) -> Gwgm {
    Gwgm {
        visible: VISIBLE,
        hidden: 5,
        mu_mu: 0.1,
        sigma_mu: 0.0,
        mu_sigma: sigma,
        sigma_sigma: 0.0,
        lambda: 1.0,
    }
}

/// Models that differ as checkpoints of a fast training would.
fn sequence() -> Vec<Rbm> {
    let random = family(1.0).generate(3).unwrap();
    let model = |k: usize| {
        let scale = 0.4 + 0.3 * k as f64;
        let biases = Array1::from_elem(VISIBLE, 0.3 * k as f64 - 0.5);
        Rbm::new(&random.weights() * scale, biases, random.hidden_bias().to_owned())
            .and_then(|model| model.with_constant(k as f64))
            .unwrap()
    };
    (0..5).map(model).collect()
}

fn log_z(model: &Rbm) -> f64 {
    exact_log_z(model, &()).unwrap()
}

/// The probability of each state, by enumeration.
fn probabilities(model: &Rbm) -> Vec<f64> {
    let unit = |state: usize, i: usize| (state >> i & 1) as f64;
    let height = |state: usize| {
        let x: Array1<f64> = (0..model.visible()).map(|i| unit(state, i)).collect();
        model.log_marginal(x.view())
    };
    let heights: Vec<f64> = (0..1 << model.visible()).map(height).collect();
    let log_z = log_sum_exp(&heights);
    heights.iter().map(|height| (height - log_z).exp()).collect()
}

/// States that follow a model exactly.
fn drawn(model: &Rbm, count: usize, random: &mut Random) -> Vec<State> {
    let probabilities = probabilities(model);
    let mut draw = || {
        let mut left = random.uniform();
        let passed = probabilities.iter().take_while(|p| {
            left -= *p;
            left >= 0.0
        });
        let state = passed.count().min(probabilities.len() - 1);
        (0..model.visible()).map(|i| state >> i & 1 == 1).collect()
    };
    (0..count).map(|_| draw()).collect()
}

fn follower(model: &Rbm, settings: &Following) -> Follower {
    let mut random = Random::stream(settings.seed, Purpose::FirstState, 0);
    let per_island = settings.chains / ISLANDS;
    let islands = (0..ISLANDS).map(|_| drawn(model, per_island, &mut random)).collect();
    Follower::in_states(islands, Verdict::Consistent, model.clone(), settings)
}

fn settings(seed: u64) -> Following {
    Following { chains: 256, sweeps: 8, seed, ..Following::default() }
}

const SEEDS: u64 = 40;

/// Errors in units of what was claimed: Student's t with 15 degrees of freedom, if the claims are right.
fn assert_as_claimed(errors: &[f64], what: &str) {
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let square = errors.iter().map(|t| t * t).sum::<f64>() / n;
    // The mean square of t is 15/13, its mean fourth power 3 15^2 / (13 11).
    let (second, fourth) = (15.0 / 13.0, 675.0 / 143.0);
    let error = f64::sqrt((fourth - second * second) / n);
    assert!(mean.abs() < 4.5 * (second / n).sqrt(), "{what}: the mean is {mean}");
    assert!((square - second).abs() < 4.5 * error, "{what}: the mean square is {square}");
}

#[test]
fn a_bridge_is_off_by_no_more_than_it_claims() {
    let models = sequence();
    let expected = log_z(&models[1]) - log_z(&models[0]);
    let errors: Vec<f64> = (0..SEEDS)
        .map(|seed| {
            let mut follower = follower(&models[0], &settings(seed));
            let span = follower.follow(models[1].clone(), &()).unwrap();
            assert!(span.holds(), "{span:?}");
            assert_eq!(follower.log_ratio(), span.log_ratio);
            (span.log_ratio - expected) / span.std_error
        })
        .collect();
    assert_as_claimed(&errors, "one bridge");
}

#[test]
fn errors_add_up_along_the_way_as_they_do_in_truth() {
    let models = sequence();
    let errors: Vec<f64> = (0..SEEDS)
        .map(|seed| {
            let mut follower = follower(&models[0], &settings(seed));
            for model in models.iter().skip(1).chain(models.iter().rev().skip(1)) {
                follower.follow(model.clone(), &()).unwrap();
            }
            // There and back again: the ratio is known to be zero.
            follower.log_ratio() / follower.std_error()
        })
        .collect();
    assert_as_claimed(&errors, "eight bridges");
}

#[test]
fn each_direction_alone_is_right_and_the_bracket_is_around_it() {
    let models = sequence();
    let expected = log_z(&models[2]) - log_z(&models[1]);
    let mut sums = [0.0; 4];
    for seed in 0..SEEDS {
        let span = follower(&models[1], &settings(seed)).follow(models[2].clone(), &()).unwrap();
        for (sum, value) in sums.iter_mut().zip([span.one_way, span.bracket].concat()) {
            *sum += (value - expected) / SEEDS as f64;
        }
        assert!(span.disagreement.abs() < 6.0, "{span:?}");
    }
    // 40 x 256 chains, whose work has a standard deviation below one.
    let error = 1.0 / (SEEDS as f64 * 256.0).sqrt();
    assert!(sums[0].abs() < 4.5 * error && sums[1].abs() < 4.5 * error, "{sums:?}");
    assert!(sums[2] < 0.0 && sums[3] > 0.0, "{sums:?}");
}

#[test]
fn every_precision_takes_the_same_bridge() {
    let models = sequence();
    let expected = log_z(&models[1]) - log_z(&models[0]);
    for precision in [Precision::I16, Precision::I32, Precision::F64] {
        let settings = Following { precision, ..settings(1) };
        let span = follower(&models[0], &settings).follow(models[1].clone(), &()).unwrap();
        assert!((span.log_ratio - expected).abs() < 5.0 * span.std_error, "{precision:?} {span:?}");
    }
}

#[test]
fn the_first_states_may_be_drawn_by_tempering() {
    let models = sequence();
    let mut follower = Follower::begin(models[3].clone(), &settings(5), &()).unwrap();
    assert_eq!(follower.first_states(), Verdict::Consistent);
    let span = follower.follow(models[4].clone(), &()).unwrap();
    let expected = log_z(&models[4]) - log_z(&models[3]);
    assert!((span.log_ratio - expected).abs() < 5.0 * span.std_error, "{expected} {span:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let models = sequence();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut follower = follower(&models[0], &settings(2));
            let spans: Vec<Span> =
                models[1..].iter().map(|m| follower.follow(m.clone(), &()).unwrap()).collect();
            (spans, follower.std_error())
        })
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(7));
}

#[test]
fn between_equal_models_there_is_nothing_to_climb() {
    let model = &sequence()[2];
    let span = follower(model, &settings(3)).follow(model.clone(), &()).unwrap();
    // Kernels add up some tens of float32 below ten at each of eight steps.
    assert!(span.log_ratio.abs() < 1e-4 && span.gap().abs() < 1e-4, "{span:?}");
    assert!(span.holds());
}

/// Units that all pull each other to the same side, in a field.
fn magnet(field: f64) -> Rbm {
    let units = 12;
    let weights = Array2::from_elem((units, units), 0.8);
    let bias = Array1::from_elem(units, -0.8 * units as f64 / 2.0 + field);
    Rbm::new(weights, bias.clone(), bias).unwrap()
}

#[test]
fn hysteresis_shows_where_the_field_of_a_magnet_turns() {
    let (up, down) = (magnet(2.5), magnet(-2.5));
    let settings = Following { most_betas: 16, sweeps: 64, ..settings(4) };
    let span = follower(&up, &settings).follow(down.clone(), &()).unwrap();
    let expected = log_z(&down) - log_z(&up);
    assert_eq!(span.betas, 16);
    assert!(!span.holds() && span.gap() > 5.0, "{span:?}");
    assert!(span.bracket[0] < expected && expected < span.bracket[1], "{expected} {span:?}");
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let models = sequence();
    let other = family(1.0).generate(1).unwrap().transposed().unwrap();
    let error = follower(&models[0], &settings(0)).follow(other, &()).unwrap_err().to_string();
    assert!(error.contains("5 x 6 after 6 x 5"), "{error}");
    for wrong in [
        Following { chains: 0, ..settings(0) },
        Following { chains: 300, ..settings(0) },
        Following { most_betas: 1, ..settings(0) },
    ] {
        assert!(Follower::begin(models[0].clone(), &wrong, &()).is_err());
    }
    let stopped = crate::Deadline::after(0.0, &());
    let found = follower(&models[0], &settings(0)).follow(models[1].clone(), &stopped);
    assert!(matches!(found, Err(Error::Cancelled { .. })));
}

#[test]
fn a_way_in_parts_ends_where_it_should() {
    let model = Rbm::new(Array2::zeros((4096, 1024)), Array1::zeros(4096), Array1::zeros(1024));
    let betas: Vec<f64> = (0..=20).map(|k| f64::from(k) / 20.0).collect();
    let parts = windows(&betas, &model.unwrap());
    // 2^25 bytes for each model, 2^28 in all.
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [9, 9, 5]);
    for pair in parts.windows(2) {
        assert_eq!(pair[0].last(), pair[1].first());
    }
    assert_eq!((parts[0][0], parts[2][4]), (0.0, 1.0));
}
