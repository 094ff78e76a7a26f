//! The elements that a MATLAB file is made of: tags, and what stands before the values of a matrix.

use crate::io::Parsed;
use crate::io::number::Endian;
use std::io::Read;

// Types of elements ("mi") of the MAT-file format, level 5.
pub(super) const INT8: u32 = 1;
pub(super) const INT32: u32 = 5;
pub(super) const UINT32: u32 = 6;
pub(super) const DOUBLE: u32 = 9;
pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;
/// Class ("mx") of an array of doubles.
pub(super) const DOUBLE_CLASS: u32 = 6;
const OPAQUE_CLASS: u32 = 17;
pub(in crate::io) const HEADER_BYTES: usize = 128;

/// MATLAB allows 63 characters in a name, and numpy 64 dimensions.
const LONGEST_NAME: u32 = 4096;
const MOST_DIMENSIONS: u32 = 64;

pub(super) const SPARSE: &str = "a sparse matrix";

/// What stands before an element: its type and size, and the data itself when it has 4 bytes or less.
pub(super) struct Tag {
    pub(super) kind: u32,
    pub(super) size: u32,
    pub(super) small: Option<[u8; 4]>,
}

impl Tag {
    pub(super) fn read(reader: &mut dyn Read, endian: Endian) -> Parsed<Self> {
        let (first, second) = (word(reader)?, word(reader)?);
        let value = |bytes| to_u32(bytes, endian);
        // In the small form the upper half of the first word holds the size.
        Ok(match value(first) >> 16 {
            0 => Self { kind: value(first), size: value(second), small: None },
            size if size <= 4 => Self { kind: value(first) & 0xffff, size, small: Some(second) },
            size => return Err(format!("has a small element of {size} bytes; it is damaged")),
        })
    }

    /// The bytes of an element of at most `most` bytes, and the padding after it skipped.
    pub(super) fn bytes(&self, reader: &mut dyn Read, most: u32) -> Parsed<Vec<u8>> {
        if let Some(small) = self.small {
            return Ok(small[..self.size as usize].to_vec());
        }
        if self.size > most {
            return Err(format!("has a header element of {} bytes; it is damaged", self.size));
        }
        let mut bytes = vec![0; self.size.next_multiple_of(8) as usize];
        reader.read_exact(&mut bytes).map_err(cut_short)?;
        bytes.truncate(self.size as usize);
        Ok(bytes)
    }
}

fn word(reader: &mut dyn Read) -> Parsed<[u8; 4]> {
    let mut bytes = [0; 4];
    reader.read_exact(&mut bytes).map_err(cut_short)?;
    Ok(bytes)
}

pub(super) fn to_u32(bytes: [u8; 4], endian: Endian) -> u32 {
    match endian {
        Endian::Little => u32::from_le_bytes(bytes),
        Endian::Big => u32::from_be_bytes(bytes),
    }
}

fn cut_short(error: std::io::Error) -> String {
    format!("has a variable that ends early ({error}); the file is cut short or damaged")
}

/// Goes on so many bytes.
pub(super) fn skip(reader: &mut dyn Read, bytes: u64) -> Parsed<()> {
    let skipped =
        std::io::copy(&mut reader.take(bytes), &mut std::io::sink()).map_err(cut_short)?;
    match skipped == bytes {
        true => Ok(()),
        false => Err(cut_short(std::io::ErrorKind::UnexpectedEof.into())),
    }
}

/// What stands before the values of a matrix.
pub(super) struct Matrix {
    class: u32,
    complex: bool,
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

impl Matrix {
    pub(super) fn read(reader: &mut dyn Read, endian: Endian) -> Parsed<Self> {
        let flags = Tag::read(reader, endian)?.bytes(reader, 8)?;
        let flags = flags.first_chunk().ok_or("has a variable without flags; it is damaged")?;
        let flags = to_u32(*flags, endian);
        if flags & 0xff == OPAQUE_CLASS {
            // Strings, tables and other objects have no shape before their name.
            let name = Tag::read(reader, endian)?.bytes(reader, LONGEST_NAME)?;
            let name = String::from_utf8_lossy(&name).into_owned();
            return Ok(Self { class: OPAQUE_CLASS, complex: false, name, shape: vec![] });
        }
        let sides = Tag::read(reader, endian)?.bytes(reader, 4 * MOST_DIMENSIONS)?;
        let (sides, _) = sides.as_chunks();
        let name = Tag::read(reader, endian)?.bytes(reader, LONGEST_NAME)?;
        Ok(Self {
            class: flags & 0xff,
            complex: flags & 0x800 != 0,
            name: String::from_utf8_lossy(&name).into_owned(),
            shape: sides.iter().map(|&side| to_u32(side, endian) as usize).collect(),
        })
    }

    pub(super) fn class_name(&self) -> &'static str {
        if let Some(kind) = self.not_numeric() {
            return kind;
        }
        match self.class {
            6 => "float64",
            7 => "float32",
            8 => "int8",
            9 => "uint8",
            10 => "int16",
            11 => "uint16",
            12 => "int32",
            13 => "uint32",
            14 => "int64",
            _ => "uint64",
        }
    }

    /// A struct, and not a list of them.
    pub(super) fn is_struct(&self) -> bool {
        self.class == 2 && self.shape.iter().all(|&side| side == 1)
    }

    pub(super) fn not_numeric(&self) -> Option<&'static str> {
        match self.class {
            1 => Some("a cell array"),
            2 => Some("a struct"),
            4 => Some("text"),
            5 => Some(SPARSE),
            6..=15 if self.complex => Some("complex numbers"),
            6..=15 => None,
            _ => Some("an object"),
        }
    }
}
