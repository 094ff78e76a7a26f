//! Reading MATLAB files of version 5 (also called 6 and 7), plain or compressed.

use super::Parsed;
use super::number::{Encoding, Endian, Number, count_values, shape_in_words};
use super::tensors::{Order, TensorInfo, TensorSource, check_expansion};
use flate2::read::ZlibDecoder;
use ndarray::ArrayD;
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
pub(super) const HEADER_BYTES: usize = 128;

/// MATLAB allows 63 characters in a name and numpy 32 dimensions; these are generous.
const LONGEST_NAME: u32 = 4096;
const MOST_DIMENSIONS: u32 = 64;

const SPARSE: &str = "a sparse matrix";

/// A .mat file in memory.
pub(super) struct MatFile {
    bytes: Vec<u8>,
    endian: Endian,
    variables: Vec<Variable>,
    tensors: Vec<TensorInfo>,
}

struct Variable {
    /// Where its element starts and ends in the file, without the tag.
    element: std::ops::Range<usize>,
    compressed: bool,
    count: usize,
    /// Why its values are not real numbers.
    not_numeric: Option<&'static str>,
}

/// The byte order of a file that starts like a version 5 file.
pub(super) fn byte_order(start: &[u8]) -> Option<Endian> {
    match start.get(124..HEADER_BYTES)? {
        [0, 1, b'I', b'M'] => Some(Endian::Little),
        [1, 0, b'M', b'I'] => Some(Endian::Big),
        _ => None,
    }
}

impl MatFile {
    pub(super) fn parse(bytes: Vec<u8>) -> Parsed<Self> {
        let endian = byte_order(&bytes).ok_or(
            "is not a MATLAB file of version 5; save it in MATLAB by save(name, ..., '-v7')",
        )?;
        let mut file = Self { bytes, endian, variables: Vec::new(), tensors: Vec::new() };
        let mut at = HEADER_BYTES;
        while at < file.bytes.len() {
            at = file.variable(at)?;
        }
        for (index, tensor) in file.tensors.iter().enumerate() {
            if file.tensors[..index].iter().any(|earlier| earlier.name == tensor.name) {
                return Err(format!("has two variables named `{}`; save it again", tensor.name));
            }
        }
        Ok(file)
    }

    /// Takes in the variable whose tag is at this place and returns where the next one is.
    fn variable(&mut self, at: usize) -> Parsed<usize> {
        let mut rest = &self.bytes[at..];
        let tag = Tag::read(&mut rest, self.endian)?;
        let start = self.bytes.len() - rest.len();
        let end = start + tag.size as usize;
        if end > self.bytes.len() {
            return Err(format!(
                "ends {} bytes before its variable number {} does; it is cut short or damaged",
                end - self.bytes.len(),
                self.tensors.len() + 1
            ));
        }
        let element = start..end;
        match tag.kind {
            MATRIX | COMPRESSED => {
                let compressed = tag.kind == COMPRESSED;
                let matrix = Matrix::read(&mut *self.open(&element, compressed)?, self.endian)?;
                self.variables.push(Variable {
                    element,
                    compressed,
                    count: count_values(&matrix.shape)
                        .map_err(|problem| format!("its variable `{}` {problem}", matrix.name))?,
                    not_numeric: matrix.not_numeric(),
                });
                self.tensors.push(TensorInfo {
                    dtype: matrix.class_name().to_owned(),
                    name: matrix.name,
                    shape: matrix.shape,
                    order: Order::ColumnMajor,
                });
            }
            _ => {} // Other elements carry no variables.
        }
        // Matrices are padded to 8 bytes, compressed elements are not.
        let padding = if tag.kind == COMPRESSED { 0 } else { end.next_multiple_of(8) - end };
        Ok((end + padding).min(self.bytes.len()))
    }

    /// The content of a matrix element, after the tag of the matrix.
    fn open(
        &self,
        element: &std::ops::Range<usize>,
        compressed: bool,
    ) -> Parsed<Box<dyn Read + '_>> {
        let bytes = &self.bytes[element.clone()];
        if !compressed {
            return Ok(Box::new(bytes));
        }
        let mut inflated = ZlibDecoder::new(bytes);
        match Tag::read(&mut inflated, self.endian)? {
            Tag { kind: MATRIX, size, .. } => Ok(Box::new(inflated.take(u64::from(size)))),
            tag => Err(format!("has a compressed element of type {}, expected 14", tag.kind)),
        }
    }
}

impl TensorSource for MatFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        let variable = &self.variables[index];
        if let Some(kind) = variable.not_numeric {
            let advice = if kind == SPARSE { "; save full(...) of it" } else { "" };
            return Err(format!("holds {kind}, expected an array of real numbers{advice}"));
        }
        check_expansion(variable.count, self.bytes.len() as u64)?;
        let mut reader = self.open(&variable.element, variable.compressed)?;
        let matrix = Matrix::read(&mut *reader, self.endian)?;
        // MATLAB stores whole numbers in the smallest type that holds them, whatever the class.
        let tag = Tag::read(&mut *reader, self.endian)?;
        let number = number(tag.kind)
            .ok_or_else(|| format!("has values of the unknown type {}", tag.kind))?;
        if tag.size as usize != variable.count * number.size() {
            return Err(format!(
                "has {} bytes of {}, but its shape {} needs {} values; the file is damaged",
                tag.size,
                number.name(),
                shape_in_words(&matrix.shape),
                variable.count
            ));
        }
        let encoding = Encoding { number, endian: self.endian };
        let values = match tag.small {
            Some(data) => encoding.read(&mut &data[..], variable.count)?,
            None => encoding.read(&mut *reader, variable.count)?,
        };
        Order::ColumnMajor.arrange(&matrix.shape, values)
    }
}

fn number(kind: u32) -> Option<Number> {
    Some(match kind {
        INT8 => Number::I8,
        2 => Number::U8,
        3 => Number::I16,
        4 => Number::U16,
        INT32 => Number::I32,
        UINT32 => Number::U32,
        7 => Number::F32,
        DOUBLE => Number::F64,
        12 => Number::I64,
        13 => Number::U64,
        _ => return None,
    })
}

/// What stands before an element: its type and size, and the data itself when it has 4 bytes or less.
struct Tag {
    kind: u32,
    size: u32,
    small: Option<[u8; 4]>,
}

impl Tag {
    fn read(reader: &mut dyn Read, endian: Endian) -> Parsed<Self> {
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
    fn bytes(&self, reader: &mut dyn Read, most: u32) -> Parsed<Vec<u8>> {
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

fn to_u32(bytes: [u8; 4], endian: Endian) -> u32 {
    match endian {
        Endian::Little => u32::from_le_bytes(bytes),
        Endian::Big => u32::from_be_bytes(bytes),
    }
}

fn cut_short(error: std::io::Error) -> String {
    format!("has a variable that ends early ({error}); the file is cut short or damaged")
}

/// What stands before the values of a matrix.
struct Matrix {
    class: u32,
    complex: bool,
    name: String,
    shape: Vec<usize>,
}

impl Matrix {
    fn read(reader: &mut dyn Read, endian: Endian) -> Parsed<Self> {
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

    fn class_name(&self) -> &'static str {
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

    fn not_numeric(&self) -> Option<&'static str> {
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
