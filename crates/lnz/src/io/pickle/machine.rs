//! The pickle machine: follows the instructions of a pickle, but calls nothing.

mod reading;
mod text;

use super::graph::{Graph, Id, Node, Object};
use crate::io::Parsed;
use std::collections::HashMap;
use std::ops::Range;
use text::{raw_unicode, unescape};

/// More values than this are no model; each takes about 100 bytes of memory.
const MOST_VALUES: usize = 1 << 23;

/// Always at hand, so that a file of nothing else costs little.
const NONE: Id = 0;
const TRUE: Id = 1;
const FALSE: Id = 2;

/// Follows the pickle that starts at `at`.
pub(super) fn load(file: &[u8], at: usize) -> Parsed<Graph> {
    let mut machine = Machine {
        file,
        at,
        graph: Graph {
            nodes: vec![Node::None, Node::Bool(true), Node::Bool(false)],
            ..Graph::default()
        },
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    while machine.step()? {}
    machine.graph.root = machine.pop()?;
    machine.graph.end = machine.at;
    Ok(machine.graph)
}

struct Machine<'a> {
    file: &'a [u8],
    at: usize,
    graph: Graph,
    stack: Vec<Id>,
    /// Lengths of the stack where something of unknown length begins.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl Machine<'_> {
    /// Follows one instruction; false at the last.
    fn step(&mut self) -> Parsed<bool> {
        if self.stack.len().max(self.marks.len()).max(self.memo.len()) > MOST_VALUES {
            return Err(too_many());
        }
        let code = self.bytes(1)?[0];
        match code {
            b'.' => return Ok(false),
            0x80 => drop(self.bytes(1)?),
            0x95 => drop(self.bytes(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => match self.marks.last() {
                Some(&mark) if mark == self.stack.len() => drop(self.marks.pop()),
                _ => drop(self.pop()?),
            },
            b'1' => drop(self.since_mark()?),
            b'2' => self.stack.push(self.top()?),

            b'N' => self.stack.push(NONE),
            0x88 => self.stack.push(TRUE),
            0x89 => self.stack.push(FALSE),
            b'I' | b'L' => self.int_line()?,
            b'J' => {
                let value = i32::from_le_bytes(self.array()?);
                self.push(Node::Int(i64::from(value)))?;
            }
            b'K' => self.push_int(1)?,
            b'M' => self.push_int(2)?,
            0x8a => self.long(1)?,
            0x8b => self.long(4)?,
            b'F' => {
                let line = self.line()?;
                let value = std::str::from_utf8(&self.file[line]).ok().and_then(|t| t.parse().ok());
                self.push(Node::Float(value.ok_or_else(damaged)?))?;
            }
            b'G' => {
                let value = f64::from_be_bytes(self.array()?);
                self.push(Node::Float(value))?;
            }

            b'S' => {
                let line = self.line()?;
                let bytes = unescape(&self.file[line])?;
                self.push(Node::OwnBytes(bytes))?;
            }
            b'T' | b'B' => self.push_bytes(4)?,
            b'U' | b'C' => self.push_bytes(1)?,
            0x8e | 0x96 => self.push_bytes(8)?,
            b'V' => {
                let line = self.line()?;
                let text = raw_unicode(&self.file[line]);
                self.push(Node::Text(text))?;
            }
            b'X' => self.push_text(4)?,
            0x8c => self.push_text(1)?,
            0x8d => self.push_text(8)?,

            b']' | b')' | 0x8f => self.push(Node::List(Vec::new()))?,
            b'l' | b't' | 0x91 => {
                let items = self.since_mark()?;
                self.push(Node::List(items))?;
            }
            0x85..=0x87 => {
                let from = self.at_least(usize::from(code - 0x84))?;
                let items = self.stack.split_off(from);
                self.push(Node::List(items))?;
            }
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.since_mark()?;
                self.append(items)?;
            }
            b'}' => self.push(Node::Dict(Vec::new()))?,
            b'd' => {
                let items = pairs(&self.since_mark()?)?;
                self.push(Node::Dict(items))?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(vec![(key, value)])?;
            }
            b'u' => {
                let items = pairs(&self.since_mark()?)?;
                self.set(items)?;
            }

            b'p' => {
                let line = self.number_line()?;
                self.memo.insert(line, self.top()?);
            }
            b'q' => self.put(1)?,
            b'r' => self.put(4)?,
            0x94 => {
                let next = self.memo.len() as u64;
                self.memo.insert(next, self.top()?);
            }
            b'g' => {
                let line = self.number_line()?;
                self.get(line)?;
            }
            b'h' => self.get_numbered(1)?,
            b'j' => self.get_numbered(4)?,

            b'c' => {
                let name = self.global_lines()?;
                self.push(Node::Global(name))?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let text = |id| self.graph.text(id, self.file).ok_or_else(damaged);
                let name = format!("{}.{}", text(module)?, text(name)?);
                self.push(Node::Global(name))?;
            }
            b'R' | 0x81 => {
                let (arguments, class) = (self.pop()?, self.pop()?);
                let arguments = self.graph.list(arguments).unwrap_or_default().to_vec();
                self.push_object(class, arguments)?;
            }
            0x92 => {
                let (_named, arguments, class) = (self.pop()?, self.pop()?, self.pop()?);
                let arguments = self.graph.list(arguments).unwrap_or_default().to_vec();
                self.push_object(class, arguments)?;
            }
            b'i' => {
                let name = self.global_lines()?;
                let arguments = self.since_mark()?;
                let class = self.add(Node::Global(name))?;
                self.push_object(class, arguments)?;
            }
            b'o' => {
                let mut arguments = self.since_mark()?;
                if arguments.is_empty() {
                    return Err(damaged());
                }
                let class = arguments.remove(0);
                self.push_object(class, arguments)?;
            }
            0x82 => self.extension(1)?,
            0x83 => self.extension(2)?,
            0x84 => self.extension(4)?,
            b'b' => self.build()?,
            b'P' => {
                let line = self.line()?;
                let text = String::from_utf8_lossy(&self.file[line]).into_owned();
                let key = self.add(Node::Text(text))?;
                self.push(Node::Persistent(key))?;
            }
            b'Q' => {
                let key = self.pop()?;
                self.push(Node::Persistent(key))?;
            }
            0x97 => return Err(
                "keeps its arrays in other files (pickle protocol 5, buffers); save it in one file"
                    .to_owned(),
            ),
            0x98 => {}
            other => {
                return Err(format!(
                    "has the unknown pickle instruction {other:#04x} at byte {}; it is damaged or no pickle",
                    self.at - 1
                ));
            }
        }
        Ok(true)
    }

    fn add(&mut self, node: Node) -> Parsed<Id> {
        if self.graph.nodes.len() >= MOST_VALUES {
            return Err(too_many());
        }
        self.graph.nodes.push(node);
        Ok(self.graph.nodes.len() - 1)
    }

    fn push(&mut self, node: Node) -> Parsed<()> {
        let id = self.add(node)?;
        self.stack.push(id);
        Ok(())
    }

    fn push_int(&mut self, bytes: usize) -> Parsed<()> {
        let value = self.unsigned(bytes)?;
        self.push(Node::Int(value as i64))
    }

    fn push_bytes(&mut self, bytes: usize) -> Parsed<()> {
        let range = self.sized(bytes)?;
        self.push(Node::Bytes(range))
    }

    fn push_text(&mut self, bytes: usize) -> Parsed<()> {
        let range = self.sized(bytes)?;
        let text = String::from_utf8_lossy(&self.file[range]).into_owned();
        self.push(Node::Text(text))
    }

    fn push_object(&mut self, class: Id, arguments: Vec<Id>) -> Parsed<()> {
        let (states, items, list) = (Vec::new(), Vec::new(), Vec::new());
        self.push(Node::Object(Object { class, arguments, states, items, list, raw: None }))
    }

    fn extension(&mut self, bytes: usize) -> Parsed<()> {
        let number = self.unsigned(bytes)?;
        self.push(Node::Global(format!("extension.{number}")))
    }

    fn pop(&mut self) -> Parsed<Id> {
        let from = self.at_least(1)?;
        Ok(self.stack.split_off(from)[0])
    }

    fn top(&self) -> Parsed<Id> {
        self.stack.last().copied().ok_or_else(damaged)
    }

    /// Where the last `count` values begin, which must not reach below the last mark.
    fn at_least(&self, count: usize) -> Parsed<usize> {
        let floor = self.marks.last().copied().unwrap_or(0);
        self.stack.len().checked_sub(count).filter(|&from| from >= floor).ok_or_else(damaged)
    }

    fn since_mark(&mut self) -> Parsed<Vec<Id>> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or_else(damaged)?;
        Ok(self.stack.split_off(mark))
    }

    fn append(&mut self, items: Vec<Id>) -> Parsed<()> {
        let onto = self.top()?;
        match &mut self.graph.nodes[onto] {
            Node::List(list) => list.extend(items),
            Node::Object(object) => object.list.extend(items),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn set(&mut self, items: Vec<(Id, Id)>) -> Parsed<()> {
        let onto = self.top()?;
        match &mut self.graph.nodes[onto] {
            Node::Dict(dict) => dict.extend(items),
            Node::Object(object) => object.items.extend(items),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn put(&mut self, bytes: usize) -> Parsed<()> {
        let number = self.unsigned(bytes)?;
        self.memo.insert(number, self.top()?);
        Ok(())
    }

    fn get_numbered(&mut self, bytes: usize) -> Parsed<()> {
        let number = self.unsigned(bytes)?;
        self.get(number)
    }

    fn get(&mut self, number: u64) -> Parsed<()> {
        let id = self.memo.get(&number).copied().ok_or_else(damaged)?;
        self.stack.push(id);
        Ok(())
    }

    fn build(&mut self) -> Parsed<()> {
        let state = self.pop()?;
        let onto = self.top()?;
        let is_joblib_array = self.graph.object(onto).is_some_and(|object| {
            let class = self.graph.class_of(object);
            class == Some("joblib.numpy_pickle.NumpyArrayWrapper")
                || class == Some("sklearn.externals.joblib.numpy_pickle.NumpyArrayWrapper")
        });
        let raw = if is_joblib_array { Some(self.joblib_values(state)?) } else { None };
        if let Node::Object(object) = &mut self.graph.nodes[onto] {
            object.states.push(state);
            object.raw = raw;
        }
        Ok(())
    }

    /// joblib writes the values of an array behind its description, aligned if it says so.
    fn joblib_values(&mut self, state: Id) -> Parsed<Range<usize>> {
        let (header, file) = (&self.graph, self.file);
        let field = |name| header.get(state, name, file);
        let shape = field("shape").and_then(|id| header.sizes(id)).ok_or_else(damaged)?;
        let number = field("dtype").and_then(|id| super::arrays::dtype(header, id, file));
        let Some(super::arrays::Dtype::Number(encoding)) = number else {
            return Err(
                "holds a joblib array of objects, expected numbers; save it by numpy.savez"
                    .to_owned(),
            );
        };
        let aligned = field("numpy_array_alignment_bytes").and_then(|id| header.int(id)).is_some();
        let bytes = crate::io::number::count_values(&shape)?
            .checked_mul(encoding.number.size())
            .ok_or_else(damaged)?;
        if aligned {
            let padding = usize::from(self.bytes(1)?[0]);
            self.range(padding)?;
        }
        self.range(bytes)
    }
}

fn pairs(items: &[Id]) -> Parsed<Vec<(Id, Id)>> {
    let (pairs, rest) = items.as_chunks::<2>();
    if rest.is_empty() {
        Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
    } else {
        Err(damaged())
    }
}

fn too_many() -> String {
    format!("is a pickle of more than {MOST_VALUES} values; save its arrays by numpy.savez")
}

fn damaged() -> String {
    "is a pickle whose instructions do not fit together; the file is damaged".to_owned()
}
