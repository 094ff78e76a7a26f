//! The checkpoints of a training run: files in order, or the updates in one file.

use crate::batch::expand;
use crate::{Error, Result, Source};
use lnz::io::{ReadOptions, StoredModel};
use std::path::{Path, PathBuf};

/// A model along a training run.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// What it is called.
    pub name: String,
    /// Its epoch or update, or its place among the others, from 1 on.
    pub at: u64,
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf, Box<ReadOptions>),
    Memory(Box<StoredModel>),
}

/// Checkpoints in order, and what their numbers count.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checkpoints {
    /// `epoch`, `update` or `checkpoint`.
    pub unit: &'static str,
    /// Two at least.
    pub all: Vec<Checkpoint>,
}

impl Checkpoint {
    pub(super) fn load(&self) -> Result<StoredModel> {
        match &self.place {
            Place::File(path, options) => Ok(Source::load_with(path, options)?.into_stored()),
            Place::Memory(stored) => Ok((**stored).clone()),
        }
    }
}

impl Checkpoints {
    /// Files in the order given; a folder has its models in the order of their numbers, and a file of
    /// `rbms` all its updates.
    pub fn of_files(names: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let files = expand(names)?;
        if let ([file], None) = (&*files, options.update)
            && let Some(run) = Self::of_updates(file, options)?
        {
            return Ok(run);
        }
        let numbers = increasing(&files);
        let unit = match (&numbers, files.iter().all(|file| stem(file).starts_with("epoch"))) {
            (Some(_), true) => "epoch",
            (Some(_), false) if files.iter().all(|file| stem(file).starts_with("update")) => {
                "update"
            }
            _ => "checkpoint",
        };
        let at = |k: usize| match (&numbers, unit) {
            (Some(numbers), "epoch" | "update") => numbers[k],
            _ => k as u64 + 1,
        };
        let checkpoint = |(k, path): (usize, &PathBuf)| Checkpoint {
            name: path.display().to_string(),
            at: at(k),
            place: Place::File(path.clone(), Box::new(options.clone())),
        };
        Self::checked(unit, files.iter().enumerate().map(checkpoint).collect())
    }

    /// Models in memory, in the order given, with their names.
    pub fn of_models(models: Vec<(String, StoredModel)>) -> Result<Self> {
        let checkpoint = |(k, (name, stored)): (usize, (String, StoredModel))| Checkpoint {
            name,
            at: k as u64 + 1,
            place: Place::Memory(Box::new(stored)),
        };
        Self::checked("checkpoint", models.into_iter().enumerate().map(checkpoint).collect())
    }

    fn of_updates(file: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        let crate::Origin::File(read) = Source::load_with(file, options)?.origin else {
            return Ok(None);
        };
        if read.updates.len() < 2 {
            return Ok(None);
        }
        let checkpoint = |&update: &u64| {
            let mut options = options.clone();
            options.update = Some(update);
            Checkpoint {
                name: format!("{}, update {update}", file.display()),
                at: update,
                place: Place::File(file.to_owned(), Box::new(options)),
            }
        };
        Self::checked("update", read.updates.iter().map(checkpoint).collect()).map(Some)
    }

    fn checked(unit: &'static str, all: Vec<Checkpoint>) -> Result<Self> {
        match &*all {
            [] => Err(Error::options("no models were given; a way needs two at least")),
            [one] => Err(Error::options(format!(
                "{} is one model, and a way needs two at least; for one model there is `lnz estimate`",
                crate::spelling::verbatim(&one.name)
            ))),
            _ => Ok(Self { unit, all }),
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The numbers at the end of all names, if they rise.
fn increasing(files: &[PathBuf]) -> Option<Vec<u64>> {
    let number = |path: &PathBuf| {
        let stem = stem(path);
        let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        stem[stem.len() - digits..].parse().ok()
    };
    let numbers: Vec<u64> = files.iter().map(number).collect::<Option<_>>()?;
    numbers.is_sorted_by(|a, b| a < b).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_run_are_counted_by_their_epochs() {
        let run = |names: &[&str]| {
            let names: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            let run = Checkpoints::of_files(&names, &ReadOptions::with_units(None)).unwrap();
            (run.unit, run.all.iter().map(|checkpoint| checkpoint.at).collect::<Vec<_>>())
        };
        assert_eq!(run(&["epoch-2.safetensors", "epoch-10.safetensors"]), ("epoch", vec![2, 10]));
        assert_eq!(run(&["a.npz", "b.npz", "c.npz"]), ("checkpoint", vec![1, 2, 3]));
        assert_eq!(run(&["epoch-10.npz", "epoch-2.npz"]), ("checkpoint", vec![1, 2]));
        assert_eq!(run(&["update_3.npz", "update_7.npz"]), ("update", vec![3, 7]));
    }

    #[test]
    fn a_way_needs_two_ends() {
        let files = |names: &[PathBuf]| {
            Checkpoints::of_files(names, &ReadOptions::with_units(None)).unwrap_err().to_string()
        };
        assert!(Checkpoints::of_models(vec![]).is_err());
        let folder = tempfile::tempdir().unwrap();
        assert!(files(&[folder.path().to_owned()]).contains("has no model files"));
        let model = folder.path().join("m.csv");
        std::fs::write(&model, "0.5,1\n2,0.25\n0,1\n").unwrap();
        assert!(files(&[model]).contains("a way needs two at least"));
    }
}
