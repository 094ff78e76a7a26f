//! The formats of model files: one table for recognising, reading, writing and the sentences.

use super::input::Input;
use super::tensors::TensorSource;
use super::{
    Parsed, StoredModel, csv, hdf5, input, mat, msgpack, npy, npz, pickle, safetensors, uai,
};
use crate::io::archive::Archive;
use crate::{Error, Result};
use std::fmt;
use std::io::Write;
use std::path::Path;

/// A format of model files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One numpy array: weights alone, or one of three files side by side.
    Npy,
    /// A zip archive of numpy arrays.
    Npz,
    /// The format of the safetensors library.
    Safetensors,
    /// MATLAB, version 5 to 7.
    Mat,
    /// PyTorch: a zip archive, or the older format.
    Torch,
    /// A Python pickle, also of joblib; no code in it is run.
    Pickle,
    /// HDF5: `rbms`, RestrictedBoltzmannMachines.jl, MATLAB 7.3, Keras.
    Hdf5,
    /// A Markov network of the UAI competitions.
    Uai,
    /// Named arrays of flax, as NetKet saves them.
    Msgpack,
    /// A table of numbers.
    Csv,
}

pub(super) type WriteModel = fn(&mut dyn Write, &StoredModel) -> std::io::Result<()>;
type Open = fn(&Input) -> Parsed<Box<dyn TensorSource>>;

/// All that the rest of the program knows of a format.
pub(super) struct FormatEntry {
    pub(super) format: Format,
    /// What people call it.
    name: &'static str,
    /// How its files are called; the first is the usual one.
    extensions: &'static [&'static str],
    /// Whether a file may be one, by its first bytes and its size. The first that fits is taken.
    is_it: fn(&Input, &[u8]) -> bool,
    open: Open,
    write: Option<WriteModel>,
}

/// Bytes of a file that are looked at.
const START: usize = 1024;

/// Every format, those with clear marks before those that could be mistaken.
pub(super) const FORMATS: [FormatEntry; 10] = [
    FormatEntry {
        format: Format::Npy,
        name: "npy",
        extensions: &["npy"],
        is_it: |_, start| start.starts_with(npy::MAGIC),
        open: open_npy,
        write: None,
    },
    FormatEntry {
        format: Format::Torch,
        name: "PyTorch",
        extensions: &["pt", "pth", "ckpt"],
        is_it: |input, start| is_torch(input, start),
        open: open_torch,
        write: None,
    },
    FormatEntry {
        format: Format::Npz,
        name: "npz",
        extensions: &["npz"],
        is_it: |_, start| is_zip(start),
        open: |input| Ok(Box::new(npz::NpzFile::open(input)?)),
        write: Some(npz::write),
    },
    FormatEntry {
        format: Format::Hdf5,
        name: "HDF5",
        extensions: &["h5", "hdf5", "jld2"],
        is_it: |_, start| hdf5::looks_like_it(start),
        open: |input| Ok(Box::new(hdf5::Hdf5Source::open(input)?)),
        write: None,
    },
    FormatEntry {
        format: Format::Mat,
        name: "MATLAB, version 5",
        extensions: &["mat"],
        is_it: |_, start| mat::byte_order(start).is_some(),
        open: |input| Ok(Box::new(mat::MatFile::open(input)?)),
        write: Some(mat::write),
    },
    FormatEntry {
        format: Format::Safetensors,
        name: "safetensors",
        extensions: &["safetensors"],
        is_it: |input, start| input::is_safetensors(start, input.bytes),
        open: |input| Ok(Box::new(safetensors::SafetensorsFile::open(input)?)),
        write: Some(safetensors::write),
    },
    FormatEntry {
        format: Format::Pickle,
        name: "Python pickle",
        extensions: &["pkl", "pickle", "joblib", "p", "data"],
        is_it: |_, start| pickle::looks_like_it(start) || pickle::looks_like_old(start),
        open: |input| Ok(Box::new(pickle::PickleFile::parse(input.read(pickle::LARGEST_PICKLE)?)?)),
        write: None,
    },
    FormatEntry {
        format: Format::Uai,
        name: "UAI Markov network",
        extensions: &["uai"],
        is_it: |_, start| uai::looks_like_it(start),
        open: |input| Ok(Box::new(uai::UaiFile::open(input)?)),
        write: Some(uai::write),
    },
    FormatEntry {
        format: Format::Msgpack,
        name: "msgpack of flax",
        extensions: &["mpack", "msgpack"],
        is_it: |_, start| msgpack::looks_like_it(start),
        open: |input| Ok(Box::new(msgpack::MsgpackFile::open(input)?)),
        write: None,
    },
    FormatEntry {
        format: Format::Csv,
        name: "table of numbers",
        extensions: &["csv", "tsv"],
        is_it: |_, start| csv::looks_like_it(start),
        open: |input| Ok(Box::new(csv::CsvFile::open(input)?)),
        write: None,
    },
];

fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// True for both formats of torch.
pub(crate) fn is_torch(input: &Input, start: &[u8]) -> bool {
    if is_zip(start) {
        return Archive::open(input).is_ok_and(|a| pickle::is_torch_archive(&a));
    }
    pickle::is_torch_legacy(start)
}

