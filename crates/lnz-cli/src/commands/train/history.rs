//! history.csv: one line for each epoch, and its plot.

use anyhow::Result;
use lnz::Verdict;
use lnz::io::write_file;
use lnz::train::{EpochReport, Tracked, Trainer};
use lnz_app::numbers;
use lnz_figures::{Axis, Figure, Panel, Series, Style, png};
use serde_json::json;
use std::path::{Path, PathBuf};

const HEADER: &str = "epoch,learning_rate,reconstruction_error,weight_rms,seconds,log_z,std_error,verdict,train_log_likelihood,validation_log_likelihood,track_seconds";

/// One epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    epoch: usize,
    learning_rate: f64,
    /// NaN before the first epoch.
    reconstruction_error: f64,
    weight_rms: f64,
    pub(super) seconds: f64,
    pub(super) tracked: Option<Tracked>,
    pub(super) track_seconds: f64,
}

impl Row {
    /// The model before it has learnt anything.
    pub(super) fn before(trainer: &Trainer<'_>) -> Self {
        let epoch = EpochReport {
            epoch: 0,
            learning_rate: 0.0,
            reconstruction_error: f64::NAN,
            weight_rms: trainer.weight_rms(),
        };
        Self::after(&epoch, 0.0)
    }

    pub(super) fn after(epoch: &EpochReport, seconds: f64) -> Self {
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

    /// For the progress bar.
    pub(super) fn note(&self) -> String {
        format!("  {}", self.in_words())
    }

    pub(super) fn in_words(&self) -> String {
        let Row { epoch, reconstruction_error, weight_rms, .. } = self;
        format!(
            "{epoch}, reconstruction error {reconstruction_error:.4}, weight rms {weight_rms:.3}"
        )
    }

    pub(super) fn likelihood_in_words(&self) -> Option<String> {
        let tracked = self.tracked?;
        let decimals = |value| numbers::with_decimals_of(tracked.std_error.max(0.001), value);
        let validation = match tracked.validation {
            Some(value) => format!(", validation {}", decimals(value)),
            None => String::new(),
        };
        let error = match tracked.verdict {
            Verdict::Exact => "exact".to_owned(),
            verdict => format!("+- {}, {}", decimals(tracked.std_error), verdict_word(verdict)),
        };
        Some(format!(
            "log-likelihood {} at epoch {}{validation}; log Z {} ({error})",
            decimals(tracked.train),
            self.epoch,
            decimals(tracked.log_z),
        ))
    }

    fn line(&self) -> String {
        let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let mut fields = vec![
            self.epoch.to_string(),
            number(self.learning_rate),
            number(self.reconstruction_error),
            number(self.weight_rms),
            format!("{:.4}", self.seconds),
        ];
        match self.tracked {
            None => fields.extend(std::iter::repeat_n(String::new(), 6)),
            Some(tracked) => fields.extend([
                number(tracked.log_z),
                number(tracked.std_error),
                verdict_word(tracked.verdict).to_owned(),
                number(tracked.train),
                tracked.validation.map_or(String::new(), number),
                format!("{:.4}", self.track_seconds),
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
        let tracked = match *fields.get(7)? {
            "" => None,
            word => Some(Tracked {
                log_z: number(5)?,
                std_error: number(6)?,
                verdict: VERDICTS.into_iter().find(|v| verdict_word(*v) == word)?,
                train: number(8)?,
                validation: Some(number(9)?).filter(|v| !v.is_nan()),
            }),
        };
        Some(Self {
            epoch: fields.first()?.parse().ok()?,
            learning_rate: number(1)?,
            reconstruction_error: number(2)?,
            weight_rms: number(3)?,
            seconds: number(4)?,
            tracked,
            track_seconds: number(10).filter(|s| !s.is_nan()).unwrap_or(0.0),
        })
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let tracked = self.tracked;
        json!({
            "epoch": self.epoch,
            "learning_rate": self.learning_rate,
            "reconstruction_error": Some(self.reconstruction_error).filter(|e| !e.is_nan()),
            "weight_rms": self.weight_rms,
            "seconds": self.seconds,
            "log_z": tracked.map(|t| t.log_z),
            "std_error": tracked.map(|t| t.std_error),
            "verdict": tracked.map(|t| verdict_word(t.verdict)),
            "train_log_likelihood": tracked.map(|t| t.train),
            "validation_log_likelihood": tracked.and_then(|t| t.validation),
            "track_seconds": self.track_seconds,
        })
    }
}

const VERDICTS: [Verdict; 3] = [Verdict::Exact, Verdict::Consistent, Verdict::Suspect];

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Exact => "exact",
        Verdict::Consistent => "consistent",
        _ => "suspect",
    }
}

/// The epochs so far, in memory and in a file.
#[derive(Debug)]
pub(super) struct History {
    path: PathBuf,
    rows: Vec<Row>,
}

impl History {
    /// What the folder has of epochs up to `epoch`; a run that starts anew begins an empty one.
    pub(super) fn open(folder: &Path, epoch: usize) -> Result<Self> {
        let path = folder.join("history.csv");
        let old = if epoch > 0 {
            std::fs::read_to_string(&path).unwrap_or_default()
        } else {
            String::new()
        };
        let rows = old.lines().skip(1).filter_map(Row::parse);
        let rows = rows.filter(|row| row.epoch <= epoch).collect();
        Ok(Self { path, rows })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds an epoch and writes the file anew.
    pub(super) fn add(&mut self, row: Row) -> Result<()> {
        self.rows.push(row);
        let lines: Vec<String> = self.rows.iter().map(Row::line).collect();
        let text = format!("{HEADER}\n{}\n", lines.join("\n"));
        Ok(write_file(&self.path, text.as_bytes())?)
    }

    /// Draws likelihood and log Z along training, where they were tracked twice or more.
    pub(super) fn plot(&self) -> Result<Option<PathBuf>> {
        let points = |of: fn(&Tracked) -> Option<f64>| {
            let at = |row: &Row| Some([row.epoch as f64, of(row.tracked.as_ref()?)?]);
            self.rows.iter().filter_map(at).collect::<Vec<[f64; 2]>>()
        };
        let train = points(|tracked| Some(tracked.train));
        if train.len() < 2 {
            return Ok(None);
        }
        let validation = points(|tracked| tracked.validation);
        let mut likelihood =
            Panel::new("", Axis::linear("epoch"), Axis::linear("mean log-likelihood (nats)"))
                .with(Series::new("train", train, Style::new(0)));
        if !validation.is_empty() {
            likelihood = likelihood.with(Series::new("validation", validation, Style::new(1)));
        }
        let log_z = points(|tracked| Some(tracked.log_z));
        let log_z = Panel::new("", Axis::linear("epoch"), Axis::linear("log Z")).with(Series::new(
            "log Z",
            log_z,
            Style::new(2),
        ));
        let svg = Figure::new(vec![likelihood, log_z]).svg("training");
        let path = self.path.with_file_name("history.svg");
        write_file(&path, svg.as_bytes())?;
        write_file(&self.path.with_file_name("history.png"), &png(&svg)?)?;
        Ok(Some(path))
    }
}
