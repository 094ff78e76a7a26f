//! The log Z that a likelihood is computed with: estimated now, saved earlier, or given by hand.

use crate::failure::usage;
use anyhow::Result;
use lnz::{Error, Rbm};
use lnz_app::report::Report;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// A value of log Z with what is known about it.
#[derive(Debug)]
pub(crate) struct LogZ {
    pub(crate) value: f64,
    /// Its uncertainty, if anybody knows it.
    pub(crate) known: Option<Known>,
    /// Where it comes from, for people.
    pub(crate) origin: String,
    /// The whole result that it is part of; null if it was given by hand.
    pub(crate) result: Value,
}

/// What a result of `lnz estimate` says beside the value.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) std_error: f64,
    pub(crate) interval: [f64; 2],
    pub(crate) verdict: String,
    pub(crate) warnings: Vec<WarningText>,
}

/// A warning as `--json` has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WarningText {
    pub(crate) kind: String,
    pub(crate) message: String,
}

/// The fields of a result that are needed here.
#[derive(Deserialize)]
struct Saved {
    log_z: f64,
    std_error: Option<f64>,
    interval: [Option<f64>; 2],
    verdict: String,
    warnings: Vec<WarningText>,
    method: String,
    model: SavedModel,
}

#[derive(Deserialize)]
struct SavedModel {
    visible: usize,
    hidden: usize,
    weight_rms: Option<f64>,
}

/// Weights that are the same numbers have the same root mean square, whatever order they are added
/// in; those of another epoch of training do not.
const SAME_RMS: f64 = 1e-9;

impl LogZ {
    /// A value from the command line.
    pub(crate) fn given(value: f64) -> Result<Self> {
        if !value.is_finite() {
            return Err(usage(format!("--log-z is {value}; expected a finite number")));
        }
        let origin = "given, taken as exact".to_owned();
        Ok(Self { value, known: None, origin, result: Value::Null })
    }

    /// A value that was just computed.
    pub(crate) fn estimated(report: &Report) -> Result<Self> {
        let result = serde_json::to_value(report)?;
        let saved: Saved = serde_json::from_value(result.clone())?;
        Ok(Self::new(saved, None, result))
    }

    /// A value from a file that `lnz estimate --json` has written, for the same model.
    pub(crate) fn read(path: &Path, model: &Rbm) -> Result<Self> {
        let failed = |problem: String| Error::File { path: path.to_owned(), problem };
        let text = std::fs::read_to_string(path)
            .map_err(|error| failed(format!("--result cannot be read: {error}")))?;
        let expected = "expected what `lnz estimate --json` prints";
        let mut result: Value = serde_json::from_str(&text)
            .map_err(|error| failed(format!("--result is not JSON ({error}); {expected}")))?;
        if result.get("mean_log_likelihood").is_some() {
            // A score has the result that it was computed with inside.
            result = result["estimate"].take();
            if result.is_null() {
                let given =
                    "--result is that of a score whose log Z was given by hand; use --log-z";
                return Err(failed(given.to_owned()).into());
            }
        }
        let saved: Saved = serde_json::from_value(result.clone())
            .map_err(|error| failed(format!("--result does not fit ({error}); {expected}")))?;
        saved.model.check(model).map_err(failed)?;
        if !saved.log_z.is_finite() {
            return Err(failed(format!("--result has the log Z {}", saved.log_z)).into());
        }
        Ok(Self::new(saved, Some(path), result))
    }

    fn new(saved: Saved, path: Option<&Path>, result: Value) -> Self {
        let method = match saved.method.as_str() {
            "exact" => "exact sum over all states".to_owned(),
            method => format!("{}, by {method}", saved.verdict),
        };
        let [low, high] = saved.interval;
        Self {
            value: saved.log_z,
            origin: match path {
                Some(path) => format!("{method}, from {}", path.display()),
                None => method,
            },
            known: Some(Known {
                // JSON has no infinity.
                std_error: saved.std_error.unwrap_or(f64::INFINITY),
                interval: [low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)],
                verdict: saved.verdict,
                warnings: saved.warnings,
            }),
            result,
        }
    }
}

impl SavedModel {
    fn check(&self, model: &Rbm) -> Result<(), String> {
        let (visible, hidden) = model.weights().dim();
        if (self.visible, self.hidden) != (visible, hidden) {
            return Err(format!(
                "--result is for a model of {} visible x {} hidden units, but this one has {visible} x {hidden}",
                self.visible, self.hidden
            ));
        }
        let rms = model.weight_rms();
        match self.weight_rms {
            Some(found) if (found - rms).abs() > SAME_RMS * rms => Err(format!(
                "--result is for a model of the same shape with other weights (their root mean square is {found}, here it is {rms})"
            )),
            _ => Ok(()),
        }
    }
}
