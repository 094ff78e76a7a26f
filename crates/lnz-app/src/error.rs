//! What can go wrong between a request and its result.

use crate::Spelling;

/// The error of every fallible function in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused or failed.
    #[error(transparent)]
    Library(#[from] lnz::Error),

    /// Options that contradict each other, or of which one has no effect.
    #[error("{}", Spelling::Keywords.say(text))]
    Options {
        /// What is wrong and what to do, with the options in braces: see [`Spelling::say`].
        text: String,
    },

    /// Neither a file nor the name of a built-in model.
    #[error("`{name}` is neither a file nor a built-in model{}", did_you_mean(*near))]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// The built-in model with the most similar name.
        near: Option<&'static str>,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

impl Error {
    /// Options that do not go together; they stand in braces.
    pub fn options(text: impl Into<String>) -> Self {
        Error::Options { text: text.into() }
    }
}
