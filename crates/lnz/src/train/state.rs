//! Saving a training run and going on with it to the same bits.

use super::{Examples, LearningRate, Trainer, Training};
use crate::io::{Float, StoredModel, Tensor, read_tensors, write_tensors};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Metadata: how many epochs the model was trained.
const EPOCH: &str = "epoch";
/// Metadata: which data it was trained on.
const DATA: &str = "training_data";
/// Before each setting in the metadata.
const SETTING: &str = "training.";

impl Training {
    /// Each setting by its name, as it is written into model files.
    pub fn to_words(&self) -> BTreeMap<String, String> {
        let (rate, last) = match self.learning_rate {
            LearningRate::Constant(rate) => (rate, None),
            LearningRate::Falling(first, last) => (first, Some(last)),
        };
        let mut words: Vec<(&str, String)> = vec![
            ("hidden", self.hidden.to_string()),
            ("epochs", self.epochs.to_string()),
            ("batch", self.batch.to_string()),
            ("learning_rate", rate.to_string()),
            ("momentum", self.momentum.to_string()),
            ("weight_decay", self.weight_decay.to_string()),
            ("steps", self.steps.to_string()),
            ("persistent", self.persistent.to_string()),
            ("draw_values", self.draw_values.to_string()),
            ("visible_bias", self.visible_bias.name().to_owned()),
            ("initial_weights", self.initial_weights.to_string()),
            ("seed", self.seed.to_string()),
        ];
        words.extend(last.map(|last| ("final_learning_rate", last.to_string())));
        words.into_iter().map(|(name, word)| (format!("{SETTING}{name}"), word)).collect()
    }
}

/// What tells data sets apart, in words.
fn data_in_words(examples: &Examples) -> String {
    let (n, width) = (examples.len(), examples.width());
    format!("{n} examples of {width} values, fingerprint {:016x}", examples.fingerprint())
}

