//! Bytes that can be read more than once: what comes from pipes and packed files is first copied aside.

use super::Parsed;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use lzma_rust2::{LzmaReader, XzReader};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// More than this is not taken from a pipe or out of a packed file.
const MOST_SPOOLED: u64 = 8 << 30;

/// Dictionaries of xz reach 64 MiB at its highest preset; a file that asks for far more is hostile.
pub(crate) const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Unpacks to no more than this many times its size, or to [`ALWAYS_FINE`].
const MOST_EXPANSION: u64 = 1100;
const ALWAYS_FINE: u64 = 1 << 28;

/// Copies up to this size are kept in memory.
const SMALL_COPY: u64 = 1 << 22;

/// Unpacked bytes.
#[derive(Clone)]
pub(crate) struct Input {
    place: Place,
    /// How many there are.
    pub(crate) bytes: u64,
}

#[derive(Clone)]
enum Place {
    File(PathBuf),
    /// Deleted with the last that reads it.
    Copy(Arc<NamedTempFile>),
    Memory(Arc<[u8]>),
}

/// One that reads an input.
pub(crate) enum Reader {
    File(File),
    Memory(Cursor<Arc<[u8]>>),
}

impl Input {
    /// Bytes that are in memory already.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self { place: Place::Memory(bytes.into()), bytes: bytes.len() as u64 }
    }

    /// Reads from the start, independently of all others that read.
    pub(crate) fn open(&self) -> io::Result<Reader> {
        Ok(match &self.place {
            Place::File(path) => Reader::File(File::open(path)?),
            Place::Copy(copy) => Reader::File(copy.reopen()?),
            Place::Memory(bytes) => Reader::Memory(Cursor::new(bytes.clone())),
        })
    }

    /// The first bytes.
    pub(crate) fn start(&self, most: usize) -> Parsed<Vec<u8>> {
        let mut start = Vec::new();
        let reader = self.open().map_err(unreadable)?;
        reader.take(most as u64).read_to_end(&mut start).map_err(unreadable)?;
        Ok(start)
    }

    /// All bytes of a file that should not be larger than `most`.
    pub(crate) fn read(&self, most: u64) -> Parsed<Vec<u8>> {
        if self.bytes > most {
            return Err(format!(
                "has {} bytes, more than the {most} that a file of its kind may have",
                self.bytes
            ));
        }
        let mut all = Vec::new();
        self.open().and_then(|mut reader| reader.read_to_end(&mut all)).map_err(unreadable)?;
        Ok(all)
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Memory(bytes) => bytes.seek(to),
        }
    }
}

/// Opens a file by its path; `-` is standard input.
pub(crate) fn open_input(path: &Path, expected: &str) -> Parsed<Input> {
    unpack(open_unpacked(path, expected)?)
}

/// What a packed file holds; all others stay as they are.
pub(crate) fn unpack(input: Input) -> Parsed<Input> {
    let start = input.start(16)?;
    // The length of its header may look like the mark of a packed file.
    if is_safetensors(&start, input.bytes) {
        return Ok(input);
    }
    let file = || input.open().map_err(unreadable);
    let limit = ALWAYS_FINE.max(input.bytes.saturating_mul(MOST_EXPANSION)).min(MOST_SPOOLED);
    let unpacked = if start.starts_with(b"\x1f\x8b") {
        spool(&mut MultiGzDecoder::new(file()?), limit)
    } else if start.starts_with(b"\xfd7zXZ\0") {
        spool(&mut XzReader::new_mem_limit(file()?, true, XZ_MEMORY_KIB), limit)
    } else if is_zlib(&start) {
        spool(&mut ZlibDecoder::new(file()?), limit)
    } else if start.starts_with(b"\x5d\0\0") {
        match LzmaReader::new_mem_limit(file()?, XZ_MEMORY_KIB, None) {
            Ok(mut reader) => spool(&mut reader, limit),
            Err(error) => Err(format!("cannot be read ({error}); it may be damaged")),
        }
    } else if let Some(program) = other_packer(&start) {
        return Err(format!(
            "is packed by {program}, which is not unpacked here; unpack it, or pack it by gzip or xz"
        ));
    } else {
        return Ok(input);
    };
    unpacked.map_err(|problem| format!("is packed, and {problem}"))
}

