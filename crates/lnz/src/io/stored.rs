//! A model with all that a file may say about it.

use super::Units;
use super::notes::Note;
use crate::Rbm;
use ndarray::Array1;
use std::collections::BTreeMap;

/// A model with what is known about it: what a file holds, and all of it that can be written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredModel {
    /// The model, in units {0, 1}.
    pub model: Rbm,
    /// Words about it, such as how it was made; a .mat file has no place for them.
    pub metadata: BTreeMap<String, String>,
    /// Means of the visible units over the data it was trained on.
    pub data_means: Option<Array1<f64>>,
    /// Its exact log Z, where that is known.
    pub exact_log_z: Option<f64>,
    /// The units it had where it came from; those of the model are 0 and 1.
    pub units: Units,
    /// What must be said with every result, because the file left it open; not written.
    pub notes: Vec<Note>,
}

impl From<Rbm> for StoredModel {
    fn from(model: Rbm) -> Self {
        Self {
            model,
            metadata: BTreeMap::new(),
            data_means: None,
            exact_log_z: None,
            units: Units::Binary,
            notes: Vec::new(),
        }
    }
}

/// A tensor to be written, row-major.
pub(crate) struct Tensor {
    pub(super) name: &'static str,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

impl Tensor {
    pub(crate) fn new(name: &'static str, shape: &[usize], values: Vec<f64>) -> Self {
        Self { name, shape: shape.to_vec(), values }
    }

    /// A parameter of the model or its training, which may be written with fewer digits.
    pub(super) fn is_parameter(&self) -> bool {
        !matches!(self.name, "constant" | "data_means" | "exact_log_z")
    }

    /// Whether a zip archive needs its 64-bit fields for it.
    pub(super) fn is_large(&self) -> bool {
        self.values.len() >= (u32::MAX as usize - 4096) / 8
    }
}

impl StoredModel {
    /// All its numbers, under the names that [`read_model`](super::read_model) looks for.
    pub(super) fn to_tensors(&self) -> Vec<Tensor> {
        let tensor = Tensor::new;
        let number = |name, value| tensor(name, &[], vec![value]);
        let (v, h) = (self.model.visible(), self.model.hidden());
        let mut tensors = vec![
            tensor("weights", &[v, h], self.model.weights().iter().copied().collect()),
            tensor("visible_bias", &[v], self.model.visible_bias().to_vec()),
            tensor("hidden_bias", &[h], self.model.hidden_bias().to_vec()),
        ];
        if self.model.constant() != 0.0 {
            tensors.push(number("constant", self.model.constant()));
        }
        if let Some(means) = &self.data_means {
            tensors.push(tensor("data_means", &[means.len()], means.to_vec()));
        }
        if let Some(log_z) = self.exact_log_z {
            tensors.push(number("exact_log_z", log_z));
        }
        tensors
    }
}
