//! `lnz paper`: results that can be continued, figures, the page.

use crate::files::Folder;
use crate::run::{json, lnz, one_sentence, text};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/paper");

fn paper(arguments: &[&str], folder: &Folder) -> String {
    let out = folder.path("results");
    text(&[&["paper"], arguments, &["--tiny", "--out", &out]].concat())
}

fn csv(folder: &Folder) -> PathBuf {
    Path::new(&folder.path("results")).join("tiny/fig2.csv")
}

/// A folder with the results of fig2. They take seconds, so that they are computed once for all tests.
fn finished() -> Folder {
    static FILES: OnceLock<Vec<(OsString, Vec<u8>)>> = OnceLock::new();
    let files = FILES.get_or_init(|| {
        let folder = Folder::new();
        paper(&["run", "fig2"], &folder);
        let entries = fs::read_dir(csv(&folder).parent().unwrap()).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
        files.map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect()
    });
    let folder = Folder::new();
    let results = csv(&folder).parent().unwrap().to_owned();
    fs::create_dir_all(&results).unwrap();
    for (name, content) in files {
        fs::write(results.join(name), content).unwrap();
    }
    folder
}

#[test]
fn an_unknown_experiment_is_refused_with_a_suggestion() {
    for action in ["run", "plot"] {
        let sentence = one_sentence(&["paper", action, "fig22"]);
        assert!(sentence.contains("did you mean `fig2`?"), "{sentence}");
    }
    assert!(one_sentence(&["paper", "run", "zzz"]).contains("lnz paper list"));
}

#[test]
fn without_results_there_is_nothing_to_draw_or_report() {
    let folder = Folder::new();
    let out = folder.path("none");
    let sentence = one_sentence(&["paper", "plot", "fig2", "--out", &out]);
    assert!(sentence.contains("run `lnz paper run fig2` first"), "{sentence}");
    let sentence = one_sentence(&["paper", "report", "--quick", "--out", &out]);
    assert!(sentence.contains("run `lnz paper run all --quick` first"), "{sentence}");
    assert!(!Path::new(&out).exists());
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let folder = Folder::new();
    fs::write(folder.path("fig2.csv"), "a,b\n1,2\n").unwrap();
    let out = Path::new(&folder.path("fig2.csv")).parent().unwrap().display().to_string();
    let sentence = one_sentence(&["paper", "run", "fig2", "--out", &out]);
    assert!(sentence.contains("fig2.csv") && sentence.contains("move it away"), "{sentence}");
    let file = folder.path("fig2.csv");
    assert!(one_sentence(&["paper", "list", "--out", &file]).contains("is not a folder"));
}

#[test]
fn all_seven_figures_are_listed_with_their_progress() {
    let folder = Folder::new();
    let list = json(&["paper", "list", "--json", "--out", &folder.path("none")]);
    let experiments = list["experiments"].as_array().unwrap();
    let names: Vec<&str> = experiments.iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7"]);
    assert!(experiments.iter().all(|e| e["runs"] == 0 && e["planned"].as_u64().unwrap() > 20));
}

#[test]
fn a_run_goes_on_where_it_was_and_ends_in_the_same_bytes() {
    let folder = finished();
    let whole = fs::read(csv(&folder)).unwrap();
    assert!(whole.iter().filter(|b| **b == b'\n').count() > 8);
    // Half of the rows, the last of them cut off in the middle.
    fs::write(csv(&folder), &whole[..whole.len() / 2]).unwrap();
    let said = paper(&["run", "fig2", "--threads", "1"], &folder);
    assert!(said.contains("of them now"), "{said}");
    assert_eq!(fs::read(csv(&folder)).unwrap(), whole);
    let said = paper(&["run", "fig2"], &folder);
    assert!(said.contains("all there already"), "{said}");
    assert_eq!(fs::read(csv(&folder)).unwrap(), whole);
}

/// A process that runs an experiment on one thread.
fn spawned(folder: &Folder) -> Child {
    let out = folder.path("results");
    let arguments = ["paper", "run", "fig2", "--tiny", "--threads", "1", "--quiet", "--out", &out];
    lnz(&arguments).stdout(Stdio::null()).spawn().unwrap()
}

