//! Results as pages: each function writes one HTML file.

use crate::errors::exception;
use lnz_app::page::{self, Trace, Words};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What JSON leaves out of an estimate: log weights, path, rounds.
type TraceFields<'py> =
    (Option<PyReadonlyArray1<'py, f64>>, Vec<(f64, f64)>, Vec<(f64, f64, f64, f64)>);

fn trace((weights, path, rounds): TraceFields<'_>) -> PyResult<Trace> {
    let log_weights = match weights {
        Some(weights) => weights.as_array().to_vec(),
        None => vec![],
    };
    let rounds = rounds.into_iter().map(|(time, log_z, low, high)| [time, log_z, low, high]);
    Ok(Trace { log_weights, path, rounds: rounds.collect() })
}

fn parsed(json: &str) -> PyResult<Value> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn write(path: &Path, page: String) -> PyResult<()> {
    lnz::io::write_file(path, page.as_bytes()).map_err(exception)
}

/// The page of an estimate.
#[pyfunction]
pub(crate) fn write_estimate_page(
    path: PathBuf,
    json: &str,
    words: Vec<Words>,
    traced: TraceFields<'_>,
    command: &str,
) -> PyResult<()> {
    write(&path, page::estimate(&parsed(json)?, &words, &trace(traced)?, command))
}

/// The page of a likelihood.
#[pyfunction]
pub(crate) fn write_score_page(
    path: PathBuf,
    json: &str,
    words: Vec<Words>,
    log_likelihoods: PyReadonlyArray1<'_, f64>,
    traced: TraceFields<'_>,
    command: &str,
) -> PyResult<()> {
    let values = log_likelihoods.as_array().to_vec();
    write(&path, page::score(&parsed(json)?, &words, &values, &trace(traced)?, command))
}

/// The page of a comparison.
#[pyfunction]
#[pyo3(signature = (path, json, note, command))]
pub(crate) fn write_compare_page(
    path: PathBuf,
    json: &str,
    note: Option<&str>,
    command: &str,
) -> PyResult<()> {
    write(&path, page::compare(&parsed(json)?, note, command))
}

/// The page of log Z along a training run.
#[pyfunction]
pub(crate) fn write_track_page(
    path: PathBuf,
    json: &str,
    words: Vec<Words>,
    command: &str,
) -> PyResult<()> {
    write(&path, page::track(&parsed(json)?, &words, command))
}

/// The page of a training run.
#[pyfunction]
pub(crate) fn write_train_page(
    path: PathBuf,
    json: &str,
    words: Vec<Words>,
    settings: Vec<(String, String)>,
    command: &str,
) -> PyResult<()> {
    write(&path, page::train(&parsed(json)?, &words, settings, command))
}
