//! Ctrl-C: stops soon, says what there is, exit code 130.
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
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
}

#[test]
fn finished_chains_are_reported() {
    let folder = crate::files::Folder::new();
    let model = folder.small_model("m.npz");
    let many = ["--betas", "64", "--chains", "20000000", "--json"];
    let answer = interrupted(&[&["estimate", &model, "--start", "uniform"], &many[..]].concat());
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
