//! Exact log Z against slow sums, under invariances and at the edges.

use super::*;
use crate::math::log_sum_exp;
use lnz_kernels::random::{Purpose, Random};
use ndarray::{Array1, Array2, array};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The readable twin: log-sum-exp of F over the states of the smaller layer.
fn naive(model: &Rbm) -> f64 {
    let turned = if model.visible() <= model.hidden() || model.hidden() == 0 {
        model.clone()
    } else {
        model.transposed().unwrap()
    };
    let units = turned.visible();
    let state = |s: usize| Array1::from_shape_fn(units, |i| (s >> i & 1) as f64);
    let log_marginals: Vec<f64> =
        (0..1 << units).map(|s| turned.log_marginal(state(s).view())).collect();
    log_sum_exp(&log_marginals)
}

/// The sum over both layers.
fn naive_over_both_layers(model: &Rbm) -> f64 {
    let (visible, hidden) = (model.visible(), model.hidden());
    let unit = |s: usize, i: usize| (s >> i & 1) as f64;
    let minus_energies: Vec<f64> = (0..1usize << (visible + hidden))
        .map(|s| {
            let x = Array1::from_shape_fn(visible, |i| unit(s, i));
            let h = Array1::from_shape_fn(hidden, |j| unit(s, visible + j));
            model.constant() + model.visible_input(h.view()).dot(&x) + model.hidden_bias().dot(&h)
        })
        .collect();
    log_sum_exp(&minus_energies)
}

fn exact(model: &Rbm) -> f64 {
    exact_log_z(model, &()).unwrap()
}

fn normal(random: &mut Random, visible: usize, hidden: usize, scale: f64) -> Rbm {
    Rbm::new(
        Array2::from_shape_simple_fn((visible, hidden), || scale * random.normal()),
        Array1::from_shape_simple_fn(visible, || scale * random.normal()),
        Array1::from_shape_simple_fn(hidden, || scale * random.normal()),
    )
    .unwrap()
}

/// Equal up to the rounding of some thousand float64 operations on numbers of this size.
#[track_caller]
fn assert_close(found: f64, expected: f64) {
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(error < 1e-12, "{found} instead of {expected}: relative error {error:e}");
}

#[test]
fn tiny_models_agree_with_the_sum_over_both_layers() {
    let mut random = Random::stream(1, Purpose::Model, 0);
    for visible in 1..6 {
        for hidden in 0..6 {
            for scale in [0.1, 1.0, 10.0] {
                let model = normal(&mut random, visible, hidden, scale);
                assert_close(exact(&model), naive_over_both_layers(&model));
            }
        }
    }
}

#[test]
fn models_of_any_shape_and_scale_agree_with_the_naive_sum() {
    let mut random = Random::stream(2, Purpose::Model, 0);
    for units in 1..=13 {
        for scale in [0.01, 0.3, 3.0, 15.0, 50.0, 200.0] {
            let summed = 1 + random.below(70);
            let model = normal(&mut random, units, summed, scale);
            assert_close(exact(&model), naive(&model));
        }
    }
}

#[test]
fn several_jobs_agree_with_the_naive_sum() {
    let mut random = Random::stream(3, Purpose::Model, 0);
    for scale in [0.2, 40.0] {
        let model = normal(&mut random, 13, 1025, scale);
        assert_close(exact(&model), naive(&model));
    }
}

#[test]
fn huge_weights_and_biases_agree_with_the_naive_sum() {
    let mut random = Random::stream(4, Purpose::Model, 0);
    for scale in [1e3, 1e6, 1e12, 1e300] {
        let model = normal(&mut random, 7, 20, scale);
        assert_close(exact(&model), naive(&model));
    }
    // Among gentle weights, one column and one row each out of any range.
    let gentle = normal(&mut random, 8, 30, 0.5);
    for (bias, weight) in [(-1e4, 1.0), (1e4, -1.0), (-1e6, 1e6), (1e3, -1e3), (-710.0, 1400.0)] {
        let (mut w, mut b, mut c) = (
            gentle.weights().to_owned(),
            gentle.visible_bias().to_owned(),
            gentle.hidden_bias().to_owned(),
        );
        w.column_mut(3).fill(weight);
        (b[2], b[7], c[3]) = (bias, -bias, bias);
        let model = Rbm::new(w, b, c).unwrap();
        assert_close(exact(&model), naive(&model));
    }
}

#[test]
fn a_sum_that_climbs_by_thousands_of_nats_is_followed() {
    // Every unit raises F by far more than a float64 can hold, so that later states dwarf earlier ones.
    let model =
        Rbm::new(Array2::from_elem((9, 40), 30.0), Array1::from_elem(9, -700.0), Array1::zeros(40))
            .unwrap();
    assert_close(exact(&model), naive(&model));
}

#[test]
fn impossible_states_leave_the_possible_one() {
    // -1e4 on every enumerated unit: only x = 0 counts, and its summed units are free.
    let model =
        Rbm::new(Array2::from_elem((7, 9), 1.0), Array1::from_elem(7, -1e4), Array1::zeros(9))
            .unwrap();
    assert_close(exact(&model), 9.0 * 2f64.ln());
}

