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
mod roles;
mod safetensors;
mod save;
mod siblings;
mod stored;
pub(crate) mod tensors;
mod uai;
mod updates;
mod values;

use crate::{Error, Rbm, Result};
use ndarray::{Array1, ArrayD, ArrayViewD};
use std::collections::BTreeMap;

use format::FormatEntry;
use std::path::Path;
use tensors::TensorSource;

pub use format::Format;
pub use large_network::{LargeNetwork, read_large_network};
pub use notes::Note;
pub use options::{Layout, ReadOptions};
pub use stored::StoredModel;
pub(crate) use stored::Tensor;
pub use tensors::{Order, TensorInfo};
pub use uai::{read_log_z, write_log_z};
pub use values::{check_values_path, write_values};

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

/// Reads a model; without `units`, the file's own word counts (metadata `units`: `spin` or
/// `binary`), and binary when it has none.
pub fn read_model(path: &Path, units: Option<Units>) -> Result<ModelFile> {
    read_model_with(path, &ReadOptions::with_units(units))
}

/// Reads a model, told what the file itself does not say.
pub fn read_model_with(path: &Path, options: &ReadOptions) -> Result<ModelFile> {
    Error::unless_readable(path)?;
    input::open_input(path, "a model file")
        .and_then(|input| parse_model(&input, path, true, options))
        .map_err(|problem| Error::file(path, problem))
}

/// Reads a model from the bytes of a file, packed or not; `name` is what problems call it.
pub fn read_model_bytes(name: &Path, bytes: &[u8], options: &ReadOptions) -> Result<ModelFile> {
    input::unpack(input::Input::of_bytes(bytes))
        .and_then(|input| parse_model(&input, name, false, options))
        .map_err(|problem| Error::file(name, problem))
}

/// The format of a file and its tensors, whether or not they make a model.
pub fn list_tensors(path: &Path) -> Result<(Format, Vec<TensorInfo>)> {
    let list = || {
        let input = input::open_input(path, "a model file")?;
        let entry = Format::of_file(&input, path)?;
        Ok((entry.format, entry.open(&input)?.tensors().to_vec()))
    };
    Error::unless_readable(path)?;
    list().map_err(|problem| Error::file(path, problem))
}

/// Reads a model from the bytes of a .safetensors file.
pub(crate) fn model_from_bytes(bytes: &[u8]) -> Parsed<StoredModel> {
    let mut source = safetensors::SafetensorsFile::open(&input::Input::of_bytes(bytes))?;
    Ok(cast_model(&mut source, Format::Safetensors, &ReadOptions::default())?.stored)
}

/// A file on the disk may have others beside it that belong to it.
fn parse_model(
    input: &input::Input,
    path: &Path,
    on_disk: bool,
    options: &ReadOptions,
) -> Parsed<ModelFile> {
    let entry = Format::of_file(input, path)?;
    let beside = match entry.format {
        Format::Npy if on_disk => siblings::Siblings::of(path)?,
        _ => None,
    };
    let source: Box<dyn TensorSource> = match beside {
        Some(siblings) => Box::new(siblings),
        None => entry.open(input)?,
    };
    let tensors = source.tensors().to_vec();
    let (mut source, updates, update) = updates::OneUpdate::choose(source, options.update)?;
    let mut file = cast_model(&mut *source, entry.format, options)?;
    if let Some(update) = update {
        let many = if updates.len() == 1 { "the only one" } else { "of" };
        let all: Vec<String> = updates.iter().map(u64::to_string).collect();
        file.understood.push(format!("update: {update}, {many} {}", all.join(", ")));
    }
    Ok(ModelFile { tensors, updates, ..file })
}

/// The arrays of a file of any format that could hold data, and the name of the format.
pub(crate) fn open_arrays(
    input: &input::Input,
    path: &Path,
) -> Parsed<(Format, Box<dyn TensorSource>)> {
    let entry = Format::of_file(input, path)?;
    Ok((entry.format, entry.open(input)?))
}

/// True for text that is a format of its own, and no table.
pub(crate) fn looks_like_text_of_arrays(start: &[u8]) -> bool {
    uai::looks_like_it(start)
        || hdf5::looks_like_it(start)
        || mat::byte_order(start).is_some()
        || pickle::looks_like_old(start)
        || start.starts_with(b"PK")
}

pub(crate) use format::is_torch;

/// The only array of a file.
fn read_alone(path: &Path) -> Parsed<ArrayD<f64>> {
    let input = input::open_input(path, "a file with an array")?;
    let mut source = Format::of_file(&input, path)?.open(&input)?;
    match source.tensors().len() {
        1 => source.values(0),
        count => Err(format!("has {count} arrays, expected one")),
    }
}

