//! Estimates, exact values and comparisons.

use crate::crew::checked;
use crate::errors::exception;
use crate::model::Model;
use crate::options::{Annealing, Options, request};
use crate::work::{self, Call, Limit};
use lnz::Tempering;
use lnz::{Annealed, Auto, Bounds, DEFAULT_BETAS, Details, Finding, Gwgm, Samples, Sampling};
use lnz_app::Spelling;
use lnz_app::batch::handed_on;
use lnz_app::report::{Line, Report, Tone};
use lnz_app::request::{ExactRequest, check_seconds};
use lnz_app::run;
use ndarray::Array1;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Instant;

/// A result on its way to Python.
#[pyclass(frozen, get_all, module = "lnz._lnz")]
pub(crate) struct Found {
    /// The object that the command line prints with --json.
    json: String,
    /// (label, tone, lead, text) of each line for people.
    lines: Vec<LineFields>,
    /// (kind, what was found, what to try) of each warning.
    warnings: Vec<(&'static str, String, String)>,
    reason: &'static str,
    log_weights: Option<Py<PyArray1<f64>>>,
    path: Vec<(f64, f64)>,
    /// (seconds, log Z, both ends of its interval) after each round.
    rounds: Vec<(f64, f64, f64, f64)>,
    /// The log weights of the chains of any method, where they are those of the whole model.
    weights: Option<Py<PyArray1<f64>>>,
    /// Means of the visible units in the phases that auto has found, for the next model.
    starts: Vec<Vec<f64>>,
}

impl Found {
    fn new(py: Python<'_>, report: Report) -> PyResult<Self> {
        let spelling = Spelling::Keywords;
        let warnings = report.warnings.iter();
        let trace = report.trace();
        let weights =
            (!trace.log_weights.is_empty()).then(|| trace.log_weights.into_pyarray(py).unbind());
        let found = Self {
            rounds: trace
                .rounds
                .iter()
                .map(|&[t, log_z, low, high]| (t, log_z, low, high))
                .collect(),
            weights,
            starts: handed_on(report.finding.starts()).iter().map(|means| means.to_vec()).collect(),
            json: to_json(&report)?,
            lines: fields_of(report.lines(spelling)),
            warnings: warnings
                .map(|w| (w.kind, w.found.clone(), spelling.say(&w.advice)))
                .collect(),
            reason: report.finding.diagnosis.reason(),
            log_weights: None,
            path: vec![],
        };
        Ok(match annealed(report.finding) {
            None => found,
            Some(Annealed { samples, path, .. }) => {
                Self { log_weights: Some(samples.into_pyarray(py).unbind()), path, ..found }
            }
        })
    }
}

/// The annealing run, where the method is plain AIS.
fn annealed(finding: Finding) -> Option<Annealed> {
    match finding.details {
        Details::Ais(run) => Some(run.annealed),
        _ => None,
    }
}

/// log Z by any method.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (model, options, annealing, *, after, threads, progress, crew))]
pub(crate) fn estimate(
    py: Python<'_>,
    model: Py<Model>,
    options: Options<'_>,
    annealing: Annealing,
    after: Option<Vec<Vec<f64>>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    crew: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let started = Instant::now();
    let request = request(&options, &annealing, model.get().stored.model.visible())?;
    let mut plan = request.plan().map_err(exception)?;
    if let Some(starts) = after {
        let starts = starts.into_iter().map(Array1::from).collect();
        plan = plan.with_similar_means(starts, "after").map_err(exception)?;
    }
    let plan = checked(plan, crew.as_ref(), request.max_seconds)?;
    // A fixed number of rounds takes the time that it takes, and so does an executor.
    let is_limited = request.auto.rounds.is_none() && crew.is_none();
    let limit = plan.max_seconds().filter(|_| is_limited);
    let limit = limit.map(|seconds| Limit::since(started, seconds));
    let call = Call { threads, progress, crew };
    let outcome = work::run_within(py, &call, limit, move |observer| {
        let model = model.get();
        run::estimate(&model.stored, &model.name, &plan, started, observer)
    })?;
    Found::new(py, outcome.report)
}

/// log Z as a sum over all states.
#[pyfunction]
#[pyo3(signature = (model, *, force, max_seconds, max_memory, threads, progress, crew))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn exact(
    py: Python<'_>,
    model: Py<Model>,
    force: bool,
    max_seconds: Option<f64>,
    max_memory: Option<f64>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    crew: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let started = Instant::now();
    let request = ExactRequest { force, max_seconds, max_memory };
    let plan = checked(request.plan().map_err(exception)?, crew.as_ref(), max_seconds)?;
    let limit = max_seconds.map(|seconds| Limit::since(started, seconds));
    let call = Call { threads, progress, crew };
    let outcome = work::run_within(py, &call, limit, move |observer| {
        let model = model.get();
        run::estimate(&model.stored, &model.name, &plan, started, observer)
    })?;
    Found::new(py, outcome.report)
}

/// States on their way to Python.
#[pyclass(frozen, get_all, module = "lnz._lnz")]
pub(crate) struct Drawn {
    visible: Py<PyArray2<u8>>,
    hidden: Py<PyArray2<u8>>,
    phase: Py<PyArray1<usize>>,
    /// The run that drew them.
    found: Py<Found>,
}

