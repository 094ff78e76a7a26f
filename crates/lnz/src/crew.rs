//! Work that others may do: orders, their results, and the crew that carries them out.
//!
//! Long work falls into *items* that are independent of each other: groups of chains, pieces of a sum.
//! An [`Order`] is a task with a range of items; its [`Output`] depends on nothing else, so that a range
//! can be computed on any machine, at any time and more than once. Outputs that are put together in the
//! order of the items have the bits of the run on one machine, however the items were split.

pub(crate) mod bits;

use crate::{Error, Result};
use bits::to_hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The version that made an order; another one may compute other bits.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Has work done elsewhere, or keeps what was done. An [`Observer`](crate::Observer) may bring one; without,
/// all is computed on the threads of this process.
///
/// All its methods are called from one thread, one after the other.
pub trait Crew: Sync {
    /// The outputs of all items, in any number of ranges, in their order.
    fn carry_out(&self, work: &dyn Work) -> Result<Vec<Output>>;

    /// What was decided under this name before, or what `decide` says now. Decisions that depend on time
    /// or on the machine go through here, so that a run that goes on elsewhere goes on in the same way.
    fn decide(&self, name: &str, decide: &mut dyn FnMut() -> Result<Value>) -> Result<Value> {
        let _ = name;
        decide()
    }

    /// Work that is predicted to take fewer seconds on one core is not worth an order.
    fn least_seconds(&self) -> f64 {
        1.0
    }
}

/// Work that falls into items.
pub trait Work: Sync {
    /// All that a worker needs to know besides the model.
    fn task(&self) -> &Task;

    /// The model as bytes: see [`Rbm::to_bytes`](crate::Rbm::to_bytes). An elimination has a model without a
    /// matrix, whose bytes are others.
    fn model(&self) -> Vec<u8>;

    /// Computes some of the items on the threads of this process.
    fn compute(&self, items: Range<usize>) -> Result<Output>;

    /// Items were computed elsewhere: tells the observer.
    fn advance(&self, items: usize);

    /// Somebody wants to stop.
    fn cancelled(&self) -> bool;
}

/// A task: what is to be computed, and how much of it there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// The version of lnz.
    pub lnz: String,
    /// The hash of the model's bytes: see [`Rbm::sha256`](crate::Rbm::sha256).
    pub model: String,
    /// What to do, such as `anneal`.
    pub kind: String,
    /// The details of this kind.
    pub details: Value,
    /// Items in all.
    pub items: usize,
    /// Predicted seconds of all items on one core, from the sizes alone.
    pub seconds: f64,
}

impl Task {
    pub(crate) fn new(
        model: String,
        kind: &str,
        details: &impl Serialize,
        items: usize,
        seconds: f64,
    ) -> Result<Self> {
        let details = serde_json::to_value(details).map_err(|error| broken(kind, error))?;
        let (lnz, kind) = (VERSION.to_owned(), kind.to_owned());
        Ok(Self { lnz, model, kind, details, items, seconds })
    }

    pub(crate) fn details<T: for<'a> Deserialize<'a>>(&self) -> Result<T> {
        T::deserialize(&self.details).map_err(|error| broken(&self.kind, error))
    }

    /// SHA-256 of the task in hexadecimal: what its results are known by.
    pub fn sha256(&self) -> String {
        to_hex(&Sha256::digest(serde_json::to_vec(self).unwrap_or_default()))
    }

    /// Ranges of about the same number of items, `parts` at most: the same on every machine.
    pub fn split(&self, parts: usize) -> Vec<Range<usize>> {
        let parts = parts.clamp(1, self.items.max(1));
        (0..parts).map(|k| self.items * k / parts..self.items * (k + 1) / parts).collect()
    }
}

/// A piece of work that can be sent: a task and a range of its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// What to do.
    pub task: Task,
    /// The items of this order.
    pub items: Range<usize>,
}

impl Order {
    /// From the JSON that it serializes to.
    pub fn from_json(text: &str) -> Result<Self> {
        let order: Self = serde_json::from_str(text).map_err(|error| broken("work", error))?;
        if order.task.lnz != VERSION {
            let theirs = &order.task.lnz;
            return Err(Error::orders(format!(
                "the order comes from lnz {theirs}, but this worker has lnz {VERSION}; results of different versions do not go together, install the same one everywhere"
            )));
        }
        match order.items.start < order.items.end && order.items.end <= order.task.items {
            true => Ok(order),
            false => Err(Error::orders(format!(
                "the order asks for items {:?} of {}",
                order.items, order.task.items
            ))),
        }
    }
}

/// What an order gives back: numbers, and bits where states are wanted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// The items that it has.
    pub items: Range<usize>,
    /// Numbers, the same number of them for each item.
    pub numbers: Vec<f64>,
    /// Packed bits.
    pub bits: Vec<u8>,
}

/// The first line of an output that is stored or sent.
#[derive(Serialize, Deserialize)]
struct Header {
    task: String,
    items: Range<usize>,
    numbers: usize,
    bits: usize,
    sha256: String,
}