/// One array; or, where numpy was given a dictionary or a list, the pickle that it made of it.
fn open_npy(input: &Input) -> Parsed<Box<dyn TensorSource>> {
    let header = npy::Header::read(&mut &input.start(npy::MOST_BEFORE_VALUES)?[..])?;
    if !header.is_pickled() {
        return Ok(Box::new(npy::NpyFile::open(input)?));
    }
    let mut pickle = input.read(pickle::LARGEST_PICKLE)?;
    pickle.drain(..header.length);
    Ok(Box::new(pickle::PickleFile::parse(pickle)?))
}

fn open_torch(input: &Input) -> Parsed<Box<dyn TensorSource>> {
    if pickle::is_torch_legacy(&input.start(START)?) {
        return Ok(Box::new(pickle::PickleFile::parse(input.read(pickle::LARGEST_PICKLE)?)?));
    }
    let archive = Archive::open(input)?;
    Ok(Box::new(pickle::PickleFile::from_archive(archive, input.bytes)?))
}

impl Format {
    /// The format of an existing file: what it starts with counts before what it is called.
    pub(super) fn of_file(input: &Input, name: &Path) -> Parsed<&'static FormatEntry> {
        let start = input.start(START)?;
        if start.is_empty() {
            return Err("is empty, expected a model".to_owned());
        }
        let by_content = FORMATS.iter().find(|entry| (entry.is_it)(input, &start));
        by_content.or_else(|| FormatEntry::of_name(name)).ok_or_else(|| {
            format!("is in no known format; expected {}", extensions_in_words(|_| true))
        })
    }

    /// The format that a new file's name asks for.
    pub fn to_write(path: &Path) -> Result<Self> {
        FormatEntry::to_write(path).map(|(format, _)| format)
    }
}

impl FormatEntry {
    fn of_name(path: &Path) -> Option<&'static Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().find(|entry| entry.extensions.contains(&&*extension))
    }

    pub(super) fn of(format: Format) -> &'static Self {
        // The table has every format; the first stands in where it has not.
        FORMATS.iter().find(|entry| entry.format == format).unwrap_or(&FORMATS[0])
    }

    pub(super) fn open(&self, input: &Input) -> Parsed<Box<dyn TensorSource>> {
        (self.open)(input)
    }

    pub(super) fn to_write(path: &Path) -> Result<(Format, WriteModel)> {
        let refused = |found: String| {
            let writable = extensions_in_words(|entry| entry.write.is_some());
            Error::not_writable(path, format!("{found}, expected {writable}"))
        };
        match (Self::of_name(path), path.extension()) {
            (Some(Self { format: Format::Npy, .. }), _) => {
                let problem = "a .npy file has no place for biases; use .npz, .safetensors or .mat";
                Err(Error::not_writable(path, problem.to_owned()))
            }
            (Some(Self { format, write: Some(write), .. }), _) => Ok((*format, *write)),
            (Some(entry), _) => Err(refused(format!("{} is read, but not written", entry.name))),
            (None, Some(extension)) => {
                Err(refused(format!("its extension is .{}", extension.to_string_lossy())))
            }
            (None, None) => Err(refused("it has no extension".to_owned())),
        }
    }
}

/// `.npz, .mat or .uai`: the usual extension of some formats.
fn extensions_in_words(which: fn(&FormatEntry) -> bool) -> String {
    let mut names: Vec<String> =
        FORMATS.iter().filter(|e| which(e)).map(|e| format!(".{}", e.extensions[0])).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} or {last}", names.join(", "))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(FormatEntry::of(*self).name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::open_input;
    use super::*;

    #[test]
    fn content_counts_before_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let format = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            let input = open_input(&path, "a model file")?;
            Format::of_file(&input, &path).map(|entry| entry.format)
        };
        assert_eq!(format("a.mat", b"\x93NUMPY\x01\x00"), Ok(Format::Npy));
        assert_eq!(format("a", b"PK\x03\x04"), Ok(Format::Npz));
        assert_eq!(format("a.npy", b"\x02\0\0\0\0\0\0\0{}"), Ok(Format::Safetensors));
        assert_eq!(format("A.NPZ", b"whatever"), Ok(Format::Npz));
        assert_eq!(format("a.npz", b"\x89HDF\r\n\x1a\n"), Ok(Format::Hdf5));
        assert_eq!(format("a.h5", b"\x80\x02}."), Ok(Format::Pickle));
        assert_eq!(format("a.txt", b"MARKOV\n2\n"), Ok(Format::Uai));
        assert_eq!(format("a", b"0.5,1\n-2,3e4\n"), Ok(Format::Csv));
        assert!(format("a", b"whatever").unwrap_err().starts_with("is in no known format"));
        assert!(format("a.npz", b"").unwrap_err().starts_with("is empty"));
        let problem = open_input(folder.path(), "a model file").err().unwrap();
        assert_eq!(problem, "is a folder, expected a model file");
    }

    #[test]
    fn the_table_has_every_format_once() {
        for (at, entry) in FORMATS.iter().enumerate() {
            assert_eq!(FORMATS.iter().position(|other| other.format == entry.format), Some(at));
        }
    }
}
