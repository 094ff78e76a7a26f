//! The names of choices, each spelled once: for arguments, for Python, for files and for results.

use crate::{ChainLayout, Flips, InitialState, Precision};
use std::fmt;

/// A setting that takes one of a few values, each with a name.
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// All values, in the order in which they are offered.
    const CHOICES: &'static [Named<Self>];

    /// The name of this value.
    fn name(self) -> &'static str {
        Self::CHOICES.iter().find(|choice| choice.value == self).map_or("", |choice| choice.name)
    }

    /// The value of this name.
    fn named(name: &str) -> Option<Self> {
        Self::CHOICES.iter().find(|choice| choice.name == name).map(|choice| choice.value)
    }

    /// What a message offers: "`a` or `b`", "one of `a`, `b`, `c`".
    fn offer() -> String {
        let names: Vec<String> = Self::CHOICES.iter().map(|c| format!("`{}`", c.name)).collect();
        match names.len() {
            0..=2 => names.join(" or "),
            _ => format!("one of {}", names.join(", ")),
        }
    }
}

/// A value of a [`Choice`], what it is called and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named<T> {
    /// The value.
    pub value: T,
    /// As it is typed.
    pub name: &'static str,
    /// What it means, in half a sentence.
    pub help: &'static str,
}

/// The names of an enum: `choices!(Units { Binary: "binary", "0 and 1"; ... })`. It gets
/// [`Choice`](crate::Choice), a method `name` and, as `choices!(serialized Units ...)`, its name in
/// JSON.
#[doc(hidden)]
#[macro_export]
macro_rules! choices {
    (serialized $type:ident $names:tt) => {
        $crate::choices!($type $names);

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
    ($type:ident { $($value:ident: $name:literal, $help:literal;)+ }) => {
        impl $crate::Choice for $type {
            const CHOICES: &'static [$crate::Named<Self>] = &[
                $($crate::Named { value: $type::$value, name: $name, help: $help },)+
            ];
        }

        impl $type {
            /// As it is typed.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }
        }
    };
}

choices!(InitialState {
    Zero: "zero", "All units off";
    One: "one", "All units on";
    Random: "random", "Each unit on with probability 1/2";
    MeanField: "mf", "Mean field: the sign of each row sum";
    Pseudoinverse: "ps", "Pseudoinverse of the weights";
});

choices!(ChainLayout {
    Parallel: "parallel", "Many chains, one sample each";
    Single: "single", "One chain, `steps` moves between samples";
});

choices!(Precision {
    I16: "i16", "16 bits, the fastest; 32 where that is too coarse";
    I32: "i32", "32 bits";
    F64: "f64", "Floating point: slow, for checking";
});

impl fmt::Display for Flips {
    /// `3` units or `15%` of them, as they are typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flips::Units(n) => write!(f, "{n}"),
            Flips::Percent(p) => write!(f, "{p}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::data::Binarize;
    use crate::io::{Float, Units};
    use crate::train::VisibleBias;
    use std::fmt::Debug;

    /// Names lead back to their values, and differ.
    fn assert_named<T: Choice + Debug>() {
        for choice in T::CHOICES {
            assert_eq!(T::named(choice.name), Some(choice.value));
            assert_eq!(choice.value.name(), choice.name);
            assert!(!choice.help.is_empty() && !choice.help.ends_with('.'));
        }
        assert_eq!(T::named("none of these"), None);
    }

    #[test]
    fn every_name_leads_back_to_its_value() {
        assert_named::<InitialState>();
        assert_named::<ChainLayout>();
        assert_named::<Precision>();
        assert_named::<Binarize>();
        assert_named::<Units>();
        assert_named::<Float>();
        assert_named::<VisibleBias>();
        assert_named::<Verdict>();
    }

    #[test]
    fn json_has_the_same_names() {
        fn assert_json<T: Choice + serde::Serialize>() {
            for choice in T::CHOICES {
                assert_eq!(serde_json::to_value(choice.value).unwrap(), choice.name);
            }
        }
        assert_json::<InitialState>();
        assert_json::<ChainLayout>();
        assert_json::<Precision>();
        assert_json::<Binarize>();
        assert_json::<Verdict>();
    }

    #[test]
    fn a_message_offers_all_names() {
        assert_eq!(ChainLayout::offer(), "`parallel` or `single`");
        assert_eq!(Precision::offer(), "one of `i16`, `i32`, `f64`");
    }

    #[test]
    fn flips_are_written_as_they_are_read() {
        for text in ["3", "15%", "2.5%"] {
            assert_eq!(text.parse::<Flips>().unwrap().to_string(), text);
        }
    }
}
