//! The bytes of a data file, unpacked if it is packed by gzip or xz.

use crate::io::Parsed;
use crate::io::input::{Input, XZ_MEMORY_KIB, open_unpacked};
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Bytes that decide what a file is.
pub(super) const LONGEST_MAGIC: u64 = 1024;

/// A stream of unpacked bytes.
pub(super) type Stream = Box<dyn BufRead + Send>;

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
    open_unpacked(path, "a data file")
        .and_then(|input| open(&input))
        .map_err(|problem| Error::file(path, problem))
}

/// Opens a file, unpacking gzip and xz.
pub(super) fn open(input: &Input) -> Parsed<Stream> {
    open_packed(input).map(|(_, stream)| stream)
}

/// The same, and how it is packed.
pub(super) fn open_packed(input: &Input) -> Parsed<(Packing, Stream)> {
    let file = input.open().map_err(|error| format!("cannot be read: {error}"))?;
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

/// The first bytes of a stream, and the stream with them put back.
pub(super) fn peek(mut stream: Stream) -> Parsed<(Vec<u8>, Stream)> {
    let mut start = Vec::new();
    let magic = (&mut stream).take(LONGEST_MAGIC).read_to_end(&mut start);
    magic.map_err(|error| unreadable(&error))?;
    Ok((start.clone(), Box::new(Cursor::new(start).chain(stream))))
}

/// The problem of a stream that fails on the way.
pub(super) fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read to the end ({error}); it may be cut short or damaged")
}
