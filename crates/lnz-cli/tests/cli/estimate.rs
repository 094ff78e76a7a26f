//! `lnz estimate`: methods, settings, the contract of its JSON.

use crate::files::Folder;
use crate::run::{fields, json, refusal, run, text};
use serde_json::{Value, json};

const QUICK: [&str; 5] = ["--betas", "64", "--chains", "128", "--json"];

fn estimate(arguments: &[&str]) -> Value {
    json(&[&["estimate"], arguments, &QUICK].concat())
}

#[test]
fn the_json_of_ais_keeps_its_contract() {
    let folder = Folder::new();
    let result = estimate(&[&folder.small_model("m.npz"), "--precision", "i32"]);
    assert_eq!(
        fields(&result),
        [
            "cost",
            "ess",
            "interval",
            "log_z",
            "lower_bound",
            "method",
            "model",
            "notes",
            "proven",
            "run",
            "sampled",
            "samples",
            "schema",
            "settings",
            "std_error",
            "tempering",
            "verdict",
            "warnings"
        ]
    );
    assert_eq!(result["schema"], 2);
    assert_eq!(result["method"], "ais");
    assert_eq!(result["verdict"], "consistent");
    assert_eq!(result["warnings"], json!([]));
    assert!(result["lower_bound"].as_f64() < result["interval"][1].as_f64());
    assert_eq!(result["model"]["visible"], 6);
    assert_eq!(result["model"]["hidden"], 4);
    assert_eq!(result["model"]["components"], 1);
    assert_eq!(result["cost"]["chain_steps"], 64 * 128);
    assert!(result["cost"]["seconds"].is_f64());
    assert!(result["cost"]["start_seconds"].is_f64());
    assert_eq!(result["samples"]["count"], 128);
    assert!(result["samples"]["mean_sample"].as_f64() <= result["log_z"].as_f64());
    let settings = &result["settings"];
    assert_eq!(settings["start"], "gibbs");
    assert_eq!(settings["init"], "mf");
    assert_eq!(settings["chain_layout"], "parallel");
    assert_eq!(settings["flips"], Value::Null);
    assert_eq!(settings["transpose"], false);
    assert_eq!(settings["precision"], "i32");
    let (low, high) = (result["interval"][0].as_f64(), result["interval"][1].as_f64());
    assert!(low <= result["log_z"].as_f64() && result["log_z"].as_f64() <= high);
}

#[test]
fn a_cheap_model_is_computed_unless_sampling_is_asked_for() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let exact = json(&["estimate", &model, "--json"]);
    assert_eq!(exact["method"], "exact");
    assert_eq!(exact["verdict"], "exact");
    assert_eq!(exact["std_error"], 0.0);
    for field in ["ess", "samples"] {
        assert_eq!(exact[field], Value::Null);
    }
    assert_eq!(exact["cost"]["chain_steps"], Value::Null);
    assert_eq!(exact["settings"]["start"], Value::Null);
    let sampled = json(&["estimate", &model, "--json", "--no-exact"]);
    assert_eq!(sampled["method"], "auto");
    for asked in [&["--start", "uniform"][..], &["--method", "ais"], &["--betas", "9"]] {
        let result = json(&[&["estimate", &model, "--json"], asked].concat());
        assert_eq!(result["method"], "ais", "{asked:?}");
    }
}

