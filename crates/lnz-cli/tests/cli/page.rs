//! `--report`: the page of a run, beside what the command prints.

use crate::files::Folder;
use crate::run::{json, one_sentence};
use ndarray::Array2;
use serde_json::Value;

/// The result for programs on a page.
fn inside(page: &str) -> Value {
    let text = page.split_once("<pre id=\"result\">").unwrap().1.split_once("</pre>").unwrap().0;
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    serde_json::from_str(&text.replace("&amp;", "&")).unwrap()
}

/// Runs the command with a page and returns what was printed and the page.
fn both(folder: &Folder, arguments: &[&str]) -> (Value, String) {
    let page = folder.path("run.html");
    let printed = json(&[arguments, &["--json", "--report", &page]].concat());
    (printed, std::fs::read_to_string(page).unwrap())
}

/// The command that repeats the run, without the marks of its words.
fn command_on(page: &str) -> String {
    let after = page.split_once("<pre class=\"command\"><code>").unwrap().1;
    let command = after.split_once("</code>").unwrap().0;
    command.replace("<span>", "").replace("</span>", "")
}

#[test]
fn a_page_holds_what_the_command_prints() {
    let folder = Folder::new();
    let model = folder.small_model("a <b> model's.npz");
    let data = folder.npy(
        "data.npy",
        Array2::from_shape_fn((9, 6), |(i, j)| ((i + j) % 2) as f64).view().into_dyn(),
    );
    let out = folder.path("out");
    let commands: [&[&str]; 5] = [
        &["estimate", &model, "--no-exact", "--rounds", "2"],
        &["exact", &model],
        &["compare", &model, "--betas", "8", "--chains", "16"],
        &["score", &model, "--data", &data],
        &[
            "train", "--data", &data, "--hidden", "3", "--epochs", "3", "--track", "all", "--out",
            &out,
        ],
    ];
    for command in commands {
        let (printed, page) = both(&folder, command);
        assert_eq!(inside(&page), printed, "{command:?}");
        assert!(command_on(&page).starts_with("lnz "), "{command:?}");
        assert!(!page.contains("--report"), "{command:?}");
        if command[1] == model {
            let quoted = "a &lt;b&gt; model&#39;";
            assert!(page.contains(quoted) || page.contains("a &lt;b&gt; model'"), "{command:?}");
            assert!(!page.contains("<b>"), "{command:?}");
        }
    }
}

#[test]
fn the_command_on_a_page_gives_the_same_result() {
    let folder = Folder::new();
    let small = folder.small_model("small.npz");
    let runs: [&[&str]; 2] = [
        &["estimate", "gwgm-hard", "--no-exact", "--max-seconds", "1000"],
        &["estimate", &small, "--method", "tempering", "--chains", "4", "--max-seconds", "1000"],
    ];
    for run in runs {
        let (printed, page) = both(&folder, run);
        let command = command_on(&page);
        assert!(command.contains("--rounds"), "{command}");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(json(&words)["log_z"], printed["log_z"], "{command}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_work() {
    let folder = Folder::new();
    let page = folder.path("nowhere/run.html");
    let said = one_sentence(&["estimate", "gwgm-hard", "--report", &page]);
    assert!(said.contains("nowhere"), "{said}");
}
