//! Likelihoods of data: against probabilities that sum to one, in any grouping, in little memory.
//!
//! The whole test program runs under a limit on memory, so that a data set that is held is found out.

use lnz::data::{Binarize, DataOptions, DataReader};
use lnz::{Error, Gwgm, Rbm, Scores, exact_log_z, log_marginals, score};
use ndarray::{Array1, Array2, array};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MEMORY: usize = 160 << 20;

#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, MEMORY);

fn gaussian(visible: usize, hidden: usize) -> Rbm {
    let family =
        Gwgm { visible, hidden, mu_mu: 0.1, sigma_mu: 0.2, mu_sigma: 0.5, ..Gwgm::HARDEST };
    Gwgm { sigma_sigma: 0.1, ..family }.generate(4).unwrap()
}

fn file(rows: &Array2<f64>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npy");
    lnz::io::write_npy(&path, rows.view().into_dyn()).unwrap();
    (folder, path)
}

fn scores(model: &Rbm, path: &Path, options: DataOptions) -> lnz::Result<Scores> {
    let width = Some(model.visible());
    score(model, &mut DataReader::open(path, DataOptions { width, ..options })?, &())
}

#[test]
fn the_probabilities_of_all_states_sum_to_one() {
    for (visible, hidden) in [(1, 1), (3, 0), (10, 7)] {
        let model = gaussian(visible, hidden).with_constant(0.5).unwrap();
        let states = Array2::from_shape_fn((1 << visible, visible), |(state, i)| {
            f64::from(u8::from(state >> i & 1 == 1))
        });
        let (_folder, path) = file(&states);
        let found = scores(&model, &path, DataOptions::default()).unwrap();
        let log_z = exact_log_z(&model, &()).unwrap();
        let total: f64 = found.log_marginals.iter().map(|f| (f - log_z).exp()).sum();
        // Each of the terms is rounded relative to |F| and log Z, below 100 here.
        assert!((total - 1.0).abs() < 1e-12, "{visible} x {hidden}: {total}");
        assert_eq!(found.grey_share, 0.0);
        assert_eq!(found.data_means, Array1::from_elem(visible, 0.5));
    }
}

#[test]
fn likelihoods_carry_the_interval_of_log_z_turned_round() {
    let model = gaussian(2, 3);
    let (_folder, path) = file(&array![[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]);
    let found = scores(&model, &path, DataOptions::default()).unwrap();
    let likelihood = found.likelihood(5.0, 0.25, [4.5, 6.0]);
    let f: Vec<f64> = [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]
        .iter()
        .map(|row| model.log_marginal(ndarray::aview1(row)))
        .collect();
    let mean = f.iter().sum::<f64>() / 4.0;
    let variance = f.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 3.0;
    assert!((likelihood.mean - (mean - 5.0)).abs() < 1e-14);
    assert!((likelihood.interval[0] - (mean - 6.0)).abs() < 1e-14);
    assert!((likelihood.interval[1] - (mean - 4.5)).abs() < 1e-14);
    assert_eq!(likelihood.std_error, 0.25);
    assert!((likelihood.sampling_error - (variance / 4.0).sqrt()).abs() < 1e-14);
}

#[test]
fn one_example_has_no_sampling_error() {
    let (_folder, path) = file(&array![[0.0, 1.0]]);
    let found = scores(&gaussian(2, 3), &path, DataOptions::default()).unwrap();
    assert_eq!(found.likelihood(0.0, 0.0, [0.0; 2]).sampling_error, f64::INFINITY);
    assert_eq!(found.quantiles([0.0, 0.5, 1.0]), [found.mean; 3]);
}

#[test]
fn quantiles_interpolate_between_examples() {
    // Without hidden units F is b.x: the values are 0, 1, 2 and 3 in some order.
    let model = Rbm::new(Array2::zeros((2, 0)), array![1.0, 2.0], array![]).unwrap();
    let (_folder, path) = file(&array![[1.0, 1.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]);
    let found = scores(&model, &path, DataOptions::default()).unwrap();
    assert_eq!(found.log_marginals, [3.0, 0.0, 2.0, 1.0]);
    assert_eq!(found.quantiles([0.0, 0.25, 0.5, 1.0]), [0.0, 0.75, 1.5, 3.0]);
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let model = gaussian(30, 70);
    let rows = Array2::from_shape_fn((1001, 30), |(i, j)| ((i * 7 + j * 13) % 11) as f64 / 10.0);
    let (_folder, path) = file(&rows);
    let options = DataOptions { binarize: Binarize::Bernoulli, seed: 3, ..Default::default() };
    let on_threads = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| scores(&model, &path, options).unwrap())
    };
    assert_eq!(on_threads(1), on_threads(3));
    let grey = scores(&model, &path, DataOptions::default()).unwrap();
    assert_eq!(grey.log_marginals, log_marginals(&model, rows.view()).unwrap());
    // Of the values 0, 0.1, ..., 1 all but the first and the last.
    assert!((grey.grey_share - 9.0 / 11.0).abs() < 1e-3);
    assert!(grey.mean < on_threads(2).mean, "grey values lie below their binarisations (Jensen)");
}

#[test]
fn data_of_another_width_is_refused() {
    let (_folder, path) = file(&array![[0.0, 1.0, 0.0]]);
    let mut reader = DataReader::open(&path, DataOptions::default()).unwrap();
    let found = score(&gaussian(2, 1), &mut reader, &()).unwrap_err();
    assert!(matches!(found, Error::Width { found: 3, expected: 2, .. }), "{found}");
    let found = log_marginals(&gaussian(2, 1), array![[0.0, 1.0, 0.0]].view()).unwrap_err();
    assert!(matches!(found, Error::Width { found: 3, expected: 2, .. }), "{found}");
}

#[test]
fn energies_beyond_float64_are_an_error_and_no_infinity() {
    let model = Rbm::new(array![[1e308], [1e308]], array![0.0, 0.0], array![0.0]).unwrap();
    let (_folder, path) = file(&array![[1.0, 1.0]]);
    let found = scores(&model, &path, DataOptions::default()).unwrap_err();
    assert!(matches!(found, Error::Overflow), "{found}");
}

#[test]
fn scoring_stops_when_it_is_asked_to() {
    struct Stop;
    impl lnz::Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let (_folder, path) = file(&array![[0.0, 1.0], [1.0, 1.0]]);
    let mut reader = DataReader::open(&path, DataOptions::default()).unwrap();
    let found = score(&gaussian(2, 3), &mut reader, &Stop).unwrap_err();
    assert!(matches!(found, Error::Cancelled { .. }), "{found}");
    assert!(found.to_string().contains("after 0 examples"), "{found}");
}

#[test]
fn a_data_set_need_not_fit_in_memory() {
    let (examples, visible) = (200_000, 500);
    assert!(examples * visible * 8 > 4 * MEMORY);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut writer = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    for i in 0..examples {
        writeln!(writer, "1 {}:1 500:1", i % 499 + 1).unwrap();
    }
    drop(writer);
    let model = Rbm::new(
        Array2::from_shape_fn((visible, 1), |(i, _)| i as f64 / 500.0),
        Array1::zeros(visible),
        array![0.0],
    );
    let found = scores(&model.unwrap(), &path, DataOptions::default()).unwrap();
    assert_eq!(found.log_marginals.len(), examples);
    assert_eq!(found.log_marginals[498], found.log_marginals[997]);
    let expected = lnz::math::softplus(499.0 / 500.0 + 498.0 / 500.0);
    assert!((found.log_marginals[498] - expected).abs() < 1e-14);
}
