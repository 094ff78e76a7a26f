//! The arrays of a pickle under the names that lead to them: keys, attributes, places in a list.

use super::arrays::{Dtype, Found, Place, array, objects, torch_storage};
use super::graph::{Graph, Id, Node, Object};
use std::collections::HashSet;

/// What a walk has found.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) arrays: Vec<(String, Found)>,
    /// Names of classes and short texts, by the path that leads to them.
    pub(super) words: Vec<(String, String)>,
}

/// Paths that are longer belong to something else than a model.
const DEEPEST: usize = 60;
const MOST_ARRAYS: usize = 100_000;
const MOST_NUMBERS: usize = 1 << 24;
const MOST_WORDS: usize = 10_000;

/// Parts of a path that only the makers of modules know.
const BOOKKEEPING: [&str; 4] = ["_parameters", "_buffers", "_modules", "__dict__"];

/// All arrays that can be reached from the root.
pub(super) fn walk(graph: &Graph, file: &[u8]) -> Findings {
    let mut walk = Walk { graph, file, seen: HashSet::new(), depth: 0, found: Findings::default() };
    walk.visit(graph.root, &mut Vec::new());
    walk.found
}

struct Walk<'a> {
    graph: &'a Graph,
    file: &'a [u8],
    /// Containers are entered once, so that circles end.
    seen: HashSet<Id>,
    depth: usize,
    found: Findings,
}

impl Walk<'_> {
    fn visit(&mut self, id: Id, path: &mut Vec<String>) {
        if self.depth < DEEPEST && self.found.arrays.len() < MOST_ARRAYS {
            self.depth += 1;
            self.enter(id, path);
            self.depth -= 1;
        }
    }

    fn enter(&mut self, id: Id, path: &mut Vec<String>) {
        if let Some(items) = objects(self.graph, id) {
            match items {
                // A dictionary that was given to numpy.save.
                &[one] => self.visit(one, path),
                many if self.seen.insert(id) => self.items(many, path),
                _ => {}
            }
            return;
        }
        if let Some(found) = array(self.graph, id, self.file) {
            self.found.arrays.push((path.join("."), found));
            return;
        }
        match self.graph.node(id) {
            Node::Text(_) | Node::Bytes(_) | Node::OwnBytes(_) => {
                if let Some(text) = self.graph.text(id, self.file) {
                    self.word(path, text);
                }
            }
            Node::Global(name) => self.word(path, name.clone()),
            Node::Bool(value) if path.last().is_some_and(|key| key.contains("binary")) => {
                self.word(path, if *value { "True" } else { "False" }.to_owned());
            }
            Node::List(items) if self.seen.insert(id) => {
                if let Some(found) = numbers(self.graph, id) {
                    self.found.arrays.push((path.join("."), found));
                } else {
                    self.items(items, path);
                }
            }
            Node::Dict(items) if self.seen.insert(id) => self.pairs(items, path),
            Node::Object(object) if self.seen.insert(id) => self.object(object, path),
            Node::Persistent(_) => {
                if let Some((_, Place::Storage(_))) = torch_storage(self.graph, id, self.file) {
                    self.word(path, "torch storage".to_owned());
                }
            }
            _ => {}
        }
    }

    fn word(&mut self, path: &[String], text: String) {
        if self.found.words.len() < MOST_WORDS && text.len() < 200 {
            self.found.words.push((path.join("."), text));
        }
    }

    fn items(&mut self, items: &[Id], path: &mut Vec<String>) {
        for (at, &item) in items.iter().enumerate() {
            self.below(at.to_string(), item, path);
        }
    }

    fn pairs(&mut self, items: &[(Id, Id)], path: &mut Vec<String>) {
        for &(key, value) in items {
            let name = self.graph.text(key, self.file);
            let name = name.or_else(|| Some(self.graph.int(key)?.to_string()));
            match name {
                Some(name) if BOOKKEEPING.contains(&&*name) => self.visit(value, path),
                Some(name) => self.below(name, value, path),
                None => {}
            }
        }
    }

    fn below(&mut self, name: String, value: Id, path: &mut Vec<String>) {
        path.push(name);
        self.visit(value, path);
        path.pop();
    }

    fn object(&mut self, object: &Object, path: &mut Vec<String>) {
        let class = self.graph.class_of(object).unwrap_or("an object").to_owned();
        let is_ordered_dict = class.ends_with("OrderedDict");
        if !is_ordered_dict {
            self.word(path, format!("class {class}"));
        }
        for &state in &object.states {
            match self.graph.node(state) {
                // (attributes, slots)
                Node::List(parts) => parts.iter().for_each(|&part| self.visit(part, path)),
                _ => self.visit(state, path),
            }
        }
        self.pairs(&object.items, path);
        self.items(&object.list, path);
        for &argument in &object.arguments {
            match self.graph.list(argument) {
                // Python 2 rebuilds an ordered dictionary from a list of pairs.
                Some(list) if is_ordered_dict => {
                    let pair = |&id| match self.graph.list(id) {
                        Some(&[key, value]) => Some((key, value)),
                        _ => None,
                    };
                    let pairs: Vec<_> = list.iter().filter_map(pair).collect();
                    self.pairs(&pairs, path);
                }
                _ => self.visit(argument, path),
            }
        }
    }
}

/// A list of numbers, or of lists of numbers of equal length.
fn numbers(graph: &Graph, id: Id) -> Option<Found> {
    let rows = graph.list(id).filter(|rows| rows.len() > 1)?;
    let number = |&id: &Id| match *graph.node(id) {
        Node::Int(value) => Some(value as f64),
        Node::Float(value) => Some(value),
        _ => None,
    };
    let flat: Option<Vec<f64>> = rows.iter().map(number).collect();
    let (shape, values) = match flat {
        Some(values) => (vec![values.len()], values),
        None => {
            let width = graph.list(rows[0])?.len();
            // A row may stand in the list many times over, at no cost to the file.
            rows.len().checked_mul(width).filter(|&count| count > 0 && count <= MOST_NUMBERS)?;
            let mut values = Vec::new();
            for &row in rows {
                let row = graph.list(row).filter(|row| row.len() == width)?;
                values.extend(row.iter().map(number).collect::<Option<Vec<f64>>>()?);
            }
            (vec![rows.len(), width], values)
        }
    };
    let strides = if shape.len() == 2 { vec![shape[1], 1] } else { vec![1] };
    let encoding = crate::io::number::Encoding {
        number: crate::io::number::Number::F64,
        endian: crate::io::number::Endian::Little,
    };
    let dtype = Dtype::Number(encoding);
    Some(Found { dtype, shape, strides, offset: 0, place: Place::Numbers(values) })
}
