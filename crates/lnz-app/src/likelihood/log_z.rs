//! The log Z that a likelihood is computed with: estimated now, saved earlier, or given by hand.

use super::LikelihoodWarning;
use crate::report::Report;
use crate::spelling::verbatim;
use crate::{Error, Result};
use lnz::Rbm;
use lnz::json::Real;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// A value of log Z with what is known about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogZ {
    pub(super) value: f64,
    /// Its uncertainty, if anybody knows it.
    pub(super) known: Option<Known>,
    /// Where it comes from, for people.
    pub(super) origin: String,
    /// The whole result that it is part of; null if it was given by hand.
    pub(super) result: Value,
}

/// What a result says beside the value.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) std_error: f64,
    pub(super) interval: [f64; 2],
    pub(super) verdict: String,
    pub(super) warnings: Vec<LikelihoodWarning>,
}

/// The fields of a result that are needed here.
#[derive(Deserialize)]
struct Saved {
    log_z: f64,
    std_error: Option<Real>,
    interval: [Option<Real>; 2],
    verdict: String,
    warnings: Vec<SavedWarning>,
    method: String,
    model: SavedModel,
}

#[derive(Deserialize)]
struct SavedWarning {
    kind: String,
    message: String,
}

#[derive(Deserialize)]
struct SavedModel {
    visible: usize,
    hidden: usize,
    weight_rms: Option<f64>,
    sha256: Option<String>,
}

/// Weights that are the same numbers have the same root mean square, whatever order they are added
/// in; those of another epoch of training do not.
const SAME_RMS: f64 = 1e-9;

/// Where results come from, for messages.
const EXPECTED: &str = "expected what `lnz estimate --json` prints";

impl LogZ {
    /// A number, taken as if it were exact.
    pub fn given(value: f64) -> Result<Self> {
        if !value.is_finite() {
            let (found, expected) = (value.to_string(), "a finite number".to_owned());
            return Err(lnz::Error::Setting { setting: "log_z", found, expected }.into());
        }
        let origin = "given, taken as exact".to_owned();
        Ok(Self { value, known: None, origin, result: Value::Null })
    }

    /// A value that was just computed.
    pub fn estimated(report: &Report) -> Result<Self> {
        let failed = |error: serde_json::Error| Error::options(verbatim(error));
        let result = serde_json::to_value(report).map_err(failed)?;
        let saved: Saved = serde_json::from_value(result.clone()).map_err(failed)?;
        Ok(Self::new(saved, None, result))
    }

    /// A value from a file that `lnz estimate --json` has written, for the same model.
    pub fn read(path: &Path, model: &Rbm) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let problem = format!("cannot be read: {}", verbatim(error));
            Error::SavedResult { path: path.to_owned(), problem }
        })?;
        Self::of_text(path, &text, model)
    }

    /// A value from the text of such a file.
    pub fn of_text(path: &Path, text: &str, model: &Rbm) -> Result<Self> {
        let failed = |problem: String| Error::SavedResult { path: path.to_owned(), problem };
        let result = serde_json::from_str(text)
            .map_err(|error| failed(format!("is not JSON ({}); {EXPECTED}", verbatim(error))))?;
        let (saved, result) = parse(result, model).map_err(failed)?;
        Ok(Self::new(saved, Some(path), result))
    }

    /// A value from the object that `lnz estimate --json` prints, for the same model.
    pub fn of_result(result: Value, model: &Rbm) -> Result<Self> {
        let (saved, result) = parse(result, model)
            .map_err(|problem| Error::options(format!("{{log_z}} {problem}")))?;
        Ok(Self::new(saved, None, result))
    }

    /// The same with its warnings as somebody else says them: (found, advice) of each.
    pub fn with_warnings(mut self, said: Vec<(String, String)>) -> Self {
        let warnings = self.known.iter_mut().flat_map(|known| &mut known.warnings);
        for (warning, (found, advice)) in warnings.zip(said) {
            (warning.found, warning.advice) = (found, verbatim(advice));
        }
        self
    }

    fn new(saved: Saved, path: Option<&Path>, result: Value) -> Self {
        let method = match saved.method.as_str() {
            "exact" => "exact sum over all states".to_owned(),
            method => format!("{}, by {method}", saved.verdict),
        };
        let [low, high] = saved.interval;
        let warnings = saved.warnings.into_iter();
        Self {
            value: saved.log_z,
            origin: match path {
                Some(path) => format!("{method}, from {}", path.display()),
                None => method,
            },
            known: Some(Known {
                // Earlier versions wrote null for what is infinite.
                std_error: saved.std_error.map_or(f64::INFINITY, |error| error.0),
                interval: [
                    low.map_or(f64::NEG_INFINITY, |low| low.0),
                    high.map_or(f64::INFINITY, |high| high.0),
                ],
                verdict: saved.verdict,
                warnings: warnings.map(|w| LikelihoodWarning::new(&w.kind, w.message)).collect(),
            }),
            result,
        }
    }
}

/// The fields of a result, if it is one for this model, and the result itself; otherwise what is wrong
/// with it.
fn parse(mut result: Value, model: &Rbm) -> Result<(Saved, Value), String> {
    if result.get("mean_log_likelihood").is_some() {
        // A likelihood has the result that it was computed with inside.
        result = result["estimate"].take();
        if result.is_null() {
            let given = "is that of a score whose log Z was given by hand; give it as {log_z}";
            return Err(given.to_owned());
        }
    }
    let saved: Saved = serde_json::from_value(result.clone())
        .map_err(|error| format!("does not fit ({}); {EXPECTED}", verbatim(error)))?;
    saved.model.check(model)?;
    if !saved.log_z.is_finite() {
        return Err(format!("has the log Z {}", saved.log_z));
    }
    Ok((saved, result))
}

impl SavedModel {
    fn check(&self, model: &Rbm) -> Result<(), String> {
        let (visible, hidden) = model.weights().dim();
        if (self.visible, self.hidden) != (visible, hidden) {
            return Err(format!(
                "is for a model of {} visible x {} hidden units, but this one has {visible} x {hidden}",
                self.visible, self.hidden
            ));
        }
        if let Some(found) = &self.sha256 {
            let here = model.sha256();
            return match *found == here {
                true => Ok(()),
                false => Err(format!(
                    "is for another model of the same shape: the hash of its parameters is {}..., here it is {}...",
                    found.chars().take(12).collect::<String>(),
                    &here[..12]
                )),
            };
        }
        // Earlier versions wrote no hash.
        let rms = model.weight_rms();
        match self.weight_rms {
            Some(found) if (found - rms).abs() > SAME_RMS * rms => Err(format!(
                "is for a model of the same shape with other weights (their root mean square is {found}, here it is {rms})"
            )),
            _ => Ok(()),
        }
    }
}
