//! Model files: .npz, .npy, .safetensors and MATLAB's .mat.
//!
//! A model is three tensors, found by name: the weights (`W`, `weights`, `weight`,
//! `weight_matrix`, `vishid`, `components_`), the visible bias (`b`, `vbias`, `visible_bias`,
//! `v_bias`, `visbiases`, `intercept_visible_`) and the hidden bias (`c`, `hbias`, `hidden_bias`,
//! `h_bias`, `hidbiases`, `intercept_hidden_`). [`read_model`] also says how it understood them.
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
mod format;
mod mat;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod number;
mod python_literal;
mod roles;
mod safetensors;
mod save;
mod stored;
pub(crate) mod tensors;
mod values;

use crate::{Error, Rbm, Result};
use ndarray::{Array1, ArrayD, ArrayViewD};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use tensors::TensorSource;

pub use format::Format;
pub use stored::StoredModel;
pub(crate) use stored::Tensor;
pub use tensors::{Order, TensorInfo};
pub use values::{check_values_path, write_values};

/// A result whose problem does not name the file yet; that is done once, at the door.
pub(crate) type Parsed<T> = std::result::Result<T, String>;

/// The values that the units of a model in a file take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// 0 and 1.
    Binary,
    /// -1 and +1; such a model is converted when it is read, and its Z stays the same.
    Spin,
}

crate::choices!(Units {
    Binary: "binary", "0 and 1";
    Spin: "spin", "-1 and +1; converted exactly";
});

/// The type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The units of the model in the file; those of [`StoredModel::model`] are always binary.
    pub units: Units,
    /// Every tensor of the file, also those that were not needed.
    pub tensors: Vec<TensorInfo>,
    /// One sentence for each decision that was taken on the way from tensors to the model.
    pub understood: Vec<String>,
}

/// The names under which weights, visible bias and hidden bias are recognised.
pub fn tensor_names() -> [&'static [&'static str]; 3] {
    [roles::WEIGHTS.names, roles::VISIBLE_BIAS.names, roles::HIDDEN_BIAS.names]
}

/// Reads a model; without `units`, the file's own word counts (metadata `units`: `spin` or
/// `binary`), and binary when it has none.
pub fn read_model(path: &Path, units: Option<Units>) -> Result<ModelFile> {
    parse_model(path, units).map_err(|problem| Error::File { path: path.to_owned(), problem })
}

/// Reads a model from the bytes of a .safetensors file.
pub(crate) fn model_from_bytes(bytes: &[u8]) -> Parsed<StoredModel> {
    let mut source = safetensors::SafetensorsFile::parse(bytes.to_vec())?;
    Ok(cast_model(&mut source, Format::Safetensors, None)?.stored)
}

fn parse_model(path: &Path, units: Option<Units>) -> Parsed<ModelFile> {
    let format = Format::of_file(path)?;
    let read = || std::fs::read(path).map_err(|error| format!("cannot be read: {error}"));
    let mut source: Box<dyn TensorSource> = match format {
        Format::Npy => Box::new(npy::NpyFile::open(path)?),
        Format::Npz => Box::new(npz::NpzFile::open(path)?),
        Format::Safetensors => Box::new(safetensors::SafetensorsFile::parse(read()?)?),
        Format::Mat => Box::new(mat::MatFile::parse(read()?)?),
    };
    cast_model(&mut *source, format, units)
}

fn cast_model(
    source: &mut dyn TensorSource,
    format: Format,
    units: Option<Units>,
) -> Parsed<ModelFile> {
    let mut cast = match format {
        Format::Npy => roles::cast_lone_matrix(source)?,
        _ => roles::cast(source)?,
    };
    let mut metadata = source.metadata();
    // What is kept about the model describes the converted one.
    let stated = metadata.remove("units");
    let units = units.map_or_else(|| units_from(stated.as_deref()), Ok)?;
    let build = match units {
        Units::Binary => Rbm::new,
        Units::Spin => {
            cast.understood.push("units: -1 and +1, converted to 0 and 1; Z stays the same".into());
            Rbm::from_spins
        }
    };
    let model = build(cast.weights, cast.visible_bias, cast.hidden_bias).map_err(in_words)?;
    let constant = roles::optional_number(source, "constant")?.unwrap_or(0.0) + model.constant();
    let model = model.with_constant(constant).map_err(in_words)?;
    let data_means = data_means(source, model.visible())?;
    let exact_log_z = roles::optional_number(source, "exact_log_z")?;
    Ok(ModelFile {
        stored: StoredModel { model, metadata, data_means, exact_log_z },
        format,
        units,
        tensors: source.tensors().to_vec(),
        understood: cast.understood,
    })
}

