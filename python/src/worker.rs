//! A worker: carries out the orders of a crew.

use crate::work::{self, Call};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Carries out an order: what a worker does.
#[pyfunction]
#[pyo3(signature = (model, order, *, threads))]
pub(crate) fn carry_out<'py>(
    py: Python<'py>,
    model: Vec<u8>,
    order: String,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let call = Call { threads, progress: None, crew: None };
    let output =
        work::run(py, &call, move |observer| Ok(lnz::carry_out(&model, &order, observer)?));
    Ok(PyBytes::new(py, &output?))
}
