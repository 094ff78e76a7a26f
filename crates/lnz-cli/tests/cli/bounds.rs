//! `lnz bounds`, and proven bounds beside an estimate.

use crate::files::Folder;
use crate::run::{json, refusal, text};
use serde_json::Value;

/// A grid of spins that is summed exactly in no time, and its log Z.
fn grid(folder: &Folder, side: &str) -> (String, f64) {
    let path = folder.path("grid.npz");
    text(&["generate", "grid", "--rows", side, "--columns", side, "--strength", "1", "-o", &path]);
    let exact = json(&["exact", &path, "--json"]);
    (path, exact["log_z"].as_f64().unwrap())
}

#[test]
fn tables_stay_within_the_memory_that_is_allowed() {
    let folder = Folder::new();
    let path = folder.path("grid.uai");
    text(&["generate", "grid", "--rows", "12", "--columns", "12", "-o", &path]);
    let log_z = |memory: &[&str]| {
        let found = json(&[&["exact", &path, "--json"], memory].concat());
        assert_eq!(found["verdict"], "exact");
        found["log_z"].as_f64().unwrap()
    };
    // Tables of 2^13 entries need 64 kB; with less, units take their states one after the other.
    let (free, bounded) = (log_z(&[]), log_z(&["--max-memory", "40kB"]));
    assert!((free - bounded).abs() < 1e-9 * free, "{free} {bounded}");
    let error = refusal(&["exact", &path, "--max-memory", "64 potatoes"]);
    assert!(error.contains("500MB"), "{error}");
    let error = refusal(&["exact", &path, "--max-memory", "0"]);
    assert!(error.contains("--max-memory is 0"), "{error}");
}

#[test]
fn bounds_hold_the_exact_value() {
    let folder = Folder::new();
    let (path, log_z) = grid(&folder, "12");
    let found = json(&["bounds", &path, "--entries", "2e4", "--passes", "20", "--json"]);
    let [floor, ceiling] = [0, 1].map(|k| found["proven"][k].as_f64().unwrap());
    assert!(floor < log_z && log_z < ceiling && ceiling - floor < 20.0, "{found}");
    assert!(found["cuts"].as_u64().unwrap() > 0, "{found}");
    let lines = text(&["bounds", &path]);
    assert!(lines.contains("no table had to be cut"), "{lines}");
}

#[test]
fn a_dense_model_is_refused_by_name() {
    let folder = Folder::new();
    let path = folder.path("dense.npz");
    text(&["generate", "spins", "--visible", "90", "--hidden", "90", "--no-exact", "-o", &path]);
    let error = refusal(&["bounds", &path]);
    assert!(error.contains("too many weights"), "{error}");
}

#[test]
fn an_estimate_of_a_sparse_model_has_proven_bounds_beside_it() {
    let folder = Folder::new();
    let (path, log_z) = grid(&folder, "8");
    let sampled = ["--start", "uniform", "--betas", "64", "--chains", "64"];
    let found = json(&[&["estimate", &path, "--json"], &sampled[..]].concat());
    let [floor, ceiling] = [0, 1].map(|k| found["proven"][k].as_f64().unwrap());
    assert!(floor <= log_z && log_z <= ceiling, "{found}");
    let lines = text(&[&["estimate", &path], &sampled[..]].concat());
    assert!(lines.contains("proven") && lines.contains("without statistics"), "{lines}");
    let unchecked = json(&[&["estimate", &path, "--json", "--no-check"], &sampled[..]].concat());
    assert_eq!(unchecked["proven"], Value::Null);
    assert_eq!(json(&["estimate", &path, "--json"])["proven"], Value::Null);
}

#[test]
fn log_z_is_written_as_the_competitions_want_it() {
    let folder = Folder::new();
    let (path, log_z) = grid(&folder, "4");
    for command in ["exact", "estimate"] {
        let file = folder.path("grid.uai.PR");
        text(&[command, &path, "--save-pr", &file]);
        let written = std::fs::read_to_string(&file).unwrap();
        let log10: f64 = written.strip_prefix("PR\n").unwrap().trim().parse().unwrap();
        assert!((log10 - log_z / std::f64::consts::LN_10).abs() < 1e-12, "{written}");
    }
    let error = refusal(&["exact", &path, "--save-pr", &folder.path("no/such/folder.PR")]);
    assert!(error.contains("folder does not exist"), "{error}");
}
