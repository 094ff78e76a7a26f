//! The paper's annealing against exact values: every start, orientation and precision, and the edges.

use crate::statistics::{assert_unbiased, exact, gaussian, mean_and_error};
use lnz::math::{log_mean_exp, sigmoid};
use lnz::{
    Annealed, Annealing, ChainLayout, Estimate, Flips, Gwgm, InitialState, Precision, Rbm, Sampler,
    Sampling, Schedule, Start, anneal,
};
use ndarray::{Array1, Array2, array};
use rayon::ThreadPoolBuilder;

/// What the increments of the fast kernels may be off by: "at most 1e-4 at 128 or more betas" is
/// required of them, and held with a wide margin on models this small.
const ROUNDING: f64 = 1e-4;

const PRECISIONS: [Precision; 3] = [Precision::I16, Precision::I32, Precision::F64];

fn run(model: &Rbm, start: &Start, betas: usize, settings: Annealing) -> Annealed {
    anneal(model, start, &Schedule::linear(betas).unwrap(), &settings, &()).unwrap()
}

fn uniform_run(model: &Rbm, betas: usize, chains: usize, seed: u64) -> Annealed {
    let settings = Annealing { chains, seed, ..Annealing::default() };
    run(model, &Start::uniform(model.visible()), betas, settings)
}

/// Every way to sample a model for its means, a few samples of each: any B is valid.
fn samplings() -> Vec<Sampling> {
    let samplers = [
        Sampler::Gibbs,
        Sampler::Metropolis { flips: Flips::Percent(40.0) },
        Sampler::Metropolis { flips: Flips::Units(1) },
    ];
    let initials = [
        InitialState::Zero,
        InitialState::One,
        InitialState::Random,
        InitialState::MeanField,
        InitialState::Pseudoinverse,
    ];
    let mut all = Vec::new();
    for sampler in samplers {
        for initial in initials {
            for layout in [ChainLayout::Parallel, ChainLayout::Single] {
                all.push(Sampling {
                    sampler,
                    initial,
                    samples: 40,
                    steps: 5,
                    layout,
                    epsilon: 0.05,
                });
            }
        }
    }
    all
}

/// 40 runs of 64 chains from starts that differ from seed to seed: Z^ is unbiased, and the chains of
/// all runs together give log Z within 4 of the standard errors that [`Estimate`] states.
fn assert_exact(model: &Rbm, log_z: f64, what: &str, start: impl Fn(u64) -> Start) {
    let mut ratios = Vec::new();
    let mut samples = Vec::new();
    for seed in 0..40 {
        let settings = Annealing { chains: 64, seed, ..Annealing::default() };
        let found = run(model, &start(seed), 64, settings).samples;
        ratios.push((log_mean_exp(&found) - log_z).exp());
        samples.extend(found);
    }
    assert_unbiased(&ratios, 0.02, ROUNDING, what);
    let estimate = Estimate::from_samples(&samples);
    assert!(
        (estimate.log_z - log_z).abs() < 4.0 * estimate.std_error + ROUNDING,
        "{what}: log Z is {log_z}, found {} +- {}",
        estimate.log_z,
        estimate.std_error
    );
}

#[test]
fn every_start_is_exact_on_small_models_in_both_orientations() {
    let models = [
        ("weak 6x5", gaussian(6, 5, 0.3, 1)),
        ("strong 8x4", gaussian(8, 4, 2.0, 2)),
        ("strong 5x12", gaussian(5, 12, 1.5, 3)),
    ];
    for (name, original) in models {
        let log_z = exact(&original);
        let transposed = original.transposed().unwrap();
        for (orientation, model) in [("original", &original), ("transposed", &transposed)] {
            let visible = model.visible();
            let what = |start: String| format!("{name}, {orientation}, {start}");
            assert_exact(model, log_z, &what("uniform".into()), |_| Start::uniform(visible));
            // Means as a data set would have them, right for some units and wrong for others.
            let means = Array1::from_iter((0..visible).map(|i| i as f64 / (visible - 1) as f64));
            assert_exact(model, log_z, &what("data".into()), |_| {
                Start::from_means(means.view(), 0.1).unwrap()
            });
            for sampling in samplings() {
                assert_exact(model, log_z, &what(format!("{sampling:?}")), |seed| {
                    Start::sampled(model, &sampling, seed, &()).unwrap()
                });
            }
        }
    }
}

