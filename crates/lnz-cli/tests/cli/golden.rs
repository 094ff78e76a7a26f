//! Results that may not change by a bit: commands of every kind, held against what they gave before.
//!
//! The commands are in `tests/golden/cases.txt`, their results in `tests/golden/expected.jsonl`, one line each.
//! `LNZ_BLESS=1` writes the results anew.

mod answer;
mod difference;
mod inputs;

use crate::files::Folder;
use answer::Stage;
use difference::first_difference;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The lines of `cases.txt` that are commands.
fn commands() -> Vec<String> {
    let text = fs::read_to_string(file("cases.txt")).unwrap();
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    text.lines().filter(is_command).map(str::to_owned).collect()
}

/// The results of record by their command.
fn expected() -> HashMap<String, Value> {
    let text = fs::read_to_string(file("expected.jsonl")).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str(line).unwrap());
    cases.map(|case: Value| (case["command"].as_str().unwrap().to_owned(), case)).collect()
}

fn bless(results: &[Value]) {
    let lines: String = results.iter().map(|result| format!("{result}\n")).collect();
    fs::write(file("expected.jsonl"), lines).unwrap();
}

#[test]
fn no_result_changes_by_a_bit() {
    let folder = Folder::new();
    inputs::write(&folder);
    let mut stage = Stage::new(&folder);
    let results: Vec<Value> = commands().iter().map(|command| stage.run(command)).collect();
    if std::env::var_os("LNZ_BLESS").is_some_and(|value| value == "1") {
        return bless(&results);
    }
    let mut expected = expected();
    let mut complaints = Vec::new();
    for result in &results {
        let command = result["command"].as_str().unwrap();
        let complaint = match expected.remove(command) {
            Some(before) => first_difference(&before, result),
            None => Some("has no expected result, or stands twice in cases.txt".to_owned()),
        };
        complaints.extend(complaint.map(|complaint| format!("lnz {command}\n    {complaint}")));
    }
    complaints.extend(expected.keys().map(|gone| format!("lnz {gone}\n    is not in cases.txt")));
    assert!(
        complaints.is_empty(),
        "{} of {} results changed; CONTRIBUTING.md says what to do if that is intended\n{}",
        complaints.len(),
        results.len(),
        complaints.join("\n")
    );
}
