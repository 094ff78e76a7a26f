//! The .npy format: one array after a header that is a Python literal.

use super::Parsed;
use super::input::{Input, Reader};
use super::number::{Encoding, Endian, Number, count_values, not_numbers, shape_in_words};
use super::python_literal::{self, Literal};
use super::tensors::{Order, TensorInfo, TensorSource};
use ndarray::ArrayD;
use std::io::{self, BufReader, Read, Write};

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// numpy itself refuses longer headers (`max_header_size`) unless told otherwise.
const LONGEST_HEADER: usize = 10_000;

/// Bytes before the first value, at most: the mark, the version and the length of the header too.
pub(super) const MOST_BEFORE_VALUES: usize = 12 + LONGEST_HEADER;

/// What stands before the values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    /// None for objects, text, records, dates and complex numbers.
    pub(crate) encoding: Option<Encoding>,
    /// The type for people.
    pub(crate) dtype: String,
    pub(crate) order: Order,
    pub(crate) shape: Vec<usize>,
    /// Bytes before the first value.
    pub(crate) length: usize,
}

impl Header {
    /// Reads the header, leaving the reader at the first value.
    pub(crate) fn read(reader: &mut dyn Read) -> Parsed<Self> {
        let cut = |_| "its .npy header is cut short; the file is damaged".to_owned();
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(cut)?;
        if &start[..6] != MAGIC {
            return Err("does not start like a .npy array".to_owned());
        }
        let (length, prefix) = match start[6] {
            1 => {
                let mut bytes = [0; 2];
                reader.read_exact(&mut bytes).map_err(cut)?;
                (usize::from(u16::from_le_bytes(bytes)), 10)
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                reader.read_exact(&mut bytes).map_err(cut)?;
                (u32::from_le_bytes(bytes) as usize, 12)
            }
            version => {
                return Err(format!(
                    "has the .npy version {version}; versions 1, 2 and 3 are known"
                ));
            }
        };
        if length > LONGEST_HEADER {
            return Err(format!("claims a .npy header of {length} bytes; the file is damaged"));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(cut)?;
        Self::parse(&String::from_utf8_lossy(&text), prefix + length)
    }

    fn parse(text: &str, length: usize) -> Parsed<Self> {
        let damaged = |what: &str| format!("its .npy header has no valid `{what}`");
        let fields = python_literal::parse_dict(text)?;
        let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, v)| v);
        let (encoding, dtype) = match field("descr") {
            Some(Literal::Text(descr)) => parse_dtype(descr),
            Some(Literal::Other) => (None, "a record".to_owned()),
            _ => return Err(damaged("descr")),
        };
        let order = match field("fortran_order") {
            Some(Literal::Bool(true)) => Order::ColumnMajor,
            Some(Literal::Bool(false)) => Order::RowMajor,
            _ => return Err(damaged("fortran_order")),
        };
        let Some(Literal::Integers(shape)) = field("shape") else {
            return Err(damaged("shape"));
        };
        Ok(Self { encoding, dtype, order, shape: shape.clone(), length })
    }

    /// Objects of Python stand in place of numbers: numpy has pickled them.
    pub(super) fn is_pickled(&self) -> bool {
        self.dtype.starts_with(OBJECTS)
    }

    /// The encoding of the values, or why there is none.
    pub(crate) fn numeric(&self) -> Parsed<Encoding> {
        self.encoding.ok_or_else(|| not_numbers(&self.dtype))
    }

    pub(crate) fn info(&self, name: &str) -> TensorInfo {
        TensorInfo {
            name: name.to_owned(),
            shape: self.shape.clone(),
            dtype: self.dtype.clone(),
            order: self.order,
        }
    }

    /// Bytes of the header and all values; more than memory holds is fine for what is streamed.
    pub(crate) fn total_bytes(&self) -> Parsed<u64> {
        let size = self.numeric()?.number.size();
        let total = self.shape.iter().try_fold(size, |product, &side| product.checked_mul(side));
        total.and_then(|bytes| Some(bytes.checked_add(self.length)? as u64)).ok_or_else(|| {
            format!("claims the impossible shape {}; it is damaged", shape_in_words(&self.shape))
        })
    }

    /// Reads the array that follows the header.
    pub(crate) fn read_values(&self, reader: &mut dyn Read) -> Parsed<ArrayD<f64>> {
        let values = self.numeric()?.read(reader, count_values(&self.shape)?)?;
        self.order.arrange(&self.shape, values)
    }
}

/// What arrays of objects hold.
const OBJECTS: &str = "Python objects";

