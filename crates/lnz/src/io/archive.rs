//! Zip archives: their entries, and a checked stream of the bytes of one.

use super::Parsed;
use super::input::Input;
use super::number::not_unpacked;
use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zip::{CompressionMethod, ZipArchive};

/// An opened archive.
pub(crate) struct Archive {
    input: Input,
    pub(crate) entries: Vec<Entry>,
}

/// A file in an archive.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Bytes when unpacked, as the directory of the archive claims.
    pub(crate) size: u64,
    packed_size: u64,
    start: u64,
    checksum: u32,
    deflated: bool,
}

impl Archive {
    pub(crate) fn open(input: &Input) -> Parsed<Self> {
        let damaged = |error: &dyn std::fmt::Display| {
            format!("is not a complete zip archive ({error}); it may be cut short")
        };
        let file = input.open().map_err(|error| format!("cannot be opened: {error}"))?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
        // Programs differ in which of the two they read.
        if zip.has_duplicate_names() {
            return Err("has two entries of the same name; save it again".to_owned());
        }
        let mut entries = Vec::new();
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index).map_err(|error| damaged(&error))?;
            let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
            if entry.encrypted() {
                return Err(format!("its entry `{name}` is encrypted; save it without a password"));
            }
            let deflated = match entry.compression() {
                CompressionMethod::Stored => false,
                CompressionMethod::Deflated => true,
                other => {
                    return Err(format!(
                        "its entry `{name}` is packed by {other}, expected stored or deflated"
                    ));
                }
            };
            entries.push(Entry {
                name,
                size: entry.size(),
                packed_size: entry.compressed_size(),
                start: entry.data_start().ok_or_else(|| damaged(&"an entry has no data"))?,
                checksum: entry.crc32(),
                deflated,
            });
        }
        Ok(Self { input: input.clone(), entries })
    }

    /// The unpacked bytes of an entry; the end of the stream checks them against the checksum.
    pub(crate) fn stream(&self, entry: &Entry) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.input.open()?;
        file.seek(SeekFrom::Start(entry.start))?;
        let packed = BufReader::with_capacity(1 << 16, file.take(entry.packed_size));
        let checksum = entry.checksum;
        Ok(if entry.deflated {
            Box::new(Checked { inner: CrcReader::new(DeflateDecoder::new(packed)), checksum })
        } else {
            Box::new(Checked { inner: CrcReader::new(packed), checksum })
        })
    }
}

/// A stream that fails at its end when the checksum of all its bytes is wrong.
struct Checked<R> {
    inner: CrcReader<R>,
    checksum: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.inner.crc().sum() != self.checksum {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is wrong"));
        }
        Ok(read)
    }
}

/// Makes sure that a stream is at its end, which also checks the checksum of an archive entry.
pub(crate) fn expect_end(reader: &mut dyn Read) -> Parsed<()> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err("goes on after its last value; the file is damaged".to_owned()),
        Err(error) => Err(not_unpacked(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn archive(method: CompressionMethod) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        zip.start_file("a.npy", SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(&[7; 1000]).unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn unpack(bytes: &[u8]) -> Parsed<Vec<u8>> {
        let archive = Archive::open(&Input::of_bytes(bytes))?;
        let mut unpacked = Vec::new();
        let mut stream = archive.stream(&archive.entries[0]).map_err(|e| e.to_string())?;
        stream.read_to_end(&mut unpacked).map_err(|e| e.to_string())?;
        Ok(unpacked)
    }

    #[test]
    fn entries_are_unpacked_and_checked() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            assert_eq!(unpack(&archive(method)).unwrap(), [7; 1000]);
        }
        let mut damaged = archive(CompressionMethod::Stored);
        let at = damaged.windows(2).position(|pair| pair == [7, 7]).unwrap();
        damaged[at + 100] = 8;
        assert_eq!(unpack(&damaged).unwrap_err(), "its checksum is wrong");
    }

    #[test]
    fn two_entries_of_one_name_are_refused() {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for name in ["a.npy", "b.npy"] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
        }
        let mut bytes = zip.finish().unwrap().into_inner();
        for at in 0..bytes.len() - 5 {
            if &bytes[at..at + 5] == b"b.npy" {
                bytes[at] = b'a';
            }
        }
        assert!(unpack(&bytes).unwrap_err().starts_with("has two entries of the same name"));
    }
}
