//! Which tensor of a file plays which part in a model.

use super::names::{self, HIDDEN_BIAS, Role, VISIBLE_BIAS, WEIGHTS, convention, leaf, parent};
use super::notes::Note;
use super::number::shape_in_words;
use super::options::{Layout, ReadOptions};
use super::tensors::{TensorInfo, TensorSource};
use super::{Parsed, Units};
use ndarray::{Array1, Array2, ArrayD, Ix2};
use std::path::Path;

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

/// Which way round the weights are, why, and whether that is only assumed.
fn turn(
    [rows, columns]: [usize; 2],
    lengths: [Option<usize>; 2],
    [weights, visible, hidden]: &[String; 3],
    told: Option<Layout>,
    certain: Option<Layout>,
    weights_leaf: &str,
    paired: bool,
) -> Parsed<(Layout, String, bool)> {
    let fits = |(v, h): (usize, usize)| {
        lengths[0].is_none_or(|length| length == v) && lengths[1].is_none_or(|length| length == h)
    };
    let (straight, turned) = (fits((rows, columns)), fits((columns, rows)));
    let reason = match lengths {
        [Some(v), _] => format!("because {visible} has {v} values"),
        [None, Some(h)] => format!("because {hidden} has {h} values"),
        _ => String::new(),
    };
    let known = convention(weights_leaf, paired);
    Ok(match (straight, turned) {
        (false, false) => {
            let in_words = |length: Option<usize>| length.map_or("none".to_owned(), |n| n.to_string());
            let expected = match lengths {
                [Some(v), Some(h)] if v == h => format!("; expected {v} x {h}"),
                [Some(v), Some(h)] => format!("; expected {v} x {h} or {h} x {v}"),
                _ => String::new(),
            };
            return Err(format!(
                "its weights {weights} are {rows} x {columns}, but the visible bias {visible} has {} values and the hidden bias {hidden} {}{expected}",
                in_words(lengths[0]),
                in_words(lengths[1]),
            ));
        }
        (true, false) if told == Some(Layout::HiddenVisible) => return Err(contradiction(rows, columns, "hv", &reason)),
        (false, true) if told == Some(Layout::VisibleHidden) => return Err(contradiction(rows, columns, "vh", &reason)),
        (true, false) => (Layout::VisibleHidden, reason, false),
        (false, true) => (Layout::HiddenVisible, reason, false),
        (true, true) => match (told, certain, known) {
            (Some(layout), ..) => (layout, "as told".to_owned(), false),
            (None, Some(layout), _) => (layout, "as the file says".to_owned(), false),
            (None, None, Some((layout, reason))) => (layout, reason.to_owned(), false),
            (None, None, None) if rows == columns => (
                Layout::VisibleHidden,
                "which is assumed, because a square fits both ways; say --layout hv if it is (hidden, visible)".to_owned(),
                true,
            ),
            // Without biases log Z is the same either way.
            (None, None, None) => (Layout::VisibleHidden, String::new(), false),
        },
    })
}

fn contradiction(rows: usize, columns: usize, told: &str, reason: &str) -> String {
    format!(
        "its weights are {rows} x {columns}, which does not go with the layout {told}, {reason}"
    )
}

/// The weights, the visible bias and the hidden bias.
fn find(
    tensors: &[TensorInfo],
    options: &ReadOptions,
    read_alone: ReadAlone<'_>,
    notes: &mut Vec<Note>,
) -> Parsed<[Part; 3]> {
    let told = |role: &Role, name: &Option<String>| {
        name.as_ref().map(|name| by_name(tensors, role, name, read_alone)).transpose()
    };
    let told_weights = told(&WEIGHTS, &options.weights)?;
    let told_visible = told(&VISIBLE_BIAS, &options.visible_bias)?;
    let told_hidden = told(&HIDDEN_BIAS, &options.hidden_bias)?;
    let usable: Vec<usize> =
        (0..tensors.len()).filter(|&i| !names::is_bookkeeping(&tensors[i].name)).collect();
    let is_phase = |name: &str| name.contains("rbm_ph") || leaf(name).starts_with("ph_");
    if tensors.iter().any(|tensor| is_phase(&tensor.name)) {
        notes.push(Note::OneOfSeveral { taken: AMPLITUDE.to_owned() });
    }
    let weights = match told_weights {
        Some(part) => part,
        None => match only(tensors, &usable, &WEIGHTS, "")? {
            Some(index) => Part::Tensor(index),
            None => {
                return match by_shape(tensors, &usable) {
                    Some(parts) if told_visible.is_none() && told_hidden.is_none() => {
                        if tensors.len() > 1 {
                            notes.push(Note::FoundByShape);
                        }
                        Ok(parts)
                    }
                    Some([weights, visible, hidden]) => Ok([
                        weights,
                        told_visible.unwrap_or(visible),
                        told_hidden.unwrap_or(hidden),
                    ]),
                    None => Err(missing(tensors, &WEIGHTS)),
                };
            }
        },
    };
    let near = match &weights {
        Part::Tensor(index) => parent(&tensors[*index].name).to_owned(),
        _ => String::new(),
    };
    let without_weights: Vec<usize> =
        usable.into_iter().filter(|&i| !matches!(weights, Part::Tensor(w) if w == i)).collect();
    let [visible, hidden] =
        biases(tensors, &without_weights, &near, [&told_visible, &told_hidden])?;
    let as_part = |found: Option<usize>| found.map_or(Part::Missing, Part::Tensor);
    let parts =
        [weights, told_visible.unwrap_or(as_part(visible)), told_hidden.unwrap_or(as_part(hidden))];
    refuse_overlooked(tensors, &without_weights, &parts, options)?;
    Ok(parts)
}

