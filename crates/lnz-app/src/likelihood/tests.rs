//! The likelihood report: its tests, its warnings, and where log Z may come from.

use super::*;
use crate::Spelling;
use lnz::Rbm;
use lnz::io::StoredModel;
use ndarray::{Array1, Array2, array};
use std::num::NonZeroUsize;

fn model() -> Rbm {
    Rbm::new(array![[0.5, -1.0], [2.0, 0.3], [0.0, 1.0]], array![0.1, -0.4, 0.0], array![0.2, 0.5])
        .unwrap()
}

/// Rows in memory, one batch.
struct Rows(Option<Array2<f64>>);

impl Batches for Rows {
    fn width(&self) -> usize {
        3
    }

    fn row_count(&self) -> Option<usize> {
        None
    }

    fn next_batch(&mut self, _most: NonZeroUsize) -> lnz::Result<Option<Array2<f64>>> {
        Ok(self.0.take())
    }
}

fn scored(rows: Array2<f64>) -> Scored {
    let request = ScoreRequest {
        name: "m",
        stored: &StoredModel::from(model()),
        binarize: Binarize::None,
        seed: 0,
    };
    request.rows(&mut Rows(Some(rows)), &()).unwrap()
}

fn all_states() -> Array2<f64> {
    Array2::from_shape_fn((8, 3), |(state, i)| f64::from((state >> i & 1) as u8))
}

fn kinds(report: &LikelihoodReport) -> Vec<&str> {
    report.warnings.iter().map(|warning| &*warning.kind).collect()
}

#[test]
fn an_example_with_a_probability_above_one_shows_that_log_z_is_too_low() {
    let scored = scored(all_states());
    let log_z = lnz::exact_log_z(&model(), &()).unwrap();
    let right = scored.report(LogZ::given(log_z).unwrap());
    assert_eq!((kinds(&right), right.verdict.as_deref()), (vec![], None));
    let total: f64 = scored.log_likelihoods(log_z).iter().map(|log_p| log_p.exp()).sum();
    assert!((total - 1.0).abs() < 1e-12);
    // Below the largest term of Z, which all states have among them.
    let low = scored.report(LogZ::given(log_z + right.quantiles.max - 0.5).unwrap());
    assert_eq!((kinds(&low), low.verdict.as_deref()), (vec!["above_one"], Some("suspect")));
    assert!((low.quantiles.max - 0.5).abs() < 1e-12);
    let first = &low.lines(Spelling::Keywords)[0];
    assert!(first.text.contains("no probability is above 1"), "{first:?}");
}

#[test]
fn grey_values_are_told_with_an_option_as_it_is_spelt() {
    let report = scored(array![[0.5, 1.0, 0.0]]).report(LogZ::given(5.0).unwrap());
    assert_eq!(kinds(&report), ["grey_values"]);
    assert!(report.warnings[0].message.ends_with(": use --binarize bernoulli or threshold"));
    let lines = report.lines(Spelling::Keywords);
    let note = lines.iter().find(|line| line.text.contains("33.3% of the values")).unwrap();
    assert!(note.text.ends_with("; use binarize=\"bernoulli\" or threshold"), "{note:?}");
    // One example says nothing about others.
    assert!(report.sampling_error.is_infinite());
}

#[test]
fn a_result_is_taken_with_its_verdict_and_warnings_if_it_is_of_the_same_model() {
    let stored = StoredModel::from(model());
    let plan = crate::request::Request {
        annealing: crate::request::AnnealingRequest { chains: Some(1), ..Default::default() },
        ..Default::default()
    };
    let outcome =
        crate::run::estimate(&stored, "m", &plan.plan().unwrap(), std::time::Instant::now(), &())
            .unwrap();
    let scored = scored(all_states());
    let now = scored.report(LogZ::estimated(&outcome.report).unwrap());
    assert_eq!(now.verdict.as_deref(), Some("suspect"));
    assert!(!now.warnings.is_empty());
    let json = serde_json::to_value(&now).unwrap();
    // The error of one chain is not known.
    assert!(json["std_error"] == "Infinity" && json["estimate"]["method"] == "ais");
    // A likelihood has the result inside.
    for result in [json["estimate"].clone(), json.clone()] {
        let later = scored.report(LogZ::of_result(result, &model()).unwrap());
        let warnings = (later.warnings.clone(), now.warnings.clone());
        assert_eq!((later.log_z, warnings.0), (now.log_z, warnings.1));
    }
    let said = vec![("one".to_owned(), "try {x}".to_owned())];
    let told = LogZ::of_result(json.clone(), &model()).unwrap().with_warnings(said);
    let told = scored.report(told);
    assert_eq!(told.warnings[0].say(Spelling::Keywords), "one; try {x}");
    assert_eq!(told.warnings[0].message, now.warnings[0].message);
    let other = Rbm::new(Array2::ones((3, 2)), Array1::zeros(3), Array1::zeros(2)).unwrap();
    // The same numbers in another order have the same root mean square, and are another model.
    let reversed = model().permuted(&[2, 1, 0], &[0, 1]).unwrap();
    for other in [other, reversed] {
        let refused = LogZ::of_result(json.clone(), &other).unwrap_err().to_string();
        assert!(refused.starts_with("log_z is for another model of the same shape"), "{refused}");
    }
    let by_hand = serde_json::to_value(scored.report(LogZ::given(9.0).unwrap())).unwrap();
    let refused = LogZ::of_result(by_hand, &model()).unwrap_err().to_string();
    assert!(refused.ends_with("given by hand; give it as log_z"), "{refused}");
    let refused = LogZ::given(f64::NAN).unwrap_err().to_string();
    assert_eq!(refused, "log_z is NaN; expected a finite number");
}

#[test]
fn a_saved_result_keeps_its_bits() {
    // A number that a reader in a hurry takes for its neighbour.
    let log_z: f64 = 12465.730308499235;
    let text = format!(
        r#"{{"log_z": {log_z}, "std_error": 0, "interval": [{log_z}, {log_z}], "verdict": "exact",
            "warnings": [], "method": "exact", "model": {{"visible": 3, "hidden": 2}}}}"#
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("z.json");
    std::fs::write(&path, text).unwrap();
    let read = LogZ::read(&path, &model()).unwrap();
    assert_eq!(read.value.to_bits(), log_z.to_bits());
    let absent = LogZ::read(&folder.path().join("absent.json"), &model()).unwrap_err().to_string();
    assert!(absent.contains("absent.json: log_z cannot be read: "), "{absent}");
}

#[test]
fn data_without_examples_is_refused() {
    let request = ScoreRequest {
        name: "m",
        stored: &StoredModel::from(model()),
        binarize: Binarize::None,
        seed: 0,
    };
    let refused = request.rows(&mut Rows(None), &()).unwrap_err();
    assert_eq!(refused.to_string(), "data is empty; expected at least one example");
}
