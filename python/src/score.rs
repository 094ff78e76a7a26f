//! The log-likelihood of data.

use crate::arrays::{Data, RowReader};
use crate::errors::exception;
use crate::estimates::{LineFields, fields_of, to_json};
use crate::model::Model;
use crate::options::optional;
use crate::work::{self, Call};
use lnz::data::Binarize;
use lnz_app::Spelling;
use lnz_app::likelihood::{self, ScoreRequest};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The log Z that is taken off, with what is known about it.
#[pyclass(frozen, module = "lnz._lnz")]
pub(crate) struct LogZ(likelihood::LogZ);

#[pymethods]
impl LogZ {
    /// A number, taken as if it were exact.
    #[staticmethod]
    fn given(value: f64) -> PyResult<Self> {
        likelihood::LogZ::given(value).map(Self).map_err(exception)
    }

    /// From a file that holds a result for this model.
    #[staticmethod]
    fn read(path: PathBuf, model: &Model) -> PyResult<Self> {
        likelihood::LogZ::read(&path, &model.stored.model).map(Self).map_err(exception)
    }

    /// From the JSON of a result for this model, and the messages and advice of its warnings.
    #[staticmethod]
    fn of_result(json: &str, said: Vec<(String, String)>, model: &Model) -> PyResult<Self> {
        let result = serde_json::from_str(json)
            .map_err(|error| PyValueError::new_err(format!("log_z is not JSON: {error}")))?;
        let log_z = likelihood::LogZ::of_result(result, &model.stored.model).map_err(exception)?;
        Ok(Self(log_z.with_warnings(said)))
    }
}

/// F of every example, while log Z is not there yet.
#[pyclass(frozen, module = "lnz._lnz")]
pub(crate) struct Scored(likelihood::Scored);

/// A likelihood on its way to Python.
#[pyclass(frozen, get_all, module = "lnz._lnz")]
pub(crate) struct Likelihood {
    /// The object that the command line prints with --json.
    json: String,
    lines: Vec<LineFields>,
    /// (kind, what was found, what to try) of each warning.
    warnings: Vec<(String, String, String)>,
    log_likelihoods: Py<PyArray1<f64>>,
}

/// Goes through a data set.
#[pyfunction]
#[pyo3(signature = (model, data, *, binarize, seed, threads, progress))]
pub(crate) fn score(
    py: Python<'_>,
    model: &Model,
    data: Data<'_>,
    binarize: Option<&str>,
    seed: u64,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Scored> {
    let binarize: Binarize = optional("binarize", binarize)?.unwrap_or_default();
    let (stored, call) = (&model.stored, Call { threads, progress, crew: None });
    let request = ScoreRequest { name: &model.name, stored, binarize, seed };
    let scored = match &data {
        Data::File(path) => work::run_borrowing(py, &call, |observer| request.file(path, observer)),
        Data::Rows(matrix) => {
            let (rows, name) = (matrix.rows(), "data");
            rows.check_width(name, stored.model.visible()).map_err(exception)?;
            let mut reader = RowReader { rows, name, binarize, seed, done: 0 };
            work::run_borrowing(py, &call, |observer| request.rows(&mut reader, observer))
        }
    };
    scored.map(Scored)
}

#[pymethods]
impl Scored {
    /// Takes log Z off.
    fn report(&self, py: Python<'_>, log_z: &LogZ) -> PyResult<Likelihood> {
        let spelling = Spelling::Keywords;
        let report = self.0.report(log_z.0.clone());
        let values = self.0.log_likelihoods(report.log_z);
        let warnings = report.warnings.iter();
        Ok(Likelihood {
            json: to_json(&report)?,
            lines: fields_of(report.lines(spelling)),
            warnings: warnings
                .map(|w| (w.kind.clone(), w.found.clone(), spelling.say(&w.advice)))
                .collect(),
            log_likelihoods: values.into_pyarray(py).unbind(),
        })
    }
}
