//! The format of a model file, by its content and its name.

use super::{Parsed, mat, npy, safetensors};
use crate::{Error, Result};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A format of model files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One numpy array: weights alone.
    Npy,
    /// A zip archive of numpy arrays.
    Npz,
    /// The format of the safetensors library.
    Safetensors,
    /// MATLAB, version 5 to 7.
    Mat,
}

impl Format {
    /// The format of an existing file: what it starts with counts before what it is called.
    pub(super) fn of_file(path: &Path) -> Parsed<Self> {
        let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err("is a folder, expected a model file".to_owned());
        }
        let mut start = Vec::new();
        file.take(mat::HEADER_BYTES as u64).read_to_end(&mut start).map_err(unreadable)?;
        if start.is_empty() {
            return Err("is empty, expected a model".to_owned());
        }
        if start.starts_with(b"\x89HDF") || start.starts_with(b"MATLAB 7.3") {
            return Err(
                "is an HDF5 file, which is not supported; save it in MATLAB by save(name, ..., '-v7'), or as .npz".to_owned()
            );
        }
        Self::of_content(&start, metadata.len()).or_else(|| Self::of_name(path)).ok_or_else(|| {
            "is in no known format; expected .npz, .npy, .safetensors or a MATLAB .mat file of version 5 to 7".to_owned()
        })
    }

    fn of_content(start: &[u8], file_bytes: u64) -> Option<Self> {
        if start.starts_with(npy::MAGIC) {
            Some(Format::Npy)
        } else if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            Some(Format::Npz)
        } else if mat::byte_order(start).is_some() {
            Some(Format::Mat)
        } else if safetensors::looks_like_it(start, file_bytes) {
            Some(Format::Safetensors)
        } else {
            None
        }
    }

    fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "safetensors" => Some(Format::Safetensors),
            "mat" => Some(Format::Mat),
            _ => None,
        }
    }

    /// The format that a new file's name asks for.
    pub fn to_write(path: &Path) -> Result<Self> {
        Self::of_name(path).ok_or_else(|| {
            let found = match path.extension() {
                Some(extension) => format!("its extension is .{}", extension.to_string_lossy()),
                None => "it has no extension".to_owned(),
            };
            Error::not_writable(path, found + ", expected .npz, .safetensors or .mat")
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Mat => "MATLAB, version 5",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_counts_before_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let format = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            Format::of_file(&path)
        };
        assert_eq!(format("a.mat", b"\x93NUMPY\x01\x00"), Ok(Format::Npy));
        assert_eq!(format("a", b"PK\x03\x04"), Ok(Format::Npz));
        assert_eq!(format("a.npy", b"\x02\0\0\0\0\0\0\0{}"), Ok(Format::Safetensors));
        assert_eq!(format("A.NPZ", b"whatever"), Ok(Format::Npz));
        assert!(format("a", b"whatever").unwrap_err().starts_with("is in no known format"));
        assert!(format("a.npz", b"").unwrap_err().starts_with("is empty"));
        assert!(format("a.mat", b"\x89HDF\r\n\x1a\n").unwrap_err().contains("-v7"));
        assert!(Format::of_file(folder.path()).unwrap_err().starts_with("is a folder"));
    }
}
