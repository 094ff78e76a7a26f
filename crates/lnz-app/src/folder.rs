//! Run folders: finished orders on the disk, so that a run goes on where it was, on any machine.
//!
//! | file | has |
//! |---|---|
//! | `run.json` | what is run: the command, the model's hash, the version of lnz |
//! | `decisions/NAME.json` | what was decided once: the sampled start, whether a round was the last |
//! | `orders/NNN-HASH/task.json` | a task, in the order in which tasks come up |
//! | `orders/NNN-HASH/A-B.part` | the result of its items A to B, with a hash |
//! | `locks/` | empty files: who holds the lock of a part computes it, and a dead process holds none |
//! | `result.json` | the report, once it is there |
//!
//! Whoever works on a run goes through the same steps, takes what is there, and computes what is missing
//! and its own to compute. So there is no coordinator that could die.

mod claim;
mod crew;
mod status;
#[cfg(test)]
mod tests;

pub use claim::Claim;
pub use crew::{FolderCrew, Missing, Share, in_ranges};
pub use status::{Status, TaskStatus};

use crate::{Error, Result};
use lnz::io;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version that begins a folder; another one may compute other bits.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is run: all that decides the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of lnz.
    pub lnz: String,
    /// The hash of the model.
    pub model: String,
    /// Where the model was found.
    pub path: PathBuf,
    /// The command that began it, word by word.
    pub command: Vec<String>,
    /// Where it was typed: paths in it count from here.
    pub typed_in: PathBuf,
    /// The options that decide the result, in full.
    pub settings: String,
    /// Into how many parts each task is split; none leaves it to the size of the task.
    pub parts: Option<usize>,
    /// Tasks of fewer predicted seconds on one core are not split.
    pub split_above: f64,
}

/// A folder with a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunFolder {
    /// Where it is.
    pub path: PathBuf,
    /// What is run there.
    pub header: Header,
}

impl RunFolder {
    /// Begins a run, or goes on with the same one.
    pub fn begin(path: &Path, header: Header) -> Result<Self> {
        if path.join("run.json").exists() {
            let folder = Self::open(path)?;
            folder.check_model(&header.model)?;
            if folder.header.settings != header.settings {
                return Err(folder.unfit(format!(
                    "was begun with other settings, by `{}`; repeat those, or choose another folder",
                    folder.header.command.join(" ")
                )));
            }
            if header.parts.is_some() && folder.header.parts != header.parts {
                let parts =
                    folder.header.parts.map_or("no fixed number of".into(), |n| n.to_string());
                return Err(folder.unfit(format!(
                    "was begun with {parts} parts; repeat that, or choose another folder"
                )));
            }
            return Ok(folder);
        }
        // A process that was killed before run.json was whole leaves a file that begins so.
        let is_left =
            |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".lnz-");
        if std::fs::read_dir(path)
            .is_ok_and(|entries| entries.flatten().any(|entry| !is_left(entry)))
        {
            return Err(unfit(
                path,
                "has files, but no run.json: it is no run folder; choose an empty or a new one",
            ));
        }
        std::fs::create_dir_all(path)
            .map_err(|error| unfit(path, format!("cannot be made: {error}")))?;
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let text = serde_json::to_vec_pretty(&header).unwrap_or_default();
        io::write_file(&path.join("run.json"), &text)?;
        Ok(Self { path, header })
    }

    /// Opens a run that was begun.
    pub fn open(path: &Path) -> Result<Self> {
        let file = path.join("run.json");
        let text = std::fs::read_to_string(&file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => unfit(
                path,
                "has no run.json: it is no run folder; `lnz plan` or `lnz estimate --run` makes one",
            ),
            _ => unfit(&file, format!("cannot be read: {error}")),
        })?;
        // Another version may have other fields.
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        match value["lnz"].as_str() {
            Some(VERSION) => {}
            Some(other) => {
                return Err(unfit(
                    path,
                    format!(
                        "was begun by lnz {other}, but this is lnz {VERSION}; results of different versions do not go together, use the same one or another folder"
                    ),
                ));
            }
            None => {
                return Err(unfit(
                    &file,
                    "is damaged; what it was cannot be told, begin in another folder",
                ));
            }
        }
        let header = serde_json::from_value(value)
            .map_err(|error| unfit(&file, format!("is damaged: {error}")))?;
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self { path, header })
    }

    /// An error unless the model has this hash.
    pub fn check_model(&self, sha256: &str) -> Result<()> {
        if self.header.model == sha256 {
            return Ok(());
        }
        Err(self.unfit(format!(
            "belongs to another model: it was begun with {}, whose parameters had the hash {}, and this model has {}; has the file changed? Choose another folder for another model",
            self.header.path.display(),
            &self.header.model[..12.min(self.header.model.len())],
            &sha256[..12]
        )))
    }

    /// The report of a finished run.
    pub fn result(&self) -> Option<serde_json::Value> {
        let text = std::fs::read_to_string(self.path.join("result.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps the report of a finished run.
    pub fn keep_result(&self, report: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(report).unwrap_or_default();
        Ok(io::write_file(&self.path.join("result.json"), &text)?)
    }

    fn unfit(&self, problem: impl Into<String>) -> Error {
        unfit(&self.path, problem)
    }
}

/// A file or folder that does not do.
fn unfit(path: &Path, problem: impl Into<String>) -> Error {
    let problem = problem.into();
    lnz::Error::File { path: path.to_owned(), problem, source: None }.into()
}