/// How many runs were computed by processes that ended by themselves.
fn computed(folder: &Folder) -> u64 {
    let record = fs::read(csv(folder).with_extension("json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    record["methods"].as_object().unwrap().values().map(|m| m["runs"].as_u64().unwrap()).sum()
}

#[test]
fn processes_share_an_experiment_and_one_may_be_killed() {
    let alone = finished();
    let whole = fs::read(csv(&alone)).unwrap();
    let rows = whole.iter().filter(|b| **b == b'\n').count() as u64 - 1;
    assert_eq!(computed(&alone), rows);
    // Nothing is computed twice.
    let folder = Folder::new();
    for mut process in [spawned(&folder), spawned(&folder), spawned(&folder)] {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(fs::read(csv(&folder)).unwrap(), whole);
    assert_eq!(computed(&folder), rows);
    // What a process that was killed has left is computed by the other.
    let folder = Folder::new();
    let (mut killed, mut other) = (spawned(&folder), spawned(&folder));
    let begun = || fs::read(csv(&folder)).is_ok_and(|rows| !rows.is_empty());
    while !begun() && other.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(other.wait().unwrap().success());
    assert_eq!(fs::read(csv(&folder)).unwrap(), whole);
}

#[test]
fn figures_and_the_page_are_drawn_from_what_is_there() {
    let folder = finished();
    paper(&["plot", "fig2"], &folder);
    let said = paper(&["report"], &folder);
    assert!(said.contains("could not be tested with these results"), "{said}");
    let file = |name: &str| fs::read(csv(&folder).with_file_name(name)).unwrap();
    assert!(file("fig2.svg").starts_with(b"<svg"));
    assert!(file("fig2.png").starts_with(b"\x89PNG"));
    let page = String::from_utf8(file("report.html")).unwrap();
    assert!(page.contains("<svg") && page.ends_with("</html>\n"));
    // Nothing outside is loaded: the only addresses are the paper's and the name of SVG.
    for (at, _) in page.match_indices("http") {
        let rest = &page[at..];
        let known = ["https://arxiv.org/abs/2007.11926", "http://www.w3.org/2000/svg"];
        assert!(known.iter().any(|address| rest.starts_with(address)), "{}", &rest[..60]);
    }
}

#[test]
fn the_committed_page_and_figures_follow_from_the_committed_rows() {
    let folder = Folder::new();
    let out = folder.path("copy");
    fs::create_dir(&out).unwrap();
    for entry in fs::read_dir(COMMITTED).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "csv" || end == "json") {
            fs::copy(&path, Path::new(&out).join(path.file_name().unwrap())).unwrap();
        }
    }
    text(&["paper", "plot", "all", "--out", &out]);
    text(&["paper", "report", "--out", &out]);
    let names = (1..=7).map(|n| format!("fig{n}.svg")).chain(["README.md".to_owned()]);
    let is_committed = |name: &String| Path::new(COMMITTED).join(name).exists();
    for name in names.filter(is_committed) {
        let [ours, committed] = [Path::new(&out), Path::new(COMMITTED)]
            .map(|folder| fs::read_to_string(folder.join(&name)).unwrap());
        assert!(
            ours == committed,
            "docs/paper/{name} is out of date: run `lnz paper plot all` and `report` with --out docs/paper"
        );
    }
}

#[test]
fn committed_rows_are_found_again_by_their_settings() {
    // The cheapest row of the committed Fig. 2, run again by hand.
    let rows = fs::read_to_string(Path::new(COMMITTED).join("fig2.csv")).unwrap();
    let mut lines = rows.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row: Vec<&str> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .find(|row| row[0].starts_with("gwgm") && row[2] == "uniform")
        .unwrap();
    let field = |name: &str| row[head.iter().position(|h| *h == name).unwrap()];
    let mut arguments = vec!["estimate", "gwgm-hard", "--start", "uniform", "--no-check", "--json"];
    arguments.extend(["--betas", field("betas"), "--chains", field("chains")]);
    arguments.extend(["--seed", field("seed")]);
    if field("orientation") == "transposed" {
        arguments.push("--transpose");
    }
    let output = lnz(&arguments).output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["log_z"].as_f64().unwrap(), field("log_z").parse::<f64>().unwrap());
}