/// Ratios Z^/Z of many runs of 4 chains and 4 uneven betas.
fn coarse_ratios(model: &Rbm, log_z: f64, precision: Precision, seeds: u64) -> Vec<f64> {
    let schedule = Schedule::from_betas(vec![0.0, 0.1, 0.3, 0.7, 1.0]).unwrap();
    let means = Array1::from_elem(model.visible(), 0.4);
    let start = Start::from_means(means.view(), 0.0).unwrap();
    (0..seeds)
        .map(|seed| {
            let settings = Annealing { chains: 4, seed, precision };
            let run = anneal(model, &start, &schedule, &settings, &()).unwrap();
            assert_eq!(run.precision, precision);
            (log_mean_exp(&run.samples) - log_z).exp()
        })
        .collect()
}

#[test]
fn z_is_unbiased_even_where_few_chains_and_betas_bias_log_z() {
    for model in [gaussian(6, 5, 1.0, 4), gaussian(5, 12, 0.7, 5)] {
        let log_z = exact(&model);
        for precision in PRECISIONS {
            let ratios = coarse_ratios(&model, log_z, precision, 10_000);
            // A schedule of 4 steps leaves float32 increments with a larger error than a fine one.
            assert_unbiased(&ratios, 0.01, 2.0 * ROUNDING, &format!("{precision:?}"));
            let logs: Vec<f64> = ratios.iter().map(|r| r.ln()).collect();
            let (bias, error) = mean_and_error(&logs);
            assert!(bias < -8.0 * error, "log Z^ is off by {bias} +- {error}: not coarse enough");
        }
    }
}

#[test]
fn rounding_to_16_bits_leaves_z_unbiased_where_the_grid_is_coarse() {
    // One strong weight, which hardly matters for Z because it only forbids two units to be on
    // together, decides the grid: a step of 0.49, to which weights of about 0.3 are rounded.
    let mut weights = gaussian(6, 5, 0.1, 6).weights().mapv(|w| w + 0.3f64.copysign(w));
    weights[[0, 0]] = -16_000.0;
    let bias = |n: usize| Array1::from_iter((0..n).map(|i| 0.5 - 0.2 * i as f64));
    let model = Rbm::new(weights.clone(), bias(6), bias(5)).unwrap();
    let log_z = exact(&model);

    let ratios = coarse_ratios(&model, log_z, Precision::I16, 20_000);
    assert_unbiased(&ratios, 0.01, 2.0 * ROUNDING, "coarse i16");

    // The rounded model has another Z: without the bridge to the real one the test would fail.
    let step = 16_000.0 / (32_767.0 - 3.0);
    let rounded = weights.mapv(|w| (w / step).round() * step);
    let off = exact(&Rbm::new(rounded, bias(6), bias(5)).unwrap()) - log_z;
    let (_, error) = mean_and_error(&ratios);
    assert!(off.abs() > 20.0 * error, "rounding moves log Z by {off} only");
}

/// No weights, so that the units are independent and B = b is the model itself.
fn independent_units() -> Rbm {
    let bias = |n: usize, from: f64| Array1::from_iter((0..n).map(|i| from + 0.37 * i as f64));
    Rbm::new(Array2::zeros((9, 5)), bias(9, -1.8), bias(5, -0.9)).unwrap()
}

