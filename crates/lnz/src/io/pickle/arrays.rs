//! Arrays in a pickle: those of numpy, joblib and torch, recognised by what would rebuild them.

use super::graph::{Graph, Id, Node, Object};
use crate::io::number::{Encoding, Endian, Number};
use std::borrow::Cow;
use std::ops::Range;

/// The type of the values of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Dtype {
    Number(Encoding),
    /// Objects, text, complex numbers.
    Other(String),
}

/// Where the values of an array are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// In the pickle.
    File(Range<usize>),
    /// In the pickle, in another form.
    Own(Vec<u8>),
    /// In the storage of this name beside the pickle.
    Storage(String),
    /// In a file of torch that lies in the pickle as bytes.
    Nested(Range<usize>),
    /// Written out as numbers.
    Numbers(Vec<f64>),
}

/// An array, not yet read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    /// Distance of neighbours along each side, in values.
    pub(super) strides: Vec<usize>,
    /// The first value.
    pub(super) offset: usize,
    pub(super) place: Place,
}

impl Found {
    fn packed(dtype: Dtype, shape: Vec<usize>, by_columns: bool, place: Place) -> Option<Self> {
        let mut strides = vec![1usize; shape.len()];
        let mut stride = 1usize;
        let sides: Vec<usize> =
            if by_columns { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
        for side in sides {
            strides[side] = stride;
            stride = stride.checked_mul(shape[side])?;
        }
        Some(Self { dtype, shape, strides, offset: 0, place })
    }

    /// An array whose sizes make no sense.
    fn damaged() -> Self {
        let dtype = Dtype::Other("damaged".to_owned());
        Self { dtype, shape: vec![], strides: vec![], offset: 0, place: Place::Own(vec![]) }
    }

    /// True where the first index runs fastest.
    pub(super) fn by_columns(&self) -> bool {
        self.shape.len() > 1 && self.strides[0] == 1 && self.shape[0] > 1
    }
}

/// The array that an object stands for.
pub(super) fn array(graph: &Graph, id: Id, file: &[u8]) -> Option<Found> {
    let mut object = graph.object(id)?;
    // A parameter wraps a tensor, and rarely another parameter.
    for _ in 0..4 {
        let class = graph.global(object.class)?;
        if !class.starts_with("torch._utils._rebuild_parameter") {
            break;
        }
        object = graph.object(*object.arguments.first()?)?;
    }
    let class = graph.global(object.class)?;
    if let Some(raw) = &object.raw {
        return joblib_array(graph, object, raw, file);
    }
    match class.rsplit('.').next()? {
        "_reconstruct" if class.contains("multiarray") => numpy_array(graph, object, file),
        "_frombuffer" if class.contains("numeric") => {
            let [buffer, dtype_id, shape, order] = object.arguments[..] else { return None };
            let order = graph.text(order, file)?;
            let dtype = dtype(graph, dtype_id, file)?;
            Found::packed(dtype, graph.sizes(shape)?, order == "F", place_of(graph, buffer, file)?)
        }
        "scalar" if class.contains("multiarray") => {
            let (&kind, &data) = (object.arguments.first()?, object.arguments.get(1)?);
            let dtype = dtype(graph, kind, file)?;
            Found::packed(dtype, vec![], false, place_of(graph, data, file)?)
        }
        "_rebuild_tensor" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3" => {
            // Its sizes and strides are no arrays of their own.
            Some(torch_tensor(graph, &object.arguments, file).unwrap_or_else(Found::damaged))
        }
        // A tensor of a subclass: (function, type, arguments, state).
        "_rebuild_from_type_v2" => {
            let &arguments = object.arguments.get(2)?;
            torch_tensor(graph, graph.list(arguments)?, file)
        }
        _ => None,
    }
}

/// What an array of numpy holds that is made of objects.
pub(super) fn objects(graph: &Graph, id: Id) -> Option<&[Id]> {
    let object = graph.object(id)?;
    let class = graph.global(object.class)?;
    if !(class.contains("multiarray") && class.ends_with("._reconstruct")) {
        return None;
    }
    graph.list(*graph.list(*object.states.last()?)?.last()?)
}

fn numpy_array(graph: &Graph, object: &Object, file: &[u8]) -> Option<Found> {
    let state = graph.list(*object.states.last()?)?;
    // The first of five is a version.
    let [shape, kind, by_columns, data] = state[state.len().checked_sub(4)?..] else { return None };
    let by_columns = graph.int(by_columns)? != 0;
    let (dtype, place) = (dtype(graph, kind, file)?, place_of(graph, data, file)?);
    Found::packed(dtype, graph.sizes(shape)?, by_columns, place)
}

fn joblib_array(graph: &Graph, object: &Object, raw: &Range<usize>, file: &[u8]) -> Option<Found> {
    let &state = object.states.last()?;
    let field = |name| graph.get(state, name, file);
    let by_columns = graph.text(field("order")?, file)? == "F";
    let shape = graph.sizes(field("shape")?)?;
    Found::packed(dtype(graph, field("dtype")?, file)?, shape, by_columns, Place::File(raw.clone()))
}

