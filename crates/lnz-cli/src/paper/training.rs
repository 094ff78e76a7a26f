//! Trains the epochs of Fig. 7 that do not come with the program, when their data is given.

use super::fig7::{TRAINED, epochs};
use super::problem::{Problem, model_file};
use super::shelf::Shelf;
use crate::data_sets;
use crate::failure::usage;
use crate::progress::Watch;
use anyhow::Result;
use lnz::data::{Binarize, DataOptions};
use lnz::io::write_model;
use lnz::train::{Examples, LearningRate, Trainer, Training};
use std::path::{Path, PathBuf};

/// Data of the two problems, in the order of [`TRAINED`].
pub(crate) type Data = [Option<PathBuf>; 2];

/// The settings of the built-in models with 500 hidden units, so that the epochs are of one run.
fn settings() -> Training {
    Training {
        hidden: 500,
        epochs: 500,
        learning_rate: LearningRate::Constant(0.01),
        ..Training::default()
    }
}

/// Trains through all epochs of the figure and keeps those that are missing.
pub(crate) fn train_missing(shelf: &Shelf, data: &Data, watch: &Watch) -> Result<()> {
    for (name, data) in TRAINED.into_iter().zip(data) {
        let missing: Vec<usize> = epochs()
            .filter(|&epoch| !Problem::Trained { name, epoch }.is_available(&shelf.models()))
            .collect();
        if let (Some(data), false) = (data, missing.is_empty()) {
            watch.begin(&format!("training {name}"));
            train(&shelf.models(), name, data, &missing, watch)?;
        }
    }
    Ok(())
}

fn train(
    models: &Path,
    name: &'static str,
    data: &Path,
    missing: &[usize],
    watch: &Watch,
) -> Result<()> {
    std::fs::create_dir_all(models)
        .map_err(|error| usage(format!("{}: cannot make the folder: {error}", models.display())))?;
    // Thresholds leave data of zeros and ones as it is.
    let width = Some(if name.starts_with("mnist") { 784 } else { 300 });
    let options = DataOptions { width, binarize: Binarize::Threshold, ..DataOptions::default() };
    let examples = Examples::read(&data_sets::resolve(data)?, options)?;
    // A run that was stopped goes on from its last saved epoch.
    let state = models.join(format!("{name}.state.safetensors"));
    let mut trainer = match state.exists() {
        true => Trainer::resume(&examples, settings(), &state)?,
        false => Trainer::new(&examples, settings())?,
    };
    let last = missing.iter().copied().max().unwrap_or(0);
    while trainer.epoch() < last {
        watch.begin(&format!("{name}, epoch {} of {last}", trainer.epoch() + 1));
        trainer.run_epoch(watch)?;
        let epoch = trainer.epoch();
        if missing.contains(&epoch) {
            write_model(&model_file(models, name, epoch), &trainer.checkpoint()?)?;
            trainer.save_state(&state)?;
        }
    }
    Ok(())
}