/// Each within five standard errors of the exact value: a wrong wiring of an option is far outside.
#[test]
fn every_strategy_finds_log_z_of_a_small_model() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let exact = json(&["exact", &model, "--json"])["log_z"].as_f64().unwrap();
    let data = folder.npy("data.npy", ndarray::Array2::from_elem((3, 6), 0.25).into_dyn().view());
    let schedule = folder.text("betas.txt", "0, 0.001 0.01\n0.1 0.2 0.3 0.5\n0.75\n1\n");
    let strategies: [&[&str]; 10] = [
        &["--start", "uniform"],
        &["--start", "uniform", "--transpose"],
        &["--start", "data", "--data", &data, "--binarize", "bernoulli"],
        &["--data", &data, "--epsilon", "0.1"],
        &["--start", "gibbs", "--init", "zero", "--steps", "5", "--samples", "50"],
        &["--start", "gibbs", "--init", "random", "--transpose"],
        &["--start", "gibbs", "--init", "ps", "--chain-layout", "single"],
        &["--start", "metropolis", "--flips", "2", "--init", "one"],
        &["--start", "metropolis", "--flips", "50%", "--transpose"],
        &["--schedule", &schedule],
    ];
    for strategy in strategies {
        let betas: &[&str] = if strategy[0] == "--schedule" { &[] } else { &["--betas", "64"] };
        let fixed = ["estimate", &model, "--chains", "512", "--json"];
        let result = json(&[&fixed, betas, strategy].concat());
        let (log_z, error) =
            (result["log_z"].as_f64().unwrap(), result["std_error"].as_f64().unwrap());
        assert!((log_z - exact).abs() < 5.0 * error, "{strategy:?}: {log_z} {error} {exact}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let folder = Folder::new();
    let samples = |threads: &str, seed: &str| {
        let path = folder.path("samples.npy");
        let arguments = ["estimate", "gwgm-easy", "--threads", threads, "--seed", seed];
        text(
            &[
                &arguments[..],
                &QUICK,
                &["--start", "gibbs", "--steps", "10", "--save-weights", &path],
            ]
            .concat(),
        );
        std::fs::read(path).unwrap()
    };
    let one = samples("1", "3");
    assert_eq!(one.len(), 128 + 8 * 128, "a header and one float64 per chain");
    assert!(one == samples("2", "3"));
    assert!(one == samples("7", "3"));
    assert!(one != samples("1", "4"));
}

#[test]
fn saved_samples_are_those_of_the_estimate() {
    let folder = Folder::new();
    let (model, path) = (folder.small_model("m.npz"), folder.path("s.npy"));
    let result = estimate(&[&model, "--save-weights", &path]);
    let bytes = std::fs::read(&path).unwrap();
    let samples: Vec<f64> =
        bytes[128..].chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let log_z = lnz::math::log_mean_exp(&samples);
    assert_eq!(result["log_z"].as_f64().unwrap(), log_z);
    assert_eq!(folder.files(), ["m.npz", "s.npy"]);
}

#[test]
fn a_bad_run_says_why_and_what_to_try_before_the_number() {
    let report =
        text(&["estimate", "gwgm-near", "--start", "uniform", "--betas", "32", "--chains", "64"]);
    let first = report.lines().next().unwrap();
    assert!(first.contains("verdict") && first.contains("suspect"), "{report}");
    let advice = report.find("--betas 128").unwrap();
    assert!(advice < report.find("log Z").unwrap(), "{report}");
    assert!(!report.contains('\x1b'), "colours without a terminal: {report}");
}

#[test]
fn a_good_run_admits_what_was_not_tested() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let report = text(&["estimate", &model, "--method", "ais", "--no-check"]);
    assert!(report.contains("unchecked"), "{report}");
    assert!(report.contains("no test for missed modes"), "{report}");
    let report = text(&["estimate", &model, "--method", "ais"]);
    assert!(report.contains("neither a search for modes nor other starts find more"), "{report}");
}

#[test]
fn the_default_method_samples_what_it_cannot_sum() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let exact = json(&["exact", &model, "--json"])["log_z"].as_f64().unwrap();
    let arguments = ["estimate", &model, "--no-exact", "--core", "0", "--rounds", "2", "--json"];
    let result = json(&arguments);
    assert_eq!(result["verdict"], "consistent");
    assert_eq!(result["settings"]["rounds"], 2);
    assert_eq!(result["lower_bound"], Value::Null);
    assert_eq!(result["sampled"][0]["families"].as_array().unwrap().len(), 2);
    let error = result["std_error"].as_f64().unwrap();
    assert!((result["log_z"].as_f64().unwrap() - exact).abs() < 5.0 * error);
    for threads in ["1", "7"] {
        let again = json(&[&arguments[..], &["--threads", threads]].concat());
        assert_eq!(again["log_z"], result["log_z"]);
        assert_eq!(again["interval"], result["interval"]);
    }
}

#[test]
fn a_start_that_misses_known_states_is_called_wrong() {
    let report = text(&["estimate", "gwgm-hard", "--start", "uniform", "--chains", "128"]);
    let first = report.lines().next().unwrap();
    assert!(first.contains("suspect") && first.contains("is wrong"), "{report}");
    assert!(report.contains("try --method auto"), "{report}");
}

#[test]
fn one_chain_has_an_unknown_error() {
    let folder = Folder::new();
    let result = json(&["estimate", &folder.small_model("m.npz"), "--chains", "1", "--json"]);
    assert_eq!(result["std_error"], "Infinity");
    assert_eq!(result["verdict"], "suspect");
    assert_eq!(result["warnings"][0]["kind"], "few_effective_chains");
}

