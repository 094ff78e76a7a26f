//! The other commands: exact, compare, inspect, convert, generate, models, completions.

use crate::files::Folder;
use crate::run::{fields, json, lnz, one_sentence, refusal, run, text};
use serde_json::Value;
use std::process::Stdio;

fn log_z(arguments: &[&str]) -> f64 {
    json(&[arguments, &["--json"]].concat())["log_z"].as_f64().unwrap()
}

#[test]
fn blocks_are_computed_exactly_through_their_components() {
    let folder = Folder::new();
    let [whole, shuffled] = ["w.npz", "s.npz"].map(|name| folder.path(name));
    text(&["generate", "bms", "--blocks", "3", "--seed", "5", "-o", &whole]);
    text(&["generate", "bms", "--blocks", "3", "--seed", "5", "--shuffle", "-o", &shuffled]);
    let parts: f64 = ["5", "6", "7"]
        .iter()
        .map(|seed| {
            let path = folder.path("part.npz");
            text(&["generate", "gwgm", "--no-exact", "--seed", seed, "-o", &path]);
            log_z(&["exact", &path])
        })
        .sum();
    for model in [&whole, &shuffled] {
        assert!((log_z(&["exact", model]) / parts - 1.0).abs() < 1e-12);
    }
}

#[test]
fn an_enumeration_that_takes_too_long_is_refused_with_its_time() {
    let folder = Folder::new();
    let model = folder.path("m.npz");
    text(&["generate", "gwgm", "--visible", "50", "--hidden", "60", "-o", &model]);
    for command in [&["exact", &model][..], &["estimate", &model, "--method", "exact"]] {
        let sentence = one_sentence(command);
        assert!(sentence.contains("2^50 states, about"), "{sentence}");
        assert!(sentence.contains("--force"), "{sentence}");
    }
    let impossible = folder.path("i.npz");
    text(&["generate", "gwgm", "--visible", "90", "--hidden", "90", "-o", &impossible]);
    assert!(one_sentence(&["exact", &impossible, "--force"]).contains("2^90 states"));
}

#[test]
fn generate_stores_the_exact_value_where_it_is_cheap() {
    let folder = Folder::new();
    let path = folder.path("m.safetensors");
    let numbers = ["--mu-mu", "-0.5", "--sigma-mu", "0.1", "--mu-sigma", "1", "--sigma-sigma", "0"];
    let size = ["--visible", "7", "--hidden", "9", "--lambda", "-2", "--seed", "4"];
    let made = text(&[&["generate", "gwgm", "-o", &path], &numbers[..], &size].concat());
    assert!(made.contains("exact, stored in the file"), "{made}");
    let inspected = json(&["inspect", &path, "--json"]);
    assert_eq!(inspected["exact_log_z"].as_f64().unwrap(), log_z(&["exact", &path]));
    assert!(inspected["metadata"]["generated_by"].as_str().unwrap().contains("--mu-mu -0.5"));
    let without = folder.path("n.npz");
    text(&[&["generate", "gwgm", "--no-exact", "-o", &without], &numbers[..], &size].concat());
    assert_eq!(json(&["inspect", &without, "--json"])["exact_log_z"], Value::Null);
}

#[test]
fn converting_keeps_the_model_in_every_format() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let expected = log_z(&["exact", &model]);
    for name in ["a.safetensors", "b.mat", "c.npz"] {
        let copy = folder.path(name);
        assert!(text(&["convert", &model, &copy]).contains("6 visible x 4 hidden"));
        assert_eq!(log_z(&["exact", &copy]), expected, "{name}");
    }
    let built_in = folder.path("easy.mat");
    text(&["convert", "gwgm-easy", &built_in]);
    assert_eq!(log_z(&["exact", &built_in]), log_z(&["exact", "gwgm-easy"]));
}

#[test]
fn inspect_says_how_a_file_was_understood() {
    let folder = Folder::new();
    let model = folder.safetensors("m.safetensors", &[("W", &[4, 6]), ("b", &[6]), ("c", &[4])]);
    let report = text(&["inspect", &model]);
    for part in ["6 visible x 4 hidden", "W: 4 x 6, float64", "(hidden, visible)", "exact"] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
    let inspected = json(&["inspect", &model, "--json"]);
    assert_eq!(inspected["file"]["tensors"][0]["shape"], serde_json::json!([4, 6]));
    assert_eq!(inspected["model"]["components"], 10);
    assert_eq!(json(&["inspect", "bms-3", "--json"])["file"], Value::Null);
}

#[test]
fn every_built_in_model_is_listed_and_can_be_inspected() {
    let listed = json(&["models", "--json"]);
    let plain = text(&["models"]);
    for entry in listed["models"].as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        assert!(plain.contains(name.split('@').next().unwrap()));
        let inspected = json(&["inspect", name, "--json"]);
        assert_eq!(inspected["model"]["visible"], entry["visible"]);
        assert_eq!(inspected["model"]["hidden"], entry["hidden"]);
    }
}

