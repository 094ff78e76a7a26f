//! One file per command.

pub(crate) mod bench;
pub(crate) mod bounds;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod data;
pub(crate) mod estimate;
pub(crate) mod exact;
pub(crate) mod folder;
pub(crate) mod generate;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod many;
pub(crate) mod models;
pub(crate) mod paper;
pub(crate) mod sample;
pub(crate) mod schema;
pub(crate) mod score;
pub(crate) mod track;
pub(crate) mod train;
pub(crate) mod version;
