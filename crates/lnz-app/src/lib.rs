//! What the tool and the Python package share: requests, plans, runs and their results.
//!
//! | to | use |
//! |---|---|
//! | find a model by file or name | [`Source::load`] |
//! | ask for an estimate by options | [`request::Request`], [`request::Request::plan`] |
//! | run it | [`run::estimate`], [`compare::compare`], [`network::exact`] |
//! | estimate many models, a row for each | [`batch`] |
//! | follow log Z along a training run | [`track`] |
//! | keep a run in a folder, where it goes on | [`folder::RunFolder`] |
//! | show it | [`report::Report`], as JSON and as lines of text; [`page`], as HTML |
//! | get the log-likelihood of data | [`likelihood::Scored`], [`likelihood::LogZ`], [`likelihood::LikelihoodReport`] |
//! | say what the JSON looks like | [`schema`] |
//! | hold methods against known values | [`league`] |
//! | train | [`session::Session`], [`history::History`] |
//! | find a data set by its name | [`data_sets::resolve`] |
//! | make an artificial model | [`Recipe`], [`SpinRecipe`] |
//! | name options as flags or keywords | [`Spelling`] |

pub mod batch;
pub mod compare;
pub mod data_sets;
mod epochs;
mod error;
pub mod folder;
pub mod history;
pub mod league;
pub mod likelihood;
pub mod network;
#[doc(hidden)]
pub mod numbers;
pub mod overtime;
pub mod page;
pub mod provenance;
mod recipe;
pub mod report;
pub mod request;
pub mod run;
pub mod schema;
pub mod session;
mod source;
mod spelling;
pub mod track;

pub use epochs::Epochs;
pub use error::{Error, Result};
pub use recipe::{Recipe, SpinRecipe};
pub use source::{Origin, Source};
pub use spelling::Spelling;