const AMPLITUDE: &str = "the amplitude of a complex wave function was taken, its phase left out";

/// The two biases by their names; `a` and `b`, `b` and `c`, and a lone `bias` depend on each other.
fn biases(
    tensors: &[TensorInfo],
    usable: &[usize],
    near: &str,
    told: [&Option<Part>; 2],
) -> Parsed<[Option<usize>; 2]> {
    let letter = |letter: &str| {
        let fits = |&&i: &&usize| leaf(&tensors[i].name).eq_ignore_ascii_case(letter);
        let fitting: Vec<usize> = usable.iter().filter(fits).copied().collect();
        nearest(tensors, &fitting, near).first().copied()
    };
    let (a, b, c) = (letter("a"), letter("b"), letter("c"));
    let is_single =
        |i: usize| ["a", "b", "c"].iter().any(|l| leaf(&tensors[i].name).eq_ignore_ascii_case(l));
    let rest: Vec<usize> = usable
        .iter()
        .copied()
        .filter(|&i| !is_single(i) && leaf(&tensors[i].name) != "bias")
        .collect();
    let lone: Vec<usize> =
        usable.iter().copied().filter(|&i| leaf(&tensors[i].name) == "bias").collect();
    let mut visible =
        if told[0].is_some() { None } else { only(tensors, &rest, &VISIBLE_BIAS, near)? };
    let mut hidden =
        if told[1].is_some() { None } else { only(tensors, &rest, &HIDDEN_BIAS, near)? };
    // Hinton writes a and b, most others b and c.
    let (by_a, by_c) = match (a, b, c) {
        (Some(a), Some(b), None) => (Some(a), Some(b)),
        (None, Some(b), None) if visible.is_some() => (None, Some(b)),
        (None, b, c) => (b, c),
        (Some(a), _, c) => (Some(a), c),
    };
    if visible.is_none() && told[0].is_none() {
        visible = by_a;
    } else if let (Some(found), Some(other)) = (visible, by_a)
        && a.is_some() | c.is_some()
        && told[0].is_none()
    {
        return Err(ambiguous(tensors, found, other, &VISIBLE_BIAS));
    }
    if hidden.is_none() && told[1].is_none() {
        hidden = by_c.or(only_of(tensors, &lone, &HIDDEN_BIAS, near)?);
    }
    Ok([visible, hidden])
}

/// Vectors with the length of a missing bias under names that nobody knows must not go unnoticed.
fn refuse_overlooked(
    tensors: &[TensorInfo],
    usable: &[usize],
    parts: &[Part; 3],
    options: &ReadOptions,
) -> Parsed<()> {
    let Part::Tensor(weights) = parts[0] else { return Ok(()) };
    let sides = &tensors[weights].shape;
    let taken = |i: usize| parts.iter().any(|part| matches!(part, Part::Tensor(t) if *t == i));
    let known = ["data_means", "constant", "exact_log_z"];
    let looks_like_bias = |name: &str| {
        let name = name.to_lowercase();
        name.contains("bias")
            || name.contains("offset")
            || name.len() <= 2
            || name.contains("intercept")
            || name.contains("field")
    };
    for (part, role, told, option) in [
        (&parts[1], &VISIBLE_BIAS, &options.visible_bias, "--visible-bias"),
        (&parts[2], &HIDDEN_BIAS, &options.hidden_bias, "--hidden-bias"),
    ] {
        if !matches!(part, Part::Missing) || told.is_some() {
            continue;
        }
        let overlooked = usable.iter().copied().find(|&i| {
            let shape = &tensors[i].shape;
            let long: Vec<usize> = shape.iter().copied().filter(|&side| side != 1).collect();
            let name = leaf(&tensors[i].name);
            !taken(i)
                && !known.contains(&name)
                && looks_like_bias(name)
                && matches!(long[..], [length] if sides.contains(&length))
        });
        if let Some(index) = overlooked {
            return Err(format!(
                "has no {what}: found {}, expected one of {}; rename the tensor or add it, or name it ({option} {}, or {option} none)",
                in_words(tensors.iter().map(|tensor| &*tensor.name)),
                in_words(role.names.iter().copied()),
                tensors[index].name,
                what = role.what,
            ));
        }
    }
    Ok(())
}