fn cast_model(
    source: &mut dyn TensorSource,
    format: Format,
    options: &ReadOptions,
) -> Parsed<ModelFile> {
    let mut metadata = source.metadata();
    // What is kept about the model describes the converted one.
    let stated = metadata.remove("units");
    let certain = match (format, metadata.remove("layout").as_deref()) {
        (Format::Uai, _) | (_, Some(LAYOUT)) => Some(Layout::VisibleHidden),
        _ => None,
    };
    let told = options.units;
    let by_layers =
        layers::check(&format.to_string(), &source.words(), source.tensors(), told.is_some())?;
    let mut cast = if julia::is_one(source) && options.weights.is_none() {
        julia::cast(source)?
    } else {
        roles::cast(source, options, certain, &read_alone)?
    };
    if format == Format::Msgpack && told.is_none() && stated.is_none() {
        cast.units = Some(Units::Spin);
        cast.notes.push(Note::WaveFunction);
    }
    let of_file = by_layers.or(cast.units);
    let units = match (told, stated.as_deref(), of_file) {
        (Some(units), ..) => units,
        (None, None, Some(units)) => units,
        (None, stated, _) => units_from(stated)?,
    };
    let build = match units {
        Units::Binary => Rbm::new,
        Units::Spin => {
            cast.understood.push("units: -1 and +1, converted to 0 and 1; Z stays the same".into());
            Rbm::from_spins
        }
    };
    let model = build(cast.weights, cast.visible_bias, cast.hidden_bias).map_err(in_words)?;
    let stated = roles::optional_number(source, "constant")?.unwrap_or(0.0);
    let constant = stated + model.constant() + cast.constant;
    let model = model.with_constant(constant).map_err(in_words)?;
    let data_means = data_means(source, model.visible())?;
    let exact_log_z = roles::optional_number(source, "exact_log_z")?;
    Ok(ModelFile {
        stored: StoredModel { model, metadata, data_means, exact_log_z, units, notes: cast.notes },
        format,
        tensors: source.tensors().to_vec(),
        understood: cast.understood,
        updates: Vec::new(),
    })
}

/// How a square matrix of weights is marked in the files that are written here.
const LAYOUT: &str = "visible x hidden";

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
    let (_, write) = FormatEntry::to_write(path)?;
    mark_square(&mut stored);
    save::write_whole(path, |writer| write(writer, &stored))
}

/// A square matrix says which way round it is, so that nobody has to guess.
fn mark_square(stored: &mut std::borrow::Cow<'_, StoredModel>) {
    if stored.model.visible() == stored.model.hidden() && stored.model.visible() > 1 {
        stored.to_mut().metadata.insert("layout".to_owned(), LAYOUT.to_owned());
    }
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
    let mut stored = std::borrow::Cow::Borrowed(stored);
    mark_square(&mut stored);
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
        let input = input::open_unpacked(path, "a model file")?;
        let mut source = safetensors::SafetensorsFile::open(&input)?;
        let stored = cast_model(&mut source, Format::Safetensors, &ReadOptions::default())?.stored;
        let names: Vec<String> = source.tensors().iter().map(|t| t.name.clone()).collect();
        let extra = names.into_iter().enumerate().map(|(k, name)| Ok((name, source.values(k)?)));
        Ok(WithTensors { stored, extra: extra.collect::<Parsed<_>>()? })
    };
    Error::unless_readable(path)?;
    parse().map_err(|problem: String| Error::file(path, problem))
}

/// Fails as [`write_model`] would, if the path is at fault; nothing is left behind.
///
/// Long work asks before it starts, so that its result does not end at a wrong path.
pub fn check_model_path(path: &Path) -> Result<()> {
    FormatEntry::to_write(path)?;
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

/// Writes states with their phases as .npz (`visible`, `hidden` and `phase`), or the visible units alone as
/// .npy or .csv; whole or not at all.
pub fn write_samples(path: &Path, samples: &crate::Samples) -> Result<()> {
    let write = samples_writer(path)?;
    save::write_whole(path, |writer| write(writer, samples))
}

/// Fails as [`write_samples`] would, if the path is at fault; nothing is left behind.
pub fn check_samples_path(path: &Path) -> Result<()> {
    samples_writer(path)?;
    save::check_writable(path)
}

type WriteSamples = fn(&mut dyn std::io::Write, &crate::Samples) -> std::io::Result<()>;

fn samples_writer(path: &Path) -> Result<WriteSamples> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => Ok(|writer, samples| {
            let phase: Vec<u8> = samples.phase.iter().map(|&k| k as u8).collect();
            let arrays = [
                ("visible", samples.visible.view().into_dyn()),
                ("hidden", samples.hidden.view().into_dyn()),
                ("phase", ndarray::ArrayView1::from(&phase).into_dyn()),
            ];
            npz::write_bytes(writer, &arrays)
        }),
        Some("npy") => Ok(|writer, samples| {
            let bytes: Vec<u8> = samples.visible.iter().copied().collect();
            npy::write_bytes(writer, samples.visible.shape(), &bytes)
        }),
        Some("csv") => Ok(|writer, samples| {
            samples.visible.rows().into_iter().try_for_each(|row| {
                let units: Vec<&str> = row.iter().map(|&on| ["0", "1"][usize::from(on)]).collect();
                writeln!(writer, "{}", units.join(","))
            })
        }),
        _ => {
            let problem = "its extension names no format for states; use .npz, .npy or .csv";
            Err(Error::not_writable(path, problem.to_owned()))
        }
    }
}

/// Writes an array as .npy, whole or not at all.
pub fn write_npy(path: &Path, values: ArrayViewD<'_, f64>) -> Result<()> {
    save::write_whole(path, |writer| npy::write(writer, values.shape(), values.iter().copied()))
}
