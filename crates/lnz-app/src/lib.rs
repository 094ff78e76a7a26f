//! What the tool and the Python package share: a request becomes a plan, a plan is run, and its result is
//! one object for programs and for people.
//!
//! | to | use |
//! |---|---|
//! | find a model by file or name | [`Source::load`] |
//! | ask for an estimate by options | [`request::Request`], [`request::Request::plan`] |
//! | run it | [`run::estimate`], [`compare::compare`] |
//! | show it | [`report::Report`], as JSON and as lines of text |
//! | make an artificial model | [`Recipe`] |
//! | name options as flags or keywords | [`Spelling`] |

pub mod compare;
mod error;
pub mod numbers;
mod recipe;
pub mod report;
pub mod request;
pub mod run;
mod source;
mod spelling;

pub use error::{Error, Result};
pub use recipe::Recipe;
pub use source::{Origin, Source};
pub use spelling::Spelling;