#[test]
fn spin_models_keep_their_z() {
    // One pair of spins without bias: Z = 4 cosh(w).
    let folder = Folder::new();
    let model = folder.npy("w.npy", ndarray::array![[0.7]].into_dyn().view());
    let spin = json(&["exact", &model, "--units", "spin", "--json"])["log_z"].as_f64().unwrap();
    assert!((spin - (4.0 * 0.7f64.cosh()).ln()).abs() < 1e-14);
    let binary = json(&["exact", &model, "--json"])["log_z"].as_f64().unwrap();
    assert!((binary - (3.0 + 0.7f64.exp()).ln()).abs() < 1e-14);
}

#[test]
fn a_model_without_hidden_units_works() {
    let folder = Folder::new();
    let model = folder.safetensors("m.safetensors", &[("W", &[3, 0]), ("b", &[3]), ("c", &[0])]);
    for method in ["ais", "exact"] {
        let result = json(&["estimate", &model, "--method", method, "--json"]);
        let number = |field: &str| result[field].as_f64().unwrap();
        let off = (number("log_z") - 8f64.ln()).abs();
        assert!(off <= 5.0 * number("std_error") + 1e-14, "{method}: {off}");
    }
    assert!(refusal(&["estimate", &model, "--transpose"]).contains("--transpose"));
}

#[test]
fn options_that_contradict_name_each_other() {
    let folder = Folder::new();
    let betas = folder.text("betas.txt", "0 1");
    let data = folder.npy("d.npy", ndarray::Array2::zeros((1, 20)).into_dyn().view());
    let cases: [(&[&str], [&str; 2]); 11] = [
        (&["--start", "gibbs", "--flips", "3"], ["--flips", "--start gibbs"]),
        (&["--start", "data"], ["--start data", "--data"]),
        (&["--betas", "10", "--schedule", &betas], ["--betas", "--schedule"]),
        (&["--start", "uniform", "--init", "mf"], ["--init", "--start uniform"]),
        (&["--start", "uniform", "--epsilon", "0.1"], ["--epsilon", "--start uniform"]),
        (&["--start", "gibbs", "--data", &data], ["--data", "--start gibbs"]),
        (&["--data", &data, "--transpose"], ["--start data", "--transpose"]),
        (&["--binarize", "threshold"], ["--binarize", "--data"]),
        (&["--method", "exact", "--no-exact"], ["--method exact", "--no-exact"]),
        (&["--method", "exact", "--chains", "9"], ["--chains", "--method exact"]),
        (&["--units", "spin"], ["--units spin", "gwgm-easy"]),
    ];
    for (options, names) in cases {
        let sentence = refusal(&[&["estimate", "gwgm-easy"], options].concat());
        assert!(names.iter().all(|name| sentence.contains(name)), "{options:?}: {sentence}");
    }
}

#[test]
fn quiet_changes_nothing_on_standard_output() {
    let arguments = ["estimate", "gwgm-easy", "--no-exact", "--betas", "16", "--chains", "64"];
    let answer = run(&[&arguments[..], &["--quiet"]].concat());
    assert_eq!(answer.code, Some(0));
    assert!(answer.stdout.contains("log Z"));
}

/// 40 x 40 units, all joined by the same weight: they are all on or all off, and biases balance the two.
fn two_phases(folder: &Folder) -> String {
    let (n, weight) = (40, 0.2);
    let row = vec![weight.to_string(); n].join(",");
    let bias = vec![(-weight * n as f64 / 2.0).to_string(); n].join("\n");
    let table = [("w.csv", vec![row; n].join("\n")), ("b.csv", bias.clone()), ("c.csv", bias)];
    for (name, text) in table {
        std::fs::write(folder.path(name), text).unwrap();
    }
    let model = folder.path("two.npz");
    let part = |name: &str| folder.path(name);
    let [w, b, c] = ["w.csv", "b.csv", "c.csv"].map(part);
    text(&["convert", &w, &model, "--weights", &w, "--visible-bias", &b, "--hidden-bias", &c]);
    model
}

#[test]
fn a_model_with_two_phases_shows_both() {
    let folder = Folder::new();
    let model = two_phases(&folder);
    let result =
        json(&["estimate", &model, "--json", "--no-exact", "--core", "0", "--rounds", "1"]);
    let phases = result["sampled"][0]["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 2, "{phases:?}");
    for phase in phases {
        let [share, error] = ["share", "relative_error"].map(|name| phase[name].as_f64().unwrap());
        // By symmetry they are equal.
        assert!((share - 0.5).abs() < 5.0 * error * share, "{share} +- {error}");
        assert!(!phase["found_by"].as_array().unwrap().is_empty());
    }
    let report = text(&["estimate", &model, "--no-exact", "--core", "0", "--rounds", "1"]);
    assert!(report.contains("sum over 2 phases, from the fitted starts"), "{report}");
}
