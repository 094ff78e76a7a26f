//! What the JSON of every command looks like, as a JSON Schema.

use serde_json::{Number, Value};

/// Version of the fields. It rises when a field changes its meaning or goes away, not when one is added.
pub const VERSION: u32 = 2;

/// The schema (draft 2020-12): one definition for each command that has `--json`. The same text is in
/// docs/schema.json.
pub const TEXT: &str = include_str!("schema.json");

/// A count that may be too large for an integer; an integer where it is not.
pub fn count(count: f64) -> Value {
    match count.fract() == 0.0 && (0.0..=(1u64 << 53) as f64).contains(&count) {
        true => Value::from(count as u64),
        false => Number::from_f64(count).map_or(Value::Null, Value::Number),
    }
}

/// A number that may be infinite: then it is a word.
pub fn real(number: f64) -> Value {
    match number {
        f64::INFINITY => Value::from("Infinity"),
        f64::NEG_INFINITY => Value::from("-Infinity"),
        number => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}
