//! The tensors that are weights and biases, found by name, by their place and by shape.

use super::super::Parsed;
use super::super::names::{self, HIDDEN_BIAS, Role, VISIBLE_BIAS, WEIGHTS, leaf, parent};
use super::super::notes::Note;
use super::super::options::ReadOptions;
use super::super::tensors::TensorInfo;
use std::path::Path;

use super::{Part, ReadAlone, in_words};

/// The weights, the visible bias and the hidden bias.
pub(super) fn find(
    tensors: &[TensorInfo],
    options: &ReadOptions,
    read_alone: ReadAlone<'_>,
    notes: &mut Vec<Note>,
) -> Parsed<[Part; 3]> {
    let named = |role: &Role, name: &Option<String>| {
        name.as_ref().map(|name| by_name(tensors, role, name, read_alone)).transpose()
    };
    let named_weights = named(&WEIGHTS, &options.weights)?;
    let named_visible = named(&VISIBLE_BIAS, &options.visible_bias)?;
    let named_hidden = named(&HIDDEN_BIAS, &options.hidden_bias)?;
    let usable: Vec<usize> =
        (0..tensors.len()).filter(|&i| !names::is_bookkeeping(&tensors[i].name)).collect();
    let is_phase = |name: &str| name.contains("rbm_ph") || leaf(name).starts_with("ph_");
    if tensors.iter().any(|tensor| is_phase(&tensor.name)) {
        notes.push(Note::OneOfSeveral { taken: AMPLITUDE.to_owned() });
    }
    let weights = match named_weights {
        Some(part) => part,
        None => match only(tensors, &usable, &WEIGHTS, "")? {
            Some(index) => Part::Tensor(index),
            None => {
                return match by_shape(tensors, &usable) {
                    Some(parts) if named_visible.is_none() && named_hidden.is_none() => {
                        if tensors.len() > 1 {
                            notes.push(Note::FoundByShape);
                        }
                        Ok(parts)
                    }
                    Some([weights, visible, hidden]) => Ok([
                        weights,
                        named_visible.unwrap_or(visible),
                        named_hidden.unwrap_or(hidden),
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
        biases(tensors, &without_weights, &near, [&named_visible, &named_hidden])?;
    let as_part = |found: Option<usize>| found.map_or(Part::Missing, Part::Tensor);
    let parts = [
        weights,
        named_visible.unwrap_or(as_part(visible)),
        named_hidden.unwrap_or(as_part(hidden)),
    ];
    refuse_overlooked(tensors, &without_weights, &parts, options)?;
    Ok(parts)
}

const AMPLITUDE: &str = "the amplitude of a complex wave function was taken, its phase left out";

/// The two biases by their names; `a` and `b`, `b` and `c`, and a lone `bias` depend on each other.
fn biases(
    tensors: &[TensorInfo],
    usable: &[usize],
    near: &str,
    named: [&Option<Part>; 2],
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
        if named[0].is_some() { None } else { only(tensors, &rest, &VISIBLE_BIAS, near)? };
    let mut hidden =
        if named[1].is_some() { None } else { only(tensors, &rest, &HIDDEN_BIAS, near)? };
    // Hinton writes a and b, most others b and c.
    let (by_a, by_c) = match (a, b, c) {
        (Some(a), Some(b), None) => (Some(a), Some(b)),
        (None, Some(b), None) if visible.is_some() => (None, Some(b)),
        (None, b, c) => (b, c),
        (Some(a), _, c) => (Some(a), c),
    };
    if visible.is_none() && named[0].is_none() {
        visible = by_a;
    } else if let (Some(found), Some(other)) = (visible, by_a)
        && a.is_some() | c.is_some()
        && named[0].is_none()
    {
        return Err(ambiguous(tensors, found, other, &VISIBLE_BIAS));
    }
    if hidden.is_none() && named[1].is_none() {
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
    for (part, role, named, option) in [
        (&parts[1], &VISIBLE_BIAS, &options.visible_bias, "--visible-bias"),
        (&parts[2], &HIDDEN_BIAS, &options.hidden_bias, "--hidden-bias"),
    ] {
        if !matches!(part, Part::Missing) || named.is_some() {
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
