//! From a file to a model: its format, its tensors, which of them are the parts, and their units.

use super::format::Format;
use super::options::{Layout, ReadOptions};
use super::tensors::{TensorInfo, TensorSource};
use super::{ModelFile, Note, Parsed, StoredModel, Units};
use super::{input, julia, layers, roles, safetensors, siblings, updates, write};
use crate::{Error, Rbm, Result};
use ndarray::{Array1, ArrayD};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a model; without `units`, the file's own word counts (metadata `units`: `spin` or
/// `binary`), and binary when it has none.
pub fn read_model(path: &Path, units: Option<Units>) -> Result<ModelFile> {
    read_model_with(path, &ReadOptions::with_units(units))
}

/// Reads a model, wanted what the file itself does not say.
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

/// A model with all other tensors of its .safetensors file.
pub(crate) struct WithTensors {
    pub(crate) stored: StoredModel,
    pub(crate) extra: BTreeMap<String, ArrayD<f64>>,
}

/// Reads what [`write_tensors`](write::write_tensors) has written.
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
    let siblings = match entry.format {
        Format::Npy if on_disk => siblings::Siblings::of(path)?,
        _ => None,
    };
    let source: Box<dyn TensorSource> = match siblings {
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
        (Format::Uai, _) | (_, Some(write::LAYOUT)) => Some(Layout::VisibleHidden),
        _ => None,
    };
    let wanted = options.units;
    let by_layers =
        layers::check(&format.to_string(), &source.words(), source.tensors(), wanted.is_some())?;
    let mut cast = if julia::is_one(source) && options.weights.is_none() {
        julia::cast(source)?
    } else {
        roles::cast(source, options, certain, &read_alone)?
    };
    if format == Format::Msgpack && wanted.is_none() && stated.is_none() {
        cast.units = Some(Units::Spin);
        cast.notes.push(Note::WaveFunction);
    }
    let of_file = by_layers.or(cast.units);
    let units = match (wanted, stated.as_deref(), of_file) {
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
