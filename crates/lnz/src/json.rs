//! Numbers in JSON, which knows no infinity: the words "Infinity" and "-Infinity" stand for it.
//!
//! The words are those of protocol buffers; `float` in Python and `Number` in JavaScript read them. What
//! is not a number at all is null.

use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real(pub f64);

const INFINITY: &str = "Infinity";
const MINUS_INFINITY: &str = "-Infinity";

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            f64::INFINITY => serializer.serialize_str(INFINITY),
            f64::NEG_INFINITY => serializer.serialize_str(MINUS_INFINITY),
            number => serializer.serialize_f64(number),
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Word(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Real(number)),
            Written::Word(word) => match word.as_str() {
                INFINITY => Ok(Real(f64::INFINITY)),
                MINUS_INFINITY => Ok(Real(f64::NEG_INFINITY)),
                other => Err(serde::de::Error::custom(format!("{other:?} is not a number"))),
            },
        }
    }
}

/// For `serialize_with`: one number.
pub fn real<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Real(*number).serialize(serializer)
}

/// For `serialize_with`: a number that may not be there.
pub fn some_real<S: Serializer>(number: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    number.map(Real).serialize(s)
}

/// For `serialize_with`: both ends of an interval.
pub fn reals<S: Serializer>(numbers: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(numbers.len()))?;
    numbers.iter().try_for_each(|number| list.serialize_element(&Real(*number)))?;
    list.end()
}

/// For `serialize_with`: an interval that may not be there.
pub fn some_reals<S: Serializer>(numbers: &Option<[f64; 2]>, s: S) -> Result<S::Ok, S::Error> {
    numbers.map(|numbers| numbers.map(Real)).serialize(s)
}

/// Whole numbers up to here are all floating-point numbers.
const LARGEST_WHOLE: f64 = (1u64 << 53) as f64;

/// For `serialize_with`: a count that may be too large for an integer; written as one where it is not.
pub fn some_count<S: Serializer>(count: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    match count {
        Some(count) if count.fract() == 0.0 && (0.0..=LARGEST_WHOLE).contains(count) => {
            s.serialize_some(&(*count as u64))
        }
        other => other.map(Real).serialize(s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_numbers_are_words_and_come_back() {
        for (number, text) in [
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (f64::INFINITY, "\"Infinity\""),
            (f64::NEG_INFINITY, "\"-Infinity\""),
        ] {
            let written = serde_json::to_string(&Real(number)).unwrap();
            assert_eq!(written, text);
            let back: Real = serde_json::from_str(&written).unwrap();
            assert_eq!(back.0.to_bits(), number.to_bits());
        }
        assert_eq!(serde_json::to_string(&Real(f64::NAN)).unwrap(), "null");
        assert!(serde_json::from_str::<Real>("\"inf\"").is_err());
    }

    #[test]
    fn counts_are_integers_as_far_as_they_can_be() {
        #[derive(Serialize)]
        struct Counted(#[serde(serialize_with = "some_count")] Option<f64>);
        let written = |count| serde_json::to_string(&Counted(count)).unwrap();
        assert_eq!(written(Some(1024.0)), "1024");
        assert_eq!(written(Some(2f64.powi(60))), "1.152921504606847e+18");
        assert_eq!(written(None), "null");
    }
}
