//! log Z and likelihoods along a training loop of the caller's.

use crate::arrays::Data;
use crate::errors::exception;
use crate::model::Model;
use crate::work::{self, Call};
use lnz::data::Binarize;
use lnz::train::{self, Tracking};
use lnz_app::session;
use pyo3::prelude::*;

/// Examples in memory, ready to be scored again and again.
#[pyclass(frozen, module = "lnz._lnz")]
pub(crate) struct Examples(pub(crate) train::Examples);

#[pymethods]
impl Examples {
    /// At most so many rows of a data set, evenly spaced.
    #[new]
    #[pyo3(signature = (name, data, *, most, threads))]
    fn new(
        py: Python<'_>,
        name: &str,
        data: Data<'_>,
        most: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let all = read(py, static_name(name), &data, Binarize::None, threads)?;
        Ok(Self(match most {
            Some(most) => all.thinned(most),
            None => all,
        }))
    }

    /// The mean of F(x) under a model.
    fn mean_log_marginal(
        &self,
        py: Python<'_>,
        model: &Model,
        threads: Option<usize>,
    ) -> PyResult<f64> {
        let model = &model.stored.model;
        work::run_borrowing(py, &Call { threads, progress: None, crew: None }, |_| {
            Ok(train::mean_log_marginal(model, &self.0)?)
        })
    }
}

/// The library keeps the names of settings.
fn static_name(name: &str) -> &'static str {
    if name == "validation" { "validation" } else { "data" }
}

/// Reads a data set, which messages call `name`, to learn from it.
pub(crate) fn read(
    py: Python<'_>,
    name: &'static str,
    data: &Data<'_>,
    binarize: Binarize,
    threads: Option<usize>,
) -> PyResult<train::Examples> {
    let call = Call { threads, progress: None, crew: None };
    match data {
        Data::File(path) => {
            let path = path.clone();
            work::run(py, &call, move |_| session::read_examples(&path, binarize, None))
        }
        Data::Rows(matrix) => {
            let (rows, binarize) = (matrix.rows(), session::while_reading(binarize));
            work::run_borrowing(py, &call, |_| {
                let block = rows.block(name, 0..rows.count(), binarize, 0)?;
                Ok(train::Examples::from_rows(block.view())?)
            })
        }
    }
}

/// log Z, standard error, interval, verdict, and the mean log-likelihoods of both data sets.
type TrackedFields = (f64, f64, [f64; 2], &'static str, Option<f64>, Option<f64>);

/// Looks at a model as `lnz train --track` does.
#[pyfunction]
#[pyo3(signature = (model, data, validation, *, track_effort, exact_seconds, seed, threads, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn track(
    py: Python<'_>,
    model: &Model,
    data: Option<&Examples>,
    validation: Option<&Examples>,
    track_effort: f64,
    exact_seconds: f64,
    seed: u64,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<TrackedFields> {
    session::check_effort(track_effort).map_err(exception)?;
    let tracking = Tracking { effort: track_effort, exact_seconds };
    let (model, data) = (&model.stored.model, data.map(|data| &data.0));
    let validation = validation.map(|data| &data.0);
    let found = work::run_borrowing(py, &Call { threads, progress, crew: None }, |observer| {
        Ok(train::track(model, data, validation, &tracking, seed, observer)?)
    })?;
    let verdict = found.verdict.name();
    Ok((found.log_z, found.std_error, found.interval, verdict, found.train, found.validation))
}
