//! What `--json` prints is what `lnz schema` says.

use crate::files::Folder;
use crate::run::{fields, json, text};
use serde_json::Value;
use std::path::Path;

fn schema() -> Value {
    serde_json::from_str(&text(&["schema"])).unwrap()
}

/// Everything that is wrong with an object of one command.
fn complaints(object: &Value, command: &str) -> Vec<String> {
    let schema = schema();
    let mut found = Vec::new();
    check(&schema["$defs"][command], object, command, &schema, &mut found);
    found
}

/// The keywords that the schema uses; the tests of the Python package hold it against a validator that
/// knows all of them.
fn check(rule: &Value, value: &Value, path: &str, schema: &Value, found: &mut Vec<String>) {
    for (keyword, expected) in rule.as_object().unwrap() {
        let fits = match keyword.as_str() {
            "description" | "minItems" | "maxItems" | "pattern" => true,
            "$ref" => {
                let name = expected.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                check(&schema["$defs"][name], value, path, schema, found);
                true
            }
            "type" => match expected {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(kind, value)),
                kind => is_a(kind, value),
            },
            "const" => expected == value,
            "enum" => expected.as_array().unwrap().contains(value),
            "minimum" => value.is_null() || value.as_f64() >= expected.as_f64(),
            "anyOf" => expected.as_array().unwrap().iter().any(|rule| {
                let mut inner = Vec::new();
                check(rule, value, path, schema, &mut inner);
                inner.is_empty()
            }),
            "properties" => {
                for (name, rule) in expected.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(rule, value, &format!("{path}.{name}"), schema, found);
                    }
                }
                true
            }
            "required" => {
                let names = expected.as_array().unwrap().iter();
                { names }.all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "additionalProperties" => match (expected, value.as_object()) {
                (Value::Bool(false), Some(fields)) => {
                    fields.keys().all(|name| rule["properties"].get(name).is_some())
                }
                _ => true,
            },
            "items" | "prefixItems" => {
                for (n, value) in value.as_array().into_iter().flatten().enumerate() {
                    let rule = if expected.is_array() { &expected[n] } else { expected };
                    if rule.is_object() {
                        check(rule, value, &format!("{path}[{n}]"), schema, found);
                    }
                }
                true
            }
            other => panic!("the schema has the keyword {other}, which this test does not know"),
        };
        if !fits {
            found.push(format!("{path}: {keyword} {expected}, found {value}"));
        }
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has the type {other}"),
    }
}

#[test]
fn the_schema_is_the_file_in_the_documentation() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.json");
    assert_eq!(text(&["schema"]), std::fs::read_to_string(file).unwrap());
}

#[test]
fn every_command_prints_what_the_schema_says() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let rows = ndarray::Array2::from_shape_fn((20, 6), |(n, i)| f64::from((n * i) % 7 == 0));
    let data = folder.npy("d.npy", rows.into_dyn().view());
    let grey = folder.npy("g.npy", ndarray::Array2::from_elem((3, 6), 0.3).into_dyn().view());
    let out = folder.path("run");
    let m = model.as_str();
    let next = folder.small_model("n.npz");
    let bridge = ["--no-exact", "--rounds", "1", "--chains", "256"];
    let cases: [(&str, Vec<&str>); 15] = [
        ("estimate", vec!["estimate", m]),
        ("estimate", vec!["exact", m]),
        ("estimate", vec!["estimate", m, "--no-exact", "--rounds", "1"]),
        ("estimate", vec!["estimate", m, "--betas", "8", "--no-check"]),
        // One chain: its error is not known.
        ("estimate", vec!["estimate", m, "--betas", "8", "--chains", "1"]),
        (
            "estimate",
            vec!["estimate", m, "--start", "metropolis", "--flips", "15%", "--betas", "4"],
        ),
        ("estimate", vec!["estimate", m, "--betas", "8", "--max-seconds", "600"]),
        ("score", vec!["score", m, "--data", &data]),
        ("score", vec!["score", m, "--data", &grey, "--log-z", "30"]),
        ("compare", vec!["compare", m, "--betas", "8", "--chains", "16"]),
        ("track", vec!["track", m, &next, "--data", &data]),
        ("track", [&["track", m, &next], &bridge[..]].concat()),
        ("inspect", vec!["inspect", m]),
        ("inspect", vec!["inspect", "gwgm-hard"]),
        (
            "train",
            vec![
                "train", "--data", &data, "--hidden", "2", "--epochs", "2", "--out", &out,
                "--track", "0-2",
            ],
        ),
    ];
    for (command, mut arguments) in cases {
        arguments.push("--json");
        let object = json(&arguments);
        let found = complaints(&object, command);
        assert!(found.is_empty(), "{arguments:?}: {found:?}");
    }
}

#[test]
fn the_schema_refuses_fields_that_it_does_not_know_and_misses_those_that_are_gone() {
    let folder = Folder::new();
    let mut object = json(&["exact", &folder.small_model("m.npz"), "--json"]);
    assert_eq!(complaints(&object, "estimate"), Vec::<String>::new());
    object["surprise"] = Value::from(1);
    assert!(!complaints(&object, "estimate").is_empty());
    object.as_object_mut().unwrap().remove("surprise");
    object.as_object_mut().unwrap().remove("log_z");
    assert!(!complaints(&object, "estimate").is_empty());
}

#[test]
fn infinite_ends_are_words_and_counts_are_integers() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let one = json(&["estimate", &model, "--betas", "8", "--chains", "1", "--json"]);
    assert_eq!((&one["std_error"], &one["interval"][1]), (&"Infinity".into(), &"Infinity".into()));
    let exact = json(&["exact", &model, "--json"]);
    assert_eq!(exact["cost"]["states"], 16);
    assert!(exact["cost"]["states"].is_u64());
}

#[test]
fn keys_have_one_order() {
    let folder = Folder::new();
    let printed = text(&["exact", &folder.small_model("m.npz"), "--json"]);
    // The names in the order of the text; a parsed object has them sorted.
    let place = |key: &str| printed.find(&format!("\"{key}\":")).unwrap();
    let object: Value = serde_json::from_str(&printed).unwrap();
    let order = ["schema", "log_z", "std_error", "interval", "lower_bound", "verdict", "method"];
    assert!(order.windows(2).all(|pair| place(pair[0]) < place(pair[1])));
    assert!(fields(&object).contains(&"run"));
}

#[test]
fn the_hash_is_that_of_the_parameters_and_not_of_the_file() {
    let folder = Folder::new();
    let model = folder.small_model("m.npz");
    let hash = |path: &str| json(&["inspect", path, "--json"])["model"]["sha256"].clone();
    for name in ["m.safetensors", "m.mat", "m.uai"] {
        let copy = folder.path(name);
        text(&["convert", &model, &copy]);
        // A network of factors has its numbers through exponentials.
        assert_eq!(hash(&copy) == hash(&model), name != "m.uai", "{name}");
    }
}
