//! `lnz bench suite` and the models that it is made for.

use crate::files::Folder;
use crate::run::{json, refusal, text};

/// Two models of known log Z: a grid as the competitions have it, and a dense one.
fn suite(folder: &Folder) -> String {
    let inner = folder.path("suite");
    std::fs::create_dir(&inner).unwrap();
    let (grid, spins) = (format!("{inner}/grid.uai"), format!("{inner}/spins.npz"));
    text(&["generate", "grid", "--rows", "6", "--columns", "5", "-o", &grid]);
    text(&["exact", &grid, "--save-pr", &format!("{grid}.PR")]);
    text(&["generate", "spins", "--visible", "8", "--hidden", "6", "--ferro", "-o", &spins]);
    std::fs::write(format!("{inner}/notes.txt"), "not a model").unwrap();
    inner
}

#[test]
fn every_peer_plays_every_model_and_missing_ones_are_named() {
    let folder = Folder::new();
    let suite = suite(&folder);
    let page = folder.path("page.html");
    let no_python = folder.path("no-python");
    let quick = ["--betas", "200", "--chains", "100", "--python", &no_python, "-o", &page];
    let league = json(&[&["bench", "suite", &suite, "--json"], &quick[..]].concat());
    let rows = league["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{league}");
    for row in rows.iter().filter(|row| row["peer"] == "lnz") {
        let answer = &row["answer"]["Ok"];
        let error = answer["log_z"].as_f64().unwrap() - row["known"].as_f64().unwrap();
        assert!(error.abs() < 1e-9, "{row}");
        assert_eq!(answer["verdict"], "exact");
        assert!((row["tap"].as_f64().unwrap() - answer["seconds"].as_f64().unwrap()).abs() < 1e-6);
    }
    let missing = league["missing_peers"].as_array().unwrap();
    assert!(missing[0].as_str().unwrap().starts_with("rbms: not run"), "{league}");
    assert!(missing[1].as_str().unwrap().starts_with("torch: not run"), "{league}");
    assert_eq!(league["left_out"][0], "notes.txt: no model");
    let html = std::fs::read_to_string(&page).unwrap();
    for part in ["<svg", "grid.uai", "spins.npz", "missing peer torch", "mean TAP"] {
        assert!(html.contains(part), "{part}");
    }
    let lines = text(&["bench", "suite", &suite, "--peers", "lnz"]);
    assert!(lines.contains("2 of 2") && lines.contains("grid.uai"), "{lines}");
    let markdown = text(&["bench", "suite", &suite, "--peers", "lnz", "--markdown"]);
    assert!(markdown.starts_with("| method | answers |"), "{markdown}");
}

#[test]
fn a_folder_without_models_and_an_unknown_peer_are_told() {
    let folder = Folder::new();
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(refusal(&["bench", "suite", &empty]).contains("no model of known log Z"));
    let suite = suite(&folder);
    let error = refusal(&["bench", "suite", &suite, "--peers", "lnz,ace"]);
    assert!(error.contains("`ace`") && error.contains("lnz, ais, rbms, torch"), "{error}");
}
