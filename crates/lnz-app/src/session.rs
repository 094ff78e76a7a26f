//! A training session: epochs with their history, models that are kept, log Z along the way.

use crate::history::{History, Row};
use crate::numbers;
use crate::provenance::Provenance;
use crate::report::Line;
use crate::spelling::verbatim;
use crate::{Epochs, Error, Result, Spelling, data_sets, schema};
use lnz::Observer;
use lnz::data::{Binarize, DataOptions};
use lnz::io::{self, Float, StoredModel};
use lnz::train::{Examples, Tracking, Trainer, Training};
use serde_json::{Value, json};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The file in a folder that a run goes on from.
const STATE: &str = "state.safetensors";

/// The file whose lock says that somebody trains into a folder.
const LOCK: &str = ".lnz-lock";

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

/// An epoch may take so much longer than the longest before it.
const MARGIN: f64 = 1.1;

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
    /// Share of the values that are neither 0 nor 1.
    pub grey_share: f64,
    /// The time was over before the last epoch.
    pub out_of_time: bool,
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

    /// Trains to the last epoch, and gives `on_row` each row of the history as it comes.
    ///
    /// An error leaves the folder with the last whole epoch. Where the observer has a limit of time, no
    /// epoch begins that would not end by then.
    pub fn run(
        &self,
        examples: &Examples,
        validation: Option<&Examples>,
        on_row: &dyn Fn(&Row),
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
        // Held to the end: the operating system lets go of it if this process is killed.
        let _lock = self.lock_folder()?;
        let mut history = self.open_history(trainer.epoch())?;
        let mut saved = Vec::new();
        let (mut longest, mut out_of_time) = (0.0f64, false);
        let mut row = (trainer.epoch() == 0).then(|| Row::before(&trainer));
        loop {
            if let Some(row) = row.take() {
                let row = self.tracked(row, &trainer, validation, observer)?;
                on_row(&row);
                if row.epoch > 0 || row.tracked.is_some() {
                    history.add(row)?;
                }
                self.keep(&trainer, &mut saved)?;
            }
            if trainer.epoch() >= self.training.epochs {
                break;
            }
            if observer.seconds_left().is_some_and(|left| left < longest * MARGIN) {
                out_of_time = true;
                self.keep_last(&trainer, &mut saved)?;
                break;
            }
            let clock = Instant::now();
            let report = trainer.run_epoch(observer)?;
            let seconds = clock.elapsed().as_secs_f64();
            longest = longest.max(seconds);
            row = Some(Row::after(&report, seconds));
        }
        let model = trainer.checkpoint()?;
        let (examples, grey_share) = (examples.len(), examples.grey_share());
        Ok(Trained { model, history, saved, examples, width, grey_share, out_of_time })
    }

    fn open_history(&self, epoch: usize) -> Result<History> {
        Ok(match &self.folder {
            None => History::default(),
            Some(folder) => History::open(folder, epoch),
        })
    }

    /// Makes the folder, and makes sure that nobody else trains into it.
    fn lock_folder(&self) -> Result<Option<File>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let failed = |problem: &str, error: std::io::Error| {
            let (problem, source) = (format!("{problem}: {error}"), Some(error));
            lnz::Error::Write { path: folder.clone(), problem, bad_path: true, source }
        };
        std::fs::create_dir_all(folder)
            .map_err(|error| failed("the folder cannot be made", error))?;
        let lock = File::options().create(true).append(true).open(folder.join(LOCK));
        let lock = lock.map_err(|error| failed("nothing can be written into it", error))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Err(Error::options(format!(
                "another process is training into {}; wait for it to end, or choose another {{out}}",
                verbatim(folder.display())
            ))),
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(lock)),
        }
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
            row.tracked = Some(trainer.track(&tracking, validation, &WithoutProgress(observer))?);
            row.track_seconds = clock.elapsed().as_secs_f64();
        }
        Ok(row)
    }

    /// Writes the model of an epoch that turned out to be the last.
    fn keep_last(&self, trainer: &Trainer<'_>, saved: &mut Vec<PathBuf>) -> Result<()> {
        let epoch = trainer.epoch();
        match &self.folder {
            Some(folder) if epoch > 0 && !self.save_at.contains(epoch) => {
                let path = folder.join(format!("epoch-{epoch}.safetensors"));
                io::write_safetensors(&path, &trainer.checkpoint()?, Float::F32)?;
                saved.push(path);
                Ok(())
            }
            _ => Ok(()),
        }
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
    /// What to know about data with grey values that were not made zeros and ones.
    pub fn grey_note(&self) -> Option<String> {
        let drawn =
            self.model.metadata.get("training.draw_values").is_some_and(|word| word == "true");
        (self.grey_share > 0.0 && !drawn).then(|| {
            format!(
                "{:.1}% of the values are neither 0 nor 1; they are learnt as probabilities, and the likelihood of such data is below that of zeros and ones: {}",
                100.0 * self.grey_share,
                Spelling::Flags.say("{binarize=bernoulli} draws them anew in every epoch, threshold cuts them at 1/2")
            )
        })
    }

    /// The lines of the result for people; `plot` is the file of a figure of the history, if one was drawn.
    pub fn lines(&self, plot: Option<&Path>) -> Vec<Line> {
        let plain = |label, text: String| Line { label, lead: None, text };
        let n = numbers::count(self.examples);
        let mut lines = vec![plain("data", format!("{n} examples of {} values", self.width))];
        lines.extend(self.grey_note().map(|note| plain("note", note)));
        let rows = self.history.rows();
        let Some(last) = rows.last() else {
            lines.push(plain("epochs", "none left to do".to_owned()));
            return lines;
        };
        lines.push(plain("epoch", last.in_words()));
        if self.out_of_time {
            let text = "the time is over; --resume with more --max-seconds goes on from here";
            lines.push(plain("stopped", text.to_owned()));
        }
        let tracked = rows.iter().rev().find_map(Row::likelihood_in_words);
        lines.extend(tracked.map(|tracked| plain("tracked", tracked)));
        let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
        let tracking: f64 = rows.iter().map(|row| row.track_seconds).sum();
        let extra = match tracking > 0.0 {
            true => format!(", and {} of tracking", numbers::duration(tracking)),
            false => String::new(),
        };
        lines.push(plain("cost", format!("{} of training{extra}", numbers::duration(seconds))));
        let files = self.saved.iter().map(PathBuf::as_path).chain(self.history.path()).chain(plot);
        let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
        lines.push(plain("written", files.join("\n")));
        lines
    }

    /// How the model has learnt, by the names that its file has.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = self.model.metadata.iter().filter_map(|(name, value)| {
            Some((name.strip_prefix("training.")?.to_owned(), value.clone()))
        });
        named.collect()
    }

    /// The object for programs; the names of its fields are a contract. `plot` is the file of a figure
    /// of the history, if one was drawn.
    pub fn to_json(&self, plot: Option<&Path>) -> Value {
        let shown = |path: &Path| path.display().to_string();
        json!({
            "schema": schema::VERSION,
            "examples": self.examples,
            "visible": self.width,
            "grey_share": self.grey_share,
            "out_of_time": self.out_of_time,
            "saved": self.saved.iter().map(|path| shown(path)).collect::<Vec<_>>(),
            "history": self.history.path().map(shown),
            "plot": plot.map(shown),
            "run": Provenance::now(),
            "sha256": self.model.model.sha256(),
            "epochs": self.history.rows().iter().map(Row::to_json).collect::<Vec<_>>(),
        })
    }
}

/// A wish to stop reaches the work; its progress would hide that of the training.
struct WithoutProgress<'a>(&'a dyn Observer);

impl Observer for WithoutProgress<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

#[cfg(test)]
mod tests;
