//! Which tensor of a file plays which part in a model.

mod find;
mod turn;

use super::names::leaf;
use super::notes::Note;
use super::number::shape_in_words;
use super::options::{Layout, ReadOptions};
use super::tensors::{TensorInfo, TensorSource};
use super::{Parsed, Units};
use find::find;
use ndarray::{Array1, Array2, ArrayD, Ix2};
use std::path::Path;
use turn::turn;

/// The parameters of a model, and in words how they were found.
pub(super) struct Cast {
    pub(super) weights: Array2<f64>,
    pub(super) visible_bias: Array1<f64>,
    pub(super) hidden_bias: Array1<f64>,
    pub(super) constant: f64,
    /// The values of the units, where the file says so.
    pub(super) units: Option<Units>,
    pub(super) understood: Vec<String>,
    pub(super) notes: Vec<Note>,
}

const NAMELESS: &str = "the only array";

/// A matrix without values may claim sides of any length; biases of zero would be that long.
const LARGEST_LAYER: usize = 1 << 24;

/// Where a part of the model is.
enum Part {
    Tensor(usize),
    /// In a file of its own.
    File {
        name: String,
        values: ArrayD<f64>,
    },
    /// Nowhere: zero.
    Missing,
}

/// Reads the only array of another file.
pub(super) type ReadAlone<'a> = &'a dyn Fn(&Path) -> Parsed<ArrayD<f64>>;

/// Finds the three parts of a model by name and turns the weights by the lengths of the biases.
pub(super) fn cast(
    source: &mut dyn TensorSource,
    options: &ReadOptions,
    certain: Option<Layout>,
    read_alone: ReadAlone<'_>,
) -> Parsed<Cast> {
    let mut notes = Vec::new();
    let parts = find(source.tensors(), options, read_alone, &mut notes)?;
    let [weights, visible, hidden] = &parts;

    // The shape is compared before the values are read: a wrong one may claim any size.
    let shape = shape_of(source, weights);
    let [rows, columns] = shape[..] else {
        let name = name_of(source, weights);
        if let Part::Tensor(index) = weights
            && let info = &source.tensors()[*index]
            && info.dtype.starts_with("Python objects")
        {
            return Err(format!(
                "its array {name} holds {}, expected numbers; save every array under a name of its own",
                info.dtype
            ));
        }
        return Err(match shape.len() {
            _ if name == NAMELESS => format!(
                "holds an array of the shape {}, expected a matrix of weights (visible x hidden)",
                shape_in_words(&shape)
            ),
            3 => format!(
                "its weights {name} have the shape {}, expected two dimensions; three are those of a Potts layer (categories), which is not supported: only layers of 0 and 1, or of -1 and +1, are",
                shape_in_words(&shape)
            ),
            _ => format!(
                "its weights {name} have the shape {}, expected two dimensions",
                shape_in_words(&shape)
            ),
        });
    };
    if rows.max(columns) > LARGEST_LAYER {
        return Err(format!(
            "claims weights of {rows} x {columns}; layers have at most {LARGEST_LAYER} units"
        ));
    }
    let visible_bias = bias(source, visible)?;
    let hidden_bias = bias(source, hidden)?;
    let names = [name_of(source, weights), name_of(source, visible), name_of(source, hidden)];
    let weights_leaf = match weights {
        Part::Tensor(index) => leaf(&source.tensors()[*index].name).to_owned(),
        _ => String::new(),
    };
    let paired =
        matches!(hidden, Part::Tensor(index) if leaf(&source.tensors()[*index].name) == "bias");
    let lengths = [visible_bias.as_ref().map(Array1::len), hidden_bias.as_ref().map(Array1::len)];
    let (layout, reason, is_assumed) =
        turn([rows, columns], lengths, &names, options.layout, certain, &weights_leaf, paired)?;
    let (v, h) = match layout {
        Layout::VisibleHidden => (rows, columns),
        Layout::HiddenVisible => (columns, rows),
    };
    if is_assumed && rows == columns && rows > 1 {
        notes.push(Note::SquareWeights { side: rows, read_as: layout, log_z: None });
    }
    let of_bias = |what: &str, name: &str, values: &Option<Array1<f64>>| match values {
        Some(values) => format!("{what}: {name}, {} values", values.len()),
        None => format!("{what}: zero, because the file has none"),
    };
    let reason = if reason.is_empty() { reason } else { format!(", {reason}") };
    let mut understood = vec![format!(
        "weights: {}, {rows} x {columns}, read as {}{reason}",
        names[0],
        layout.in_words()
    )];
    if visible_bias.is_none() && hidden_bias.is_none() {
        understood.push("visible and hidden bias: zero, because the file has none".to_owned());
    } else {
        understood.push(of_bias("visible bias", &names[1], &visible_bias));
        understood.push(of_bias("hidden bias", &names[2], &hidden_bias));
    }
    if visible_bias.is_none() && options.visible_bias.is_none() {
        notes.push(Note::NoVisibleBias);
    }
    if hidden_bias.is_none() && options.hidden_bias.is_none() {
        notes.push(Note::NoHiddenBias);
    }
    let has_no_bias = visible_bias.is_none() && hidden_bias.is_none();
    let weights = matrix(take(source, parts.into_iter().next().unwrap_or(Part::Missing))?)?;
    if has_no_bias && options.weights.is_none() && options.layout.is_none() && is_data(&weights) {
        return Err(
            "holds nothing but zeros and ones, which looks like data (--data) and not like a model; if these are weights, say so by their layout (--layout vh)".to_owned()
        );
    }
    let weights = if layout == Layout::HiddenVisible { weights.reversed_axes() } else { weights };
    Ok(Cast {
        weights,
        visible_bias: visible_bias.unwrap_or_else(|| Array1::zeros(v)),
        hidden_bias: hidden_bias.unwrap_or_else(|| Array1::zeros(h)),
        constant: 0.0,
        units: None,
        understood,
        notes,
    })
}