impl Output {
    /// One line of JSON, then the numbers as little-endian float64, then the bits.
    pub fn to_bytes(&self, task: &str) -> Vec<u8> {
        let mut content: Vec<u8> = self.numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        content.extend(&self.bits);
        let header = Header {
            task: task.to_owned(),
            items: self.items.clone(),
            numbers: self.numbers.len(),
            bits: self.bits.len(),
            sha256: checked(&content, task, &self.items),
        };
        let mut bytes = serde_json::to_vec(&header).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(content);
        bytes
    }

    /// Reads it back; says what is wrong if it is not whole, was changed, or belongs to something else.
    pub fn from_bytes(bytes: &[u8], task: &str, items: &Range<usize>) -> Result<Self, String> {
        let damaged = "is damaged: it is truncated, or somebody has changed it";
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(damaged)?;
        let header: Header = serde_json::from_slice(&bytes[..end]).map_err(|_| damaged)?;
        if header.task != task {
            return Err("is the result of another task".to_owned());
        }
        if header.items != *items {
            return Err(format!("has the items {:?}, not {items:?}", header.items));
        }
        let content = &bytes[end + 1..];
        let (numbers, whole) = (8 * header.numbers, checked(content, task, items));
        if content.len() != numbers + header.bits || header.sha256 != whole {
            return Err(damaged.to_owned());
        }
        let number = |chunk: &[u8; 8]| f64::from_le_bytes(*chunk);
        Ok(Self {
            items: header.items,
            numbers: content[..numbers].as_chunks().0.iter().map(number).collect(),
            bits: content[numbers..].to_vec(),
        })
    }
}

/// The hash of a result with what it is the result of.
fn checked(content: &[u8], task: &str, items: &Range<usize>) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{task} {items:?}\n"));
    hash.update(content);
    to_hex(&hash.finalize())
}

fn broken(kind: &str, error: serde_json::Error) -> Error {
    Error::orders(format!("an order to {kind} cannot be understood: {error}"))
}

/// Puts outputs together, if they are all the items of a task in their order.
pub(crate) fn joined(task: &Task, outputs: Vec<Output>) -> Result<Output> {
    let mut all = Output::default();
    for output in outputs {
        if output.items.start != all.items.end {
            let (end, start) = (all.items.end, output.items.start);
            return Err(Error::orders(format!(
                "the results end at item {end} and go on at {start}"
            )));
        }
        all.items.end = output.items.end;
        all.numbers.extend(output.numbers);
        all.bits.extend(output.bits);
    }
    match all.items.end == task.items {
        true => Ok(all),
        false => Err(Error::orders(format!(
            "the results end at item {} of {}",
            all.items.end, task.items
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(items: usize) -> Task {
        Task::new("abc".into(), "anneal", &"details", items, 1.0).unwrap()
    }

    #[test]
    fn every_split_has_all_items_once() {
        for items in [1, 2, 7, 64, 100, 4096] {
            for parts in [1, 2, 3, 7, 100, 10_000] {
                let ranges = task(items).split(parts);
                assert!(ranges.len() == parts.min(items) && ranges.iter().all(|r| !r.is_empty()));
                assert_eq!(
                    ranges.into_iter().flatten().collect::<Vec<_>>(),
                    Vec::from_iter(0..items)
                );
            }
        }
    }

    #[test]
    fn an_output_that_was_cut_changed_or_moved_is_not_read() {
        let output =
            Output { items: 2..4, numbers: vec![1.5, f64::NEG_INFINITY], bits: vec![7, 255] };
        let bytes = output.to_bytes("t");
        let read = |bytes: &[u8], task, items| Output::from_bytes(bytes, task, &items);
        assert_eq!(read(&bytes, "t", 2..4).unwrap(), output);
        assert!(read(&bytes, "u", 2..4).unwrap_err().contains("another task"));
        assert!(read(&bytes, "t", 2..5).unwrap_err().contains("items"));
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], "t", 2..4).is_err(), "{cut}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert!(read(&changed, "t", 2..4).is_err(), "{at}");
        }
    }

    #[test]
    fn orders_of_another_version_or_with_items_that_there_are_not_are_refused() {
        let order = Order { task: task(4), items: 1..3 };
        let text = |order: &Order| serde_json::to_string(order).unwrap();
        assert_eq!(Order::from_json(&text(&order)).unwrap(), order);
        let newer = Task { lnz: "99.0.0".into(), ..task(4) };
        let newer = Order { task: newer, ..order.clone() };
        let said = Order::from_json(&text(&newer)).unwrap_err().to_string();
        assert!(said.contains("lnz 99.0.0"), "{said}");
        for items in [3..3, 3..5] {
            let wrong = Order { items, ..order.clone() };
            assert!(Order::from_json(&text(&wrong)).is_err());
        }
        assert!(Order::from_json("{}").is_err());
    }

    #[test]
    fn results_with_a_gap_are_not_put_together() {
        let of =
            |items: Range<usize>| Output { numbers: vec![0.0; items.len()], items, bits: vec![] };
        assert!(joined(&task(4), vec![of(0..1), of(1..4)]).is_ok());
        assert!(joined(&task(4), vec![of(0..1), of(2..4)]).is_err());
        assert!(joined(&task(4), vec![of(0..3)]).is_err());
    }
}
