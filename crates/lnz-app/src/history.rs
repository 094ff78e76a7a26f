//! What a training run has done: one row for each epoch, as CSV and as JSON.

use crate::numbers::with_decimals_of;
use crate::{Result, schema};
use lnz::io::write_file;
use lnz::train::{EpochReport, Tracked, Trainer};
use lnz::{Choice, Verdict};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const HEADER: &str = "epoch,learning_rate,reconstruction_error,weight_rms,seconds,log_z,std_error,verdict,train_log_likelihood,validation_log_likelihood,track_seconds,interval_low,interval_high";

/// One epoch.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Row {
    /// Its number, from 1; 0 is the model before it has learnt anything.
    pub epoch: usize,
    /// Its learning rate.
    pub learning_rate: f64,
    /// Mean squared error of the reconstruction, per visible unit; NaN before the first epoch.
    pub reconstruction_error: f64,
    /// Root mean square of the weights after it.
    pub weight_rms: f64,
    /// What it took.
    pub seconds: f64,
    /// log Z and likelihoods, where they were wanted.
    pub tracked: Option<Tracked>,
    /// What they took.
    pub track_seconds: f64,
}

impl Row {
    /// The model before it has learnt anything.
    pub(crate) fn before(trainer: &Trainer<'_>) -> Self {
        let epoch = EpochReport {
            epoch: 0,
            learning_rate: 0.0,
            reconstruction_error: f64::NAN,
            weight_rms: trainer.weight_rms(),
        };
        Self::after(&epoch, 0.0)
    }

    /// The model after an epoch that took so long.
    pub(crate) fn after(epoch: &EpochReport, seconds: f64) -> Self {
        let EpochReport { epoch, learning_rate, reconstruction_error, weight_rms } = *epoch;
        let (tracked, track_seconds) = (None, 0.0);
        Self {
            epoch,
            learning_rate,
            reconstruction_error,
            weight_rms,
            seconds,
            tracked,
            track_seconds,
        }
    }

    /// What it has learnt, for people.
    pub fn in_words(&self) -> String {
        let Row { epoch, reconstruction_error, weight_rms, .. } = self;
        format!(
            "{epoch}, reconstruction error {reconstruction_error:.4}, weight rms {weight_rms:.3}"
        )
    }

    /// What was tracked, for people.
    pub fn likelihood_in_words(&self) -> Option<String> {
        let tracked = self.tracked?;
        let decimals = |value| with_decimals_of(tracked.std_error.max(0.001), value);
        let validation = match tracked.validation {
            Some(value) => format!(", validation {}", decimals(value)),
            None => String::new(),
        };
        let error = match tracked.verdict {
            Verdict::Exact => "exact".to_owned(),
            verdict => format!("+- {}, {}", decimals(tracked.std_error), verdict.name()),
        };
        Some(format!(
            "log-likelihood {} at epoch {}{validation}; log Z {} ({error})",
            tracked.train.map_or("unknown".to_owned(), decimals),
            self.epoch,
            decimals(tracked.log_z),
        ))
    }

    fn line(&self) -> String {
        let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let optional = |value: Option<f64>| value.map_or(String::new(), number);
        let mut fields = vec![
            self.epoch.to_string(),
            number(self.learning_rate),
            number(self.reconstruction_error),
            number(self.weight_rms),
            format!("{:.4}", self.seconds),
        ];
        match self.tracked {
            None => fields.extend(std::iter::repeat_n(String::new(), 8)),
            Some(tracked) => fields.extend([
                number(tracked.log_z),
                number(tracked.std_error),
                tracked.verdict.name().to_owned(),
                optional(tracked.train),
                optional(tracked.validation),
                format!("{:.4}", self.track_seconds),
                number(tracked.interval[0]),
                number(tracked.interval[1]),
            ]),
        }
        fields.join(",")
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |k: usize| match *fields.get(k)? {
            "" => Some(f64::NAN),
            word => word.parse().ok(),
        };
        let optional = |k: usize| number(k).filter(|value| !value.is_nan());
        let tracked = match *fields.get(7)? {
            "" => None,
            word => Some(Tracked {
                log_z: number(5)?,
                std_error: number(6)?,
                // Files of the first versions end before it.
                interval: [11, 12].map(|k| number(k).unwrap_or(f64::NAN)),
                verdict: Verdict::named(word)?,
                train: optional(8),
                validation: optional(9),
            }),
        };
        Some(Self {
            epoch: fields.first()?.parse().ok()?,
            learning_rate: number(1)?,
            reconstruction_error: number(2)?,
            weight_rms: number(3)?,
            seconds: number(4)?,
            tracked,
            track_seconds: optional(10).unwrap_or(0.0),
        })
    }