/// States of a model, drawn by parallel tempering.
#[pyfunction]
#[pyo3(signature = (model, count, *, chains, rungs, seed, max_seconds, threads, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn sample(
    py: Python<'_>,
    model: Py<Model>,
    count: usize,
    chains: Option<usize>,
    rungs: Option<usize>,
    seed: u64,
    max_seconds: Option<f64>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Drawn> {
    let started = Instant::now();
    check_seconds(max_seconds).map_err(exception)?;
    let limit = max_seconds.map(|seconds| Limit::since(started, seconds));
    let defaults = Tempering::default();
    let columns = chains.unwrap_or(defaults.columns);
    let settings = Tempering { columns, rungs, seed, ..defaults };
    let call = Call { threads, progress, crew: None };
    let (samples, report) = work::run_within(py, &call, limit, move |observer| {
        let model = model.get();
        let (stored, name) = (&model.stored, &model.name);
        run::sample(stored, name, count, &settings, max_seconds, started, observer)
    })?;
    let Samples { visible, hidden, phase, .. } = samples;
    Ok(Drawn {
        visible: visible.into_pyarray(py).unbind(),
        hidden: hidden.into_pyarray(py).unbind(),
        phase: phase.into_pyarray(py).unbind(),
        found: Py::new(py, Found::new(py, report)?)?,
    })
}

/// Proven floor and ceiling of log Z; None for a model that is too dense.
#[pyfunction]
#[pyo3(signature = (model, *, entries, passes, threads, progress))]
pub(crate) fn bounds(
    py: Python<'_>,
    model: Py<Model>,
    entries: Option<f64>,
    passes: Option<usize>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<(f64, f64)>> {
    let default = Bounds::default();
    let settings = Bounds {
        entries: entries.unwrap_or(default.entries),
        passes: passes.unwrap_or(default.passes),
    };
    let found = work::run(py, &Call { threads, progress, crew: None }, move |observer| {
        Ok(lnz::proven_bounds(&model.get().stored.model, &settings, observer)?)
    })?;
    Ok(found.map(|found| (found.floor, found.ceiling)))
}

/// The JSON Schema of what `to_dict` returns.
#[pyfunction]
pub(crate) fn schema() -> &'static str {
    lnz_app::schema::TEXT
}

/// Writes log Z as a solution file of the UAI competitions.
#[pyfunction]
pub(crate) fn write_log_z(path: PathBuf, log_z: f64) -> PyResult<()> {
    lnz::io::write_log_z(&path, log_z).map_err(exception)
}

/// A comparison on its way to Python.
#[pyclass(frozen, get_all, module = "lnz._lnz")]
pub(crate) struct Compared {
    /// The object that the command line prints with --json.
    json: String,
    model: String,
    titles: Vec<&'static str>,
    /// The cells of each strategy for people.
    rows: Vec<Vec<String>>,
    note: Option<&'static str>,
    log_weights: Vec<Py<PyArray1<f64>>>,
}

/// Several strategies side by side.
#[pyfunction]
#[pyo3(signature = (model, annealing, *, threads, progress, crew))]
pub(crate) fn compare(
    py: Python<'_>,
    model: Py<Model>,
    annealing: Annealing,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    crew: Option<Py<PyAny>>,
) -> PyResult<Compared> {
    let plan = annealing.comparison()?.plan().map_err(exception)?;
    let comparison = work::run(py, &Call { threads, progress, crew }, move |observer| {
        let model = model.get();
        lnz_app::compare::compare(&model.stored, &model.name, &plan, &|_| (), observer)
    })?;
    let table = comparison.table();
    let cells = |row: Vec<lnz_figures::Cell>| row.into_iter().map(|cell| cell.text).collect();
    Ok(Compared {
        json: to_json(&comparison.to_json())?,
        model: comparison.model.to_text(),
        titles: table.head,
        rows: table.rows.into_iter().map(cells).collect(),
        note: comparison.note(),
        log_weights: comparison
            .rows
            .into_iter()
            .filter_map(|row| annealed(row.finding))
            .map(|run| run.samples.into_pyarray(py).unbind())
            .collect(),
    })
}

/// Label, tone, lead and text.
pub(crate) type LineFields = (&'static str, &'static str, String, String);

/// Lines for people as Python has them.
pub(crate) fn fields_of(lines: Vec<Line>) -> Vec<LineFields> {
    let fields = |line: Line| {
        let (tone, lead) = match line.lead {
            None => ("plain", String::new()),
            Some((Tone::Value, lead)) => ("value", lead),
            Some((Tone::Good, lead)) => ("good", lead),
            Some((Tone::Bad, lead)) => ("bad", lead),
        };
        (line.label, tone, lead, line.text)
    };
    lines.into_iter().map(fields).collect()
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The defaults of the library as JSON, for the tests of the signatures in Python.
#[pyfunction]
pub(crate) fn defaults() -> String {
    let (auto, sampling, annealing) =
        (Auto::default(), Sampling::default(), lnz::Annealing::default());
    let tracking = lnz::train::Tracking::default();
    serde_json::json!({
        "target_error": auto.target_error,
        "max_seconds": auto.max_seconds,
        "core": auto.core,
        "samples": sampling.samples,
        "steps": sampling.steps,
        "epsilon": sampling.epsilon,
        "betas": DEFAULT_BETAS,
        "chains": annealing.chains,
        "track_effort": tracking.effort,
        "exact_seconds": tracking.exact_seconds,
        "gwgm": Gwgm::HARDEST,
    })
    .to_string()
}
