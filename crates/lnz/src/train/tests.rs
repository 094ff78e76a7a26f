use super::*;
use crate::exact_log_z;

/// Pictures of 4 x 4 with one to three full rows or columns.
fn bars() -> Array2<f64> {
    let mut random = Random::stream(3, Purpose::Model, 1);
    let mut rows = Array2::zeros((300, 16));
    for mut row in rows.rows_mut() {
        let across = random.happens(0.5);
        for line in (0..4).filter(|_| random.happens(0.4)) {
            (0..4).for_each(|k| row[if across { 4 * line + k } else { 4 * k + line }] = 1.0);
        }
    }
    rows
}

fn settings() -> Training {
    let learning_rate = LearningRate::Constant(0.3);
    Training { hidden: 8, epochs: 60, batch: 20, learning_rate, seed: 5, ..Training::default() }
}

fn mean_log_likelihood(model: &Rbm, rows: &Array2<f64>) -> f64 {
    let log_z = exact_log_z(model, &()).unwrap();
    let sum: f64 = rows.rows().into_iter().map(|x| model.log_marginal(x)).sum();
    sum / rows.nrows() as f64 - log_z
}

fn train(settings: Training) -> Rbm {
    let examples = Examples::from_rows(bars().view()).unwrap();
    let mut trainer = Trainer::new(&examples, settings).unwrap();
    while trainer.epoch() < settings.epochs {
        trainer.run_epoch(&()).unwrap();
    }
    trainer.model().unwrap()
}

#[test]
fn the_likelihood_rises() {
    let rows = bars();
    let examples = Examples::from_rows(rows.view()).unwrap();
    let variants = [
        settings(),
        Training { steps: 3, momentum: 0.5, weight_decay: 1e-4, ..settings() },
        Training { persistent: true, ..settings() },
        Training { learning_rate: LearningRate::Falling(0.5, 0.1), ..settings() },
    ];
    for settings in variants {
        let mut trainer = Trainer::new(&examples, settings).unwrap();
        // Without weights the model is a product of independent units.
        let mut last = mean_log_likelihood(&trainer.model().unwrap(), &rows);
        for _ in 0..3 {
            (0..20).for_each(|_| _ = trainer.run_epoch(&()).unwrap());
            let now = mean_log_likelihood(&trainer.model().unwrap(), &rows);
            // A tenth of a nat in 20 epochs: training that does nothing or goes astray does not.
            assert!(now > last + 0.1, "{settings:?}: {last} then {now}");
            last = now;
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let variants = [
        Training { epochs: 3, batch: 7, draw_values: true, ..settings() },
        Training { epochs: 3, persistent: true, momentum: 0.9, ..settings() },
        // Enough chains for tables, in two sizes of mini-batch.
        Training { epochs: 6, persistent: true, batch: 200, hidden: 70, ..settings() },
    ];
    for settings in variants {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(settings))
        };
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(7));
    }
}

#[test]
fn a_resumed_run_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.safetensors");
    let examples = Examples::from_rows(bars().view()).unwrap();
    let variants = [
        Training { epochs: 4, ..settings() },
        Training { epochs: 4, momentum: 0.9, persistent: true, ..settings() },
        Training { epochs: 4, persistent: true, batch: 100, ..settings() },
        Training { epochs: 4, learning_rate: LearningRate::Falling(0.1, 0.01), ..settings() },
    ];
    for settings in variants {
        let mut first = Trainer::new(&examples, settings).unwrap();
        (0..2).for_each(|_| _ = first.run_epoch(&()).unwrap());
        first.save_state(&path).unwrap();
        let mut second = Trainer::resume(&examples, settings, &path).unwrap();
        assert_eq!(second.epoch(), 2);
        (0..2).for_each(|_| _ = second.run_epoch(&()).unwrap());
        assert_eq!(second.model().unwrap(), train(settings));
    }
}

#[test]
fn other_settings_or_data_do_not_resume() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.safetensors");
    let examples = Examples::from_rows(bars().view()).unwrap();
    let settings = Training { epochs: 4, ..settings() };
    let mut trainer = Trainer::new(&examples, settings).unwrap();
    trainer.run_epoch(&()).unwrap();
    trainer.save_state(&path).unwrap();
    let message =
        |examples, settings| Trainer::resume(examples, settings, &path).unwrap_err().to_string();
    let other = message(&examples, Training { momentum: 0.5, seed: 6, ..settings });
    assert!(other.contains("momentum was 0 and is now 0.5; seed was 5 and is now 6"), "{other}");
    let fewer = bars().slice_move(ndarray::s![..200, ..]);
    let fewer = Examples::from_rows(fewer.view()).unwrap();
    assert!(message(&fewer, settings).contains("was 300 examples of 16 values"));
    assert!(message(&examples, Training { epochs: 3, ..settings }).contains("epochs was 4"));
    // More epochs are the same run, but not when the learning rate falls towards the last.
    Trainer::resume(&examples, Training { epochs: 9, ..settings }, &path).unwrap();
    crate::io::write_model(&path, &trainer.model().unwrap().into()).unwrap();
    assert!(message(&examples, settings).contains("is not a training state"));
}