    /// The object for programs; the names of its fields are a contract. Numbers that do not apply
    /// are null, infinite ones are words.
    pub fn to_json(&self) -> Value {
        let tracked = self.tracked;
        json!({
            "epoch": self.epoch,
            "learning_rate": self.learning_rate,
            "reconstruction_error": self.reconstruction_error,
            "weight_rms": self.weight_rms,
            "seconds": self.seconds,
            "log_z": tracked.map(|t| t.log_z),
            "std_error": tracked.map(|t| schema::real(t.std_error)),
            "interval": tracked.map(|t| t.interval.map(schema::real)),
            "verdict": tracked.map(|t| t.verdict.name()),
            "train_log_likelihood": tracked.and_then(|t| t.train),
            "validation_log_likelihood": tracked.and_then(|t| t.validation),
            "track_seconds": self.track_seconds,
        })
    }
}

/// The epochs so far, in memory and, where there is a folder, in a file.
#[derive(Debug, Clone, Default)]
pub struct History {
    path: Option<PathBuf>,
    rows: Vec<Row>,
}

impl History {
    /// What the folder has of epochs up to `epoch`; a run that starts anew begins an empty one.
    pub(crate) fn open(folder: &Path, epoch: usize) -> Self {
        let path = folder.join("history.csv");
        let old = match epoch {
            0 => String::new(),
            _ => std::fs::read_to_string(&path).unwrap_or_default(),
        };
        let rows = old.lines().skip(1).filter_map(Row::parse);
        let rows = rows.filter(|row| row.epoch <= epoch).collect();
        Self { path: Some(path), rows }
    }

    /// Where it is kept.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// All epochs so far.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds an epoch and writes the file anew.
    pub(crate) fn add(&mut self, row: Row) -> Result<()> {
        self.rows.push(row);
        let Some(path) = &self.path else { return Ok(()) };
        Ok(write_file(path, self.to_csv().as_bytes())?)
    }

    /// A title and a line for each epoch.
    pub fn to_csv(&self) -> String {
        let lines: Vec<String> = self.rows.iter().map(Row::line).collect();
        format!("{HEADER}\n{}\n", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let epoch = EpochReport {
            epoch: 1,
            learning_rate: 0.1,
            reconstruction_error: 0.25,
            weight_rms: 0.5,
        };
        let tracked = Tracked {
            log_z: 12.5,
            std_error: f64::INFINITY,
            interval: [f64::NEG_INFINITY, f64::INFINITY],
            verdict: Verdict::Suspect,
            train: Some(-3.0),
            validation: None,
        };
        let second = Row::after(&EpochReport { epoch: 2, ..epoch }, 2.0);
        vec![Row::after(&epoch, 1.5), Row { tracked: Some(tracked), track_seconds: 0.5, ..second }]
    }

    #[test]
    fn a_file_gives_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::open(folder.path(), 0);
        rows().into_iter().for_each(|row| history.add(row).unwrap());
        let again = History::open(folder.path(), 2);
        let json = |history: &History| history.rows().iter().map(Row::to_json).collect::<Vec<_>>();
        assert_eq!(json(&again), json(&history));
        assert_eq!(again.rows()[1].tracked, history.rows()[1].tracked);
        // Epochs after the state that a run goes on from are done again.
        assert_eq!(History::open(folder.path(), 1).rows().len(), 1);
        assert!(History::open(folder.path(), 0).rows().is_empty());
    }

    #[test]
    fn files_of_the_first_versions_are_read() {
        let line = "2,0.1,0.25,0.5,2.0000,12.5,0.1,consistent,-3,,0.5000";
        let row = Row::parse(line).unwrap();
        assert_eq!(row.tracked.unwrap().log_z, 12.5);
        assert_eq!(row.to_json()["interval"], json!([null, null]));
        assert!(Row::parse("epoch,learning_rate").is_none());
    }

    #[test]
    fn what_does_not_apply_is_null() {
        let [plain, tracked] = [0, 1].map(|k| rows()[k].to_json());
        for field in ["log_z", "std_error", "interval", "verdict", "train_log_likelihood"] {
            assert_eq!(plain[field], Value::Null, "{field}");
        }
        assert_eq!(tracked["std_error"], "Infinity");
        assert_eq!(tracked["verdict"], "suspect");
    }
}
