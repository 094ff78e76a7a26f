//! The values of a pickle as a graph of plain data: what Python would call is only noted down.

use std::ops::Range;

/// The place of a value in its [`Graph`]; values may refer to each other, even in circles.
pub(super) type Id = usize;

/// A value.
#[derive(Debug)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Bytes of the file.
    Bytes(Range<usize>),
    /// Bytes that stand in the file in another form.
    OwnBytes(Vec<u8>),
    /// A list, a tuple or a set.
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or function, as `module.name`.
    Global(String),
    /// What the file leaves to its reader: a storage of torch.
    Persistent(Id),
    Object(Object),
}

/// What Python would make by calling something.
#[derive(Debug)]
pub(super) struct Object {
    /// What would be called.
    pub(super) class: Id,
    pub(super) arguments: Vec<Id>,
    /// What would be set on it: mostly a dictionary of attributes.
    pub(super) states: Vec<Id>,
    pub(super) items: Vec<(Id, Id)>,
    pub(super) list: Vec<Id>,
    /// The values of a joblib array, which stand between the instructions.
    pub(super) raw: Option<Range<usize>>,
}

/// All values of a pickle.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) root: Id,
    /// Where the pickle ends in the file.
    pub(super) end: usize,
}

impl Graph {
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn object(&self, id: Id) -> Option<&Object> {
        match self.node(id) {
            Node::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(super) fn list(&self, id: Id) -> Option<&[Id]> {
        match self.node(id) {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn int(&self, id: Id) -> Option<i64> {
        match *self.node(id) {
            Node::Int(value) => Some(value),
            Node::Bool(value) => Some(i64::from(value)),
            _ => None,
        }
    }

    /// A size or an index.
    pub(super) fn size(&self, id: Id) -> Option<usize> {
        self.int(id).and_then(|value| usize::try_from(value).ok())
    }

    pub(super) fn sizes(&self, id: Id) -> Option<Vec<usize>> {
        self.list(id)?.iter().map(|&item| self.size(item)).collect()
    }

    pub(super) fn global(&self, id: Id) -> Option<&str> {
        match self.node(id) {
            Node::Global(name) => Some(name),
            _ => None,
        }
    }

    /// The class of an object, also where Python 2 hides it in the arguments.
    pub(super) fn class_of(&self, object: &Object) -> Option<&str> {
        let class = self.global(object.class)?;
        let hidden = matches!(
            class,
            "copy_reg._reconstructor" | "copyreg._reconstructor" | "copyreg.__newobj__"
        );
        match object.arguments.first() {
            Some(&first) if hidden => self.global(first),
            _ => Some(class),
        }
    }

    /// The value of an attribute or key in a dictionary.
    pub(super) fn get(&self, dict: Id, key: &str, file: &[u8]) -> Option<Id> {
        let Node::Dict(items) = self.node(dict) else { return None };
        items.iter().find(|(name, _)| self.text(*name, file).as_deref() == Some(key)).map(|i| i.1)
    }

    /// Text; Python 2 stored it as bytes.
    pub(super) fn text(&self, id: Id, file: &[u8]) -> Option<String> {
        match self.node(id) {
            Node::Text(text) => Some(text.clone()),
            Node::Bytes(range) if range.len() < 4096 => {
                std::str::from_utf8(file.get(range.clone())?).ok().map(str::to_owned)
            }
            Node::OwnBytes(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
            _ => None,
        }
    }
}
