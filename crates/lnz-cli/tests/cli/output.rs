//! Output for people and for other programs: tables, manual pages, completions, numbers in our words.

use crate::files::Folder;
use crate::run::{json, lnz, one_sentence, refusal, run, text};
use ndarray::Array2;

#[test]
fn bad_numbers_are_refused_in_our_words() {
    for (option, value, expected) in [
        ("--seed", "abc", "a whole number from 0 on"),
        ("--seed", "1.5", "a whole number from 0 on"),
        ("--seed", "99999999999999999999999", "a smaller number"),
        ("--epsilon", "x", "a number"),
        ("--max-seconds", "soon", "5m or 1h30m"),
        ("--threads", "0", "a whole number from 1 to 1024"),
    ] {
        let said = refusal(&["estimate", "gwgm-hard", option, value]);
        let first = said.lines().next().unwrap();
        assert!(first.starts_with(&format!("invalid value '{value}' for '{option} <")), "{said}");
        assert!(first.ends_with(expected), "{said}");
        assert!(!said.contains("literal") && !said.contains("digit"), "{said}");
    }
}

#[test]
fn a_limit_of_time_may_have_units() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let found = json(&["estimate", &model, "--no-exact", "--max-seconds", "1h30m", "--json"]);
    assert_eq!(found["settings"]["max_seconds"], 5400.0);
}

#[test]
fn quiet_works_before_and_after_the_command() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    for line in [["-q", "exact", &model], ["exact", "-q", &model], ["exact", &model, "--quiet"]] {
        assert!(text(&line).contains("log Z"), "{line:?}");
    }
}

#[test]
fn tables_come_as_markdown_and_as_csv() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let quick = ["compare", &model, "--betas", "8", "--chains", "16"];
    let with = |option: &'static str| text(&[&quick[..], &[option]].concat());
    let markdown = with("--markdown");
    assert!(markdown.starts_with("| start | orientation | log Z | error | off by |"), "{markdown}");
    assert_eq!(markdown.lines().count(), 8);
    let csv = with("--csv");
    assert!(csv.starts_with("start,orientation,log Z,error,off by,%,"), "{csv}");
    assert_eq!(csv.lines().count(), 7);
    assert!(text(&["models", "--csv"]).contains("\ngwgm-hard,20 x 180,"));
    assert!(refusal(&["models", "--csv", "--json"]).contains("cannot be used with"));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let pages = folder.path("man1");
    assert_eq!(text(&["man", "--out", &pages]), "");
    let written = std::fs::read_dir(&pages).unwrap().count();
    // The program itself, and not the help of the help.
    let commands = text(&["--help"]).lines().filter(|line| line.starts_with("  ")).count();
    assert!((15..commands).contains(&written), "{written} pages");
    let estimate = std::fs::read_to_string(format!("{pages}/lnz-estimate.1")).unwrap();
    assert!(estimate.contains(".TH lnz-estimate 1"), "{estimate}");
    assert!(estimate.contains("\\-\\-target\\-error"), "{estimate}");
    assert_eq!(text(&["man", "estimate"]), estimate);
    assert!(one_sentence(&["man", "nothing"]).contains("there is no command nothing"));
}

#[test]
fn the_version_says_what_runs_here() {
    let version = json(&["version", "--json"]);
    assert_eq!(version["lnz"], env!("CARGO_PKG_VERSION"));
    assert!(version["machine"]["instruction_set"].is_string(), "{version}");
    assert!(text(&["version"]).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn nothing_is_coloured_where_nobody_sees_it() {
    let bad = run(&["estimate", "no-such-model"]);
    assert!(bad.stderr.starts_with("error: "), "{}", bad.stderr);
    let forced = |no_color: &str| {
        let mut command = lnz(&["estimate", "gwgm-hard"]);
        command.env("CLICOLOR_FORCE", "1");
        if !no_color.is_empty() {
            command.env("NO_COLOR", no_color);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!forced("1").contains('\x1b'), "NO_COLOR is not heard");
    assert!(forced("").contains('\x1b'), "CLICOLOR_FORCE is not heard");
}

#[test]
fn numbers_too_large_for_decimals_are_written_with_an_exponent() {
    let folder = Folder::new();
    let path = folder.npy("huge.npy", Array2::from_elem((4, 3), 1e300).into_dyn().view());
    for method in ["auto", "ais"] {
        let text = text(&["estimate", &path, "--method", method]);
        let longest = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
        assert!(longest < Some(20), "{method}: {text}");
    }
}
