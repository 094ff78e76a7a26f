//! Which tensor of a file plays which part in a model.

use super::Parsed;
use super::number::shape_in_words;
use super::tensors::{TensorInfo, TensorSource};
use ndarray::{Array1, Array2, ArrayD, Ix2};

/// A part of a model and the names it goes by.
pub(super) struct Role {
    what: &'static str,
    pub(super) names: &'static [&'static str],
}

pub(super) const WEIGHTS: Role = Role {
    what: "weights",
    names: &["W", "weights", "weight", "weight_matrix", "vishid", "components_"],
};
pub(super) const VISIBLE_BIAS: Role = Role {
    what: "visible bias",
    names: &["b", "vbias", "visible_bias", "v_bias", "visbiases", "intercept_visible_"],
};
pub(super) const HIDDEN_BIAS: Role = Role {
    what: "hidden bias",
    names: &["c", "hbias", "hidden_bias", "h_bias", "hidbiases", "intercept_hidden_"],
};

impl Role {
    /// The only tensor that can play this part.
    fn cast(&self, tensors: &[TensorInfo]) -> Parsed<usize> {
        let mut fitting = (0..tensors.len()).filter(|&i| self.fits(&tensors[i].name));
        let first = fitting.next().ok_or_else(|| {
            format!(
                "has no {}: found {}, expected one of {}; rename the tensor or add it",
                self.what,
                in_words(tensors.iter().map(|tensor| &*tensor.name)),
                in_words(self.names.iter().copied()),
            )
        })?;
        match fitting.next() {
            None => Ok(first),
            Some(second) => Err(format!(
                "is ambiguous: both `{}` and `{}` could be the {}; remove or rename one",
                tensors[first].name, tensors[second].name, self.what
            )),
        }
    }

    fn fits(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

/// The parameters of a model, and in words how they were found.
pub(super) struct Cast {
    pub(super) weights: Array2<f64>,
    pub(super) visible_bias: Array1<f64>,
    pub(super) hidden_bias: Array1<f64>,
    pub(super) understood: Vec<String>,
}

/// Finds the three parts of a model by name and turns the weights by the lengths of the biases.
pub(super) fn cast(source: &mut dyn TensorSource) -> Parsed<Cast> {
    let weights = WEIGHTS.cast(source.tensors())?;
    let visible = VISIBLE_BIAS.cast(source.tensors())?;
    let hidden = HIDDEN_BIAS.cast(source.tensors())?;
    let (visible_bias, hidden_bias) = (vector(source, visible)?, vector(source, hidden)?);
    let name = |index: usize| format!("`{}`", source.tensors()[index].name);
    let (weights_name, visible_name, hidden_name) = (name(weights), name(visible), name(hidden));

    // The shape is compared before the values are read: a wrong one may claim any size.
    let shape = source.tensors()[weights].shape.clone();
    let [rows, columns] = shape[..] else {
        return Err(format!(
            "its weights {weights_name} have the shape {}, expected two dimensions",
            shape_in_words(&shape)
        ));
    };
    let (v, h) = (visible_bias.len(), hidden_bias.len());
    let (straight, turned) = ((rows, columns) == (v, h), (rows, columns) == (h, v));
    let hidden_first = source.tensors()[weights].name == "components_";
    let (transpose, reason) = match (straight, turned) {
        (true, true) if hidden_first => (true, "as scikit-learn stores it".to_owned()),
        (true, true) => (
            false,
            "which is assumed, because a square fits both ways; transpose it before saving if it is (hidden, visible)".to_owned(),
        ),
        (true, false) | (false, true) => (turned, format!("because {visible_name} has {v} values")),
        (false, false) => {
            let or_turned = if v == h { String::new() } else { format!(" or {h} x {v}") };
            return Err(format!(
                "its weights {weights_name} are {rows} x {columns}, but the visible bias {visible_name} has {v} values and the hidden bias {hidden_name} {h}; expected {v} x {h}{or_turned}"
            ));
        }
    };
    let way = if transpose { "(hidden, visible)" } else { "(visible, hidden)" };
    let understood = vec![
        format!("weights: {weights_name}, {rows} x {columns}, read as {way}, {reason}"),
        format!("visible bias: {visible_name}, {v} values"),
        format!("hidden bias: {hidden_name}, {h} values"),
    ];
    let weights = matrix(values(source, weights)?)?;
    let weights = if transpose { weights.reversed_axes() } else { weights };
    Ok(Cast { weights, visible_bias, hidden_bias, understood })
}

/// A lone matrix: the weights of a model without biases.
pub(super) fn cast_lone_matrix(source: &mut dyn TensorSource) -> Parsed<Cast> {
    let shape = source.tensors()[0].shape.clone();
    let [v, h] = shape[..] else {
        return Err(format!(
            "holds an array of the shape {}, expected a matrix of weights (visible x hidden)",
            shape_in_words(&shape)
        ));
    };
    Ok(Cast {
        weights: matrix(source.values(0)?)?,
        visible_bias: Array1::zeros(v),
        hidden_bias: Array1::zeros(h),
        understood: vec![
            format!("weights: the only array, {v} x {h}, read as (visible, hidden)"),
            "visible and hidden bias: zero, because a .npy file has no place for them".to_owned(),
        ],
    })
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

fn values(source: &mut dyn TensorSource, index: usize) -> Parsed<ArrayD<f64>> {
    source
        .values(index)
        .map_err(|problem| format!("its tensor `{}` {problem}", source.tensors()[index].name))
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
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "no tensors".to_owned() } else { names.join(", ") }
}