/// True for files that start like a safetensors file: the length of a header, which is a JSON object.
pub(super) fn is_safetensors(start: &[u8], file_bytes: u64) -> bool {
    let length = start.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    length.is_some_and(|length| length <= file_bytes.saturating_sub(8))
        && start.get(8) == Some(&b'{')
}

/// joblib packs its pickles by zlib.
fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [0x78, level @ (0x01 | 0x5e | 0x9c | 0xda), ..]
        if (0x7800 + u32::from(*level)) % 31 == 0)
}

/// The name of a program that packs files, and that only the user can undo.
fn other_packer(start: &[u8]) -> Option<&'static str> {
    match start {
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Some("bzip2"),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some("lz4"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("7z"),
        _ => None,
    }
}

/// The file itself, or a copy of what comes through a pipe.
pub(crate) fn open_unpacked(path: &Path, expected: &str) -> Parsed<Input> {
    if path == Path::new("-") {
        return spool(&mut std::io::stdin().lock(), MOST_SPOOLED);
    }
    // The kind is asked of the name: opening a pipe waits for its writer.
    let kind = std::fs::metadata(path).map_err(unreadable)?;
    if kind.is_dir() {
        return Err(format!("is a folder, expected {expected}"));
    }
    if is_pipe(&kind) {
        return spool(&mut File::open(path).map_err(unreadable)?, MOST_SPOOLED);
    }
    if !kind.is_file() {
        return Err(format!("is a device, expected {expected}"));
    }
    Ok(Input { place: Place::File(path.to_owned()), bytes: kind.len() })
}

#[cfg(unix)]
fn is_pipe(kind: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_kind: &std::fs::Metadata) -> bool {
    false
}

fn spool(reader: &mut dyn Read, most: u64) -> Parsed<Input> {
    let cut = |error| format!("cannot be read to its end ({error}); it may be cut short");
    let mut start = Vec::new();
    reader.take(SMALL_COPY).read_to_end(&mut start).map_err(cut)?;
    if (start.len() as u64) < SMALL_COPY {
        return Ok(Input { bytes: start.len() as u64, place: Place::Memory(start.into()) });
    }
    let mut copy = NamedTempFile::new().map_err(|error| format!("cannot be kept: {error}"))?;
    let bytes = io::copy(&mut start.chain(reader).take(most + 1), &mut copy).map_err(cut)?;
    if bytes > most {
        return Err(format!(
            "goes on after {most} bytes, which no model or data set of its size does"
        ));
    }
    copy.flush().map_err(unreadable)?;
    Ok(Input { place: Place::Copy(Arc::new(copy)), bytes })
}

fn unreadable(error: io::Error) -> String {
    format!("cannot be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_the_same_in_memory_and_on_the_disk() {
        for count in [0, 1, SMALL_COPY - 1, SMALL_COPY, SMALL_COPY + 1] {
            let bytes: Vec<u8> = (0..count).map(|at| (at % 251) as u8).collect();
            let input = spool(&mut &bytes[..], SMALL_COPY + 1).unwrap();
            assert_eq!(matches!(input.place, Place::Memory(_)), count < SMALL_COPY);
            assert_eq!((input.bytes, input.read(u64::MAX).unwrap()), (count, bytes.clone()));
            assert_eq!(input.start(7).unwrap(), bytes[..bytes.len().min(7)]);
            // It can be opened again, by whoever has a part in it.
            assert_eq!(input.clone().read(u64::MAX).unwrap(), bytes);
        }
    }

    #[test]
    fn a_pipe_without_an_end_is_refused() {
        let problem = spool(&mut std::io::repeat(7), SMALL_COPY).err().unwrap();
        assert!(problem.starts_with("goes on after"), "{problem}");
    }
}
