//! Run folders: killed and gone on with, in parts, and everything that can be wrong with them.

use crate::files::Folder;
use crate::run::{json, lnz, one_sentence, run, text};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Plain AIS, the rounds of the default method, a sum, and tempering: each small, but split.
const RUNS: [&[&str]; 4] = [
    &["--method", "ais", "--betas", "200", "--chains", "200", "--no-check"],
    &["--no-exact", "--rounds", "3", "--core", "64"],
    &["--method", "exact"],
    &["--method", "tempering", "--chains", "40", "--rounds", "3"],
];

/// Rounds of this small model are split, the short runs before them are not.
const SPLIT_ABOVE: &str = "0.002";

fn estimate<'a>(options: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["estimate", "gwgm-hard", "--json"], options, more].concat()
}

/// What decides whether two results are the same.
fn numbers(report: &Value) -> Vec<Value> {
    let fields = [
        "log_z",
        "std_error",
        "interval",
        "lower_bound",
        "verdict",
        "warnings",
        "ess",
        "samples",
        "sampled",
        "tempering",
    ];
    fields.iter().map(|field| report[field].clone()).collect()
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_with_the_same_bits() {
    for options in RUNS {
        let folder = Folder::new();
        let place = folder.path("run");
        let alone = json(&estimate(options, &[]));
        let arguments = estimate(options, &["--run", &place, "--split-above", SPLIT_ABOVE]);
        let mut kills = 0;
        for k in 0..12 {
            let mut process =
                lnz(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let patience = Instant::now() + Duration::from_millis(5 + 23 * k);
            while Instant::now() < patience && process.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if process.try_wait().unwrap().is_none() {
                process.kill().unwrap();
                kills += 1;
            }
            process.wait().unwrap();
        }
        assert!(kills > 0);
        assert_eq!(numbers(&json(&arguments)), numbers(&alone), "{options:?}");
        // And once more, from what is there.
        assert_eq!(numbers(&json(&arguments)), numbers(&alone));
    }
}

#[test]
fn parts_that_are_computed_apart_merge_to_the_same_bits() {
    for (options, parts) in RUNS.into_iter().zip(["7", "3", "100", "3"]) {
        let folder = Folder::new();
        let place = folder.path("run");
        let alone = json(&estimate(options, &[]));
        let plan =
            ["plan", "gwgm-hard", "--parts", parts, "--run", &place, "--split-above", SPLIT_ABOVE];
        let said = text(&[&plan, options].concat());
        assert!(said.contains("task 1") && said.contains("missing 1-"), "{said}");
        // Planning twice changes nothing.
        assert_eq!(text(&[&plan, options].concat()), said);
        let merge = ["merge", &place, "--json"];
        let early = run(&merge);
        assert_eq!(early.code, Some(1));
        assert!(
            early.stderr.contains("lacks") && early.stderr.contains("--part N"),
            "{}",
            early.stderr
        );
        // One part by its number, one by the variable of Slurm, the rest by whoever comes.
        assert!(text(&["work", &place, "--part", "2"]).contains("part 2 is done"));
        let slurm = lnz(&["work", &place]).env("SLURM_ARRAY_TASK_ID", "1").output().unwrap();
        assert!(slurm.status.success());
        let status = json(&["status", &place, "--json"]);
        let first = &status["tasks"][0];
        let left = Vec::from_iter(3..=first["parts"].as_u64().unwrap());
        assert_eq!(first["missing"], Value::from(left));
        text(&["work", &place, "--json"]);
        assert_eq!(numbers(&json(&merge)), numbers(&alone), "{options:?}");
        assert!(text(&["status", &place]).contains("finished: log Z = "));
    }
}

#[test]
fn a_folder_of_another_run_is_refused_and_nothing_is_lost() {
    let folder = Folder::new();
    let place = folder.path("run");
    let begun = ["estimate", "gwgm-hard", "--chains", "64", "--betas", "50", "--run", &place];
    let first = text(&begun);
    let other_settings =
        ["estimate", "gwgm-hard", "--chains", "32", "--betas", "50", "--run", &place];
    let said = one_sentence(&other_settings);
    assert!(said.contains("other settings") && said.contains("--chains 64"), "{said}");
    let other_model = ["estimate", "gwgm-near", "--chains", "64", "--betas", "50", "--run", &place];
    assert!(one_sentence(&other_model).contains("another model"));
    assert!(one_sentence(&["work", &place, "--part", "1"]).contains("`lnz plan`"));
    for command in ["work", "merge", "status"] {
        assert!(one_sentence(&[command, &folder.path("nothing")]).contains("no run folder"));
    }
    let limited = [&begun[..], &["--max-seconds", "5"]].concat();
    assert!(one_sentence(&limited).contains("--max-seconds does not go with --run"));
    assert!(one_sentence(&["estimate", "-", "--run", &place]).contains("standard input"));
    let log_z = |text: &str| text.lines().find(|line| line.contains("log Z")).map(str::to_owned);
    assert_eq!(log_z(&text(&begun)), log_z(&first));
}

#[test]
fn a_model_that_changed_a_damaged_part_and_a_wrong_number_are_named() {
    let folder = Folder::new();
    let (place, model) = (folder.path("run"), folder.path("m.npz"));
    text(&["convert", "gwgm-hard", &model]);
    let options = ["--chains", "64", "--betas", "50", "--no-check"];
    let plan = ["plan", &model, "--parts", "2", "--run", &place];
    text(&[&plan[..], &options].concat());
    assert!(one_sentence(&["work", &place, "--part", "3"]).contains("parts 1 to 2"));
    let slurm = lnz(&["work", &place]).env("SLURM_ARRAY_TASK_ID", "0").output().unwrap();
    assert_eq!(slurm.status.code(), Some(2));
    text(&["work", &place]);
    let task = std::fs::read_dir(folder.path("run/orders")).unwrap().next().unwrap().unwrap();
    let part = task.path().join("0-2.part");
    let whole = std::fs::read(&part).unwrap();
    std::fs::write(&part, &whole[..whole.len() / 2]).unwrap();
    assert!(one_sentence(&["merge", &place]).contains("0-2.part: is damaged"));
    std::fs::write(&part, whole).unwrap();
    assert!(text(&["merge", &place]).contains("had been computed before"));
    text(&["convert", "gwgm-near", &model]);
    assert!(one_sentence(&["merge", &place]).contains("has the file changed?"));
}
