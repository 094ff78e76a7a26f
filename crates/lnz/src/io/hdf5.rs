//! HDF5 files: all arrays below all groups, under their paths.

use super::Parsed;
use super::input::{Input, Reader};
use super::number::{Encoding, Endian, Number, count_values, not_numbers};
use super::tensors::{Order, TensorInfo, TensorSource, check_expansion};
use hdf5_reader::error::Result;
use hdf5_reader::group::Group;
use hdf5_reader::storage::{BytesStorage, DynStorage, FileStorage};
use hdf5_reader::{ByteOrder, Dataset, Datatype, Hdf5File, OpenOptions};
use ndarray::ArrayD;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
const MATLAB: &[u8] = b"MATLAB 7.3";
const JULIA: &[u8] = b"HDF5-based Julia Data Format";

/// Groups below groups, and arrays in all of them, beyond which a file is no model.
const DEEPEST: usize = 20;
const MOST_ARRAYS: usize = 100_000;

/// A chunk of an array may unpack to this, and a whole array to eight times as much.
const LARGEST_CHUNK: usize = 1 << 28;
const LARGEST_ARRAY: usize = 1 << 31;

/// True for a file with the signature at its start, or after a block that belongs to its maker.
pub(super) fn looks_like_it(start: &[u8]) -> bool {
    start.starts_with(SIGNATURE)
        || start.get(512..).is_some_and(|rest| rest.starts_with(SIGNATURE))
        || start.starts_with(MATLAB)
        || start.starts_with(JULIA)
}

/// An opened file.
pub(super) struct Hdf5Source {
    tensors: Vec<TensorInfo>,
    arrays: Vec<(Dataset, Option<Encoding>)>,
    words: Vec<(String, String)>,
    file_bytes: u64,
}

impl Hdf5Source {
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let start = input.start(1024)?;
        if start.starts_with(JULIA) {
            return Err(jld2_in_words(input)?);
        }
        guarded(|| {
            let storage: DynStorage = match input.open()? {
                Reader::File(file) => Arc::new(FileStorage::from_file(file)?),
                Reader::Memory(bytes) => Arc::new(BytesStorage::from_shared(bytes.into_inner())),
            };
            let options = OpenOptions::default()
                .with_max_chunk_bytes(LARGEST_CHUNK)
                .with_max_read_bytes(LARGEST_ARRAY)
                .with_max_object_header_bytes(1 << 24)
                .with_chunk_cache_bytes(1 << 24);
            let file = Hdf5File::from_storage_with_options(storage, options)?;
            let mut walk = Walk {
                by_columns: start.starts_with(MATLAB),
                seen: HashSet::new(),
                found: Self {
                    tensors: Vec::new(),
                    arrays: Vec::new(),
                    words: Vec::new(),
                    file_bytes: input.bytes,
                },
            };
            walk.group(&file.root_group()?, "", 0)?;
            Ok(walk.found)
        })
    }
}

struct Walk {
    /// MATLAB and Julia write the first index fastest and turn the sides around.
    by_columns: bool,
    seen: HashSet<u64>,
    found: Hdf5Source,
}

impl Walk {
    fn group(&mut self, group: &Group, path: &str, depth: usize) -> Result<()> {
        if depth > DEEPEST || !self.seen.insert(group.address()) {
            return Ok(());
        }
        let (groups, datasets) = group.members()?;
        // Julia says so in a word beside the arrays.
        self.by_columns |= datasets.iter().any(|set| last_of(set.name()) == "visible_par");
        for dataset in datasets {
            let name = format!("{path}{}", last_of(dataset.name()));
            self.dataset(dataset, name);
        }
        // MATLAB keeps there what its cells refer to, under names that mean nothing.
        for inner in groups.into_iter().filter(|inner| !last_of(inner.name()).starts_with('#')) {
            let path = format!("{path}{}/", last_of(inner.name()));
            self.group(&inner, &path, depth + 1)?;
        }
        Ok(())
    }

    fn dataset(&mut self, dataset: Dataset, name: String) {
        let found = &mut self.found;
        if found.tensors.len() >= MOST_ARRAYS {
            return;
        }
        let (encoding, dtype) = encoding(dataset.dtype());
        if encoding.is_none()
            && dataset.num_elements().is_ok_and(|count| count == 1)
            && let Ok(text) = dataset.read_string()
        {
            found.words.push((name, text));
            return;
        }
        let by_columns =
            self.by_columns || dataset.attributes().iter().any(|word| word.name == "MATLAB_class");
        let mut shape: Vec<usize> = dataset
            .shape()
            .iter()
            .map(|&side| usize::try_from(side).unwrap_or(usize::MAX))
            .collect();
        if by_columns {
            shape.reverse();
        }
        let order = if by_columns { Order::ColumnMajor } else { Order::RowMajor };
        found.tensors.push(TensorInfo { name, shape, dtype, order });
        found.arrays.push((dataset, encoding));
    }
}