#[test]
fn edges_are_exact() {
    let one = Rbm::new(array![[0.7]], array![-0.3], array![0.2]).unwrap();
    let z = 1.0 + (-0.3f64).exp() + 0.2f64.exp() + 0.6f64.exp();
    assert_close(exact(&one), z.ln());
    let no_hidden = Rbm::new(Array2::zeros((3, 0)), array![1.0, -2.0, 0.0], array![]).unwrap();
    assert_close(exact(&no_hidden), softplus(1.0) + softplus(-2.0) + 2f64.ln());
    let no_weights =
        Rbm::new(Array2::zeros((100, 70)), Array1::zeros(100), Array1::zeros(70)).unwrap();
    assert_close(exact(&no_weights), 170.0 * 2f64.ln());
    let mut random = Random::stream(5, Purpose::Model, 0);
    let one_visible = normal(&mut random, 1, 33, 2.0);
    assert_close(exact(&one_visible), naive(&one_visible));
    assert_close(exact(&one_visible.transposed().unwrap()), naive(&one_visible));
}

#[test]
fn transposing_and_permuting_keep_log_z() {
    let mut random = Random::stream(6, Purpose::Model, 0);
    for scale in [0.5, 20.0] {
        let model = normal(&mut random, 12, 45, scale);
        let (rows, columns) = (random.permutation(12), random.permutation(45));
        assert_close(exact(&model.transposed().unwrap()), exact(&model));
        assert_close(exact(&model.permuted(&rows, &columns).unwrap()), exact(&model));
    }
}

#[test]
fn blocks_add_up_even_when_shuffled() {
    let mut random = Random::stream(7, Purpose::Model, 0);
    let blocks: Vec<Rbm> = (0..6).map(|_| normal(&mut random, 10, 90, 5.0)).collect();
    let (rows, columns) = (random.permutation(60), random.permutation(540));
    let system = Rbm::block_diagonal(&blocks).unwrap().permuted(&rows, &columns).unwrap();
    assert_eq!(exact_cost(&system).unwrap().free_units, 10);
    assert_close(exact(&system), blocks.iter().map(exact).sum());
    assert_close(exact(&blocks[0]), naive(&blocks[0]));
}

#[test]
fn spins_bring_their_constant() {
    let mut random = Random::stream(8, Purpose::Model, 0);
    let m = normal(&mut random, 5, 6, 1.0);
    let spins = Rbm::from_spins(
        m.weights().to_owned(),
        m.visible_bias().to_owned(),
        m.hidden_bias().to_owned(),
    )
    .unwrap();
    assert!(spins.constant() != 0.0);
    assert_close(exact(&spins), naive_over_both_layers(&spins));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let model = normal(&mut Random::stream(9, Purpose::Model, 0), 17, 300, 0.7);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| exact(&model)).to_bits()
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(7));
}

/// Remembers progress, and stops after a number of questions.
struct Recorder {
    patience: usize,
    asked: AtomicUsize,
    seen: Mutex<Vec<Progress>>,
}

impl Recorder {
    fn new(patience: usize) -> Self {
        Self { patience, asked: AtomicUsize::new(0), seen: Mutex::default() }
    }
}

impl Observer for Recorder {
    fn progress(&self, progress: Progress) {
        self.seen.lock().unwrap().push(progress);
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
    }
}

#[test]
fn progress_ends_at_the_total() {
    let model = normal(&mut Random::stream(10, Purpose::Model, 0), 14, 500, 0.5);
    let recorder = Recorder::new(usize::MAX);
    exact_log_z(&model, &recorder).unwrap();
    let last = *recorder.seen.lock().unwrap().last().unwrap();
    assert_eq!((last.phase, last.done, last.total), (Phase::Enumerate, 1 << 14, 1 << 14));
}

#[test]
fn cancelling_stops_at_the_next_job() {
    // Hours of work, were it not cancelled.
    let model = normal(&mut Random::stream(11, Purpose::Model, 0), 40, 100, 0.5);
    let recorder = Recorder::new(300);
    let start = Instant::now();
    let error = exact_log_z(&model, &recorder).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    assert!(error.to_string().contains("of 1099511627776 states"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn too_much_work_is_refused_with_the_time_it_would_take() {
    let large = normal(&mut Random::stream(12, Purpose::Model, 0), 60, 70, 0.5);
    let cost = exact_cost(&large).unwrap();
    assert_eq!((cost.free_units, cost.states), (60, 60f64.exp2()));
    let message = exact_log_z_within(&large, 10.0, &()).unwrap_err().to_string();
    assert!(message.starts_with("exact enumeration needs 2^60 states, about "), "{message}");
    assert!(message.contains("years on this machine, but 10 seconds is allowed"), "{message}");

    let larger = normal(&mut Random::stream(13, Purpose::Model, 0), 63, 70, 0.5);
    let error = exact_log_z(&larger, &()).unwrap_err();
    assert!(matches!(error, Error::TooManyUnits { free_units: 63, limit: 62, .. }), "{error}");

    let small = normal(&mut Random::stream(14, Purpose::Model, 0), 10, 70, 0.5);
    assert!(exact_cost(&small).unwrap().seconds < cost.seconds);
    assert_eq!(exact_log_z_within(&small, 60.0, &()).unwrap(), exact(&small));
}

#[test]
fn energies_beyond_float64_are_an_error() {
    let model =
        Rbm::new(Array2::from_elem((9, 9), 1e306), Array1::zeros(9), Array1::zeros(9)).unwrap();
    assert!(matches!(exact_log_z(&model, &()), Err(Error::Overflow)));
}
