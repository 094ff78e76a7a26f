//! Model files, recognised by their content: .npz, .npy, .safetensors, MATLAB's .mat, PyTorch,
//! Python pickles (also of joblib), HDF5, UAI networks, msgpack of flax and tables of numbers.
//!
//! A model is three tensors, found by name: the weights (`W`, `weights`, `weight`,
//! `weight_matrix`, `vishid`, `components_`, ...), the visible bias (`b`, `vbias`, `visible_bias`,
//! ...) and the hidden bias (`c`, `hbias`, `hidden_bias`, ...). [`read_model`] also says how it
//! understood them; what a user must know in any case is in [`StoredModel::notes`].
//!
//! ```
//! use lnz::{Rbm, io};
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("model.npz");
//! let model = Rbm::new(ndarray::array![[0.5], [-1.0]], ndarray::array![0.1, 0.2], ndarray::array![0.3])?;
//! io::write_model(&path, &model.clone().into())?;
//! let file = io::read_model(&path, None)?;
//! assert_eq!(file.stored.model, model);
//! assert_eq!(file.understood[0], "weights: `weights`, 2 x 1, read as (visible, hidden), because `visible_bias` has 2 values");
//! # Ok::<(), lnz::Error>(())
//! ```

pub(crate) mod archive;
pub(crate) mod csv;
mod format;
mod hdf5;
pub(crate) mod input;
mod julia;
mod large_network;
mod layers;
mod mat;
mod msgpack;
pub(crate) mod names;
mod notes;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod number;
mod options;
mod pickle;
mod python_literal;
mod read;
mod roles;
mod safetensors;
mod samples;
mod save;
mod siblings;
mod stored;
pub(crate) mod tensors;
mod uai;
mod updates;
mod values;
mod write;

use crate::{Rbm, Result};

pub use format::Format;
pub(crate) use format::is_torch;
pub use large_network::{LargeNetwork, read_large_network};
pub use notes::Note;
pub use options::{Layout, ReadOptions};
pub use read::{list_tensors, read_model, read_model_bytes, read_model_with};
pub(crate) use read::{model_from_bytes, open_arrays, read_tensors};
pub use samples::{check_samples_path, write_samples};
pub use stored::StoredModel;
pub(crate) use stored::Tensor;
pub use tensors::{Order, TensorInfo};
pub use uai::{read_log_z, write_log_z};
pub use values::{check_values_path, write_values};
pub(crate) use write::write_tensors;
pub use write::{
    check_model_path, check_npy_path, write_file, write_model, write_npy, write_safetensors,
};

/// A result whose problem does not name the file yet; that is done once, at the door.
pub(crate) type Parsed<T> = std::result::Result<T, String>;

/// The values that the units of a model in a file take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Units {
    /// 0 and 1.
    Binary,
    /// -1 and +1; such a model is converted when it is read, and its Z stays the same.
    Spin,
}

crate::choices!(serialized Units {
    Binary: "binary", "0 and 1";
    Spin: "spin", "-1 and +1; converted exactly";
});

/// The type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Float {
    /// float64.
    F64,
    /// float32.
    F32,
    /// float16, about three digits: as many as a trained model needs.
    F16,
}

crate::choices!(Float {
    F64: "f64", "float64";
    F32: "f32", "float32";
    F16: "f16", "float16";
});

impl Float {
    /// The model as it will be read back from a file with numbers of this type.
    ///
    /// What was known of the exact log Z belongs to the old numbers and is dropped. Fails where a
    /// number is too large for the type.
    pub fn rounded(self, stored: &StoredModel) -> Result<StoredModel> {
        let round = |&value: &f64| match self {
            Float::F64 => value,
            Float::F32 => f64::from(value as f32),
            Float::F16 => half::f16::from_f64(value).to_f64(),
        };
        let model = &stored.model;
        let weights = model.weights().map(round);
        let rounded =
            Rbm::new(weights, model.visible_bias().map(round), model.hidden_bias().map(round))?
                .with_constant(model.constant())?;
        Ok(StoredModel { model: rounded, exact_log_z: None, ..stored.clone() })
    }
}

/// A model file and how it was understood.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelFile {
    /// The model and what else the file says about it.
    pub stored: StoredModel,
    /// The format of the file.
    pub format: Format,
    /// Every tensor of the file, also those that were not needed.
    pub tensors: Vec<TensorInfo>,
    /// One sentence for each decision that was taken on the way from tensors to the model.
    pub understood: Vec<String>,
    /// The updates of a training run of `rbms` that the file holds.
    pub updates: Vec<u64>,
}

/// The names under which weights, visible bias and hidden bias are recognised.
pub fn tensor_names() -> [&'static [&'static str]; 3] {
    [names::WEIGHTS.names, names::VISIBLE_BIAS.names, names::HIDDEN_BIAS.names]
}

/// True for text that is a format of its own, and no table.
pub(crate) fn looks_like_text_of_arrays(start: &[u8]) -> bool {
    uai::looks_like_it(start)
        || hdf5::looks_like_it(start)
        || mat::byte_order(start).is_some()
        || pickle::looks_like_old(start)
        || start.starts_with(b"PK")
}
