//! `lnz track`: log Z along a training run.

use crate::files::Folder;
use crate::run::{json, one_sentence, run, text};
use serde_json::Value;

/// Checkpoints of one training, as `lnz train` would leave them.
fn checkpoints(folder: &Folder, epochs: &[usize]) -> String {
    let run = folder.path("run");
    std::fs::create_dir(&run).unwrap();
    for epoch in epochs {
        let file = format!("{run}/epoch-{epoch}.safetensors");
        text(&["convert", &format!("mnist-20h@{epoch}"), &file]);
    }
    run
}

/// Checkpoints of weights that grow: quick to estimate, and to sum.
fn growing(folder: &Folder, hundredths: &[usize]) -> (String, Vec<String>) {
    let run = folder.path("run");
    std::fs::create_dir(&run).unwrap();
    let spread_of = |step: &usize| {
        let (file, spread) = (format!("{run}/epoch-{step}.safetensors"), format!("0.{step}"));
        let shape =
            ["generate", "gwgm", "--visible", "60", "--hidden", "20", "--seed", "3", "--quiet"];
        let weights =
            ["--mu-mu", "0", "--sigma-mu", "0.1", "--mu-sigma", &spread, "--sigma-sigma", "0"];
        text(&[&shape[..], &weights, &["-o", &file]].concat());
        file
    };
    let files = hundredths.iter().map(spread_of).collect();
    (run, files)
}

const SMALL: [&str; 8] =
    ["--no-exact", "--rounds", "1", "--chains", "256", "--sweeps", "8", "--quiet"];

fn bridged(run: &str, more: &[&str]) -> Value {
    json(&[&["track", run, "--json"], &SMALL[..], more].concat())
}

fn rows(found: &Value) -> &[Value] {
    found["rows"].as_array().unwrap()
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn small_models_are_summed_exactly_in_the_order_of_their_epochs() {
    let folder = Folder::new();
    let run = checkpoints(&folder, &[10, 50, 100]);
    let found = json(&["track", &run, "--json"]);
    assert_eq!((&found["unit"], &found["verdict"]), (&"epoch".into(), &"exact".into()));
    for (row, epoch) in rows(&found).iter().zip([10, 50, 100]) {
        assert_eq!(row["at"], epoch);
        assert_eq!((&row["from"], &row["bridge"]), (&"exact".into(), &Value::Null));
        let exact = json(&["exact", &format!("mnist-20h@{epoch}"), "--json"]);
        assert_eq!(row["log_z"], exact["log_z"]);
        assert_eq!(row["sha256"], exact["model"]["sha256"]);
    }
}

#[test]
fn bridges_lead_to_the_exact_values() {
    let folder = Folder::new();
    let (run, models) = growing(&folder, &[50, 51]);
    let (page, csv) = (folder.path("run.html"), folder.path("run.csv"));
    let found = bridged(&run, &["--report", &page, "--csv", &csv]);
    assert_eq!(rows(&found)[0]["from"], "estimate");
    let last = &rows(&found)[1];
    let exact = real(&json(&["exact", &models[1], "--json"])["log_z"]);
    let off = real(&last["log_z"]) - exact;
    assert!(off.abs() < 5.0 * real(&last["std_error"]), "{off}, {last}");
    // The last checkpoint has an estimate of its own, which the bridge is held against.
    assert!(last["independent"]["off_in_errors"].is_number(), "{last}");
    assert!(std::fs::read_to_string(page).unwrap().contains("Along the run"));
    let table = std::fs::read_to_string(csv).unwrap();
    assert_eq!(table.lines().count(), 3);
    assert!(table.starts_with("epoch,name,sha256,log_z,"), "{table}");
    // Any number of threads gives the same bits.
    let again = bridged(&run, &["--threads", "1"]);
    for (row, again) in rows(&found).iter().zip(rows(&again)) {
        for field in ["log_z", "std_error", "interval", "bridge", "independent"] {
            assert_eq!(row[field], again[field], "{field}");
        }
    }
}

#[test]
fn data_has_its_likelihood_at_each_checkpoint() {
    let folder = Folder::new();
    let run = checkpoints(&folder, &[10, 100]);
    let rows_of_data =
        ndarray::Array2::from_shape_fn((5, 784), |(n, i)| f64::from((n * i) % 7 == 0));
    let data = folder.npy("d.npy", rows_of_data.into_dyn().view());
    let found = json(&["track", &run, "--data", &data, "--json"]);
    for (row, epoch) in rows(&found).iter().zip([10, 100]) {
        let model = format!("mnist-20h@{epoch}");
        let score = json(&["score", &model, "--data", &data, "--json"]);
        let mean = real(&score["mean_log_likelihood"]);
        // F in float32: seven digits of a sum of some hundreds.
        assert!((real(&row["log_likelihood"]) - mean).abs() < 1e-3, "{row} {mean}");
    }
    let table = text(&["track", &run, "--data", &data]);
    assert!(table.contains("log-likelihood") && table.contains("sums over all states"), "{table}");
}

#[test]
fn what_is_no_run_is_refused_in_a_sentence() {
    let folder = Folder::new();
    let said = one_sentence(&["track", "mnist-20h"]);
    assert!(said.contains("a way needs two at least"), "{said}");
    let said = one_sentence(&["track", "mnist-20h", "gwgm-easy"]);
    assert!(said.contains("20 x 180 units, but mnist-20h has 784 x 20"), "{said}");
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(one_sentence(&["track", &empty]).contains("has no model files"));
    let said = one_sentence(&["track", "mnist-20h@10", "mnist-20h", "--chains", "100"]);
    assert!(said.contains("a multiple of 256"), "{said}");
    assert_eq!(run(&["track", "mnist-20h@10", "no-such-model"]).code, Some(2));
    assert_eq!(run(&["track"]).code, Some(2));
}
