//! The models that the paper's experiments are about.

use crate::error::Result;
use lnz::io::{StoredModel, read_model};
use lnz::{BuiltIn, Gwgm, Rbm, exact_log_z_within};
use ndarray::Array1;
use std::path::{Path, PathBuf};

/// A model by its description.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Problem {
    /// One model of a family of Gaussian weights with Gaussian moments.
    Gwgm { family: Gwgm, seed: u64 },
    /// Several of them as blocks of one weight matrix (BMS).
    Blocks { family: Gwgm, seeds: Vec<u64> },
    /// A model that was trained on data, after an epoch.
    Trained { name: &'static str, epoch: usize },
}

/// A model and what is known about it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) model: Rbm,
    pub(crate) transposed: Rbm,
    pub(crate) data_means: Option<Array1<f64>>,
    pub(crate) weight_rms: f64,
    /// Where it can be had in moments.
    pub(crate) exact_log_z: Option<f64>,
}

/// The smaller layer of all models of the paper with an exact value has 20 units (in each block).
const EXACT_SECONDS: f64 = 60.0;
const LARGEST_ENUMERATED: usize = 24;

impl Problem {
    /// Its family, without the number of the instance.
    pub(crate) fn name(&self) -> String {
        match self {
            Problem::Gwgm { family, .. } => family_name(family),
            Problem::Blocks { family, .. } => blocks_name(family),
            Problem::Trained { name, .. } => (*name).to_owned(),
        }
    }

    /// Seed, seeds or epoch.
    pub(crate) fn instance(&self) -> String {
        match self {
            Problem::Gwgm { seed, .. } => seed.to_string(),
            Problem::Blocks { seeds, .. } => {
                seeds.iter().map(u64::to_string).collect::<Vec<_>>().join("+")
            }
            Problem::Trained { epoch, .. } => epoch.to_string(),
        }
    }

    /// Visible and hidden units, as far as they are known without making the model.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Problem::Gwgm { family, .. } => (family.visible, family.hidden),
            Problem::Blocks { family, seeds } => {
                (seeds.len() * family.visible, seeds.len() * family.hidden)
            }
            Problem::Trained { .. } => self.built_in().map_or((784, 500), |entry| entry.shape),
        }
    }

    fn built_in(&self) -> Option<BuiltIn> {
        match self {
            Problem::Trained { name, epoch } => BuiltIn::named(&format!("{name}@{epoch}")),
            _ => None,
        }
    }

    /// The model can be made here; trained ones may be missing from a build and from the folder of
    /// those that were trained for an experiment.
    pub(crate) fn is_available(&self, models: &Path) -> bool {
        match self {
            Problem::Trained { name, epoch } => {
                self.built_in().is_some() || model_file(models, name, *epoch).is_file()
            }
            _ => true,
        }
    }

    /// Makes the model, transposes it and sums over its states if that takes moments.
    pub(crate) fn load(&self, models: &Path) -> Result<Loaded> {
        let stored: StoredModel = match self {
            Problem::Gwgm { family, seed } => family.generate(*seed)?.into(),
            Problem::Blocks { family, seeds } => {
                let blocks: Vec<Rbm> =
                    seeds.iter().map(|&seed| family.generate(seed)).collect::<lnz::Result<_>>()?;
                Rbm::block_diagonal(&blocks)?.into()
            }
            Problem::Trained { name, epoch } => match self.built_in() {
                Some(entry) => entry.load()?,
                None => read_model(&model_file(models, name, *epoch), None)?.stored,
            },
        };
        let model = stored.model;
        let cost = lnz::exact_cost(&model)?;
        let exact_log_z = match cost.free_units <= LARGEST_ENUMERATED {
            true => Some(exact_log_z_within(&model, EXACT_SECONDS, &())?),
            false => None,
        };
        let squares: f64 = model.weights().iter().map(|w| w * w).sum();
        Ok(Loaded {
            transposed: model.transposed()?,
            weight_rms: (squares / model.weights().len() as f64).sqrt(),
            data_means: stored.data_means,
            exact_log_z,
            model,
        })
    }
}

/// `gwgm 20x180 (-10 10 20 10 0.1)`.
pub(crate) fn family_name(family: &Gwgm) -> String {
    format!("gwgm {}x{} {}", family.visible, family.hidden, parameters(family))
}

/// Three blocks of a family.
pub(crate) fn blocks_name(family: &Gwgm) -> String {
    format!("bms of {}", family_name(family))
}

/// (mu_mu sigma_mu mu_sigma sigma_sigma lambda), the paper's order; no commas, for CSV.
pub(crate) fn parameters(family: &Gwgm) -> String {
    let Gwgm { mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda, .. } = family;
    format!("({mu_mu} {sigma_mu} {mu_sigma} {sigma_sigma} {lambda})")
}

/// The file of a model that was trained for an experiment.
pub(crate) fn model_file(models: &Path, name: &str, epoch: usize) -> PathBuf {
    models.join(format!("{name}@{epoch}.safetensors"))
}
