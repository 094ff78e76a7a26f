//! Many models in one command: a row for each, whatever happens to the others.

use crate::files::Folder;
use crate::run::{json, one_sentence, run, text};
use serde_json::Value;

fn models(folder: &Folder) -> [String; 3] {
    let names = ["m-2.npz", "m-10.npz", "other.safetensors"].map(|name| folder.path(name));
    for (seed, name) in names.iter().enumerate() {
        text(&["generate", "gwgm", "--seed", &seed.to_string(), "-o", name]);
    }
    names
}

#[test]
fn every_row_is_the_result_of_its_model() {
    let folder = Folder::new();
    let [second, tenth, other] = models(&folder);
    let csv = folder.path("rows.csv");
    let pattern = folder.path("m-*.npz");
    let table = text(&["estimate", &pattern, &other, "gwgm-easy", "--csv", &csv]);
    assert_eq!(table.lines().count(), 5, "{table}");
    let rows = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<&str> = rows.lines().skip(1).collect();
    // Numbers in names are numbers.
    for (row, model) in rows.iter().zip([&second, &tenth, &other, "gwgm-easy"]) {
        let report = json(&["estimate", model, "--json"]);
        let fields: Vec<&str> = row.split(',').collect();
        assert_eq!(fields[0], model);
        assert_eq!(fields[1], report["model"]["sha256"].as_str().unwrap());
        assert_eq!(fields[5].parse::<f64>().unwrap(), report["log_z"].as_f64().unwrap());
    }
    let all = text(&["estimate", &folder.path(""), "--quiet"]);
    assert_eq!(all.lines().count(), 4, "{all}");
}

#[test]
fn what_is_in_the_file_is_not_computed_again() {
    let folder = Folder::new();
    let [second, tenth, _] = models(&folder);
    for (flag, name) in [("--csv", "rows.csv"), ("--jsonl", "rows.jsonl")] {
        let file = folder.path(name);
        text(&["estimate", &second, flag, &file]);
        let first = std::fs::read_to_string(&file).unwrap();
        // Half a row of a process that was killed.
        std::fs::write(&file, format!("{first}m-10.npz,12")).unwrap();
        let said = text(&["estimate", &second, &tenth, flag, &file]);
        assert!(said.contains("(from the file)") && said.contains("1 of 2"), "{said}");
        let now = std::fs::read_to_string(&file).unwrap();
        assert!(now.starts_with(&first));
        assert_eq!(now.lines().count(), first.lines().count() + 1, "{now}");
        // Other settings are another result.
        text(&["estimate", &second, "--seed", "7", flag, &file]);
        let rows = std::fs::read_to_string(&file).unwrap();
        assert_eq!(rows.lines().count(), first.lines().count() + 2);
        assert_eq!(run(&["estimate", &second, flag, &second]).code, Some(2));
    }
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let folder = Folder::new();
    let [second, tenth, _] = models(&folder);
    let bad = folder.path("m-3.npz");
    std::fs::write(&bad, "not a model").unwrap();
    let answer = run(&["estimate", &second, &bad, &tenth, "--json"]);
    assert_eq!(answer.code, Some(1));
    let rows: Vec<Value> =
        answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["verdict"] == "exact"));
    let last = answer.stderr.lines().last().unwrap();
    assert!(last.contains("1 of 3 models have no result") && last.contains("m-3.npz"), "{last}");
    assert_eq!(run(&["estimate", &folder.path("q*.npz")]).code, Some(2));
    let misled = run(&["estimate", &second, &tenth, "--run", &folder.path("run")]);
    assert_eq!(misled.code, Some(2));
}

/// What can be summed is sampled.
const SAMPLED: [&str; 5] = ["--no-exact", "--rounds", "1", "--core", "0"];

/// The hash of the model, the settings and log Z of each row.
fn rows_of(file: &str) -> Vec<(String, String, f64)> {
    let text = std::fs::read_to_string(file).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[1].to_owned(), fields[2].to_owned(), fields[5].parse().unwrap())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn models_that_share_starts_go_on_to_the_same_rows() {
    let folder = Folder::new();
    let models = models(&folder);
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let table = |name: &str, models: &[&str], more: &[&str]| {
        let file = folder.path(name);
        let options = ["--csv", &file, "--quiet"];
        text(&[&["estimate"], models, &SAMPLED, &options, more].concat());
        rows_of(&file)
    };
    let alone = table("alone.csv", &models[..2], &[]);
    let shared = table("shared.csv", &models, &["--share-starts"]);
    // The first one has nobody before it; the others have more to search from, and other random numbers.
    assert_eq!(alone[0].2, shared[0].2);
    assert_ne!(alone[1].2, shared[1].2);
    assert!(shared[0].1.ends_with("-from-none"), "{shared:?}");
    for k in [1, 2] {
        let before = &shared[k - 1].0[..12];
        assert!(shared[k].1.ends_with(before), "{shared:?} {before}");
    }
    // One by one, as after a kill at any time.
    for count in 1..=3 {
        table("again.csv", &models[..count], &["--share-starts"]);
    }
    assert_eq!(table("again.csv", &models, &["--share-starts"]), shared);
    // A row whose start is lost is computed again, to the same number.
    std::fs::remove_file(folder.path("again.csv.starts")).unwrap();
    let twice = table("again.csv", &models, &["--share-starts"]);
    assert_eq!(twice[3..], shared[..]);
    // Other models before it are other settings.
    let without_second = table("shared.csv", &[models[0], models[2]], &["--share-starts"]);
    assert_eq!(without_second.len(), 4);
    assert_ne!(without_second[3].1, shared[2].1);
}

#[test]
fn a_bad_file_hands_nothing_on_and_says_so() {
    let folder = Folder::new();
    let models = models(&folder);
    let bad = folder.path("bad.npz");
    std::fs::write(&bad, "not a model").unwrap();
    let (with, without) = (folder.path("with.csv"), folder.path("without.csv"));
    let shared = ["--share-starts", "--quiet", "--csv"];
    let answer =
        run(&[&["estimate", &models[0], &bad, &models[1]], &SAMPLED[..], &shared, &[&with]]
            .concat());
    assert_eq!(answer.code, Some(1));
    text(&[&["estimate", &models[0], &models[1]], &SAMPLED[..], &shared, &[&without]].concat());
    assert_eq!(rows_of(&with), rows_of(&without));
}

#[test]
fn starts_are_shared_by_several_models_and_by_auto_alone() {
    let one = one_sentence(&["estimate", "gwgm-hard", "--share-starts"]);
    assert!(one.contains("--share-starts is for several models"), "{one}");
    let ais = ["estimate", "gwgm-hard", "gwgm-easy", "--method", "ais", "--share-starts"];
    let ais = one_sentence(&ais);
    assert!(ais.contains("--share-starts has no effect"), "{ais}");
}