/// `<f8` and the like.
pub(super) fn parse_dtype(descr: &str) -> (Option<Encoding>, String) {
    let endian = if descr.starts_with('>') { Endian::Big } else { Endian::Little };
    let number = match descr.trim_start_matches(['<', '>', '|', '=']) {
        "b1" => Number::Bool,
        "u1" => Number::U8,
        "i1" => Number::I8,
        "u2" => Number::U16,
        "i2" => Number::I16,
        "u4" => Number::U32,
        "i4" => Number::I32,
        "u8" => Number::U64,
        "i8" => Number::I64,
        "f2" => Number::F16,
        "f4" => Number::F32,
        "f8" => Number::F64,
        other => {
            let kind = match other.chars().next() {
                Some('O') => OBJECTS,
                Some('U' | 'S' | 'a') => "text",
                Some('c') => "complex numbers",
                Some('M' | 'm') => "dates",
                Some('f') => "long floats",
                _ => "an unknown type",
            };
            return (None, format!("{kind} ({descr})"));
        }
    };
    (Some(Encoding { number, endian }), number.name().to_owned())
}

/// `float64` and the like.
pub(super) fn parse_dtype_name(name: &str) -> Option<Encoding> {
    let number = match name {
        "bool" => Number::Bool,
        "uint8" => Number::U8,
        "int8" => Number::I8,
        "uint16" => Number::U16,
        "int16" => Number::I16,
        "uint32" => Number::U32,
        "int32" => Number::I32,
        "uint64" => Number::U64,
        "int64" => Number::I64,
        "float16" => Number::F16,
        "bfloat16" => Number::BF16,
        "float32" => Number::F32,
        "float64" => Number::F64,
        _ => return None,
    };
    Some(Encoding { number, endian: Endian::Little })
}

/// A file with one nameless array.
pub(super) struct NpyFile {
    tensors: [TensorInfo; 1],
    header: Header,
    reader: BufReader<Reader>,
}

impl NpyFile {
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let file = input.open().map_err(|error| format!("cannot be opened: {error}"))?;
        let present = input.bytes;
        let mut reader = BufReader::new(file);
        let header = Header::read(&mut reader)?;
        if header.encoding.is_some() && header.total_bytes()? != present {
            return Err(format!(
                "has {present} bytes, but its .npy header promises {}; the file is damaged",
                header.total_bytes()?
            ));
        }
        Ok(Self { tensors: [header.info("")], header, reader })
    }
}

impl TensorSource for NpyFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, _index: usize) -> Parsed<ArrayD<f64>> {
        self.header.read_values(&mut self.reader)
    }
}

/// Writes an array of `f64` in row-major order.
pub(super) fn write(
    writer: &mut dyn Write,
    shape: &[usize],
    values: impl Iterator<Item = f64>,
) -> io::Result<()> {
    write_header(writer, "<f8", shape)?;
    for value in values {
        writer.write_all(&value.to_le_bytes())?;
    }
    Ok(())
}

/// Writes small whole numbers, a byte each.
pub(super) fn write_bytes(writer: &mut dyn Write, shape: &[usize], bytes: &[u8]) -> io::Result<()> {
    write_header(writer, "|u1", shape)?;
    writer.write_all(bytes)
}

fn write_header(writer: &mut dyn Write, kind: &str, shape: &[usize]) -> io::Result<()> {
    let sides: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let sides = if shape.len() > 1 { sides.trim_end_matches(", ") } else { sides.trim_end() };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sides}), }}");
    // The values start at a multiple of 64 bytes, and the header ends in a line break.
    let padding = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    header = format!("{header:<width$}\n", width = padding - 1);
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Parsed<ArrayD<f64>> {
        let mut reader = bytes;
        Header::read(&mut reader)?.read_values(&mut reader)
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [&[][..], &[3], &[2, 3], &[2, 0]] {
            let count = shape.iter().product();
            let values: Vec<f64> = (0..count).map(|v| v as f64 / 7.0).collect();
            let mut bytes = Vec::new();
            write(&mut bytes, shape, values.iter().copied()).unwrap();
            assert_eq!((bytes.len() - 8 * count) % 64, 0);
            assert_eq!(read(&bytes).unwrap(), ArrayD::from_shape_vec(shape, values).unwrap());
        }
    }

    #[test]
    fn types_that_are_no_numbers_are_named() {
        let header = |descr: &str| {
            let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}");
            Header::parse(&text, 128).unwrap().numeric()
        };
        assert!(header("'>f4'").is_ok());
        let problem = |descr| header(descr).unwrap_err();
        assert_eq!(problem("'|O'"), "holds Python objects (|O), expected real numbers");
        assert_eq!(problem("'<U5'"), "holds text (<U5), expected real numbers");
        assert_eq!(problem("'<c16'"), "holds complex numbers (<c16), expected real numbers");
        assert_eq!(problem("[('a', '<f4')]"), "holds a record, expected real numbers");
    }

    #[test]
    fn damaged_headers_are_refused() {
        for text in ["", "{", "{'shape': (1,)}", "{'descr': '<f8', 'shape': (-1,)}", "{'descr'"] {
            assert!(Header::parse(text, 0).is_err(), "{text}");
        }
        assert!(read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").unwrap_err().contains("4294967295"));
        assert!(read(b"\x93NUMPY\x09\x00").unwrap_err().contains("version 9"));
    }
}
