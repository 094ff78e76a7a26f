//! A training session: epochs with their history, models that are kept, log Z along the way.

use crate::history::{History, Row};
use crate::spelling::verbatim;
use crate::{Epochs, Error, Result, data_sets};
use lnz::Observer;
use lnz::data::{Binarize, DataOptions};
use lnz::io::{self, Float, StoredModel};
use lnz::train::{Examples, Tracking, Trainer, Training};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The file in a folder that a run goes on from.
const STATE: &str = "state.safetensors";

/// A training session as it is asked for.
#[derive(Debug, Clone)]
pub struct Session {
    /// How the model learns.
    pub training: Training,
    /// Epochs after which log Z and likelihood are estimated; 0 is before the first.
    pub track: Epochs,
    /// Cost of an estimate; see [`Tracking`].
    pub track_effort: f64,
    /// Where models, history and state are written to; without it they stay in memory.
    pub folder: Option<PathBuf>,
    /// Epochs whose model is kept in the folder, besides the last.
    pub save_at: Epochs,
    /// Go on with the run that is in the folder.
    pub resume: bool,
}

/// Where a session has come to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trained {
    /// The model after the last epoch.
    pub model: StoredModel,
    /// All epochs.
    pub history: History,
    /// Files of the models that were kept.
    pub saved: Vec<PathBuf>,
    /// Examples that were learnt from.
    pub examples: usize,
    /// Values in each.
    pub width: usize,
}

/// Reads examples to learn from, from a file or a data set that is known by name.
pub fn read_examples(path: &Path, binarize: Binarize, width: Option<usize>) -> Result<Examples> {
    let binarize = while_reading(binarize);
    let path = data_sets::resolve(path)?;
    Ok(Examples::read(&path, DataOptions { width, binarize, seed: 0 })?)
}

/// What is done with grey values before training. Values that are drawn are drawn by the trainer, in
/// every epoch anew.
pub fn while_reading(binarize: Binarize) -> Binarize {
    match binarize {
        Binarize::Bernoulli => Binarize::None,
        other => other,
    }
}

/// The cost of an estimate along training is one that can be paid.
pub fn check_effort(effort: f64) -> Result<()> {
    match effort > 0.0 && effort <= 1e6 {
        true => Ok(()),
        false => Err(Error::options(format!(
            "{{track_effort}} is {effort}; expected above 0, up to 1000000"
        ))),
    }
}

impl Session {
    /// What can be said before any data is read.
    pub fn check(&self, has_validation: bool) -> Result<()> {
        let epochs = self.training.epochs;
        for (option, named) in [("save_at", &self.save_at), ("track", &self.track)] {
            if let Some(last) = named.last().filter(|last| *last > epochs) {
                return Err(Error::options(format!(
                    "{{{option}}} names epoch {last}, but {{epochs}} is {epochs}; raise it or name earlier epochs"
                )));
            }
        }
        if self.track.is_empty() && has_validation {
            let text = "{validation} needs {track}, the epochs whose likelihood is wanted";
            return Err(Error::options(text));
        }
        check_effort(self.track_effort)?;
        self.check_folder()
    }

    fn check_folder(&self) -> Result<()> {
        let Some(folder) = &self.folder else {
            let needs = |option| {
                Err(Error::options(format!("{{{option}}} needs {{out}}, the folder of the run")))
            };
            return match (self.resume, self.save_at.is_empty()) {
                (true, _) => needs("resume"),
                (_, false) => needs("save_at"),
                (false, true) => Ok(()),
            };
        };
        let shown = verbatim(folder.display());
        match (self.resume, folder.join(STATE).exists()) {
            (false, true) => Err(Error::options(format!(
                "{shown} holds a training run already; add {{resume=on}} to go on with it, or choose another {{out}}"
            ))),
            (true, false) => Err(Error::options(format!(
                "{{resume}} found no {STATE} in {shown}; drop it to start from the beginning"
            ))),
            _ => Ok(()),
        }
    }