fn last_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn encoding(datatype: &Datatype) -> (Option<Encoding>, String) {
    let number = |number, order: &ByteOrder| {
        let endian = match order {
            ByteOrder::LittleEndian => Endian::Little,
            ByteOrder::BigEndian => Endian::Big,
        };
        (Some(Encoding { number, endian }), Number::name(number).to_owned())
    };
    match datatype {
        Datatype::FloatingPoint { size: 2, byte_order } => number(Number::F16, byte_order),
        Datatype::FloatingPoint { size: 4, byte_order } => number(Number::F32, byte_order),
        Datatype::FloatingPoint { size: 8, byte_order } => number(Number::F64, byte_order),
        Datatype::FixedPoint { size, signed, byte_order } => {
            let kind = match (size, signed) {
                (1, false) => Number::U8,
                (1, true) => Number::I8,
                (2, false) => Number::U16,
                (2, true) => Number::I16,
                (4, false) => Number::U32,
                (4, true) => Number::I32,
                (8, false) => Number::U64,
                (8, true) => Number::I64,
                _ => return (None, format!("integers of {size} bytes")),
            };
            number(kind, byte_order)
        }
        // h5py stores truth values as an enumeration over a byte.
        Datatype::Enum { base, .. } => match encoding(base) {
            (Some(Encoding { number: Number::I8 | Number::U8, endian }), _) => {
                (Some(Encoding { number: Number::Bool, endian }), "bool".to_owned())
            }
            other => other,
        },
        Datatype::Compound { .. } => (None, "records".to_owned()),
        _ => (None, "text or objects".to_owned()),
    }
}

impl TensorSource for Hdf5Source {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        let info = &self.tensors[index];
        let (dataset, encoding) = &self.arrays[index];
        let encoding = encoding.ok_or_else(|| not_numbers(&info.dtype))?;
        let count = count_values(&info.shape)?;
        check_expansion(count, self.file_bytes)?;
        if count == 0 {
            return info.order.arrange(&info.shape, Vec::new());
        }
        let bytes = guarded(|| dataset.read_raw_bytes())?;
        let values = encoding.read(&mut &bytes[..], count)?;
        info.order.arrange(&info.shape, values)
    }

    fn words(&self) -> Vec<(String, String)> {
        self.words.clone()
    }
}

/// A damaged file must not take the program along, whatever its reader makes of it.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Parsed<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let problem = match done {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its structure makes no sense".to_owned(),
    };
    // The reader wraps this error in others.
    if problem.contains("unsupported filter") {
        return Err(format!(
            "is packed in a way that is not read here ({problem}); save it without compression, or by gzip (h5repack -f GZIP=4)"
        ));
    }
    Err(format!("is an HDF5 file that cannot be read ({problem}); it may be cut short or damaged"))
}

/// JLD2 keeps Julia objects by the layout of their types, which only Julia knows for sure.
fn jld2_in_words(input: &Input) -> Parsed<String> {
    const LAYERS: [&str; 9] =
        ["PottsGumbel", "Potts", "Gaussian", "dReLU", "xReLU", "pReLU", "nsReLU", "Spin", "Binary"];
    let bytes = input.read(1 << 30)?;
    let named = |word: &str| {
        let full = format!("RestrictedBoltzmannMachines.{word}");
        memchr_find(&bytes, full.as_bytes())
    };
    let layers: Vec<&str> = LAYERS.into_iter().filter(|layer| named(layer)).collect();
    let of_layers = match layers[..] {
        [] => String::new(),
        _ => format!(" with layers of the type {}", layers.join(" and ")),
    };
    let other = layers.iter().any(|layer| !["Binary", "Spin"].contains(layer));
    let advice = if other {
        "log Z is computed where both layers are binary (0 and 1) or both are spins; RestrictedBoltzmannMachines.jl estimates log Z of other layers"
    } else {
        "save it in Julia by save_rbm(\"rbm.hdf5\", rbm) (RestrictedBoltzmannMachines with HDF5), which can be read"
    };
    Ok(format!("is a JLD2 file of Julia{of_layers}; {advice}"))
}

fn memchr_find(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
