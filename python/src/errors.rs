//! Errors of the library as exceptions of Python.

use lnz::Error;
use lnz_app::Error::{Library, NotFetched, SavedResult, UnknownModel};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyRuntimeError, PyTimeoutError, PyValueError,
};

/// The exception that fits an error, with its message.
pub(crate) fn exception(error: impl Into<lnz_app::Error>) -> PyErr {
    let error = error.into();
    match &error {
        UnknownModel { .. } => PyValueError::new_err(format!("{error} (lnz.models() lists them)")),
        NotFetched { .. } => PyFileNotFoundError::new_err(error.to_string()),
        Library(Error::File { path, .. }) | SavedResult { path, .. } if !path.exists() => {
            PyFileNotFoundError::new_err(error.to_string())
        }
        Library(Error::OutOfTime { allowed, reached }) => PyTimeoutError::new_err(format!(
            "max_seconds={allowed} is not enough: stopped {reached}, before there was a result"
        )),
        Library(Error::TooSlow { allowed, least }) => PyTimeoutError::new_err(format!(
            "max_seconds={allowed} is not enough: the least that makes a result would take about {}; allow more time, or choose method=\"ais\" with fewer betas",
            lnz::in_words(*least)
        )),
        Library(Error::Orders { .. }) => PyRuntimeError::new_err(error.to_string()),
        Library(Error::Memory { .. }) => PyMemoryError::new_err(error.to_string()),
        Library(Error::Write { .. }) => PyOSError::new_err(error.to_string()),
        Library(Error::TooManyStates { free_units, seconds, .. }) => {
            PyValueError::new_err(format!(
                "the exact value needs 2^{free_units} states, about {} on this machine; use lnz.estimate, or lnz.exact with force=True",
                lnz::in_words(*seconds)
            ))
        }
        Library(Error::TooWide { width, seconds, .. }) => PyValueError::new_err(format!(
            "the exact value needs an elimination of width {width}, about {} on this machine; use lnz.estimate, or lnz.exact with force=True",
            lnz::in_words(*seconds)
        )),
        _ => PyValueError::new_err(error.to_string()),
    }
}