impl Trainer<'_> {
    /// The model as it is now, with its settings, its epoch and the means of the data.
    pub fn checkpoint(&self) -> Result<StoredModel> {
        let mut stored = StoredModel::from(self.model()?);
        stored.metadata = self.settings.to_words();
        stored.metadata.insert(EPOCH.to_owned(), self.epoch.to_string());
        stored.metadata.insert(DATA.to_owned(), data_in_words(self.examples));
        let version = concat!("lnz ", env!("CARGO_PKG_VERSION"));
        stored.metadata.insert("trained_by".to_owned(), version.to_owned());
        stored.data_means = Some(self.examples.means());
        Ok(stored)
    }

    /// Writes all that [`Trainer::resume`] needs, whole or not at all, as .safetensors.
    pub fn save_state(&self, path: &Path) -> Result<()> {
        let stored = self.checkpoint()?;
        let widen = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        let velocity = &self.velocity.weights;
        let (v, h) = (velocity.rows(), velocity.columns());
        let mut extra = Vec::new();
        if self.settings.momentum != 0.0 {
            let rows = (0..v).flat_map(|row| velocity.row(row)).map(f64::from).collect();
            extra.push(Tensor::new("velocity_weights", &[v, h], rows));
            extra.push(Tensor::new("velocity_visible", &[v], widen(&self.velocity.visible)));
            extra.push(Tensor::new("velocity_hidden", &[h], widen(&self.velocity.hidden)));
        }
        if self.settings.persistent {
            // A chain that has not started is a row of -1.
            let mut rows = vec![0.0; self.chains.len() * h];
            for (row, chain) in rows.chunks_exact_mut(h).zip(&self.chains) {
                match &chain.state {
                    None => row.fill(-1.0),
                    Some(on) => on.iter().for_each(|&unit| row[unit as usize] = 1.0),
                }
            }
            extra.push(Tensor::new("chains", &[self.chains.len(), h], rows));
        }
        write_tensors(path, &stored, extra, Float::F32)
    }

    /// Goes on from a file of [`Trainer::save_state`]; the rest of the run gives the same bits as
    /// one that was never interrupted.
    ///
    /// Data and settings must be the same; only the number of epochs may grow, and that only with
    /// a constant learning rate.
    pub fn resume<'a>(
        examples: &'a Examples,
        settings: Training,
        path: &Path,
    ) -> Result<Trainer<'a>> {
        let failed = |problem: String| Error::File { path: path.to_owned(), problem };
        let file = read_tensors(path)?;
        check_settings(&settings, examples, &file.stored.metadata).map_err(failed)?;
        let epoch = file.stored.metadata.get(EPOCH).and_then(|word| word.parse().ok());
        let epoch = epoch.ok_or_else(|| failed("does not say its epoch".to_owned()))?;
        let mut trainer = Trainer::new(examples, settings)?;
        let (v, h) = (examples.width(), settings.hidden);
        let model = &file.stored.model;
        if (model.visible(), model.hidden()) != (v, h) {
            let found = format!("{} x {}", model.visible(), model.hidden());
            return Err(failed(format!("holds a model of {found} units; expected {v} x {h}")));
        }
        let tensor = |name: &str, shape: &[usize]| match file.extra.get(name) {
            Some(values) if values.shape() == shape => {
                Ok(values.iter().map(|&v| v as f32).collect::<Vec<f32>>())
            }
            Some(values) => {
                let found = values.shape();
                Err(failed(format!("`{name}` has shape {found:?}; expected {shape:?}")))
            }
            None => Err(failed(format!("has no `{name}`: it is a model, not a training state"))),
        };
        let fill = |matrix: &mut lnz_kernels::Matrix, rows: &[f32]| {
            let rows = rows.chunks_exact(h).enumerate();
            rows.for_each(|(k, row)| matrix.set_row(k, row.iter().copied()));
        };
        let narrow = |values: ndarray::ArrayView1<'_, f64>| {
            values.iter().map(|&v| v as f32).collect::<Vec<f32>>()
        };
        let weights: Vec<f32> = model.weights().iter().map(|&w| w as f32).collect();
        fill(&mut trainer.layers.hidden.weights, &weights);
        let layers = &mut trainer.layers;
        layers.visible.bias_mut().copy_from_slice(&narrow(model.visible_bias()));
        layers.hidden.bias_mut().copy_from_slice(&narrow(model.hidden_bias()));
        if settings.momentum != 0.0 {
            fill(&mut trainer.velocity.weights, &tensor("velocity_weights", &[v, h])?);
            trainer.velocity.visible = tensor("velocity_visible", &[v])?;
            trainer.velocity.hidden = tensor("velocity_hidden", &[h])?;
        }
        if settings.persistent {
            let rows = tensor("chains", &[trainer.chains.len(), h])?;
            let chains = trainer.chains.iter_mut().zip(rows.chunks_exact(h));
            chains.for_each(|(chain, row)| chain.state = hidden_state(row));
        }
        trainer.mirror_weights();
        trainer.epoch = epoch;
        Ok(trainer)
    }
}

fn hidden_state(row: &[f32]) -> Option<Vec<u32>> {
    let on = (0..row.len() as u32).filter(|&unit| row[unit as usize] > 0.5);
    (row[0] >= 0.0).then(|| on.collect())
}

/// Says what differs between the run that was saved and the one that is to go on.
fn check_settings(
    settings: &Training,
    examples: &Examples,
    saved: &BTreeMap<String, String>,
) -> Result<(), String> {
    if !saved.contains_key(DATA) {
        return Err("is not a training state: it does not say what it was trained on".into());
    }
    let may_grow = matches!(settings.learning_rate, LearningRate::Constant(_));
    let saved_epochs = saved.get("training.epochs").and_then(|word| word.parse().ok());
    let mut now = settings.to_words();
    now.insert(DATA.to_owned(), data_in_words(examples));
    let names = |words: &BTreeMap<String, String>| {
        let ours = words.keys().filter(|name| name.starts_with(SETTING) || *name == DATA);
        ours.cloned().collect::<Vec<_>>()
    };
    let mut all = names(&now);
    all.extend(names(saved));
    all.sort();
    all.dedup();
    let mut differ = Vec::new();
    for name in all {
        let (then, here) = (saved.get(&name), now.get(&name));
        let grows = may_grow && saved_epochs.is_some_and(|epochs: usize| settings.epochs >= epochs);
        if then == here || name == "training.epochs" && grows {
            continue;
        }
        let word = |word: Option<&String>| word.map_or("not set", String::as_str).to_owned();
        let name = name.trim_start_matches(SETTING).replace('_', " ");
        differ.push(format!("{name} was {} and is now {}", word(then), word(here)));
    }
    if differ.is_empty() {
        return Ok(());
    }
    Err(format!(
        "comes from other settings: {}; resume with the old ones, or train into another folder",
        differ.join("; ")
    ))
}
