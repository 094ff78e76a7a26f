//! Errors of the library as exceptions of Python.

use lnz::Error;
use lnz_app::Error::{Library, UnknownModel};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};

/// The exception that fits an error, with its message.
pub(crate) fn exception(error: impl Into<lnz_app::Error>) -> PyErr {
    let error = error.into();
    match &error {
        UnknownModel { .. } => PyValueError::new_err(format!("{error} (lnz.models() lists them)")),
        Library(Error::File { path, .. }) if !path.exists() => {
            PyFileNotFoundError::new_err(error.to_string())
        }
        Library(Error::Write { .. }) => PyOSError::new_err(error.to_string()),
        Library(Error::TooManyStates { free_units, seconds, .. }) => {
            PyValueError::new_err(format!(
                "the exact value needs 2^{free_units} states, about {} on this machine; use lnz.estimate, or lnz.exact with force=True",
                lnz::in_words(*seconds)
            ))
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}
