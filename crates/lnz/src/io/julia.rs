//! Models of RestrictedBoltzmannMachines.jl, with their offsets and scales folded in.

use super::Parsed;
use super::names::leaf;
use super::number::shape_in_words;
use super::roles::{self, Cast};
use super::tensors::TensorSource;
use ndarray::{Array1, Array2};

/// True for a file that `save_rbm` has written.
pub(super) fn is_one(source: &dyn TensorSource) -> bool {
    let has = |name: &str| source.tensors().iter().any(|tensor| leaf(&tensor.name) == name);
    has("weights") && has("visible_par") && has("hidden_par")
}

/// The model: its energy is -a.v - b.h - x.w.y with x = (v - offset) / scale, and y likewise.
///
/// Layers may have several sides; the order of the units is that of Julia's memory.
pub(super) fn cast(source: &mut dyn TensorSource) -> Parsed<Cast> {
    let shape_of = |name: &str| {
        let tensor = source.tensors().iter().find(|tensor| leaf(&tensor.name) == name);
        tensor.map(|tensor| tensor.shape.clone()).unwrap_or_default()
    };
    let (shape, visible_shape, hidden_shape) =
        (shape_of("weights"), shape_of("visible_par"), shape_of("hidden_par"));
    // The first side of `par` counts the parameters of a unit: one of a binary unit.
    if visible_shape.first() != Some(&1) || hidden_shape.first() != Some(&1) {
        return Err(format!(
            "has layers whose parameters are {} and {}, expected one parameter for each unit",
            shape_in_words(&visible_shape),
            shape_in_words(&hidden_shape)
        ));
    }
    let sides = [&visible_shape[1..], &hidden_shape[1..]].concat();
    if shape != sides {
        return Err(format!(
            "its weights are {}, but its layers are {} and {}",
            shape_in_words(&shape),
            shape_in_words(&visible_shape[1..]),
            shape_in_words(&hidden_shape[1..])
        ));
    }
    let a = flat(source, "visible_par")?.ok_or("has no visible_par")?;
    let b = flat(source, "hidden_par")?.ok_or("has no hidden_par")?;
    let (v, h) = (a.len(), b.len());
    let w = flat(source, "weights")?.ok_or("has no weights")?;
    // The first index runs fastest, so hidden units are the rows.
    let w = Array2::from_shape_vec((h, v), w.to_vec()).map_err(|error| error.to_string())?;
    let mut w = w.reversed_axes().as_standard_layout().into_owned();
    let mut optional = |name: &str, length: usize, default: f64| -> Parsed<Array1<f64>> {
        match flat(source, name)? {
            None => Ok(Array1::from_elem(length, default)),
            Some(values) if values.len() == length => Ok(values),
            Some(values) => {
                Err(format!("its `{name}` has {} values, expected {length}", values.len()))
            }
        }
    };
    let (offset_v, offset_h) = (optional("offset_v", v, 0.0)?, optional("offset_h", h, 0.0)?);
    let (scale_v, scale_h) = (optional("scale_v", v, 1.0)?, optional("scale_h", h, 1.0)?);
    for ((i, j), weight) in w.indexed_iter_mut() {
        *weight /= scale_v[i] * scale_h[j];
    }
    let (from_hidden, from_visible) = (w.dot(&offset_h), offset_v.dot(&w));
    let constant = offset_v.dot(&from_hidden);
    let mut understood = vec![
        format!(
            "weights: `weights`, {v} x {h}, read as (visible, hidden), as RestrictedBoltzmannMachines.jl stores it"
        ),
        format!("visible bias: `visible_par`, {v} values"),
        format!("hidden bias: `hidden_par`, {h} values"),
    ];
    let is_folded = offset_v.iter().chain(&offset_h).any(|&offset| offset != 0.0)
        || scale_v.iter().chain(&scale_h).any(|&scale| scale != 1.0);
    if is_folded {
        understood.push(
            "offsets and scales: folded into weights, biases and a constant; Z stays the same"
                .to_owned(),
        );
    }
    Ok(Cast {
        visible_bias: a - from_hidden,
        hidden_bias: b - from_visible,
        weights: w,
        constant,
        units: None,
        understood,
        notes: Vec::new(),
    })
}

/// The values of a tensor in the order of Julia's memory.
fn flat(source: &mut dyn TensorSource, name: &str) -> Parsed<Option<Array1<f64>>> {
    let index = source.tensors().iter().position(|tensor| leaf(&tensor.name) == name);
    let Some(index) = index else { return Ok(None) };
    let values = roles::values(source, index)?;
    Ok(Some(values.t().iter().copied().collect()))
}