#[test]
fn matching_means_without_weights_leave_no_variance() {
    let model = independent_units();
    let log_z = exact(&model);
    let start = Start::from_means(model.visible_bias().mapv(sigmoid).view(), 0.0).unwrap();
    for precision in PRECISIONS {
        let settings = Annealing { chains: 100, seed: 1, precision };
        let samples = run(&model, &start, 128, settings).samples;
        let off = samples.iter().map(|s| (s - log_z).abs()).fold(0.0, f64::max);
        // B is held as a float32, which moves each of 9 units by half a unit in the last place.
        let allowed = if precision == Precision::F64 { 9.0 * 1.2e-7 } else { ROUNDING };
        assert!(off < allowed, "{precision:?}: a sample is off by {off:e}");
        let spread = Estimate::from_samples(&samples).std_sample;
        assert!(spread < 9.0 * 1.2e-7, "{precision:?}: the samples spread by {spread:e}");
    }
}

#[test]
fn the_wrong_sign_of_the_start_leaves_variance() {
    let model = independent_units();
    let wrong = model.visible_bias().mapv(|b| 1.0 - sigmoid(b));
    let start = Start::from_means(wrong.view(), 0.0).unwrap();
    for precision in PRECISIONS {
        let settings = Annealing { chains: 100, seed: 1, precision };
        let estimate = Estimate::from_samples(&run(&model, &start, 128, settings).samples);
        assert!(estimate.std_sample > 0.05, "{precision:?}: {}", estimate.std_sample);
        assert!((estimate.log_z - exact(&model)).abs() < 4.0 * estimate.std_error + ROUNDING);
    }
}

#[test]
fn permuting_transposing_and_joining_blocks_keep_log_z() {
    let (a, b) = (gaussian(6, 5, 0.8, 7), gaussian(4, 7, 0.8, 8));
    let log_z = exact(&a) + exact(&b);
    // Float64 rounding of sums of a few dozen terms.
    let rounding = 1e-12 * log_z.abs();
    let joined = Rbm::block_diagonal(&[a, b]).unwrap();
    let order = |n: usize| (0..n).map(|i| (i * 7 + 3) % n).collect::<Vec<_>>();
    let permuted = joined.permuted(&order(10), &order(12)).unwrap();
    assert_ne!(permuted, joined);
    let transposed = joined.transposed().unwrap();
    for (seed, model) in [joined, permuted, transposed].into_iter().enumerate() {
        assert!((exact(&model) - log_z).abs() < rounding);
        let estimate = Estimate::from_samples(&uniform_run(&model, 256, 2048, seed as u64).samples);
        assert!(estimate.std_error < 0.02);
        let off = estimate.log_z - log_z;
        assert!(off.abs() < 4.0 * estimate.std_error + ROUNDING, "model {seed}: off by {off}");
    }
}

/// What `work` gives on 1, 2 and 7 threads.
fn on_threads<R: Send>(work: impl Fn() -> R + Sync) -> [R; 3] {
    [1, 2, 7].map(|threads| {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work)
    })
}

