//! Trains the epochs of Fig. 7 that do not come with the program, when their data is given.

use crate::error::{Error, Result};
use crate::experiments::fig7::{TRAINED, epochs};
use crate::observer::TrainingObserver;
use crate::problem::{Problem, model_file};
use crate::results::{Results, make_folder};
use lnz::BuiltIn;
use lnz::data::{Binarize, DataOptions};
use lnz::io::write_model;
use lnz::train::{Examples, LearningRate, Trainer, Training, VisibleBias};
use std::path::{Path, PathBuf};

/// Data files of the two large models: MNIST, then Web.
pub type TrainingData = [Option<PathBuf>; 2];

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

/// Trains the large models through all epochs of Fig. 7 and keeps those that are missing.
pub fn train_missing(
    results: &Results,
    data: &TrainingData,
    observer: &dyn TrainingObserver,
) -> Result<()> {
    for (name, data) in TRAINED.into_iter().zip(data) {
        let missing: Vec<usize> = epochs()
            .filter(|&epoch| !Problem::Trained { name, epoch }.is_available(&results.models()))
            .collect();
        if let (Some(data), false) = (data, missing.is_empty()) {
            observer.begin(&format!("training {name}"));
            train(&results.models(), name, data, &missing, observer)?;
        }
    }
    Ok(())
}

fn train(
    models: &Path,
    name: &'static str,
    data: &Path,
    missing: &[usize],
    observer: &dyn TrainingObserver,
) -> Result<()> {
    make_folder(models)?;
    let examples = read(name, data)?;
    // A run that was stopped goes on from its last saved epoch.
    let state = models.join(format!("{name}.state.safetensors"));
    let mut trainer = match state.exists() {
        true => Trainer::resume(&examples, settings(), &state)?,
        false => Trainer::new(&examples, settings())?,
    };
    let last = missing.iter().copied().max().unwrap_or(0);
    while trainer.epoch() < last {
        observer.begin(&format!("{name}, epoch {} of {last}", trainer.epoch() + 1));
        trainer.run_epoch(observer)?;
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
    let built_in = BuiltIn::named(name).ok_or_else(|| Error::Model {
        model: name.to_owned(),
        problem: "not available in this build".to_owned(),
    })?;
    let stored = built_in.load()?;
    let wanted = stored.metadata.get("training_data").map_or("", String::as_str);
    for binarize in [Binarize::None, Binarize::Threshold] {
        let width = Some(built_in.shape.0);
        let options = DataOptions { width, binarize, ..DataOptions::default() };
        let examples = Examples::read(data, options)?;
        if wanted.ends_with(&format!("{:016x}", examples.fingerprint())) {
            return Ok(examples);
        }
    }
    Err(Error::OtherData { path: data.to_owned(), model: name, expected: wanted.to_owned() })
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