/// The only tensor that can play a part; of several, the one nearest to the weights.
fn only(
    tensors: &[TensorInfo],
    usable: &[usize],
    role: &Role,
    near: &str,
) -> Parsed<Option<usize>> {
    let fitting: Vec<usize> =
        usable.iter().copied().filter(|&i| role.fits(leaf(&tensors[i].name))).collect();
    only_of(tensors, &fitting, role, near)
}

fn only_of(
    tensors: &[TensorInfo],
    fitting: &[usize],
    role: &Role,
    near: &str,
) -> Parsed<Option<usize>> {
    match nearest(tensors, fitting, near)[..] {
        [] => Ok(None),
        [index] => Ok(Some(index)),
        [first, second, ..] => Err(ambiguous(tensors, first, second, role)),
    }
}

fn ambiguous(tensors: &[TensorInfo], first: usize, second: usize, role: &Role) -> String {
    format!(
        "is ambiguous: both `{}` and `{}` could be the {}; remove or rename one, or name the one that is meant (--{} NAME)",
        tensors[first].name,
        tensors[second].name,
        role.what,
        role.what.replace(' ', "-"),
    )
}

/// Those whose path shares most with that of the weights.
fn nearest(tensors: &[TensorInfo], fitting: &[usize], near: &str) -> Vec<usize> {
    let shared = |index: usize| {
        let path = parent(&tensors[index].name);
        path.bytes().zip(near.bytes()).take_while(|(a, b)| a == b).count()
    };
    let most = fitting.iter().map(|&index| shared(index)).max();
    fitting.iter().copied().filter(|&index| Some(shared(index)) == most).collect()
}

/// One matrix and vectors for its sides, whatever they are called.
fn by_shape(tensors: &[TensorInfo], usable: &[usize]) -> Option<[Part; 3]> {
    let long = |index: usize| -> Vec<usize> {
        tensors[index].shape.iter().copied().filter(|&side| side != 1).collect()
    };
    if let [only] = usable[..]
        && tensors.len() == 1
    {
        return Some([Part::Tensor(only), Part::Missing, Part::Missing]);
    }
    // Names that say something else are not guessed at.
    let nameless = |&&index: &&usize| {
        let leaf = leaf(&tensors[index].name);
        leaf.is_empty()
            || leaf.bytes().all(|byte| byte.is_ascii_digit())
            || leaf.starts_with("arr_")
    };
    let nameless: Vec<usize> = usable.iter().filter(nameless).copied().collect();
    let matrices: Vec<usize> = nameless.iter().copied().filter(|&i| long(i).len() == 2).collect();
    let vectors: Vec<usize> = nameless.iter().copied().filter(|&i| long(i).len() == 1).collect();
    let ([matrix], [first, second]) = (&matrices[..], &vectors[..]) else { return None };
    let (sides, lengths) = (long(*matrix), [long(*first)[0], long(*second)[0]]);
    // The first side is taken as the visible one; log Z is the same either way.
    if lengths[..] == sides[..] {
        Some([Part::Tensor(*matrix), Part::Tensor(*first), Part::Tensor(*second)])
    } else if lengths[0] == sides[1] && lengths[1] == sides[0] {
        Some([Part::Tensor(*matrix), Part::Tensor(*second), Part::Tensor(*first)])
    } else {
        None
    }
}

fn by_name(
    tensors: &[TensorInfo],
    role: &Role,
    name: &str,
    read_alone: ReadAlone<'_>,
) -> Parsed<Part> {
    if let Some(index) = tensors.iter().position(|tensor| tensor.name == name) {
        return Ok(Part::Tensor(index));
    }
    let ends: Vec<usize> = (0..tensors.len())
        .filter(|&i| {
            let before = tensors[i].name.strip_suffix(name);
            before.is_some_and(|before| before.ends_with(['.', '/']))
        })
        .collect();
    if let [index] = ends[..] {
        return Ok(Part::Tensor(index));
    }
    let path = Path::new(name);
    if path.is_file() {
        let values = read_alone(path)
            .map_err(|problem| format!("is to be read with {name}, which {problem}"))?;
        return Ok(Part::File { name: format!("`{name}`"), values });
    }
    if name == "none" && role.what != WEIGHTS.what {
        return Ok(Part::Missing);
    }
    Err(format!(
        "has no tensor `{name}` for the {}, and there is no file of that name; found {}",
        role.what,
        in_words(tensors.iter().map(|tensor| &*tensor.name))
    ))
}

fn missing(tensors: &[TensorInfo], role: &Role) -> String {
    let weights = if role.what == "weights" { "weights" } else { "visible-bias" };
    format!(
        "has no {}: found {}, expected one of {}; rename the tensor, or name it (--{weights} NAME)",
        role.what,
        in_words(tensors.iter().map(|tensor| &*tensor.name)),
        in_words(role.names.iter().copied()),
    )
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
