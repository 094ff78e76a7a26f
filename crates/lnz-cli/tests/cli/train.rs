//! `lnz train` as a new user meets it: from data to a model whose log Z is known.

use crate::files::Folder;
use crate::run::{json, one_sentence, refusal, run, text};
use ndarray::Array2;

/// Pictures of 4 x 4 with some full rows.
fn bars(folder: &Folder, name: &str) -> String {
    let rows = Array2::from_shape_fn((64, 16), |(n, i)| f64::from(n >> (i / 4) & 1 == 1));
    folder.npy(name, rows.into_dyn().view())
}

fn arguments<'a>(data: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["train", "--data", data, "--hidden", "6", "--batch", "16", "--out", out];
    [&fixed[..], &["--learning-rate", "0.5"], more].concat()
}

#[test]
fn from_data_to_log_z() {
    let folder = Folder::new();
    let (data, out) = (bars(&folder, "bars.npy"), folder.path("run"));
    let more = ["--epochs", "40", "--save-at", "10-30/10", "--track", "0,20,40"];
    let more = [&more[..], &["--validation", &data, "--json"]].concat();
    let result = json(&arguments(&data, &out, &more));
    let epochs = result["epochs"].as_array().unwrap();
    assert_eq!(epochs.len(), 41);
    let likelihood = |epoch: usize| epochs[epoch]["train_log_likelihood"].as_f64().unwrap();
    assert!(likelihood(20) > likelihood(0) && likelihood(40) > likelihood(20));
    assert_eq!(epochs[40]["validation_log_likelihood"].as_f64(), Some(likelihood(40)));
    assert!(epochs[39]["log_z"].is_null());
    for file in ["epoch-10", "epoch-20", "epoch-30", "epoch-40", "state"] {
        assert!(std::path::Path::new(&format!("{out}/{file}.safetensors")).is_file(), "{file}");
    }
    let history = std::fs::read_to_string(format!("{out}/history.csv")).unwrap();
    assert_eq!(history.lines().count(), 42);
    assert!(std::fs::read_to_string(format!("{out}/history.svg")).unwrap().starts_with("<svg"));
    // The checkpoint is a model like any other, and its log Z is the one that was tracked.
    let model = format!("{out}/epoch-40.safetensors");
    let estimate = json(&["estimate", &model, "--json"]);
    let tracked = epochs[40]["log_z"].as_f64().unwrap();
    assert!((estimate["log_z"].as_f64().unwrap() - tracked).abs() < 1e-9);
    let inspected = text(&["inspect", &model]);
    for words in ["training.learning_rate: 0.5", "epoch: 40", "means of the visible units"] {
        assert!(inspected.contains(words), "{inspected}");
    }
}

#[test]
fn a_resumed_run_ends_in_the_same_bytes() {
    let folder = Folder::new();
    let data = bars(&folder, "bars.npy");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path(name));
    text(&arguments(&data, &whole, &["--epochs", "9", "--momentum", "0.5"]));
    text(&arguments(&data, &parts, &["--epochs", "4", "--momentum", "0.5"]));
    text(&arguments(&data, &parts, &["--epochs", "9", "--momentum", "0.5", "--resume"]));
    let bytes = |out: &str| std::fs::read(format!("{out}/epoch-9.safetensors")).unwrap();
    assert_eq!(bytes(&whole), bytes(&parts));
    let lines = |out: &str| std::fs::read_to_string(format!("{out}/history.csv")).unwrap();
    assert_eq!(lines(&whole).lines().count(), lines(&parts).lines().count());
}

#[test]
fn bad_runs_are_refused() {
    let folder = Folder::new();
    let (data, out) = (bars(&folder, "bars.npy"), folder.path("run"));
    let refused = |more: &[&str]| one_sentence(&arguments(&data, &out, more));
    assert!(refused(&["--epochs", "5", "--save-at", "7"]).contains("--save-at names epoch 7"));
    assert!(refused(&["--epochs", "5", "--resume"]).contains("found no state.safetensors"));
    assert!(refused(&["--epochs", "5", "--validation", &data]).contains("needs --track"));
    assert!(refused(&["--epochs", "5", "--momentum", "1.5"]).starts_with("--momentum is 1.5"));
    assert!(
        refusal(&arguments(&data, &out, &["--epochs", "5", "--track", "x"])).contains("--track")
    );
    let narrow = folder.npy("narrow.npy", Array2::zeros((4, 5)).into_dyn().view());
    let validation = ["--epochs", "5", "--track", "5", "--validation", &narrow];
    assert!(refused(&validation).contains("5 columns"));
    let outside = folder.npy("outside.npy", Array2::from_elem((4, 16), -0.5).into_dyn().view());
    assert!(one_sentence(&arguments(&outside, &out, &["--epochs", "5"])).contains("-0.5"));
    let missing = folder.path("missing.npy");
    assert!(one_sentence(&arguments(&missing, &out, &["--epochs", "5"])).starts_with(&missing));
    assert!(!std::path::Path::new(&out).exists());

    text(&arguments(&data, &out, &["--epochs", "2"]));
    assert!(refused(&["--epochs", "4"]).contains("add --resume"));
    let other = refused(&["--epochs", "4", "--seed", "3", "--resume"]);
    assert!(other.contains("seed was 0 and is now 3"), "{other}");
}

#[test]
fn divergence_keeps_the_last_good_epoch() {
    let folder = Folder::new();
    let (data, out) = (bars(&folder, "bars.npy"), folder.path("run"));
    // The rate explodes after a few good epochs.
    let rates = ["--learning-rate", "0.1", "--final-learning-rate", "1e6", "--epochs", "30"];
    let fixed = ["train", "--data", &data, "--hidden", "6", "--out", &out];
    let answer = run(&[&fixed[..], &rates].concat());
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    for words in ["training diverged in epoch", "try a learning rate below", "epoch is kept in"] {
        assert!(answer.stderr.contains(words), "{}", answer.stderr);
    }
    let history = std::fs::read_to_string(format!("{out}/history.csv")).unwrap();
    let state = text(&["inspect", &format!("{out}/state.safetensors")]);
    let last = history.lines().last().unwrap().split(',').next().unwrap().to_owned();
    assert!(state.contains(&format!("epoch: {last}\n")), "{state}");
}
