//! Many models: which ones are meant, a row for each, and the file that has the rows.

mod ledger;
mod sharing;

pub use ledger::{Kind, Ledger, to_json};
pub use sharing::{Sharing, handed_on};

use crate::numbers::{self, with_decimals_of};
use crate::report::Report;
use crate::request::Request;
use crate::{Error, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Extensions of files in a folder that are taken for models. Others, such as tables, may be anything.
const EXTENSIONS: [&str; 14] = [
    "npz",
    "safetensors",
    "mat",
    "pt",
    "pth",
    "ckpt",
    "pkl",
    "pickle",
    "joblib",
    "h5",
    "hdf5",
    "jld2",
    "uai",
    "msgpack",
];
/// A file of a training run that is no model to be estimated.
const STATE: &str = "state.safetensors";

/// The name of more than one model: a folder, or a pattern with no file of its name.
pub fn is_plural(name: &Path) -> bool {
    name.is_dir() || (!name.exists() && name.to_string_lossy().contains(['*', '?', '[']))
}

/// The models that are meant, each once: folders and patterns become files, in the order of their names
/// with numbers as numbers.
pub fn expand(names: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = Vec::new();
    for name in names {
        let mut files = match name {
            folder if folder.is_dir() => in_folder(folder)?,
            pattern if is_plural(pattern) => matching(pattern)?,
            file => vec![file.clone()],
        };
        files.sort_by_key(|path| in_natural_order(path));
        if files.is_empty() {
            let problem = match name.is_dir() {
                true => format!("has no model files (.{})", EXTENSIONS.join(", .")),
                false => "matches no file".to_owned(),
            };
            return Err(unfit(name, problem));
        }
        let new: Vec<PathBuf> = files.into_iter().filter(|file| !all.contains(file)).collect();
        all.extend(new);
    }
    Ok(all)
}

fn unfit(path: &Path, problem: String) -> Error {
    lnz::Error::File { path: path.to_owned(), problem, source: None }.into()
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| unfit(folder, format!("cannot be read: {error}")))?;
    let is_model = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let known = extension.is_some_and(|e| EXTENSIONS.contains(&&*e.to_ascii_lowercase()));
        known && path.is_file() && path.file_name() != Some(STATE.as_ref())
    };
    Ok(entries.flatten().map(|entry| entry.path()).filter(is_model).collect())
}

fn matching(pattern: &Path) -> Result<Vec<PathBuf>> {
    let paths = glob::glob(&pattern.to_string_lossy())
        .map_err(|error| unfit(pattern, format!("is no pattern: {error}")))?;
    Ok(paths.flatten().filter(|path| path.is_file()).collect())
}

/// `epoch-9` comes before `epoch-10`.
fn in_natural_order(path: &Path) -> Vec<(String, u128)> {
    let text = path.to_string_lossy();
    let mut key: Vec<(String, u128)> = vec![(String::new(), 0)];
    let mut in_number = false;
    for letter in text.chars() {
        let last = key.len() - 1;
        match letter.to_digit(10) {
            Some(digit) => {
                key[last].1 = key[last].1.saturating_mul(10).saturating_add(digit.into());
                in_number = true;
            }
            None if in_number => {
                key.push((letter.to_string(), 0));
                in_number = false;
            }
            None => key[last].0.push(letter),
        }
    }
    key
}

