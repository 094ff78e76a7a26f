//! Finds where a result differs from the one of record.

use serde_json::{Value, json};

/// The path of the first value that differs, with both values. Fields that are only in `after` are no difference.
pub(crate) fn first_difference(before: &Value, after: &Value) -> Option<String> {
    at("", before, after)
}

fn at(path: &str, before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(fields), Value::Object(others)) => {
            fields.iter().find_map(|(name, value)| {
                let here = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match others.get(name) {
                    Some(other) => at(&here, value, other),
                    None => Some(format!(
                        "{here}: expected {}, found no such field",
                        short(&value.to_string())
                    )),
                }
            })
        }
        (Value::Array(values), Value::Array(others)) if values.len() == others.len() => {
            let mut pairs = values.iter().zip(others).enumerate();
            pairs.find_map(|(n, (value, other))| at(&format!("{path}[{n}]"), value, other))
        }
        // As text, numbers are equal only if all their bits are: -0 is not 0, and 1 is not 1.0.
        _ => {
            let [expected, found] = [before, after].map(Value::to_string);
            let differ = expected != found;
            differ
                .then(|| format!("{path}: expected {}, found {}", short(&expected), short(&found)))
        }
    }
}

/// The beginning of a long text.
fn short(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[test]
fn the_first_difference_has_its_path_and_both_values() {
    let before = json!({"log_z": 1.5, "families": [{"share": 0.25}, {"share": 0.75}]});
    let mut after = before.clone();
    after["families"][1]["share"] = json!(0.75_f64.next_up());
    let found = first_difference(&before, &after).unwrap();
    assert_eq!(found, "families[1].share: expected 0.75, found 0.7500000000000001");
}

#[test]
fn new_fields_are_allowed_and_lost_ones_are_not() {
    let (few, many) = (json!({"log_z": 1.5}), json!({"log_z": 1.5, "version": "2"}));
    assert_eq!(first_difference(&few, &many), None);
    let found = first_difference(&many, &few).unwrap();
    assert_eq!(found, "version: expected \"2\", found no such field");
}

#[test]
fn equal_numbers_of_different_bits_differ() {
    assert!(first_difference(&json!(0.0), &json!(-0.0)).is_some());
    assert!(first_difference(&json!(1), &json!(1.0)).is_some());
    assert!(first_difference(&json!([1, 2]), &json!([1, 2, 3])).is_some());
}
