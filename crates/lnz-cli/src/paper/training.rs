//! Trains the epochs of Fig. 7 that do not come with the program, when their data is given.

use super::fig7::{TRAINED, epochs};
use super::problem::{Problem, model_file};
use super::shelf::Shelf;
use crate::failure::usage;
use crate::progress::Watch;
use anyhow::{Context, Result};
use lnz::BuiltIn;
use lnz::data::{Binarize, DataOptions};
use lnz::io::write_model;
use lnz::train::{Examples, LearningRate, Trainer, Training, VisibleBias};
use lnz_app::data_sets;
use std::path::{Path, PathBuf};

/// Data of the two problems, in the order of [`TRAINED`].
pub(crate) type Data = [Option<PathBuf>; 2];

/// The settings of the built-in models with 500 hidden units, so that the epochs are of one run.
fn settings() -> Training {
    Training {
        hidden: 500,
        epochs: 500,
        learning_rate: LearningRate::Constant(0.01),
        visible_bias: VisibleBias::Zero,
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
    let examples = read(name, data)?;
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

/// The data, if it is what the built-in epochs were trained on: in grey, or by a threshold.
fn read(name: &'static str, data: &Path) -> Result<Examples> {
    let built_in = BuiltIn::named(name).context("not available in this build")?;
    let stored = built_in.load()?;
    let wanted = stored.metadata.get("training_data").map_or("", String::as_str);
    let path = data_sets::resolve(data)?;
    for binarize in [Binarize::None, Binarize::Threshold] {
        let width = Some(built_in.shape.0);
        let options = DataOptions { width, binarize, ..DataOptions::default() };
        let examples = Examples::read(&path, options)?;
        if wanted.ends_with(&format!("{:016x}", examples.fingerprint())) {
            return Ok(examples);
        }
    }
    Err(usage(format!(
        "{} is not the data that {name} was trained on ({wanted}); its epochs would not fit the others",
        data.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_epochs_are_trained_as_the_built_in_ones_were() {
        for name in TRAINED {
            let metadata = BuiltIn::named(name).unwrap().load().unwrap().metadata;
            for (setting, word) in settings().to_words() {
                assert_eq!(metadata.get(&setting), Some(&word), "{name}, {setting}");
            }
        }
    }
}