#[test]
fn the_number_of_threads_changes_no_bit_of_an_annealing_run() {
    let model = gaussian(30, 70, 0.4, 9);
    let start = Start::uniform(30);
    for precision in PRECISIONS {
        // More than two of the largest blocks, and a last group that is not full.
        let chains = if precision == Precision::F64 { 101 } else { 2101 };
        let settings = Annealing { chains, seed: 3, precision };
        let [one, two, seven] = on_threads(|| run(&model, &start, 16, settings).samples);
        assert_eq!(one.len(), chains);
        assert!(one == two && one == seven, "{precision:?}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit_of_a_sampled_start() {
    let model = gaussian(30, 70, 0.4, 10);
    for sampling in samplings() {
        let sampling = Sampling { samples: 1101, steps: 3, ..sampling };
        let [one, two, seven] = on_threads(|| Start::sampled(&model, &sampling, 3, &()).unwrap());
        assert!(one == two && one == seven, "{sampling:?}");
    }
}

#[test]
fn any_number_of_chains_works_and_agrees() {
    let model = gaussian(6, 5, 0.3, 11);
    let log_z = exact(&model);
    // The spread of one chain, from many.
    let spread = Estimate::from_samples(&uniform_run(&model, 128, 4000, 0).samples).std_sample;
    for chains in [1, 2, 15, 16, 17, 31, 32, 33, 1000, 1025] {
        let samples = uniform_run(&model, 128, chains, 12).samples;
        assert_eq!(samples.len(), chains);
        let off = log_mean_exp(&samples) - log_z;
        assert!(off.abs() < 4.0 * spread / (chains as f64).sqrt() + ROUNDING, "{chains}: {off}");
    }
    let none = Annealing { chains: 0, ..Annealing::default() };
    let schedule = Schedule::linear(1).unwrap();
    assert!(anneal(&model, &Start::uniform(6), &schedule, &none, &()).is_err());
}

#[test]
fn seeds_differ_and_repeat() {
    let model = gaussian(6, 5, 0.5, 13);
    assert_eq!(uniform_run(&model, 16, 50, 1), uniform_run(&model, 16, 50, 1));
    assert_ne!(uniform_run(&model, 16, 50, 1).samples, uniform_run(&model, 16, 50, 2).samples);
}

#[test]
fn the_smallest_models_are_right() {
    let one_by_one = Rbm::new(array![[1.3]], array![-0.4], array![0.2]).unwrap();
    let no_hidden = Rbm::new(Array2::zeros((4, 0)), array![0.3, -1.0, 2.0, 0.0], array![]).unwrap();
    let one_visible = gaussian(1, 9, 0.7, 14);
    let one_hidden = gaussian(9, 1, 0.7, 15);
    let no_weights = independent_units();
    for model in [one_by_one, no_hidden, one_visible, one_hidden, no_weights] {
        for precision in PRECISIONS {
            let settings = Annealing { chains: 3000, seed: 5, precision };
            let samples = run(&model, &Start::uniform(model.visible()), 128, settings).samples;
            let estimate = Estimate::from_samples(&samples);
            let off = estimate.log_z - exact(&model);
            let size = model.weights().dim();
            assert!(estimate.std_error < 0.02);
            assert!(off.abs() < 4.0 * estimate.std_error + ROUNDING, "{size:?}: off by {off}");
        }
    }
}

#[test]
fn a_model_without_hidden_units_can_be_sampled_but_not_transposed() {
    let model = Rbm::new(Array2::zeros((3, 0)), array![0.3, -1.0, 2.0], array![]).unwrap();
    assert!(model.transposed().is_err());
    for sampling in samplings() {
        let start = Start::sampled(&model, &sampling, 1, &()).unwrap();
        assert!(start.bias().iter().all(|b| b.is_finite()));
    }
}

/// A start as sure of the dominant state as the default cut-off allows: with weights so strong, the
/// uniform start may miss that state altogether, and that is not what is tested here.
fn start_at(state: &[f64]) -> Start {
    Start::from_means(Array1::from(state.to_vec()).view(), 0.05).unwrap()
}

#[test]
fn one_dominant_state_is_weighed_at_any_size_of_the_weights() {
    // All weights and biases push the same way, so that all units on has all of Z.
    for scale in [50.0, 1e3, 1e6, 1e29, 1e30, 1e37, 1e39, 1e100, 1e300] {
        let (visible, hidden) = (6, 5);
        let weights = Array2::from_elem((visible, hidden), scale);
        let bias = |n: usize| Array1::from_elem(n, 0.1 * scale);
        let model = Rbm::new(weights, bias(visible), bias(hidden)).unwrap();
        let log_z = exact(&model);
        for precision in PRECISIONS {
            let settings = Annealing { chains: 64, seed: 1, precision };
            let run = run(&model, &start_at(&[1.0; 6]), 64, settings);
            let estimate = Estimate::from_samples(&run.samples);
            assert!(run.samples.iter().all(|s| s.is_finite()), "{scale:e} {:?}", run.precision);
            // From the first step on every chain is at all-on, having left a first state with at most
            // a few units off: 64 steps lose at most 1/64 of log Z each, and only there.
            let off = (estimate.log_z - log_z) / log_z;
            assert!(off.abs() < 1.0 / 64.0, "{scale:e} {:?}: {off:e}", run.precision);
        }
    }
}

#[test]
fn weights_beyond_float32_are_annealed_in_float64() {
    let expected = [
        (1e3, Precision::I16),
        (1e20, Precision::I32),
        (1e30, Precision::F64),
        (1e39, Precision::F64),
        (1e300, Precision::F64),
    ];
    for (scale, precision) in expected {
        let model = gaussian(6, 5, scale, 16);
        let found = uniform_run(&model, 64, 64, 1);
        assert_eq!(found.precision, precision, "{scale:e}");
        assert!(found.samples.iter().all(|s| s.is_finite()), "{scale:e}");
        // Markov's inequality: P(Z^ > 1000 Z) <= 1/1000, up to the rounding of so large a log Z.
        assert!(log_mean_exp(&found.samples) < exact(&model) * (1.0 + 1e-12) + 1000f64.ln());
        let start = Start::sampled(&model, &Sampling::default(), 1, &()).unwrap();
        assert!(start.bias().iter().all(|b| b.is_finite()), "{scale:e}");
    }
}

#[test]
fn long_thin_models_agree_in_both_orientations() {
    // Too large to enumerate: two estimates must agree within the errors of both.
    let model = gaussian(5000, 50, 0.01, 18);
    let estimates = [&model, &model.transposed().unwrap()]
        .map(|model| Estimate::from_samples(&uniform_run(model, 128, 256, 1).samples));
    let [a, b] = estimates;
    let error = a.std_error.hypot(b.std_error);
    assert!(error < 0.1, "{error}");
    assert!((a.log_z - b.log_z).abs() < 4.0 * error + ROUNDING, "{} {}", a.log_z, b.log_z);
}

#[test]
fn z_is_unbiased_where_the_weights_freeze_every_chain() {
    // The chain that starts nearest the best state has all the weight: Z^/Z is about 16 times the
    // share of chains that do, with a standard deviation of sqrt(15 / 64) for 64 chains.
    let model = gaussian(4, 6, 1e3, 17);
    let log_z = exact(&model);
    for precision in PRECISIONS {
        let ratio = |seed| {
            let settings = Annealing { chains: 64, seed, precision };
            let found = run(&model, &Start::uniform(4), 64, settings);
            assert_eq!(found.precision, precision);
            (log_mean_exp(&found.samples) - log_z).exp()
        };
        let ratios: Vec<f64> = (0..500).map(ratio).collect();
        // float32 inputs in the thousands: the path is off by 1e-4 of a nat, log Z not at all.
        assert_unbiased(&ratios, 0.025, ROUNDING, &format!("{precision:?}"));
    }
}

#[test]
fn the_path_leads_from_the_start_to_the_estimate_on_any_number_of_threads() {
    let model = Gwgm::HARDEST.generate(27).unwrap();
    let path = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| uniform_run(&model, 300, 100, 3))
    };
    let run = path(1);
    assert_eq!(run.path.len(), 129);
    assert_eq!(run.path[0], (0.0, 200.0 * std::f64::consts::LN_2));
    let (beta, log_z) = run.path[128];
    let expected = lnz::math::log_mean_exp(&run.samples);
    // Both add the same 100 numbers, in different order.
    assert!(beta == 1.0 && (log_z - expected).abs() < 1e-12 * expected.abs(), "{log_z}");
    assert!(run.path.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert_eq!(run, path(3));
}