/// A few letters that tell settings apart, and versions.
pub fn settings_hash(request: &Request) -> String {
    let hash = Sha256::digest(format!("{} {request:?}", env!("CARGO_PKG_VERSION")));
    hash[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A model in a table.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Row {
    pub name: String,
    pub sha256: String,
    /// See [`settings_hash`].
    pub settings: String,
    pub visible: usize,
    pub hidden: usize,
    pub log_z: f64,
    pub std_error: f64,
    pub interval: [f64; 2],
    pub verdict: String,
    pub method: String,
    /// Kinds of warnings.
    pub warnings: Vec<String>,
    pub seconds: f64,
}

impl Row {
    /// The row of a result.
    pub fn new(report: &Report, settings: &str, seconds: f64) -> Self {
        let (model, finding) = (&report.model, &report.finding);
        Self {
            // A row is a line.
            name: model.name.replace(['\n', '\r'], " "),
            sha256: model.sha256.clone(),
            settings: settings.to_owned(),
            visible: model.visible,
            hidden: model.hidden,
            log_z: finding.log_z,
            std_error: finding.std_error,
            interval: finding.interval,
            verdict: finding.diagnosis.verdict.name().to_owned(),
            method: finding.details.method().name().to_owned(),
            warnings: report.warnings.iter().map(|warning| warning.kind.to_owned()).collect(),
            seconds,
        }
    }

    /// From a line of a `.jsonl` file.
    fn from_json(value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let real = |value: &Value| match value.as_str() {
            Some("Infinity") => Some(f64::INFINITY),
            Some("-Infinity") => Some(f64::NEG_INFINITY),
            _ => value.as_f64(),
        };
        let units = |name: &str| Some(value["model"][name].as_u64()? as usize);
        let kinds = value["warnings"].as_array()?.iter().filter_map(|w| text(&w["kind"]));
        Some(Self {
            name: text(&value["model"]["name"])?,
            sha256: text(&value["model"]["sha256"])?,
            settings: text(&value["request"])?,
            visible: units("visible")?,
            hidden: units("hidden")?,
            log_z: value["log_z"].as_f64()?,
            std_error: real(&value["std_error"])?,
            interval: [real(&value["interval"][0])?, real(&value["interval"][1])?],
            verdict: text(&value["verdict"])?,
            method: text(&value["method"])?,
            warnings: kinds.collect(),
            seconds: value["cost"]["seconds"].as_f64()?,
        })
    }

    /// The titles of [`Row::to_text`], for names of this many letters.
    pub fn titles(width: usize) -> String {
        format!(
            "{:<width$}  {:>11}  {:>14}  {:>9}  {:<9}  {:<6}  {:>8}",
            "model", "units", "log Z", "error", "verdict", "method", "time"
        )
    }

    /// log Z, and its error where there is one.
    fn value(&self) -> (String, String) {
        match self.std_error {
            0.0 => (numbers::exact(self.log_z), String::new()),
            error if error.is_finite() => {
                (with_decimals_of(error, self.log_z), numbers::short(error))
            }
            _ => (lnz::in_nats(self.log_z), String::new()),
        }
    }

    /// The row for people who have no room for columns.
    pub fn to_record(&self) -> String {
        let (log_z, error) = self.value();
        let error = if error.is_empty() { error } else { format!(" ± {error}") };
        let seconds = numbers::duration(self.seconds);
        format!("{}\n    {log_z}{error}\n    {}, {seconds}", self.name, self.verdict)
    }

    /// The row for people.
    pub fn to_text(&self, width: usize) -> String {
        let units = format!("{} x {}", self.visible, self.hidden);
        let (log_z, error) = self.value();
        let seconds = numbers::duration(self.seconds);
        format!(
            "{:<width$}  {units:>11}  {log_z:>14}  {error:>9}  {:<9}  {:<6}  {seconds:>8}",
            self.name, self.verdict, self.method
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_room_for_columns_is_a_record() {
        let row = Row {
            name: "m.npz".into(),
            sha256: String::new(),
            settings: String::new(),
            visible: 4,
            hidden: 3,
            log_z: 12.345,
            std_error: 0.02,
            interval: [12.3, 12.4],
            verdict: "consistent".into(),
            method: "auto".into(),
            warnings: vec![],
            seconds: 2.0,
        };
        assert_eq!(row.to_record(), "m.npz\n    12.345 ± 0.02\n    consistent, 2 s");
        let exact = Row { log_z: 1e300, std_error: 0.0, ..row };
        assert!(exact.to_record().contains("\n    1.00000000000e300\n"));
    }

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names: Vec<PathBuf> =
            ["e-10.npz", "e-9.npz", "e-100.npz", "a.npz", "e-9b.npz"].map(PathBuf::from).into();
        names.sort_by_key(|path| in_natural_order(path));
        let order: Vec<_> = names.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(order, ["a.npz", "e-9.npz", "e-9b.npz", "e-10.npz", "e-100.npz"]);
    }

    #[test]
    fn folders_and_patterns_become_files_and_each_file_comes_once() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["m2.npz", "m10.npz", "x.pt", "notes.txt", STATE, "history.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |paths: &[PathBuf]| -> Vec<String> {
            let found = expand(paths).unwrap();
            found.iter().map(|p| p.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&[folder.path().to_owned()]), ["m2.npz", "m10.npz", "x.pt"]);
        let pattern = folder.path().join("m*.npz");
        assert_eq!(names(&[folder.path().join("m10.npz"), pattern]), ["m10.npz", "m2.npz"]);
        for nothing in ["q*.npz", "empty"] {
            let path = folder.path().join(nothing);
            if nothing == "empty" {
                std::fs::create_dir(&path).unwrap();
            }
            assert!(expand(&[path]).is_err());
        }
    }
}
