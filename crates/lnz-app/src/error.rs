//! What can go wrong between a request and its result.

use crate::Spelling;
use lnz::Deadline;
use std::path::PathBuf;

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

    /// A saved result that cannot be used as log Z.
    #[error("{}: {}", path.display(), Spelling::Keywords.say(&format!("{{log_z}} {problem}")))]
    SavedResult {
        /// The file.
        path: PathBuf,
        /// What is wrong with it: a sentence without its subject, with options in braces.
        problem: String,
    },

    /// The name of a data set that is not in the cache.
    #[error(
        "`{name}` is no file, and the data set of this name is not in {}; get it with `lnz data fetch {set}`",
        folder.display()
    )]
    NotFetched {
        /// What was asked for.
        name: &'static str,
        /// Where it would be.
        folder: PathBuf,
        /// The data set that it is part of.
        set: &'static str,
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
    /// The same error; if it says that work was stopped, and the deadline did that, that the time was
    /// too short.
    pub fn at(self, deadline: &Deadline<'_>) -> Self {
        match self {
            Error::Library(error) => Error::Library(deadline.explain(error)),
            other => other,
        }
    }

    /// Options that do not go together; they stand in braces.
    pub fn options(text: impl Into<String>) -> Self {
        Error::Options { text: text.into() }
    }
}
