//! Signals: work stops soon and says what there is; the exit code tells which signal came.
#![cfg(unix)]

use crate::run::{Answer, lnz};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts the tool, presses Ctrl-C after a while, and waits for it to end.
fn interrupted(arguments: &[&str]) -> Answer {
    let child = lnz(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let pressed = Instant::now();
    press_ctrl_c(&child);
    let output = child.wait_with_output().unwrap();
    assert!(pressed.elapsed() < Duration::from_secs(20), "took {:?}", pressed.elapsed());
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn press_ctrl_c(child: &Child) {
    send("-INT", child);
}

fn send(signal: &str, child: &Child) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[test]
fn other_signals_that_ask_to_end_are_heard_like_ctrl_c() {
    let folder = crate::files::Folder::new();
    let model = folder.small_model("m.npz");
    let many = ["--betas", "64", "--chains", "20000000", "--json"];
    let arguments = [&["estimate", &model, "--start", "uniform", "--no-check"], &many[..]].concat();
    for (signal, code) in [("-TERM", 143), ("-HUP", 129)] {
        let mut command = lnz(&arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(result["samples"]["count"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_model_that_does_not_come_can_be_given_up() {
    let mut command = lnz(&["estimate", "-"]);
    let waiting = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = waiting.spawn().unwrap();
    let _pipe = child.stdin.take();
    std::thread::sleep(Duration::from_millis(700));
    press_ctrl_c(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(output.stderr.starts_with(b"error: stopped"), "{output:?}");
}

#[test]
fn finished_chains_are_reported() {
    let folder = crate::files::Folder::new();
    let model = folder.small_model("m.npz");
    let many = ["--betas", "64", "--chains", "20000000", "--json"];
    let answer = interrupted(
        &[&["estimate", &model, "--start", "uniform", "--no-check"], &many[..]].concat(),
    );
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    let result: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(result["verdict"], "suspect");
    let warnings = result["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["kind"] == "stopped_early"), "{warnings:?}");
    let finished = result["samples"]["count"].as_u64().unwrap();
    assert!((1..20_000_000).contains(&finished));
}

#[test]
fn without_a_finished_chain_there_is_a_sentence() {
    let answer = interrupted(&["estimate", "gwgm-easy", "--start", "gibbs", "--steps", "50000"]);
    assert_eq!(answer.code, Some(130));
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.starts_with("error: stopped"), "{}", answer.stderr);
}

#[test]
fn an_enumeration_can_be_stopped() {
    let folder = crate::files::Folder::new();
    let model = folder.path("m.npz");
    crate::run::text(&["generate", "gwgm", "--visible", "50", "--hidden", "60", "-o", &model]);
    let answer = interrupted(&["exact", &model, "--force"]);
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    assert!(answer.stderr.contains("states"), "{}", answer.stderr);
}

#[test]
fn a_training_run_goes_on_to_the_same_bytes() {
    let folder = crate::files::Folder::new();
    // Epochs of some hundredth of a second.
    let rows = ndarray::Array2::from_shape_fn((4000, 64), |(n, i)| f64::from((n * i) % 7 == 0));
    let data = folder.npy("data.npy", rows.into_dyn().view());
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path(name));
    let train = |out: &str, epochs: &str, more: &[&str]| {
        let fixed = ["train", "--data", &data, "--hidden", "16", "--out", out, "--epochs", epochs];
        [&fixed[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    let borrowed = |arguments: &[String]| -> Answer {
        interrupted(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let answer = borrowed(&train(&parts, "100000", &[]));
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("--resume goes on from there: stopped in epoch"),
        "{}",
        answer.stderr
    );
    let history = std::fs::read_to_string(format!("{parts}/history.csv")).unwrap();
    let reached: usize =
        history.lines().last().unwrap().split(',').next().unwrap().parse().unwrap();
    assert!(reached > 0);
    // As if 100000 epochs had been asked for, and one more than was reached were looked at.
    let next = (reached + 1).to_string();
    let state = |out: &str| format!("{out}/epoch-{next}.safetensors");
    let until = |out: &str, more: &[&str]| {
        let keep = ["--save-at", &next, "--quiet"];
        let mut child = lnz(&train(out, "100000", &[&keep[..], more].concat())
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        let clock = Instant::now();
        while !std::path::Path::new(&state(out)).exists() {
            assert!(clock.elapsed() < Duration::from_secs(100));
            std::thread::sleep(Duration::from_millis(20));
        }
        press_ctrl_c(&child);
        child.wait().unwrap();
        std::fs::read(state(out)).unwrap()
    };
    assert_eq!(until(&parts, &["--resume"]), until(&whole, &[]));
}
