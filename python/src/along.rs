//! log Z along a training run, by bridges from checkpoint to checkpoint.

use crate::errors::exception;
use crate::estimates::{LineFields, fields_of, to_json};
use crate::model::Model;
use crate::track::Examples;
use crate::work::{self, Call};
use lnz::Following;
use lnz::io::ReadOptions;
use lnz_app::request::{AnnealingRequest, AutoRequest, Request};
use lnz_app::track::{Checkpoints, TrackRequest, track as track_checkpoints};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Where log Z has gone along a run, on its way to Python.
#[pyclass(frozen, get_all, module = "lnz._lnz")]
pub(crate) struct Tracked {
    /// The object that the command line prints with --json.
    json: String,
    lines: Vec<LineFields>,
    titles: Vec<&'static str>,
    /// The cells of each checkpoint for people.
    rows: Vec<Vec<String>>,
}

/// What a run can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TrackOptions {
    chains: Option<usize>,
    sweeps: Option<usize>,
    betas: Option<usize>,
    seed: u64,
    check_every: Option<usize>,
    no_exact: bool,
    target_error: Option<f64>,
    rounds: Option<usize>,
    core: Option<usize>,
    max_seconds: Option<f64>,
}

impl TrackOptions {
    fn request(&self) -> lnz_app::Result<TrackRequest> {
        let defaults = Following::default();
        let following = Following {
            chains: self.chains.unwrap_or(defaults.chains),
            sweeps: self.sweeps.unwrap_or(defaults.sweeps),
            most_betas: self.betas.unwrap_or(defaults.most_betas),
            seed: self.seed,
            ..defaults
        };
        let (target_error, rounds, core) = (self.target_error, self.rounds, self.core);
        let estimate = Request {
            no_exact: self.no_exact,
            auto: AutoRequest { target_error, rounds, core },
            annealing: AnnealingRequest { seed: self.seed, ..Default::default() },
            ..Request::default()
        };
        Ok(TrackRequest {
            following,
            plan: estimate.plan()?,
            no_exact: self.no_exact,
            check_every: self.check_every,
            max_seconds: self.max_seconds,
        })
    }
}

/// log Z of the checkpoints in files, or of models in memory if there are no files.
#[pyfunction]
#[pyo3(signature = (files, models, data, options, *, threads, progress))]
pub(crate) fn track_run(
    py: Python<'_>,
    files: Vec<PathBuf>,
    models: Vec<Py<Model>>,
    data: Option<Py<Examples>>,
    options: TrackOptions,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Tracked> {
    let request = options.request().map_err(exception)?;
    let found = work::run(py, &Call { threads, progress, crew: None }, move |observer| {
        let checkpoints = match files.is_empty() {
            false => Checkpoints::of_files(&files, &ReadOptions::with_units(None))?,
            true => {
                let named = |model: &Py<Model>| {
                    let model = model.get();
                    (model.name.clone(), model.stored.clone())
                };
                Checkpoints::of_models(models.iter().map(named).collect())?
            }
        };
        let data = data.as_ref().map(|data| &data.get().0);
        track_checkpoints(&checkpoints, data, &request, &|_| (), observer)
    })?;
    let table = found.table();
    let cells = |row: Vec<lnz_figures::Cell>| row.into_iter().map(|cell| cell.text).collect();
    Ok(Tracked {
        json: to_json(&found.to_json())?,
        lines: fields_of(found.lines()),
        titles: table.head,
        rows: table.rows.into_iter().map(cells).collect(),
    })
}