#[test]
fn compare_runs_six_strategies_against_the_exact_value() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let quick = ["compare", &model, "--betas", "32", "--chains", "64"];
    let result = json(&[&quick[..], &["--json"]].concat());
    assert_eq!(fields(&result), ["exact", "model", "reference", "run", "schema", "strategies"]);
    assert_eq!(result["exact"].as_f64().unwrap(), log_z(&["exact", &model]));
    let strategies = result["strategies"].as_array().unwrap();
    assert_eq!(strategies.len(), 6);
    for strategy in strategies {
        let (off, log_z) = (&strategy["difference"], &strategy["estimate"]["log_z"]);
        let expected = log_z.as_f64().unwrap() - result["exact"].as_f64().unwrap();
        assert_eq!(off.as_f64().unwrap(), expected);
    }
    let table = text(&quick);
    assert_eq!(table.matches("transposed").count(), 3, "{table}");
    let without = text(&[&quick[..], &["--no-exact"]].concat());
    assert!(without.contains("No exact value"), "{without}");
    assert!(refusal(&[&quick[..], &["--transpose"]].concat()).contains("--transpose"));
}

#[test]
fn completions_exist_for_the_common_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        for word in ["chain-layout", "log-z", "fetch"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn help_has_examples() {
    for command in
        ["estimate", "exact", "score", "compare", "convert", "generate", "data", "completions"]
    {
        assert!(text(&[command, "--help"]).contains("Examples:"), "{command}");
    }
    for command in ["info", "fetch"] {
        assert!(text(&["data", command, "--help"]).contains("Examples:"), "data {command}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["completions", "zsh"][..], &["inspect", "gwgm-easy"], &["--help"]] {
        let mut child =
            lnz(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

/// A matrix of its weights would take 20 GB.
#[test]
fn a_chain_of_a_hundred_thousand_units_is_summed_from_its_file() {
    const UNITS: usize = 100_000;
    let folder = Folder::new();
    let path = chain_of(&folder, UNITS);
    let found = json(&["exact", &path, "--json"]);
    // The weights of chains that end in 0 and in 1, scaled at every unit.
    let (mut off, mut on, mut log_scale) = (1.0f64, 0.5f64, 0.0);
    for _ in 1..UNITS {
        (off, on) = (off + on, 0.5 * (off + 3.0 * on));
        log_scale += off.ln();
        (off, on) = (1.0, on / off);
    }
    let expected = log_scale + (off + on).ln();
    let log_z = found["log_z"].as_f64().unwrap();
    // Each of as many additions may round.
    let rounding = UNITS as f64 * f64::EPSILON;
    assert!((log_z / expected - 1.0).abs() < rounding, "{log_z} {expected}");
    assert_eq!((&found["verdict"], &found["model"]["visible"]), (&"exact".into(), &50_000.into()));
    let sentence = refusal(&["estimate", &path]);
    assert!(sentence.contains("too large for a matrix; `lnz exact`"), "{sentence}");
}

/// A file with a chain of units, each coupled to the one before it.
fn chain_of(folder: &Folder, units: usize) -> String {
    let mut file = format!("MARKOV\n{units}\n{}\n{}\n", "2 ".repeat(units), 2 * units - 1);
    (0..units).for_each(|i| file += &format!("1 {i}\n"));
    (1..units).for_each(|i| file += &format!("2 {i} {}\n", i - 1));
    file += &"2\n1 0.5\n".repeat(units);
    file += &"4\n1 1 1 3\n".repeat(units - 1);
    let path = folder.path("chain.uai");
    std::fs::write(&path, file).unwrap();
    path
}

#[test]
fn a_network_without_a_matrix_has_run_folders_like_any_model() {
    let folder = Folder::new();
    let path = chain_of(&folder, 30_000);
    let alone = json(&["exact", &path, "--json"]);
    let (kept, planned) = (folder.path("run"), folder.path("planned"));
    let split = ["--split-above", "0.000001", "--json"];
    let found = json(&[&["exact", &path, "--run", &kept][..], &split].concat());
    assert_eq!(found["log_z"], alone["log_z"]);
    // Again, from what is kept.
    let again = json(&[&["exact", &path, "--run", &kept][..], &split].concat());
    assert_eq!((&again["log_z"], &again["model"]), (&alone["log_z"], &alone["model"]));
    let plan = ["plan", &path, "--method", "exact", "--parts", "3", "--run", &planned];
    let status = json(&[&plan[..], &split].concat());
    assert!(status["log_z"].is_null(), "{status}");
    let early = run(&["merge", &planned]);
    assert!(early.code == Some(1) && early.stderr.contains("lacks"), "{}", early.stderr);
    (1..=3).for_each(|part| drop(text(&["work", &planned, "--part", &part.to_string()])));
    assert_eq!(json(&["merge", &planned, "--json"])["log_z"], alone["log_z"]);
    // Another network is another model.
    chain_of(&folder, 30_002);
    let sentence = one_sentence(&["exact", &path, "--run", &kept]);
    assert!(sentence.contains("another model"), "{sentence}");
}
