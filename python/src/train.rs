//! Training by contrastive divergence.

use crate::arrays::Data;
use crate::errors::exception;
use crate::model::Model;
use crate::options::{choice, optional};
use crate::work::{self, Call};
use lnz::Error;
use lnz::data::{Binarize, DataOptions};
use lnz::train::{Examples, LearningRate, Tracking, Trainer, Training, VisibleBias};
use pyo3::prelude::*;
use serde_json::json;

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

    /// Reads a data set, which messages call `name`.
    fn examples(
        &self,
        py: Python<'_>,
        name: &str,
        data: &Data<'_>,
        threads: Option<usize>,
    ) -> PyResult<Examples> {
        // Values that are drawn are drawn by the trainer, in every epoch anew.
        let binarize = match self.binarize()? {
            Binarize::Bernoulli => Binarize::None,
            other => other,
        };
        let call = Call { threads, progress: None };
        match data {
            Data::File(path) => {
                let options = DataOptions { binarize, ..DataOptions::default() };
                let path = path.clone();
                work::run(py, &call, move |_| Ok(Examples::read(&path, options)?))
            }
            Data::Rows(matrix) => {
                let rows = matrix.rows();
                work::run_borrowing(py, &call, |_| {
                    let block = rows.block(name, 0..rows.count(), binarize, 0)?;
                    Ok(Examples::from_rows(block.view())?)
                })
            }
        }
    }
}

/// Trains a model; returns it with the history as JSON.
#[pyfunction]
#[pyo3(signature = (data, settings, *, validation, track, track_effort, threads, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn train(
    py: Python<'_>,
    data: Data<'_>,
    settings: Settings,
    validation: Option<Data<'_>>,
    track: Vec<usize>,
    track_effort: f64,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, String)> {
    let training = settings.training()?;
    let examples = settings.examples(py, "data", &data, threads)?;
    let validation =
        validation.map(|data| settings.examples(py, "validation", &data, threads)).transpose()?;
    if let Some(other) = validation.as_ref().filter(|v| v.width() != examples.width()) {
        let (found, expected) = (other.width(), examples.width());
        return Err(exception(Error::Width { what: "validation".into(), found, expected }));
    }
    let tracking = Tracking { effort: track_effort, ..Tracking::default() };
    let (stored, history) = work::run(py, &Call { threads, progress }, move |observer| {
        let mut trainer = Trainer::new(&examples, training)?;
        let mut history = Vec::new();
        while trainer.epoch() < training.epochs {
            let report = trainer.run_epoch(observer)?;
            let tracked = match track.contains(&report.epoch) {
                true => Some(trainer.track(&tracking, validation.as_ref(), observer)?),
                false => None,
            };
            history.push(json!({
                "epoch": report.epoch,
                "learning_rate": report.learning_rate,
                "reconstruction_error": report.reconstruction_error,
                "weight_rms": report.weight_rms,
                "log_z": tracked.map(|t| t.log_z),
                "std_error": tracked.map(|t| t.std_error),
                "verdict": tracked.map(|t| t.verdict),
                "train_log_likelihood": tracked.map(|t| t.train),
                "validation_log_likelihood": tracked.and_then(|t| t.validation),
            }));
        }
        Ok((trainer.checkpoint()?, history))
    })?;
    let history = serde_json::Value::from(history).to_string();
    Ok((Model { stored, name: "trained".to_owned() }, history))
}