    /// The file that a run that was stopped goes on from, if it has come so far.
    pub fn state(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(STATE)).filter(|state| state.exists())
    }

    /// Trains to the last epoch, and tells `told` about each row of the history as it comes.
    ///
    /// An error leaves the folder with the last whole epoch.
    pub fn run(
        &self,
        examples: &Examples,
        validation: Option<&Examples>,
        told: &dyn Fn(&Row),
        observer: &dyn Observer,
    ) -> Result<Trained> {
        self.check(validation.is_some())?;
        let width = examples.width();
        if let Some(found) = validation.map(Examples::width).filter(|found| *found != width) {
            let what = "validation".to_owned();
            return Err(lnz::Error::Width { what, found, expected: width }.into());
        }
        let mut trainer = match self.folder.as_deref().filter(|_| self.resume) {
            Some(folder) => Trainer::resume(examples, self.training, &folder.join(STATE))?,
            None => Trainer::new(examples, self.training)?,
        };
        let mut history = self.open_history(trainer.epoch())?;
        let mut saved = Vec::new();
        let mut row = (trainer.epoch() == 0).then(|| Row::before(&trainer));
        loop {
            if let Some(row) = row.take() {
                let row = self.tracked(row, &trainer, validation, observer)?;
                told(&row);
                if row.epoch > 0 || row.tracked.is_some() {
                    history.add(row)?;
                }
                self.keep(&trainer, &mut saved)?;
            }
            if trainer.epoch() >= self.training.epochs {
                break;
            }
            let clock = Instant::now();
            let report = trainer.run_epoch(observer)?;
            row = Some(Row::after(&report, clock.elapsed().as_secs_f64()));
        }
        let model = trainer.checkpoint()?;
        Ok(Trained { model, history, saved, examples: examples.len(), width })
    }

    fn open_history(&self, epoch: usize) -> Result<History> {
        let Some(folder) = &self.folder else { return Ok(History::default()) };
        std::fs::create_dir_all(folder).map_err(|error| {
            let problem = format!("the folder cannot be made: {error}");
            let source = Some(error);
            lnz::Error::Write { path: folder.clone(), problem, bad_path: true, source }
        })?;
        Ok(History::open(folder, epoch))
    }

    /// The row with log Z and likelihoods, where they are wanted.
    fn tracked(
        &self,
        mut row: Row,
        trainer: &Trainer<'_>,
        validation: Option<&Examples>,
        observer: &dyn Observer,
    ) -> Result<Row> {
        if self.track.contains(row.epoch) {
            let tracking = Tracking { effort: self.track_effort, ..Tracking::default() };
            let clock = Instant::now();
            row.tracked = Some(trainer.track(&tracking, validation, &Untold(observer))?);
            row.track_seconds = clock.elapsed().as_secs_f64();
        }
        Ok(row)
    }

    /// Writes what belongs to the epoch that is done.
    fn keep(&self, trainer: &Trainer<'_>, saved: &mut Vec<PathBuf>) -> Result<()> {
        let epoch = trainer.epoch();
        let Some(folder) = self.folder.as_ref().filter(|_| epoch > 0) else { return Ok(()) };
        if self.save_at.contains(epoch) || epoch == self.training.epochs {
            let path = folder.join(format!("epoch-{epoch}.safetensors"));
            io::write_safetensors(&path, &trainer.checkpoint()?, Float::F32)?;
            saved.push(path);
        }
        // Last, so that a resumed run never misses what belongs to an epoch.
        Ok(trainer.save_state(&folder.join(STATE))?)
    }
}

impl Trained {
    /// The object for programs; the names of its fields are a contract. `plot` is the file of a figure
    /// of the history, if one was drawn.
    pub fn to_json(&self, plot: Option<&Path>) -> Value {
        let shown = |path: &Path| path.display().to_string();
        json!({
            "schema": 1,
            "examples": self.examples,
            "visible": self.width,
            "saved": self.saved.iter().map(|path| shown(path)).collect::<Vec<_>>(),
            "history": self.history.path().map(shown),
            "plot": plot.map(shown),
            "epochs": self.history.rows().iter().map(Row::to_json).collect::<Vec<_>>(),
        })
    }
}

/// A wish to stop reaches the work; its progress would hide that of the training.
struct Untold<'a>(&'a dyn Observer);

impl Observer for Untold<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

#[cfg(test)]
mod tests;