/// From (storage, offset, shape, strides, ...); version 3 has the type as seventh.
fn torch_tensor(graph: &Graph, arguments: &[Id], file: &[u8]) -> Option<Found> {
    let [storage, offset, shape, strides, ..] = *arguments else { return None };
    let (mut dtype, place) = torch_storage(graph, storage, file)?;
    if let Some(name) = arguments.get(6).and_then(|&id| graph.global(id)) {
        dtype = torch_dtype(name.strip_prefix("torch.").unwrap_or(name));
    }
    let (shape, strides) = (graph.sizes(shape)?, graph.sizes(strides)?);
    if shape.len() != strides.len() {
        return None;
    }
    Some(Found { dtype, shape, strides, offset: graph.size(offset)?, place })
}

/// The type and place of a storage; a nested file says the type itself.
pub(super) fn torch_storage(graph: &Graph, id: Id, file: &[u8]) -> Option<(Dtype, Place)> {
    match graph.node(id) {
        // ("storage", type, key, location, count)
        Node::Persistent(key) => {
            let &[_, kind, key, ..] = graph.list(*key)? else { return None };
            let kind = graph.global(kind)?.rsplit('.').next()?;
            let key = graph.text(key, file).or_else(|| Some(graph.int(key)?.to_string()))?;
            Some((torch_dtype(kind), Place::Storage(key)))
        }
        Node::Object(object) => match graph.global(object.class)? {
            // Early versions wrote the values out as a list.
            class if class.starts_with("torch.") && class.ends_with("Storage") => {
                let values = graph.list(*object.arguments.first()?)?;
                let number = |&id: &Id| match *graph.node(id) {
                    Node::Int(value) => Some(value as f64),
                    Node::Float(value) => Some(value),
                    Node::Bool(value) => Some(f64::from(u8::from(value))),
                    _ => None,
                };
                let values: Option<Vec<f64>> = values.iter().map(number).collect();
                let bytes = values?.iter().flat_map(|value| value.to_le_bytes()).collect();
                Some((torch_dtype("float64"), Place::Own(bytes)))
            }
            "torch.storage._load_from_bytes" => match graph.node(*object.arguments.first()?) {
                Node::Bytes(range) => {
                    Some((Dtype::Other("nested".to_owned()), Place::Nested(range.clone())))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn torch_dtype(name: &str) -> Dtype {
    let number = match name {
        "FloatStorage" | "float32" | "float" => Number::F32,
        "DoubleStorage" | "float64" | "double" => Number::F64,
        "HalfStorage" | "float16" | "half" => Number::F16,
        "BFloat16Storage" | "bfloat16" => Number::BF16,
        "LongStorage" | "int64" | "long" => Number::I64,
        "IntStorage" | "int32" | "int" => Number::I32,
        "ShortStorage" | "int16" | "short" => Number::I16,
        "CharStorage" | "int8" => Number::I8,
        "ByteStorage" | "uint8" => Number::U8,
        "BoolStorage" | "bool" => Number::Bool,
        other => return Dtype::Other(other.to_owned()),
    };
    Dtype::Number(Encoding { number, endian: Endian::Little })
}

/// numpy's dtype: ('f8', ...) and the byte order in its state.
pub(super) fn dtype(graph: &Graph, id: Id, file: &[u8]) -> Option<Dtype> {
    if let Some(name) = graph.text(id, file) {
        return Some(known_dtype(&name, None));
    }
    let object = graph.object(id)?;
    if !graph.global(object.class)?.ends_with("dtype") {
        return None;
    }
    let name = graph.text(*object.arguments.first()?, file)?;
    let order = object.states.last().and_then(|&state| graph.list(state));
    let order = order.and_then(|state| graph.text(*state.get(1)?, file));
    Some(known_dtype(&name, order.as_deref()))
}

fn known_dtype(name: &str, order: Option<&str>) -> Dtype {
    let mut descr = name.to_owned();
    if let Some(order @ (">" | "<")) = order {
        descr.insert_str(0, order);
    }
    match crate::io::npy::parse_dtype(&descr) {
        (Some(encoding), _) => Dtype::Number(encoding),
        (None, words) => Dtype::Other(words),
    }
}

fn place_of(graph: &Graph, id: Id, file: &[u8]) -> Option<Place> {
    match graph.node(id) {
        Node::Bytes(range) => Some(Place::File(range.clone())),
        Node::OwnBytes(bytes) => Some(Place::Own(bytes.clone())),
        // Python 3 writes bytes for Python 2 as text of the same code points.
        Node::Object(object) if graph.global(object.class) == Some("_codecs.encode") => {
            let text = match graph.node(*object.arguments.first()?) {
                Node::Text(text) => Cow::Borrowed(text.as_str()),
                _ => Cow::Owned(graph.text(*object.arguments.first()?, file)?),
            };
            let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
            bytes.map(Place::Own)
        }
        Node::Text(text) => {
            let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
            bytes.map(Place::Own)
        }
        _ => None,
    }
}
