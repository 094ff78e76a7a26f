//! Limits of time, of files and of writers: what happens at each.

use crate::files::Folder;
use crate::run::{json, lnz, one_sentence, run};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn ais_runs_as_many_chains_as_the_time_allows() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let fixed = ["estimate", &model, "--start", "uniform", "--no-check", "--betas", "64"];
    let few = json(&[&fixed[..], &["--chains", "512", "--json"]].concat());
    let limited = ["--chains", "20000000", "--max-seconds", "2", "--json"];
    let found = json(&[&fixed[..], &limited[..]].concat());
    let (count, requested) = (&found["samples"]["count"], &found["samples"]["requested"]);
    assert!(count.as_u64().unwrap() >= 16 && count.as_u64().unwrap() < 20_000_000, "{count}");
    assert_eq!(requested, 20_000_000);
    assert_eq!(found["settings"]["max_seconds"], 2.0);
    // Fewer chains are what was asked for, and no reason to distrust them.
    assert_eq!(found["verdict"], "unchecked");
    assert_eq!(few["verdict"], "unchecked");
    // A limit that is far away changes nothing, not even a bit.
    let far = json(&[&fixed[..], &["--chains", "512", "--max-seconds", "1e6", "--json"]].concat());
    assert_eq!(far["log_z"], few["log_z"]);
}

#[test]
fn time_that_is_too_short_for_any_result_has_a_sentence() {
    let folder = Folder::new();
    let model = folder.path("m.npz");
    crate::run::text(&["generate", "gwgm", "--visible", "300", "--hidden", "300", "-o", &model]);
    let fixed = ["estimate", &model, "--start", "uniform", "--no-check"];
    let answer = run(&[&fixed[..], &["--betas", "1000000", "--max-seconds", "0.5"]].concat());
    assert_eq!(answer.code, Some(1), "{}", answer.stdout);
    let said = |limit: &str| {
        format!(
            "error: --max-seconds {limit} is not enough: the least that makes a result would take about "
        )
    };
    assert!(answer.stderr.starts_with(&said("0.5")), "{}", answer.stderr);
    // The default method knows what its first start takes, and says the limit as it was typed.
    let answer = run(&["estimate", &model, "--max-seconds", "0.1", "--threads", "1"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stdout);
    assert!(answer.stderr.starts_with(&said("0.1")), "{}", answer.stderr);
    let answer = run(&["exact", &model, "--max-seconds", "3"]);
    assert_eq!(answer.code, Some(2), "{}", answer.stdout);
    for bad in ["0", "-1", "nan"] {
        let limit = format!("--max-seconds={bad}");
        for command in [&["estimate", "gwgm-easy"][..], &["exact", "gwgm-easy"]] {
            let sentence = one_sentence(&[command, &[&limit]].concat());
            assert!(sentence.starts_with("--max-seconds is "), "{sentence}");
        }
    }
}

/// Nobody writes to the pipe, so that reading the model does not end by itself.
#[test]
fn a_model_that_does_not_come_is_given_up_when_the_time_is_over() {
    for command in [&["estimate", "-"][..], &["exact", "-"], &["estimate", "-", "--method", "ais"]]
    {
        let limited = [command, &["--max-seconds", "0.5"]].concat();
        let mut waiting = lnz(&limited);
        let waiting = waiting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = waiting.spawn().unwrap();
        let _pipe = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "error: --max-seconds 0.5 is not enough: stopped while the model was read";
        assert!(said.starts_with(expected), "{said}");
    }
}

fn a_little_data(folder: &Folder) -> String {
    let rows = ndarray::Array2::from_shape_fn((500, 32), |(n, i)| f64::from((n + i) % 2 == 0));
    folder.npy("data.npy", rows.into_dyn().view())
}

/// Training that can go on for ever: it learns next to nothing.
fn slow_training<'a>(data: &'a str, out: &'a str) -> [&'a str; 10] {
    ["train", "--data", data, "--hidden", "8", "--out", out, "--quiet", "--learning-rate", "1e-6"]
}

#[test]
fn training_begins_no_epoch_that_would_not_end_in_time() {
    let folder = Folder::new();
    let (data, out) = (a_little_data(&folder), folder.path("run"));
    let fixed = slow_training(&data, &out);
    let limited = ["--json", "--epochs", "16000000", "--max-seconds", "2"];
    let found = json(&[&fixed[..], &limited[..]].concat());
    assert_eq!(found["out_of_time"], true);
    let epochs = found["epochs"].as_array().unwrap().len();
    assert!(epochs > 0);
    let last = format!("{out}/epoch-{epochs}.safetensors");
    assert_eq!(found["saved"][0], last.as_str());
    // And it goes on from there.
    let more = json(&[&fixed[..], &limited[..], &["--resume"]].concat());
    assert_eq!(more["out_of_time"], true);
    assert_ne!(more["saved"], found["saved"]);
}

#[test]
fn two_processes_do_not_train_into_one_folder() {
    let folder = Folder::new();
    let (data, out) = (a_little_data(&folder), folder.path("run"));
    let fixed = slow_training(&data, &out);
    let long = [&fixed[..], &["--epochs", "16000000"]].concat();
    let mut first = lnz(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !std::path::Path::new(&format!("{out}/state.safetensors")).exists() {
        assert!(begun.elapsed() < Duration::from_secs(100), "training does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sentence = one_sentence(&[&fixed[..], &["--epochs", "16000000", "--resume"]].concat());
    assert!(sentence.contains("another process is training into"), "{sentence}");
    // A process that is killed lets go.
    first.kill().unwrap();
    first.wait().unwrap();
    let more =
        run(&[&fixed[..], &["--epochs", "16000000", "--resume", "--max-seconds", "1"]].concat());
    assert_eq!(more.code, Some(0), "{}", more.stderr);
}

/// As `ulimit -f` has it: the limit comes in the middle of a file.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_an_error_with_a_sentence() {
    let folder = Folder::new();
    let out = folder.path("m.npz");
    let binary = lnz(&[]);
    let command = format!(
        "ulimit -f 8; exec '{}' generate gwgm --visible 100 --hidden 100 -o '{out}'",
        binary.get_program().display()
    );
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: ") && said.contains("cannot be written"), "{said}");
    assert_eq!(folder.files(), Vec::<String>::new());
}
