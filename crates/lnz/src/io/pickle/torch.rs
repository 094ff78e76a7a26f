//! What torch puts around a pickle: an archive, or storages behind it in the old format.

use super::arrays::{Dtype, Place, torch_storage};
use super::graph::{Graph, Node};
use super::{endian_named, machine, read_up_to};
use crate::io::Parsed;
use crate::io::archive::{Archive, expect_end};
use crate::io::number::Endian;
use std::collections::HashMap;
use std::ops::Range;

/// The number that stands first in the old format, as a long integer of a pickle.
const MAGIC: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// A pickle without its tensors is never longer.
const LARGEST_PROGRAM: u64 = 256 << 20;

/// Where the values of tensors are.
pub(super) enum Storages {
    /// In the pickle itself.
    None,
    /// In entries of an archive, below a folder.
    Archive { archive: Archive, folder: String, endian: Endian },
    /// Behind the pickle.
    Behind(HashMap<String, Range<usize>>),
}

impl Storages {
    pub(super) fn read(&self, key: &str, file: &[u8]) -> Parsed<Vec<u8>> {
        let missing =
            || format!("is in the storage `{key}`, which is missing; the file is damaged");
        match self {
            Storages::None => Err(missing()),
            Storages::Archive { archive, folder, .. } => {
                let name = format!("{folder}data/{key}");
                let entry = archive.entries.iter().find(|entry| entry.name == name);
                let entry = entry.ok_or_else(missing)?;
                let mut stream = archive.stream(entry).map_err(|error| error.to_string())?;
                let bytes = read_up_to(&mut stream, entry.size)?;
                expect_end(&mut stream)?;
                Ok(bytes)
            }
            Storages::Behind(places) => {
                Ok(file[places.get(key).cloned().ok_or_else(missing)?].to_vec())
            }
        }
    }

    /// The byte order of all values, where the container says so.
    pub(super) fn endian(&self) -> Option<Endian> {
        match self {
            Storages::Archive { endian, .. } => Some(*endian),
            _ => None,
        }
    }
}

/// True for what starts like the old format.
pub(in crate::io) fn is_torch_legacy(start: &[u8]) -> bool {
    start.get(2..).is_some_and(|rest| rest.starts_with(MAGIC))
}

/// True for an archive that torch has written.
pub(in crate::io) fn is_torch_archive(archive: &Archive) -> bool {
    program(archive).is_some()
}

fn program(archive: &Archive) -> Option<usize> {
    let is_program = |name: &str| name == "data.pkl" || name.ends_with("/data.pkl");
    archive.entries.iter().position(|entry| is_program(&entry.name))
}

/// The pickle of an archive, and the rest for later.
pub(super) fn open_archive(archive: Archive) -> Parsed<(Vec<u8>, Storages)> {
    let index = program(&archive).ok_or("is an archive without the entry data.pkl")?;
    let entry = &archive.entries[index];
    if entry.size > LARGEST_PROGRAM {
        return Err(format!("has a pickle of {} bytes; save a state_dict", entry.size));
    }
    let folder = entry.name.strip_suffix("data.pkl").unwrap_or_default().to_owned();
    let mut stream = archive.stream(entry).map_err(|error| error.to_string())?;
    let file = read_up_to(&mut stream, entry.size)?;
    expect_end(&mut stream)?;
    drop(stream);
    let order = format!("{folder}byteorder");
    let endian = match archive.entries.iter().find(|entry| entry.name == order) {
        Some(entry) => {
            let mut stream = archive.stream(entry).map_err(|error| error.to_string())?;
            endian_named(&read_up_to(&mut stream, 8)?)
        }
        None => Endian::Little,
    };
    Ok((file, Storages::Archive { archive, folder, endian }))
}

/// The old format: a magic number, a version, the machine, the object, the keys of its storages, and
/// then the storages, each as its number of values and their bytes. None if it is something else.
pub(super) fn legacy(file: &[u8]) -> Parsed<Option<(Graph, Storages)>> {
    if !is_torch_legacy(file) {
        return Ok(None);
    }
    let mut at = 2 + MAGIC.len();
    for _ in 0..2 {
        at = machine::load(file, at)?.end;
    }
    let graph = machine::load(file, at)?;
    let keys = machine::load(file, graph.end)?;
    let sizes = value_sizes(&graph, file);
    let cut = || "ends before its tensors do; the file is cut short".to_owned();
    let (mut at, mut places) = (keys.end, HashMap::new());
    for &key in keys.list(keys.root).unwrap_or_default() {
        let key = keys.text(key, file).ok_or("has storages without names; it is damaged")?;
        let count = file.get(at..).and_then(|rest| rest.first_chunk()).ok_or_else(cut)?;
        let count = usize::try_from(i64::from_le_bytes(*count)).map_err(|_| cut())?;
        let size = *sizes.get(&key).ok_or_else(|| {
            format!("has a storage `{key}` of an unknown type; save the tensors by numpy.savez")
        })?;
        let start = at + 8;
        let end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(start));
        let end = end.filter(|&end| end <= file.len()).ok_or_else(cut)?;
        places.insert(key, start..end);
        at = end;
    }
    Ok(Some((graph, Storages::Behind(places))))
}

/// Bytes of one value, by the key of the storage.
fn value_sizes(graph: &Graph, file: &[u8]) -> HashMap<String, usize> {
    let storages =
        (0..graph.nodes.len()).filter(|&id| matches!(graph.node(id), Node::Persistent(_)));
    let sized = storages.filter_map(|id| match torch_storage(graph, id, file)? {
        (Dtype::Number(encoding), Place::Storage(key)) => Some((key, encoding.number.size())),
        (Dtype::Other(kind), Place::Storage(key)) => {
            let size = match &*kind {
                "ComplexFloatStorage" => 8,
                "ComplexDoubleStorage" => 16,
                "QInt8Storage" | "QUInt8Storage" | "UntypedStorage" => 1,
                "QInt32Storage" => 4,
                _ => return None,
            };
            Some((key, size))
        }
        _ => None,
    });
    sized.collect()
}

/// The only storage of a torch file that lies inside a pickle.
fn nested(file: &[u8], range: &Range<usize>) -> Parsed<(Dtype, Range<usize>)> {
    let inner = &file[range.clone()];
    let other = "is a tensor in an unknown wrapping; save a state_dict by torch.save instead";
    let Some((graph, Storages::Behind(places))) = legacy(inner)? else {
        return Err(other.to_owned());
    };
    let Some((dtype, Place::Storage(key))) = torch_storage(&graph, graph.root, inner) else {
        return Err(other.to_owned());
    };
    let place = places.get(&key).ok_or("is in a storage that is missing; the file is damaged")?;
    Ok((dtype, range.start + place.start..range.start + place.end))
}

pub(super) fn nested_dtype(file: &[u8], range: &Range<usize>) -> Option<Dtype> {
    nested(file, range).ok().map(|(dtype, _)| dtype)
}

pub(super) fn nested_bytes<'a>(file: &'a [u8], range: &Range<usize>) -> Parsed<&'a [u8]> {
    nested(file, range).map(|(_, place)| &file[place])
}
