//! Training by contrastive divergence.

use crate::arrays::Data;
use crate::errors::exception;
use crate::estimates::to_json;
use crate::model::Model;
use crate::options::{choice, optional};
use crate::track::read;
use crate::work::{self, Call};
use lnz::Deadline;
use lnz::data::Binarize;
use lnz::train::{LearningRate, Training, VisibleBias};
use lnz_app::request::check_seconds;
use lnz_app::session::Session;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Instant;

/// How to learn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    hidden: usize,
    epochs: usize,
    batch: usize,
    learning_rate: f64,
    final_learning_rate: Option<f64>,
    steps: usize,
    persistent: bool,
    momentum: f64,
    weight_decay: f64,
    visible_bias: String,
    initial_weights: f64,
    binarize: Option<String>,
    seed: u64,
}

impl Settings {
    fn training(&self) -> PyResult<Training> {
        Ok(Training {
            hidden: self.hidden,
            epochs: self.epochs,
            batch: self.batch,
            learning_rate: match self.final_learning_rate {
                None => LearningRate::Constant(self.learning_rate),
                Some(last) => LearningRate::Falling(self.learning_rate, last),
            },
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            steps: self.steps,
            persistent: self.persistent,
            draw_values: self.binarize()? == Binarize::Bernoulli,
            visible_bias: choice::<VisibleBias>("visible_bias", &self.visible_bias)?,
            initial_weights: self.initial_weights,
            seed: self.seed,
        })
    }

    fn binarize(&self) -> PyResult<Binarize> {
        Ok(optional("binarize", self.binarize.as_deref())?.unwrap_or_default())
    }
}

/// What to keep, where, and how long to train.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Keeping {
    track: String,
    track_effort: f64,
    out: Option<PathBuf>,
    save_at: String,
    resume: bool,
    max_seconds: Option<f64>,
}

impl Keeping {
    fn session(&self, training: Training) -> PyResult<Session> {
        let epochs = |option: &str, text: &str| {
            text.parse().map_err(|error| PyValueError::new_err(format!("{option}: {error}")))
        };
        Ok(Session {
            training,
            track: epochs("track", &self.track)?,
            track_effort: self.track_effort,
            folder: self.out.clone(),
            save_at: epochs("save_at", &self.save_at)?,
            resume: self.resume,
        })
    }
}

/// Trains a model; returns it with the object that the command line prints with --json.
#[pyfunction]
#[pyo3(signature = (data, settings, keeping, *, validation, threads, progress))]
pub(crate) fn train(
    py: Python<'_>,
    data: Data<'_>,
    settings: Settings,
    keeping: Keeping,
    validation: Option<Data<'_>>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, String)> {
    let started = Instant::now();
    let max_seconds = keeping.max_seconds;
    check_seconds(max_seconds).map_err(exception)?;
    let session = keeping.session(settings.training()?)?;
    session.check(validation.is_some()).map_err(exception)?;
    let read = |name, data: &Data<'_>| read(py, name, data, settings.binarize()?, threads);
    let examples = read("data", &data)?;
    let validation = validation.map(|data| read("validation", &data)).transpose()?;
    let trained = work::run(py, &Call { threads, progress, crew: None }, move |observer| {
        let limit = max_seconds.unwrap_or(f64::INFINITY);
        let deadline = Deadline::since(started, limit, observer);
        let trained = session.run(&examples, validation.as_ref(), &|_| (), &deadline);
        trained.map_err(|error| error.at(&deadline))
    })?;
    let json = to_json(&trained.to_json(None))?;
    Ok((Model { stored: trained.model, name: "trained".to_owned() }, json))
}
