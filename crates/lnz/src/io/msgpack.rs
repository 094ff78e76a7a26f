//! The msgpack files of flax, in which NetKet keeps its models: nested maps of named arrays.

use super::Parsed;
use super::input::Input;
use super::npy::parse_dtype_name;
use super::number::{Encoding, count_values, not_numbers};
use super::tensors::{Order, TensorInfo, TensorSource};
use ndarray::ArrayD;
use std::ops::Range;

/// Extension types of flax: an array, and a numpy scalar.
const ARRAY: u8 = 1;
const SCALAR: u8 = 3;

const LARGEST_FILE: u64 = 4 << 30;
const DEEPEST: usize = 40;
const MOST_ARRAYS: usize = 100_000;

/// True for a map whose first key is a short text.
pub(super) fn looks_like_it(start: &[u8]) -> bool {
    let key = match start {
        [0x81..=0x8f, key, ..] => *key,
        [0xde, _, _, key, ..] => *key,
        _ => return false,
    };
    matches!(key, 0xa1..=0xbf | 0xd9)
}

/// How an array is stored, and where.
type Place = (Option<Encoding>, Range<usize>);

/// A file in memory.
pub(super) struct MsgpackFile {
    bytes: Vec<u8>,
    tensors: Vec<TensorInfo>,
    places: Vec<Place>,
}

impl MsgpackFile {
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let bytes = input.read(LARGEST_FILE)?;
        let mut reader = Reader { bytes: &bytes, at: 0, found: Vec::new() };
        reader.value("", 0)?;
        if reader.at != bytes.len() {
            return Err("goes on after its end; it is damaged or no msgpack file".to_owned());
        }
        let (tensors, places) = reader.found.into_iter().unzip();
        Ok(Self { bytes, tensors, places })
    }
}

impl TensorSource for MsgpackFile {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>> {
        let info = &self.tensors[index];
        let (encoding, place) = &self.places[index];
        let encoding = encoding.ok_or_else(|| not_numbers(&info.dtype))?;
        let count = count_values(&info.shape)?;
        if count.checked_mul(encoding.number.size()) != Some(place.len()) {
            return Err(format!(
                "has {} bytes, which do not fit its shape; the file is damaged",
                place.len()
            ));
        }
        let values = encoding.read(&mut &self.bytes[place.clone()], count)?;
        info.order.arrange(&info.shape, values)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    found: Vec<(TensorInfo, Place)>,
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Parsed<Range<usize>> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or("is a msgpack file that ends early; it is cut short")?;
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }

    fn skip(&mut self, count: usize) -> Parsed<()> {
        self.take(count).map(|_| ())
    }

    fn number(&mut self, bytes: usize) -> Parsed<usize> {
        let range = self.take(bytes)?;
        Ok(self.bytes[range].iter().fold(0, |value, &byte| value << 8 | usize::from(byte)))
    }

    fn code(&mut self) -> Parsed<u8> {
        let range = self.take(1)?;
        Ok(self.bytes[range.start])
    }

    /// Reads one value; arrays in it are kept under their path.
    fn value(&mut self, path: &str, depth: usize) -> Parsed<()> {
        if depth > DEEPEST {
            return Err("is nested deeper than any model; it is damaged".to_owned());
        }
        match self.code()? {
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => {}
            code @ 0x80..=0x8f => self.map(usize::from(code & 15), path, depth)?,
            code @ 0x90..=0x9f => self.list(usize::from(code & 15), path, depth)?,
            code @ 0xa0..=0xbf => self.skip(usize::from(code & 31))?,
            code @ 0xc4..=0xc6 => {
                let length = self.number(1 << (code - 0xc4))?;
                self.take(length)?;
            }
            code @ 0xc7..=0xc9 => {
                let length = self.number(1 << (code - 0xc7))?;
                self.extension(length, path)?;
            }
            0xca | 0xce | 0xd2 => self.skip(4)?,
            0xcb | 0xcf | 0xd3 => self.skip(8)?,
            0xcc | 0xd0 => self.skip(1)?,
            0xcd | 0xd1 => self.skip(2)?,
            code @ 0xd4..=0xd8 => self.extension(1 << (code - 0xd4), path)?,
            code @ 0xd9..=0xdb => {
                let length = self.number(1 << (code - 0xd9))?;
                self.take(length)?;
            }
            code @ (0xdc | 0xdd) => {
                let length = self.number(if code == 0xdc { 2 } else { 4 })?;
                self.list(length, path, depth)?;
            }
            code @ (0xde | 0xdf) => {
                let length = self.number(if code == 0xde { 2 } else { 4 })?;
                self.map(length, path, depth)?;
            }
            code => return Err(format!("has the unknown msgpack code {code:#04x}; it is damaged")),
        }
        Ok(())
    }

    fn list(&mut self, length: usize, path: &str, depth: usize) -> Parsed<()> {
        (0..length).try_for_each(|at| self.value(&format!("{path}{at}/"), depth + 1))
    }

    fn map(&mut self, length: usize, path: &str, depth: usize) -> Parsed<()> {
        for _ in 0..length {
            let key = self.key()?;
            self.value(&format!("{path}{key}/"), depth + 1)?;
        }
        Ok(())
    }

    fn key(&mut self) -> Parsed<String> {
        let length = match self.code()? {
            code @ 0x00..=0x7f => return Ok(code.to_string()),
            code @ 0xa0..=0xbf => usize::from(code & 31),
            code @ 0xd9..=0xdb => self.number(1 << (code - 0xd9))?,
            code => {
                return Err(format!(
                    "has a key of the msgpack code {code:#04x}; it is no file of flax"
                ));
            }
        };
        let range = self.take(length)?;
        Ok(String::from_utf8_lossy(&self.bytes[range]).into_owned())
    }

    /// An array: the list (shape, type, bytes) inside an extension.
    fn extension(&mut self, length: usize, path: &str) -> Parsed<()> {
        let kind = self.code()?;
        let content = self.take(length)?;
        if kind != ARRAY && kind != SCALAR || self.found.len() >= MOST_ARRAYS {
            return Ok(());
        }
        let mut inside =
            Reader { bytes: &self.bytes[..content.end], at: content.start, found: vec![] };
        let (shape, dtype, place) = inside.array()?;
        let encoding = parse_dtype_name(&dtype);
        let info = TensorInfo {
            name: path.trim_end_matches('/').to_owned(),
            shape,
            dtype: if encoding.is_none() && dtype.starts_with("complex") {
                format!("complex numbers ({dtype})")
            } else {
                dtype
            },
            order: Order::RowMajor,
        };
        self.found.push((info, (encoding, place)));
        Ok(())
    }

    fn array(&mut self) -> Parsed<(Vec<usize>, String, Range<usize>)> {
        let damaged = || "has an array that is not one of flax; it is damaged".to_owned();
        if self.code()? != 0x93 {
            return Err(damaged());
        }
        let sides = match self.code()? {
            code @ 0x90..=0x9f => usize::from(code & 15),
            _ => return Err(damaged()),
        };
        let mut shape = Vec::new();
        for _ in 0..sides {
            shape.push(match self.code()? {
                code @ 0x00..=0x7f => usize::from(code),
                code @ 0xcc..=0xcf => self.number(1 << (code - 0xcc))?,
                _ => return Err(damaged()),
            });
        }
        let dtype = self.key()?;
        let length = match self.code()? {
            code @ 0xc4..=0xc6 => self.number(1 << (code - 0xc4))?,
            _ => return Err(damaged()),
        };
        Ok((shape, dtype, self.take(length)?))
    }
}
