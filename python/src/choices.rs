//! The names of choices, for the tests of the types in Python.

use lnz::data::Binarize;
use lnz::io::Units;
use lnz::train::VisibleBias;
use lnz::{ChainLayout, Choice, InitialState, Method, Precision, Verdict};
use lnz_app::request::StartKind;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The names that each option takes, and that a verdict has.
#[pyfunction]
pub(crate) fn choices() -> BTreeMap<&'static str, Vec<&'static str>> {
    BTreeMap::from([
        ("method", names::<Method>()),
        ("start", names::<StartKind>()),
        ("init", names::<InitialState>()),
        ("chain_layout", names::<ChainLayout>()),
        ("precision", names::<Precision>()),
        ("binarize", names::<Binarize>()),
        ("visible_bias", names::<VisibleBias>()),
        ("units", names::<Units>()),
        ("verdict", names::<Verdict>()),
    ])
}

fn names<T: Choice>() -> Vec<&'static str> {
    T::CHOICES.iter().map(|choice| choice.name).collect()
}
