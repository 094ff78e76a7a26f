//! Recognises the format of a data file, packed or not, by its first bytes.

use super::packed::{LONGEST_MAGIC, Packing, open_packed, peek};
use super::{Rows, csv, idx, libsvm, memory, numpy};
use crate::io::input::{Input, unpack};
use crate::io::{self, Format, Parsed, npy};
use std::fmt;
use std::path::Path;

/// What the unpacked bytes of a data file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataFormat {
    /// The format of MNIST.
    Idx,
    /// Lines of a label and `index:value`.
    Libsvm,
    /// A numpy array.
    Npy,
    /// An archive of numpy arrays, also a sparse matrix of scipy.
    Npz,
    /// Lines of numbers.
    Csv,
    /// MATLAB, version 5 to 7.
    Mat,
    /// HDF5, also MATLAB 7.3.
    Hdf5,
    /// A pickled numpy array.
    Pickle,
    /// A tensor of PyTorch.
    Torch,
}

impl fmt::Display for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataFormat::Idx => "IDX",
            DataFormat::Libsvm => "LIBSVM text",
            DataFormat::Npy => ".npy",
            DataFormat::Npz => ".npz",
            DataFormat::Csv => "CSV",
            DataFormat::Mat => "MATLAB",
            DataFormat::Hdf5 => "HDF5",
            DataFormat::Pickle => "Python pickle",
            DataFormat::Torch => "PyTorch",
        })
    }
}

/// The rows of a file.
pub(super) struct Opened {
    pub(super) rows: Box<dyn Rows>,
    pub(super) format: DataFormat,
    pub(super) packing: Packing,
}

/// The rows of a file in any of the known formats.
pub(super) fn open_rows(input: &Input, width: Option<usize>) -> Parsed<Opened> {
    let (packing, stream) = open_packed(input)?;
    let (start, stream) = peek(stream)?;
    let is_text = || start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let (rows, format) = if start.is_empty() {
        return Err("is empty, expected a data set".to_owned());
    } else if start.starts_with(npy::MAGIC) {
        (numpy::open_npy(input)?, DataFormat::Npy)
    } else if start.starts_with(&[0, 0]) {
        (idx::open(stream)?, DataFormat::Idx)
    } else if is_text() && csv::looks_like_it(&start) {
        (csv::open(stream)?, DataFormat::Csv)
    } else if is_text() && !io::looks_like_text_of_arrays(&start) {
        (libsvm::open(input, width)?, DataFormat::Libsvm)
    } else {
        open_arrays(input)?
    };
    Ok(Opened { rows, format, packing })
}

/// Formats of arrays that are read as a whole; packed files are unpacked aside.
fn open_arrays(input: &Input) -> Parsed<(Box<dyn Rows>, DataFormat)> {
    let copy = unpack(input.clone())?;
    let unknown = || {
        "is in no known format; expected IDX, LIBSVM text, CSV, .npy, .npz, .mat, HDF5 or a pickled array, packed by gzip or xz or not at all".to_owned()
    };
    let start = copy.start(LONGEST_MAGIC as usize)?;
    if start.starts_with(b"PK") && !io::is_torch(&copy, &start) {
        return Ok((numpy::open_npz(&copy)?, DataFormat::Npz));
    }
    // A name alone is no reason to take a file for an array.
    let (format, mut source) = io::open_arrays(&copy, Path::new("")).map_err(|problem| {
        if problem.starts_with("is in no known format") { unknown() } else { problem }
    })?;
    let format = match format {
        Format::Mat => DataFormat::Mat,
        Format::Hdf5 => DataFormat::Hdf5,
        Format::Pickle => DataFormat::Pickle,
        Format::Torch => DataFormat::Torch,
        Format::Safetensors | Format::Msgpack | Format::Uai => {
            return Err(format!("is a {format} file, which holds models, expected data"));
        }
        _ => return Err(unknown()),
    };
    Ok((memory::open(&mut *source)?, format))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// "+1 1:1 3:1\n-1\n" as `xz` packs it.
    const XZ: &[u8] =
        b"\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x1c\x00\x00\x00\
        \x10\xcf\x58\xcc\x01\x00\x0d\x2b\x31\x20\x31\x3a\x31\x20\x33\x3a\x31\x0a\x2d\x31\
        \x0a\x00\x00\x00\x07\x8e\x74\x49\x74\xa4\x09\x82\x00\x01\x26\x0e\x08\x1b\xe0\x04\
        \x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a";

    fn first_rows(content: &[u8]) -> Parsed<Vec<Vec<f64>>> {
        let mut source = open_rows(&Input::of_bytes(content), None)?.rows;
        let (mut row, mut rows) = (vec![0.0; source.width()], Vec::new());
        while source.next_row(&mut row)? {
            rows.push(row.clone());
        }
        Ok(rows)
    }

    #[test]
    fn packed_files_are_unpacked_by_content() {
        let text = b"+1 1:1 3:1\n-1\n";
        let expected = vec![vec![1.0, 0.0, 1.0], vec![0.0; 3]];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(text).unwrap();
        for content in [text, XZ, &gzip.finish().unwrap()] {
            assert_eq!(first_rows(content).unwrap(), expected);
        }
    }

    #[test]
    fn a_packed_file_cut_anywhere_is_refused() {
        for end in 0..XZ.len() {
            assert!(first_rows(&XZ[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(first_rows(b"").unwrap_err().starts_with("is empty"));
        assert!(first_rows(b"\x89PNG\r\n").unwrap_err().starts_with("is in no known format"));
    }
}
