//! What a data file is, by its first bytes, packed or not.

use super::{Rows, idx, libsvm, numpy};
use crate::io::{Parsed, npy};
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Dictionaries of xz reach 64 MiB at its highest preset; a file that asks for far more is hostile.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Bytes that decide what a file is.
const LONGEST_MAGIC: u64 = 6;

/// A stream of unpacked bytes.
pub(super) type Stream = Box<dyn BufRead + Send>;

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
    /// An archive of numpy arrays.
    Npz,
}

impl fmt::Display for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataFormat::Idx => "IDX",
            DataFormat::Libsvm => "LIBSVM text",
            DataFormat::Npy => ".npy",
            DataFormat::Npz => ".npz",
        })
    }
}

/// How a data file is packed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By xz.
    Xz,
}

/// The bytes of a file, unpacked if it is packed by gzip or xz.
pub fn unpacked(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    Error::unless_readable(path)?;
    open(path).map_err(|problem| Error::file(path, problem))
}

/// Opens a file, unpacking gzip and xz.
pub(super) fn open(path: &Path) -> Parsed<Stream> {
    open_packed(path).map(|(_, stream)| stream)
}

fn open_packed(path: &Path) -> Parsed<(Packing, Stream)> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("is a folder, expected a data file".to_owned());
    }
    let (start, file) = peek(Box::new(BufReader::with_capacity(1 << 16, file)))?;
    let (packing, unpacked): (_, Box<dyn Read + Send>) = if start.starts_with(b"\x1f\x8b") {
        (Packing::Gzip, Box::new(MultiGzDecoder::new(file)))
    } else if start.starts_with(b"\xfd7zXZ\0") {
        (Packing::Xz, Box::new(XzReader::new_mem_limit(file, true, XZ_MEMORY_KIB)))
    } else {
        return Ok((Packing::None, file));
    };
    Ok((packing, Box::new(BufReader::with_capacity(1 << 16, unpacked))))
}

/// The rows of a file in any of the known formats.
pub(super) fn open_rows(
    path: &Path,
    width: Option<usize>,
) -> Parsed<(Box<dyn Rows>, DataFormat, Packing)> {
    let (packing, stream) = open_packed(path)?;
    let (start, stream) = peek(stream)?;
    let (rows, format) = if start.is_empty() {
        return Err("is empty, expected a data set".to_owned());
    } else if start.starts_with(npy::MAGIC) {
        (numpy::open_npy(path)?, DataFormat::Npy)
    } else if start.starts_with(b"PK") {
        (numpy::open_npz(path)?, DataFormat::Npz)
    } else if start.starts_with(&[0, 0]) {
        (idx::open(stream)?, DataFormat::Idx)
    } else if start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        (libsvm::open(path, width)?, DataFormat::Libsvm)
    } else {
        return Err("is in no known format; expected IDX, LIBSVM text, .npy or .npz, packed by gzip or xz or not at all".to_owned());
    };
    Ok((rows, format, packing))
}

/// The first bytes of a stream, and the stream with them put back.
fn peek(mut stream: Stream) -> Parsed<(Vec<u8>, Stream)> {
    let mut start = Vec::new();
    let magic = (&mut stream).take(LONGEST_MAGIC).read_to_end(&mut start);
    magic.map_err(|error| unreadable(&error))?;
    Ok((start.clone(), Box::new(Cursor::new(start).chain(stream))))
}

/// The problem of a stream that fails on the way.
pub(super) fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read to the end ({error}); it may be cut short or damaged")
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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, content).unwrap();
        let (mut source, ..) = open_rows(&path, None)?;
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
