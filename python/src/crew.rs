//! An executor of Python as a crew: orders go out as text, results come back as bytes.

use crate::errors::exception;
use lnz::crew::{Crew, Order, Output, Work};
use lnz::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::Duration;

/// Between two looks for results.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// `lnz._executor.Crew`, which knows executors.
pub(crate) struct PythonCrew(pub(crate) Py<PyAny>);

impl PythonCrew {
    /// Calls Python, from a thread that is not Python's.
    fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| {
            work(py).map_err(|error| {
                let said = self.0.call_method1(py, "explained", (error.value(py),));
                let said = said.and_then(|said| said.extract::<String>(py));
                Error::orders(said.unwrap_or_else(|_| error.to_string()))
            })
        })
    }
}

impl Crew for PythonCrew {
    fn carry_out(&self, work: &dyn Work) -> Result<Vec<Output>> {
        let task = work.task();
        let hash = task.sha256();
        let parts = self.call(|py| {
            let arguments = (task.items, task.seconds);
            self.0.call_method1(py, "parts", arguments)?.extract::<usize>(py)
        })?;
        let ranges = task.split(parts);
        let order = |items| serde_json::to_string(&Order { task: task.clone(), items });
        let orders: std::result::Result<Vec<String>, _> =
            ranges.iter().cloned().map(order).collect();
        let orders = orders.map_err(|error| Error::orders(error.to_string()))?;
        let model = work.model();
        let batch = self.call(|py| {
            let model = PyBytes::new(py, &model);
            self.0.call_method1(py, "submit", (&task.model, model, orders))
        })?;
        drop(model);
        let mut outputs: Vec<Option<Output>> = vec![None; ranges.len()];
        loop {
            if work.cancelled() {
                self.call(|py| batch.call_method0(py, "cancel"))?;
                let done = outputs.iter().flatten().count();
                let reached = format!("after {done} of {} orders", ranges.len());
                return Err(Error::Cancelled { reached });
            }
            let ready = self
                .call(|py| batch.call_method0(py, "ready")?.extract::<Vec<(usize, Vec<u8>)>>(py))?;
            for (k, bytes) in ready {
                let items = ranges.get(k).ok_or_else(|| Error::orders("a result of no order"))?;
                let output = Output::from_bytes(&bytes, &hash, items)
                    .map_err(|problem| Error::orders(format!("a result {problem}")))?;
                outputs[k] = Some(output);
                work.advance(items.len());
            }
            if outputs.iter().all(Option::is_some) {
                return Ok(outputs.into_iter().flatten().collect());
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    fn least_seconds(&self) -> f64 {
        let asked = self.call(|py| self.0.getattr(py, "least_seconds")?.extract(py));
        asked.unwrap_or(1.0)
    }
}

/// Refuses a limit of time where an executor computes.
pub(crate) fn checked(
    plan: lnz_app::request::Plan,
    crew: Option<&Py<PyAny>>,
    max_seconds: Option<f64>,
) -> PyResult<lnz_app::request::Plan> {
    match crew {
        Some(_) => plan.for_executor(max_seconds).map_err(exception),
        None => Ok(plan),
    }
}