/// A table of examples: zeros and ones, both of them, and more than a handful.
fn is_data(weights: &Array2<f64>) -> bool {
    weights.len() > 1
        && weights.iter().all(|&value| value == 0.0 || value == 1.0)
        && weights.iter().any(|&value| value == 0.0)
        && weights.iter().any(|&value| value == 1.0)
}

fn name_of(source: &dyn TensorSource, part: &Part) -> String {
    match part {
        Part::Tensor(index) => match &*source.tensors()[*index].name {
            "" => NAMELESS.to_owned(),
            name => format!("`{name}`"),
        },
        Part::File { name, .. } => name.clone(),
        Part::Missing => "(none)".to_owned(),
    }
}

fn shape_of(source: &dyn TensorSource, part: &Part) -> Vec<usize> {
    match part {
        Part::Tensor(index) => source.tensors()[*index].shape.clone(),
        Part::File { values, .. } => values.shape().to_vec(),
        Part::Missing => Vec::new(),
    }
}

fn take(source: &mut dyn TensorSource, part: Part) -> Parsed<ArrayD<f64>> {
    match part {
        Part::Tensor(index) => values(source, index),
        Part::File { values, .. } => Ok(values),
        Part::Missing => Err("has no weights".to_owned()),
    }
}

fn bias(source: &mut dyn TensorSource, part: &Part) -> Parsed<Option<Array1<f64>>> {
    match part {
        Part::Tensor(index) => vector(source, *index).map(Some),
        Part::File { values, .. } => Ok(Some(values.iter().copied().collect())),
        Part::Missing => Ok(None),
    }
}

/// The values of a tensor that is there under this name.
pub(super) fn optional(source: &mut dyn TensorSource, name: &str) -> Parsed<Option<Array1<f64>>> {
    let index = source.tensors().iter().position(|tensor| tensor.name == name);
    index.map(|index| vector(source, index)).transpose()
}

/// The same, for one number.
pub(super) fn optional_number(source: &mut dyn TensorSource, name: &str) -> Parsed<Option<f64>> {
    let Some(values) = optional(source, name)? else { return Ok(None) };
    match values.as_slice() {
        Some(&[value]) if value.is_finite() => Ok(Some(value)),
        Some([value]) => Err(format!("its tensor `{name}` is {value}, expected a finite number")),
        _ => Err(format!("its tensor `{name}` has {} values, expected one", values.len())),
    }
}

pub(super) fn values(source: &mut dyn TensorSource, index: usize) -> Parsed<ArrayD<f64>> {
    source.tensors()[index].check_memory()?;
    source.values(index).map_err(|problem| match &*source.tensors()[index].name {
        "" => problem,
        name => format!("its tensor `{name}` {problem}"),
    })
}

fn matrix(values: ArrayD<f64>) -> Parsed<Array2<f64>> {
    values.into_dimensionality::<Ix2>().map_err(|error| error.to_string())
}

/// The values of a vector: (n), (1, n) or (n, 1), and MATLAB's empty 0 x 0.
fn vector(source: &mut dyn TensorSource, index: usize) -> Parsed<Array1<f64>> {
    let TensorInfo { name, shape, .. } = &source.tensors()[index];
    let long_sides = shape.iter().filter(|&&side| side != 1).count();
    if long_sides > 1 && !shape.contains(&0) {
        return Err(format!(
            "its tensor `{name}` has the shape {}, expected a vector",
            shape_in_words(shape)
        ));
    }
    Ok(values(source, index)?.into_iter().collect())
}

fn in_words<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(12);
    names.truncate(12);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    if names.is_empty() { "no tensors".to_owned() } else { names.join(", ") + &tail }
}
