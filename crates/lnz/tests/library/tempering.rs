//! Parallel tempering against exact values: bias, errors, reproducibility, samples, phases that it cannot leave.

use crate::statistics::{exact, gaussian};
use lnz::{Estimator, Rbm, Tempering, Verdict, sample};
use ndarray::{Array1, Array2, Axis};
use rayon::ThreadPoolBuilder;

fn short(seed: u64) -> Tempering {
    Tempering { rounds: 4, columns: 16, seed, ..Tempering::default() }
}

#[test]
fn errors_are_of_the_size_that_is_claimed() {
    let mut deviations = Vec::new();
    for seed in 0..10 {
        for model in [gaussian(10, 13, 0.3, seed), gaussian(13, 10, 1.0, seed)] {
            let found = short(seed).estimate(&model, &()).unwrap();
            deviations.push((found.log_z - exact(&model)) / found.std_error);
        }
    }
    let n = deviations.len() as f64;
    let mean = deviations.iter().sum::<f64>() / n;
    let squares = deviations.iter().map(|d| d * d).sum::<f64>() / n;
    // Student's t with 15 degrees of freedom has a variance of 15 / 13 and a kurtosis of 3.55: four
    // standard errors of the mean, and of the mean square.
    let variance = 15.0 / 13.0;
    assert!(mean.abs() < 4.0 * (variance / n).sqrt(), "{mean}");
    assert!(squares < variance + 4.0 * variance * (2.55 / n).sqrt(), "{squares}");
}

#[test]
fn the_number_of_threads_makes_no_difference_nor_does_the_order_of_layers_to_its_success() {
    let model = gaussian(20, 30, 0.5, 3);
    let with = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| short(1).estimate(&model, &()).unwrap())
    };
    let (one, two) = (with(1), with(2));
    assert_eq!(one.log_z.to_bits(), two.log_z.to_bits());
    assert_eq!(one.tempering(), two.tempering());
    let turned = short(1).estimate(&model.transposed().unwrap(), &()).unwrap();
    // The larger layer is tempered, whichever it is: the same run.
    assert_eq!(turned.log_z, one.log_z);
}

#[test]
fn samples_have_the_means_of_the_model() {
    let model = gaussian(8, 12, 0.6, 5);
    let drawn = sample(&model, 4000, &short(2), &()).unwrap();
    assert_eq!((drawn.visible.dim(), drawn.hidden.dim()), ((4000, 8), (4000, 12)));
    assert!(drawn.visible.iter().chain(&drawn.hidden).all(|&x| x <= 1));
    let means = drawn.visible.mapv(f64::from).mean_axis(Axis(0)).unwrap();
    // States of a column are 16 iterations apart; half of them count for as many independent ones.
    for (found, expected) in means.iter().zip(means_of(&model)) {
        let error = (expected * (1.0 - expected) / 2000.0).sqrt();
        assert!((found - expected).abs() < 5.0 * error, "{found} instead of {expected}");
    }
}

#[test]
fn units_without_weights_are_drawn_one_by_one() {
    let bias = Array1::from(vec![-1.0, 0.0, 2.0]);
    let model = Rbm::new(Array2::zeros((3, 0)), bias.clone(), Array1::zeros(0)).unwrap();
    let drawn = sample(&model, 4000, &short(0), &()).unwrap();
    assert_eq!((drawn.hidden.dim(), drawn.diagnosis().verdict), ((4000, 0), Verdict::Exact));
    let means = drawn.visible.mapv(f64::from).mean_axis(Axis(0)).unwrap();
    for (found, b) in means.iter().zip(&bias) {
        let expected = 1.0 / (1.0 + (-b).exp());
        let error = (expected * (1.0 - expected) / 4000.0).sqrt();
        assert!((found - expected).abs() < 5.0 * error, "{found} instead of {expected}");
    }
}

/// Means of the visible units by a sum over their states.
fn means_of(model: &Rbm) -> Vec<f64> {
    let n = model.visible();
    let (mut sum, mut sums) = (0.0, vec![0.0; n]);
    for state in 0..1 << n {
        let x: Array1<f64> = (0..n).map(|i| f64::from(state >> i & 1)).collect();
        let inputs = model.hidden_input(x.view());
        let height = model.visible_bias().dot(&x) + inputs.mapv(|a| a.exp().ln_1p()).sum();
        sum += height.exp();
        (0..n).for_each(|i| sums[i] += x[i] * height.exp());
    }
    sums.into_iter().map(|s| s / sum).collect()
}

#[test]
fn phases_that_the_ladders_do_not_leave_are_noticed() {
    // All on or all off: 40 nats lie between the two, in every column.
    let (n, m, w) = (60, 60, 0.3);
    let weights = Array2::from_elem((n, m), w);
    let bias = |others: usize| -w * others as f64 / 2.0;
    let (b, c) = (Array1::from_elem(n, bias(m)), Array1::from_elem(m, bias(n)));
    let model = Rbm::new(weights, b, c).unwrap();
    let found = short(0).estimate(&model, &()).unwrap();
    let run = found.tempering().unwrap();
    assert!(run.phases.len() > 1, "{run:?}");
    assert_eq!(found.diagnosis.verdict, Verdict::Suspect, "{run:?}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let model = gaussian(3, 2, 1.0, 0);
    let one = Tempering { columns: 1, ..Tempering::default() };
    assert!(one.estimate(&model, &()).unwrap_err().to_string().contains("at least 2"));
    let flat = Tempering { rungs: Some(1), ..Tempering::default() };
    assert!(flat.estimate(&model, &()).unwrap_err().to_string().contains("at least 2"));
}
