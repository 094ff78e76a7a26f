//! Python pickles, read without Python: arrays are rebuilt, everything else is left as it lies.
//!
//! A pickle is a program. This reader follows it as far as plain data goes, notes which functions it
//! would call, and calls none. Arrays of numpy, joblib and torch are recognised by the names of the
//! functions that would rebuild them.

mod arrays;
mod graph;
mod machine;
mod torch;
mod walk;

use super::Parsed;
use super::archive::Archive;
use super::number::{Encoding, Endian, count_values, not_numbers, not_unpacked};
use super::tensors::{Order, TensorInfo, TensorSource, check_expansion};
use arrays::{Dtype, Found, Place};
use ndarray::ArrayD;
use std::collections::BTreeMap;
use std::io::Read;
use torch::Storages;

pub(super) use torch::{is_torch_archive, is_torch_legacy};

/// A larger file is read by its maker; arrays belong into .npz or .safetensors.
pub(super) const LARGEST_PICKLE: u64 = 4 << 30;

/// True for what starts like a pickle of protocol 2 and later.
pub(super) fn looks_like_it(start: &[u8]) -> bool {
    matches!(start, [0x80, 2..=5, ..])
}

/// True for what starts like a pickle of protocol 0 or 1: text without a magic number.
pub(super) fn looks_like_old(start: &[u8]) -> bool {
    let starts = [
        &b"ccopy_reg\n"[..],
        b"ccollections\n",
        b"cnumpy",
        b"(dp",
        b"(lp",
        b"(dq",
        b"(lq",
        b"}q",
        b"]q",
        b"(cnumpy",
        b"(i",
        b"(c",
    ];
    starts.iter().any(|known| start.starts_with(known))
}

/// The arrays of a pickle, or of a file of torch.
pub(super) struct PickleFile {
    file: Vec<u8>,
    storages: Storages,
    found: Vec<Found>,
    tensors: Vec<TensorInfo>,
    words: Vec<(String, String)>,
    file_bytes: u64,
}

impl PickleFile {
    /// A pickle, a joblib file or a torch file of the old kind.
    pub(super) fn parse(file: Vec<u8>) -> Parsed<Self> {
        let (graph, storages) = match torch::legacy(&file)? {
            Some(parts) => parts,
            None => (machine::load(&file, 0)?, Storages::None),
        };
        let file_bytes = file.len() as u64;
        Self::new(file, &graph, storages, file_bytes)
    }

    /// A torch file of the new kind, a zip archive.
    pub(super) fn from_archive(archive: Archive, file_bytes: u64) -> Parsed<Self> {
        let (file, storages) = torch::open_archive(archive)?;
        let graph = machine::load(&file, 0)?;
        Self::new(file, &graph, storages, file_bytes)
    }

    fn new(
        file: Vec<u8>,
        graph: &graph::Graph,
        storages: Storages,
        file_bytes: u64,
    ) -> Parsed<Self> {
        let findings = walk::walk(graph, &file);
        let (mut found, mut tensors) = (Vec::new(), Vec::new());
        for (name, mut array) in findings.arrays {
            if let Place::Nested(range) = &array.place
                && let Some(dtype) = torch::nested_dtype(&file, range)
            {
                array.dtype = dtype;
            }
            tensors.push(TensorInfo {
                name,
                shape: array.shape.clone(),
                dtype: match &array.dtype {
                    Dtype::Number(encoding) => encoding.number.name().to_owned(),
                    Dtype::Other(words) => words.clone(),
                },
                order: if array.by_columns() { Order::ColumnMajor } else { Order::RowMajor },
            });
            found.push(array);
        }
        Ok(Self { file, storages, found, tensors, words: findings.words, file_bytes })
    }

    fn gather(&self, found: &Found, encoding: Encoding) -> Parsed<Vec<f64>> {
        let count = count_values(&found.shape)?;
        let owned;
        let bytes: &[u8] = match &found.place {
            Place::File(range) => &self.file[range.clone()],
            Place::Own(bytes) => bytes,
            Place::Storage(key) => {
                owned = self.storages.read(key, &self.file)?;
                &owned
            }
            Place::Nested(range) => torch::nested_bytes(&self.file, range)?,
            Place::Numbers(values) => return Ok(values.clone()),
        };
        let encoding = match self.storages.endian() {
            Some(endian) => Encoding { endian, ..encoding },
            None => encoding,
        };
        strided(found, count, bytes, encoding)
    }
}

/// Collects values in row-major order, wherever they stand.
fn strided(found: &Found, count: usize, bytes: &[u8], encoding: Encoding) -> Parsed<Vec<f64>> {
    let size = encoding.number.size();
    let last =
        found.shape.iter().zip(&found.strides).try_fold(found.offset, |last, (&n, &step)| {
            last.checked_add(n.saturating_sub(1).checked_mul(step)?)
        });
    let present = bytes.len() / size;
    if count == 0 {
        return Ok(Vec::new());
    }
    if last.is_none_or(|last| last >= present) {
        return Err(format!(
            "needs more values than the {present} that are stored; the file is damaged"
        ));
    }
    let mut values = Vec::with_capacity(count);
    let mut index = vec![0; found.shape.len()];
    let mut at = found.offset;
    for _ in 0..count {
        encoding.decode(&bytes[at * size..(at + 1) * size], &mut values);
        for side in (0..index.len()).rev() {
            index[side] += 1;
            at += found.strides[side];
            if index[side] < found.shape[side] {
                break;
            }
            at -= found.strides[side] * found.shape[side];
            index[side] = 0;
        }
    }
    Ok(values)
}

impl TensorSource for PickleFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        let found = &self.found[index];
        let encoding = match &found.dtype {
            Dtype::Number(encoding) => *encoding,
            Dtype::Other(words) => return Err(not_numbers(words)),
        };
        check_expansion(count_values(&found.shape)?, self.file_bytes)?;
        let values = self.gather(found, encoding)?;
        Order::RowMajor.arrange(&found.shape, values)
    }

    fn words(&self) -> Vec<(String, String)> {
        self.words.clone()
    }

    fn metadata(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

/// Reads at most `most` bytes.
fn read_up_to(reader: &mut dyn Read, most: u64) -> Parsed<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most).read_to_end(&mut bytes).map_err(|error| not_unpacked(&error))?;
    Ok(bytes)
}

/// The byte order that torch writes down.
fn endian_named(text: &[u8]) -> Endian {
    if text.starts_with(b"big") { Endian::Big } else { Endian::Little }
}