#[test]
fn a_learning_rate_that_is_far_too_large_is_noticed() {
    let examples = Examples::from_rows(bars().view()).unwrap();
    let settings = Training { learning_rate: LearningRate::Constant(1e3), ..settings() };
    let mut trainer = Trainer::new(&examples, settings).unwrap();
    let outcome = (0..20).try_for_each(|_| trainer.run_epoch(&()).map(drop));
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("try a learning rate below 1000"), "{message}");
}

#[test]
fn settings_and_data_are_checked() {
    let examples = Examples::from_rows(bars().view()).unwrap();
    let message = |settings| Trainer::new(&examples, settings).unwrap_err().to_string();
    assert!(message(Training { hidden: 0, ..settings() }).starts_with("hidden is 0"));
    assert!(message(Training { momentum: 1.0, ..settings() }).starts_with("momentum is 1"));
    let rate = LearningRate::Constant(f64::NAN);
    assert!(
        message(Training { learning_rate: rate, ..settings() }).contains("learning_rate is NaN")
    );
    let bad = Examples::from_rows(ndarray::array![[0.0, 1.5]].view()).unwrap_err().to_string();
    assert_eq!(bad, "data is 1.5 in row 0, column 1; expected values from 0 to 1");
    assert!(Examples::from_rows(Array2::zeros((0, 3)).view()).is_err());
}

/// One batch of CD-1 in plain float64: the update the kernels make is the one of the definition.
#[test]
fn a_batch_learns_the_difference_of_its_statistics() {
    let examples = Examples::from_rows(bars().view()).unwrap();
    let settings = Training { batch: 300, epochs: 1, ..settings() };
    let mut trainer = Trainer::new(&examples, settings).unwrap();
    let before = trainer.model().unwrap();
    let batch: Vec<usize> = (0..300).collect();
    trainer.gibbs_chains(&batch, 0);
    let end_of = |chain: &Chain| {
        let mut state = Array1::<f64>::zeros(16);
        chain.end.iter().for_each(|&unit| state[unit as usize] = 1.0);
        state
    };
    let states: Vec<Array1<f64>> = trainer.chains.iter().map(end_of).collect();
    trainer.learn(&batch, 0.5);
    let after = trainer.model().unwrap();
    let rows = bars();
    let mut expected = Array2::<f64>::zeros((16, 8));
    for (x, y) in rows.rows().into_iter().zip(&states) {
        let p = |x| before.hidden_input(x).mapv(crate::math::sigmoid);
        let (px, py) = (p(x), p(y.view()));
        for i in 0..16 {
            for j in 0..8 {
                expected[[i, j]] += 0.5 * (x[i] * px[j] - y[i] * py[j]) / 300.0;
            }
        }
    }
    let found = &after.weights() - &before.weights();
    // Float32 sums of 300 terms below one.
    assert!((found - expected).iter().all(|d| d.abs() < 1e-5));
}

#[test]
fn tracking_agrees_with_enumeration() {
    let rows = bars();
    let examples = Examples::from_rows(rows.view()).unwrap();
    let mut trainer = Trainer::new(&examples, settings()).unwrap();
    (0..20).for_each(|_| _ = trainer.run_epoch(&()).unwrap());
    let model = trainer.model().unwrap();
    let exact = exact_log_z(&model, &()).unwrap();
    let tracked = trainer.track(&Tracking::default(), Some(&examples), &()).unwrap();
    assert_eq!((tracked.log_z, tracked.verdict), (exact, crate::Verdict::Exact));
    // F in float32: 16 + 8 terms of a few nats.
    let train = tracked.train.unwrap();
    assert!((train - mean_log_likelihood(&model, &rows)).abs() < 1e-4);
    assert_eq!(tracked.validation, tracked.train);
    let sampled = Tracking { exact_seconds: 0.0, effort: 100.0 };
    let tracked = trainer.track(&sampled, None, &()).unwrap();
    assert!((tracked.log_z - exact).abs() < 5.0 * tracked.std_error, "{tracked:?}, {exact}");
    assert!(tracked.interval[0] < tracked.log_z && tracked.log_z < tracked.interval[1]);
}

