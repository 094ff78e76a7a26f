//! Many models in one command: a row for each, whatever happens to the others.

use crate::files::Folder;
use crate::run::{json, run, text};
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
