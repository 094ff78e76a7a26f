//! What can go wrong, each case with the value that was found.

use crate::duration::in_words;
use std::io;
use std::path::{Path, PathBuf};

/// The error of every fallible function in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model has an empty visible layer.
    #[error("weights has no visible units; at least one is needed")]
    NoVisibleUnits,

    /// A bias vector does not fit the weight matrix.
    #[error(
        "{layer}_bias has {found} values, but weights has {expected} {layer} units (its shape is {visible} visible x {hidden} hidden)"
    )]
    BiasLength {
        /// `visible` or `hidden`.
        layer: &'static str,
        /// Length of the bias vector.
        found: usize,
        /// Number of units in that layer according to the weights.
        expected: usize,
        /// Rows of the weights.
        visible: usize,
        /// Columns of the weights.
        hidden: usize,
    },

    /// A parameter is NaN or infinite.
    #[error("{tensor}{index:?} is {value}; every parameter must be a finite number")]
    NotFinite {
        /// `weights`, `visible_bias` or `hidden_bias`.
        tensor: &'static str,
        /// Position of the first such value.
        index: Vec<usize>,
        /// The value found.
        value: f64,
    },

    /// A setting is outside its range.
    #[error("{setting} is {found}; expected {expected}")]
    Setting {
        /// Name of the setting, as in the library and on the command line.
        setting: &'static str,
        /// What was given.
        found: String,
        /// What would be accepted.
        expected: String,
    },

    /// A state or data row has the wrong number of units.
    #[error("{what} has {found} columns, but the model has {expected} visible units")]
    Width {
        /// What has the wrong width.
        what: String,
        /// Columns found.
        found: usize,
        /// Visible units of the model.
        expected: usize,
    },

    /// Enumeration would take too long.
    #[error(
        "exact enumeration needs 2^{free_units} states, about {} on this machine, but {} is allowed; choose an estimate instead, or allow more time",
        in_words(*seconds),
        in_words(*allowed)
    )]
    TooManyStates {
        /// Size of the largest enumerated layer.
        free_units: usize,
        /// Predicted time.
        seconds: f64,
        /// The time that was allowed.
        allowed: f64,
    },

    /// Enumeration is out of the question.
    #[error(
        "exact enumeration needs 2^{free_units} states, about {} on this machine; {limit} units are the most that can be enumerated, choose an estimate instead",
        in_words(*seconds)
    )]
    TooManyUnits {
        /// Size of the largest layer to enumerate.
        free_units: usize,
        /// Units that can be enumerated.
        limit: usize,
        /// Predicted time.
        seconds: f64,
    },

    /// Elimination would take too long.
    #[error(
        "exact elimination has width {width}, which takes about {} on this machine, but {} is allowed; choose an estimate instead, or allow more time",
        in_words(*seconds),
        in_words(*allowed)
    )]
    TooWide {
        /// Units of the largest table, with those that take their states one after the other.
        width: usize,
        /// Predicted time.
        seconds: f64,
        /// The time that was allowed.
        allowed: f64,
    },

    /// Elimination is out of the question.
    #[error(
        "exact elimination has width {width}, which takes about {} on this machine, or more memory than is allowed; choose an estimate instead",
        in_words(*seconds)
    )]
    FarTooWide {
        /// Units of the largest table.
        width: usize,
        /// Predicted time.
        seconds: f64,
    },

    /// Energies beyond float64.
    #[error(
        "the weights and biases add up to more than 1e307, so log Z may exceed the largest float64; scale the model down"
    )]
    Overflow,

    /// Energies that float64 holds, but too coarsely for the weights of samples.
    #[error(
        "the weights and biases add up to {energy:.1e}, and beyond 1e13 float64 does not resolve log Z to the weights of samples; scale the model down, or compute it exactly"
    )]
    Unresolved {
        /// What they add up to.
        energy: f64,
    },

    /// There is not enough memory.
    #[error(
        "{what} would need {:.1} GB of memory, but {:.1} GB are left; use a smaller model or data set, or a larger machine",
        needed / 1e9, available / 1e9
    )]
    Memory {
        /// What it is for.
        what: String,
        /// Bytes that it takes.
        needed: f64,
        /// Bytes that there are.
        available: f64,
    },

    /// A file could not be understood.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected and what to do.
        problem: String,
        /// What the operating system said, where it would not open the file.
        source: Option<io::Error>,
    },

    /// A file could not be written.
    #[error("{}: cannot be written: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
        /// The path itself is at fault (missing folder, no permission), not the disk.
        bad_path: bool,
        /// What the operating system said; none where the name asks for no known format.
        source: Option<io::Error>,
    },

    /// A built-in model that was not compiled in.
    #[error(
        "`{name}` is a trained model, and this build has none of them; compile it with the feature `models`, or give a model file"
    )]
    LeftOut {
        /// The model.
        name: &'static str,
    },

    /// Training has gone astray.
    #[error(
        "training diverged in epoch {epoch}: the reconstruction error is {reconstruction_error:.4} per unit, where always answering the mean gives {variance:.4}, and the weights have a root mean square of {weight_rms:.3}; try a learning rate below {learning_rate}"
    )]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
        /// Mean squared error of the reconstruction.
        reconstruction_error: f64,
        /// What the mean of the data would give.
        variance: f64,
        /// Root mean square of the weights.
        weight_rms: f64,
        /// The learning rate of the epoch.
        learning_rate: f64,
    },

    /// The time was over before there was anything to report.
    #[error("{} is not enough: stopped {reached}, before there was a result", in_words(*allowed))]
    OutOfTime {
        /// The time that was allowed.
        allowed: f64,
        /// How far the work had come.
        reached: String,
    },

    /// The time is too short even for the least that would be a result.
    #[error(
        "{} is not enough: the least that makes a result would take about {}; allow more time, or choose AIS with fewer betas",
        in_words(*allowed), in_words(*least)
    )]
    TooSlow {
        /// The time that was allowed.
        allowed: f64,
        /// What the least is predicted to take.
        least: f64,
    },

    /// Orders that could not be carried out, or results that do not go together.
    #[error("{problem}")]
    Orders {
        /// What is wrong and what to do.
        problem: String,
    },

    /// The observer asked to stop before there was anything to report.
    #[error("stopped {reached}, before there was a result")]
    Cancelled {
        /// How far the work had come.
        reached: String,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A file whose content is at fault.
    pub(crate) fn file(path: &Path, problem: String) -> Self {
        Error::File { path: path.to_owned(), problem, source: None }
    }

    /// A path that asks for something that cannot be written.
    pub(crate) fn not_writable(path: &Path, problem: String) -> Self {
        Error::Write { path: path.to_owned(), problem, bad_path: true, source: None }
    }

    /// Fails if the file cannot be opened. Asked before a file is parsed, where problems are words, so
    /// that what the operating system says is kept.
    pub(crate) fn unless_readable(path: &Path) -> Result<()> {
        // Standard input has no path, and a pipe can be opened once.
        let opened = match std::fs::metadata(path) {
            _ if path == Path::new("-") => Ok(()),
            Ok(metadata) if !metadata.is_file() => Ok(()),
            Ok(_) => std::fs::File::open(path).map(drop),
            Err(error) => Err(error),
        };
        opened.map_err(|error| Error::File {
            path: path.to_owned(),
            problem: format!("cannot be read: {error}"),
            source: Some(error),
        })
    }

    /// Orders that could not be carried out.
    pub fn orders(problem: impl Into<String>) -> Self {
        Error::Orders { problem: problem.into() }
    }

    /// A setting outside its range.
    pub(crate) fn setting(
        setting: &'static str,
        found: impl ToString,
        expected: impl ToString,
    ) -> Self {
        Error::Setting { setting, found: found.to_string(), expected: expected.to_string() }
    }
}