#[test]
fn a_foreign_model_is_tracked_to_the_same_bits() {
    let rows = bars();
    let examples = Examples::from_rows(rows.view()).unwrap();
    let mut trainer = Trainer::new(&examples, settings()).unwrap();
    (0..3).for_each(|_| _ = trainer.run_epoch(&()).unwrap());
    let model = trainer.model().unwrap();
    for exact_seconds in [1.0, 0.0] {
        let tracking = Tracking { exact_seconds, ..Tracking::default() };
        let here = trainer.track(&tracking, Some(&examples), &()).unwrap();
        let data = Some(&examples);
        assert_eq!(track(&model, data, data, &tracking, settings().seed, &()).unwrap(), here);
    }
}

#[test]
fn any_model_can_be_tracked() {
    let (tracking, sampled) =
        (Tracking::default(), Tracking { exact_seconds: 0.0, ..Tracking::default() });
    let model = train(Training { epochs: 5, ..settings() });
    let exact = exact_log_z(&model, &()).unwrap();
    // Without data: from samples of the model.
    let tracked = track(&model, None, None, &sampled, 1, &()).unwrap();
    assert!((tracked.log_z - exact).abs() < 5.0 * tracked.std_error, "{tracked:?}, {exact}");
    assert_eq!((tracked.train, tracked.validation), (None, None));
    // Without hidden units, and with a constant: independent units, whose F is b.x.
    let bias = ndarray::array![0.5, -1.0];
    let model = Rbm::new(Array2::zeros((2, 0)), bias.clone(), Array1::zeros(0)).unwrap();
    let model = model.with_constant(3.0).unwrap();
    let rows = ndarray::array![[1.0, 0.0], [1.0, 1.0]];
    let examples = Examples::from_rows(rows.view()).unwrap();
    let tracked = track(&model, Some(&examples), None, &tracking, 0, &()).unwrap();
    let log_z: f64 = bias.iter().map(|b: &f64| (1.0 + b.exp()).ln()).sum();
    assert!((tracked.train.unwrap() - (0.5 - 0.5 - log_z)).abs() < 1e-12, "{tracked:?}");
    let wrong = track(&train(settings()), Some(&examples), None, &tracking, 0, &());
    let expected = "data has 2 columns, but the model has 16 visible units";
    assert_eq!(wrong.unwrap_err().to_string(), expected);
}

#[test]
fn thinned_examples_are_evenly_spaced() {
    let rows = Array2::from_shape_fn((10, 4), |(n, i)| f64::from(n >> i & 1 == 1) * 0.5);
    let examples = Examples::from_rows(rows.view()).unwrap();
    for (most, kept) in [(4, vec![0, 3, 6, 9]), (1, vec![0]), (10, (0..10).collect())] {
        let expected = rows.select(ndarray::Axis(0), &kept);
        assert_eq!(examples.thinned(most), Examples::from_rows(expected.view()).unwrap());
    }
    assert_eq!(examples.thinned(11), examples);
}

/// A drawn value is 0.5 away from its mean, though all values are the same.
#[test]
fn evenly_grey_values_that_are_drawn_are_no_divergence() {
    let examples = Examples::from_rows(Array2::from_elem((40, 16), 0.5).view()).unwrap();
    let draw = Training { draw_values: true, batch: 10, ..Training::default() };
    let mut trainer = Trainer::new(&examples, draw).unwrap();
    let error = trainer.run_epoch(&()).unwrap().reconstruction_error;
    // Four chains of 16 units are measured, of which the weights know next to nothing.
    assert!((error - 0.25).abs() < 0.05, "{error}");
    // A rate that is far too large is still noticed.
    let learning_rate = LearningRate::Constant(1e3);
    let mut trainer = Trainer::new(&examples, Training { learning_rate, ..draw }).unwrap();
    let outcome = (0..20).try_for_each(|_| trainer.run_epoch(&()).map(drop));
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("always answering the mean gives 0.2500"), "{message}");
}

#[test]
fn sizes_that_no_memory_holds_are_refused_or_not_needed() {
    let few = Training { epochs: 2, batch: 300, persistent: true, ..settings() };
    // A mini-batch larger than the data is all of it, whatever its size.
    assert_eq!(train(Training { batch: 1 << 24, ..few }), train(few));
    let wide = Examples::from_rows(Array2::zeros((1, 1000)).view()).unwrap();
    let refused = Trainer::new(&wide, Training { hidden: 1 << 24, ..settings() }).unwrap_err();
    let expected = "hidden is 16777216; expected at most 1073741 for 1000 visible units";
    assert_eq!(refused.to_string(), expected);
}
