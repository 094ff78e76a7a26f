//! Runs the tool and takes its answer apart.

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use std::process::Command;

/// The tool, ready to start: the one that was built with the tests, or the one that `LNZ_BINARY` names.
pub(crate) fn lnz(arguments: &[&str]) -> Command {
    let mut command = match std::env::var_os("LNZ_BINARY") {
        Some(path) => Command::new(std::fs::canonicalize(path).unwrap()),
        None => Command::cargo_bin("lnz").unwrap(),
    };
    command.args(arguments);
    command
}

/// What a process said.
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn run(arguments: &[&str]) -> Answer {
    let output = lnz(arguments).output().unwrap();
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Standard output of a command that must succeed and complain about nothing.
pub(crate) fn text(arguments: &[&str]) -> String {
    let answer = run(arguments);
    assert_eq!(answer.code, Some(0), "{arguments:?}: {}", answer.stderr);
    // A machine that is so busy that a minute passes has a line about it.
    let is_complaint = |line: &&str| !line.starts_with("lnz: ");
    let complaints: Vec<&str> = answer.stderr.lines().filter(is_complaint).collect();
    assert!(complaints.is_empty(), "{arguments:?}: {complaints:?}");
    answer.stdout
}

/// The one object that a command with `--json` prints.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let text = text(arguments);
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The sentence of a command that must be refused as bad usage or input.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    let answer = run(arguments);
    assert_eq!(answer.code, Some(2), "{arguments:?}: {}{}", answer.stdout, answer.stderr);
    assert_eq!(answer.stdout, "", "{arguments:?}");
    let sentence = answer.stderr.strip_prefix("error: ").unwrap_or_else(|| {
        panic!("{arguments:?}: no error sentence in {:?}", answer.stderr);
    });
    sentence.trim_end().to_owned()
}

/// The same, for errors that are found after the arguments were parsed: exactly one line.
pub(crate) fn one_sentence(arguments: &[&str]) -> String {
    let sentence = refusal(arguments);
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    sentence
}

/// The names of an object's fields, in order.
pub(crate) fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}
