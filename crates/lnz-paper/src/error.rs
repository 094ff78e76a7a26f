//! What can go wrong with an experiment.

use std::io;
use std::path::PathBuf;

/// The error of every fallible function in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused or failed.
    #[error(transparent)]
    Library(#[from] lnz::Error),

    /// A figure could not become a picture.
    #[error(transparent)]
    Figure(#[from] lnz_figures::Error),

    /// The folder for results or models cannot be made.
    #[error("{}: cannot make the folder: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },

    /// A file that is there cannot be read, or is not what it should be.
    #[error("{}: {problem}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },

    /// The data is not what the built-in epochs of a model were trained on.
    #[error(
        "{} is not the data that {model} was trained on ({expected}); its epochs would not fit the others",
        path.display()
    )]
    OtherData {
        /// The data that was given.
        path: PathBuf,
        /// The model.
        model: &'static str,
        /// Name and fingerprint of its data.
        expected: String,
    },

    /// A file cannot be written.
    #[error("{}: {problem}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        problem: String,
    },

    /// A model cannot be made.
    #[error("{model}: {problem}")]
    Model {
        /// The model.
        model: String,
        /// What went wrong.
        problem: String,
    },

    /// A run failed.
    #[error("{run}: {error}")]
    Run {
        /// Problem and instance.
        run: String,
        /// Why it failed.
        error: Box<Error>,
    },

    /// The machine gives no thread.
    #[error("cannot start a thread: {problem}")]
    Thread {
        /// What went wrong.
        problem: String,
    },
}

/// A result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether something that was given is at fault: a file, a folder, a setting.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, Error::Folder { .. } | Error::Input { .. } | Error::OtherData { .. })
    }
}