fn in_words(error: Error) -> String {
    format!("is not a model: {error}")
}

fn units_from(stated: Option<&str>) -> Parsed<Units> {
    match stated {
        None | Some("binary") => Ok(Units::Binary),
        Some("spin") => Ok(Units::Spin),
        Some(other) => {
            Err(format!("its metadata says `units` is {other:?}, expected `binary` or `spin`"))
        }
    }
}

fn data_means(source: &mut dyn TensorSource, visible: usize) -> Parsed<Option<Array1<f64>>> {
    let Some(means) = roles::optional(source, "data_means")? else { return Ok(None) };
    if means.len() != visible {
        return Err(format!(
            "its tensor `data_means` has {} values, but the model has {visible} visible units",
            means.len()
        ));
    }
    match means.iter().position(|mean| !(0.0..=1.0).contains(mean)) {
        Some(at) => Err(format!("its `data_means`[{at}] is {}, expected 0 to 1", means[at])),
        None => Ok(Some(means)),
    }
}

/// Writes a model in the format of the file's extension, as `f64`, whole or not at all.
pub fn write_model(path: &Path, stored: &StoredModel) -> Result<()> {
    let mut stored = std::borrow::Cow::Borrowed(stored);
    if stored.metadata.contains_key("units") {
        // The model is in units {0, 1}; another word would have it converted again.
        stored.to_mut().metadata.insert("units".to_owned(), "binary".to_owned());
    }
    let write = writer_for(path)?;
    save::write_whole(path, |writer| write(writer, &stored))
}

/// Writes a model as .safetensors with weights and biases of the given type, whole or not at all.
pub fn write_safetensors(path: &Path, stored: &StoredModel, float: Float) -> Result<()> {
    write_tensors(path, stored, Vec::new(), float)
}

/// The same with further tensors.
pub(crate) fn write_tensors(
    path: &Path,
    stored: &StoredModel,
    extra: Vec<Tensor>,
    float: Float,
) -> Result<()> {
    let mut tensors = stored.to_tensors();
    tensors.extend(extra);
    save::write_whole(path, |writer| {
        safetensors::write_as(writer, &stored.metadata, &tensors, float)
    })
}

/// A model with all other tensors of its .safetensors file.
pub(crate) struct WithTensors {
    pub(crate) stored: StoredModel,
    pub(crate) extra: BTreeMap<String, ArrayD<f64>>,
}

/// Reads what [`write_tensors`] has written.
pub(crate) fn read_tensors(path: &Path) -> Result<WithTensors> {
    let parse = || {
        let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
        let mut source = safetensors::SafetensorsFile::parse(bytes)?;
        let stored = cast_model(&mut source, Format::Safetensors, None)?.stored;
        let names: Vec<String> = source.tensors().iter().map(|t| t.name.clone()).collect();
        let extra = names.into_iter().enumerate().map(|(k, name)| Ok((name, source.values(k)?)));
        Ok(WithTensors { stored, extra: extra.collect::<Parsed<_>>()? })
    };
    parse().map_err(|problem: String| Error::File { path: path.to_owned(), problem })
}

type WriteModel = fn(&mut dyn Write, &StoredModel) -> std::io::Result<()>;

fn writer_for(path: &Path) -> Result<WriteModel> {
    match Format::to_write(path)? {
        Format::Npz => Ok(npz::write),
        Format::Safetensors => Ok(safetensors::write),
        Format::Mat => Ok(mat::write),
        Format::Npy => Err(Error::Write {
            path: path.to_owned(),
            problem: "a .npy file has no place for biases; use .npz, .safetensors or .mat".into(),
            bad_path: true,
        }),
    }
}

/// Fails as [`write_model`] would, if the path is at fault; nothing is left behind.
///
/// Long work asks before it starts, so that its result does not end at a wrong path.
pub fn check_model_path(path: &Path) -> Result<()> {
    writer_for(path)?;
    save::check_writable(path)
}

/// The same for [`write_npy`].
pub fn check_npy_path(path: &Path) -> Result<()> {
    save::check_writable(path)
}

/// Writes bytes, whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    save::write_whole(path, |writer| writer.write_all(bytes))
}

/// Writes an array as .npy, whole or not at all.
pub fn write_npy(path: &Path, values: ArrayViewD<'_, f64>) -> Result<()> {
    save::write_whole(path, |writer| npy::write(writer, values.shape(), values.iter().copied()))
}
