//! Reading MATLAB files of version 5 (also called 6 and 7), plain or compressed.

mod elements;
mod structs;
mod write;

use super::Parsed;
use super::input::{Input, Reader};
use super::number::{Encoding, Endian, Number, count_values, shape_in_words};
use super::tensors::{Order, TensorInfo, TensorSource, check_expansion};
use elements::{COMPRESSED, DOUBLE, INT8, INT32, MATRIX, Matrix, SPARSE, Tag, UINT32};
use flate2::read::ZlibDecoder;
use ndarray::ArrayD;
use std::collections::HashSet;
use std::io::{BufReader, Read, Seek};

pub(super) use elements::HEADER_BYTES;
pub(super) use write::write;

/// An opened .mat file; values are read on demand.
pub(super) struct MatFile {
    file: BufReader<Reader>,
    bytes: u64,
    endian: Endian,
    variables: Vec<Variable>,
    tensors: Vec<TensorInfo>,
}

#[derive(Clone)]
struct Variable {
    /// Where its element starts and ends in the file, without the tag.
    element: std::ops::Range<u64>,
    compressed: bool,
    /// Bytes of its content before the matrix, which is a field of a struct then.
    skip: u64,
    count: usize,
    /// Why its values are not real numbers.
    not_numeric: Option<&'static str>,
}

/// More variables than this are no model.
const MOST_VARIABLES: usize = 1 << 20;

/// The byte order of a file that starts like a version 5 file.
pub(super) fn byte_order(start: &[u8]) -> Option<Endian> {
    match start.get(124..HEADER_BYTES)? {
        [0, 1, b'I', b'M'] => Some(Endian::Little),
        [1, 0, b'M', b'I'] => Some(Endian::Big),
        _ => None,
    }
}

impl MatFile {
    pub(super) fn open(input: &Input) -> Parsed<Self> {
        let endian = byte_order(&input.start(HEADER_BYTES)?).ok_or(
            "is not a MATLAB file of version 5; save it in MATLAB by save(name, ..., '-v7')",
        )?;
        let file = input.open().map_err(|error| format!("cannot be read: {error}"))?;
        let mut file = Self {
            file: BufReader::new(file),
            bytes: input.bytes,
            endian,
            variables: Vec::new(),
            tensors: Vec::new(),
        };
        let (mut at, mut elements) = (HEADER_BYTES as u64, 0);
        while at < file.bytes {
            at = file.variable(at)?;
            elements += 1;
            if elements > MOST_VARIABLES {
                return Err(format!(
                    "has more than {MOST_VARIABLES} variables; save only the model"
                ));
            }
        }
        let mut names = HashSet::new();
        match file.tensors.iter().find(|tensor| !names.insert(&tensor.name)) {
            Some(twice) => Err(format!("has two variables named `{}`; save it again", twice.name)),
            None => Ok(file),
        }
    }

    fn seek(&mut self, at: u64) -> Parsed<()> {
        let unreadable = |error| format!("cannot be read: {error}");
        // A short way keeps what is in the buffer; small variables stand close together.
        let here = self.file.stream_position().map_err(unreadable)?;
        self.file.seek_relative(at as i64 - here as i64).map_err(unreadable)
    }

    /// Takes in the variable whose tag is at this place and returns where the next one is.
    fn variable(&mut self, at: u64) -> Parsed<u64> {
        self.seek(at)?;
        let tag = Tag::read(&mut self.file, self.endian)?;
        let start = at + 8;
        let end = start + u64::from(tag.size);
        if end > self.bytes {
            return Err(format!(
                "ends {} bytes before its variable number {} does; it is cut short or damaged",
                end - self.bytes,
                self.tensors.len() + 1
            ));
        }
        let element = start..end;
        match tag.kind {
            MATRIX | COMPRESSED => {
                let (compressed, endian) = (tag.kind == COMPRESSED, self.endian);
                let room = MOST_VARIABLES.saturating_sub(self.variables.len());
                let content = self.content(&element, compressed)?;
                for (matrix, skip) in structs::matrices(content, endian, room)? {
                    self.variables.push(Variable {
                        element: element.clone(),
                        compressed,
                        skip,
                        count: count_values(&matrix.shape).map_err(|problem| {
                            format!("its variable `{}` {problem}", matrix.name)
                        })?,
                        not_numeric: matrix.not_numeric(),
                    });
                    self.tensors.push(TensorInfo {
                        dtype: matrix.class_name().to_owned(),
                        name: matrix.name,
                        shape: matrix.shape,
                        order: Order::ColumnMajor,
                    });
                }
            }
            0 => {
                return Err(format!("has nothing but zeros at byte {at}; it is damaged"));
            }
            _ => {} // Other elements carry no variables.
        }
        // Matrices are padded to 8 bytes, compressed elements are not.
        let padding = if tag.kind == COMPRESSED { 0 } else { end.next_multiple_of(8) - end };
        Ok((end + padding).min(self.bytes))
    }

    /// The content of a matrix element, after the tag of the matrix.
    fn content(
        &mut self,
        element: &std::ops::Range<u64>,
        compressed: bool,
    ) -> Parsed<Box<dyn Read + '_>> {
        self.seek(element.start)?;
        let endian = self.endian;
        let bytes = (&mut self.file).take(element.end - element.start);
        if !compressed {
            return Ok(Box::new(bytes));
        }
        let mut inflated = ZlibDecoder::new(bytes);
        match Tag::read(&mut inflated, endian)? {
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
        let Variable { element, compressed, skip, count, not_numeric } =
            self.variables[index].clone();
        let endian = self.endian;
        if let Some(kind) = not_numeric {
            let advice = if kind == SPARSE { "; save full(...) of it" } else { "" };
            return Err(format!("holds {kind}, expected an array of real numbers{advice}"));
        }
        check_expansion(count, self.bytes)?;
        let mut reader = self.content(&element, compressed)?;
        elements::skip(&mut *reader, skip)?;
        let matrix = Matrix::read(&mut *reader, endian)?;
        // MATLAB stores whole numbers in the smallest type that holds them, whatever the class.
        let tag = Tag::read(&mut *reader, endian)?;
        let number = number(tag.kind)
            .ok_or_else(|| format!("has values of the unknown type {}", tag.kind))?;
        if tag.size as usize != count * number.size() {
            return Err(format!(
                "has {} bytes of {}, but its shape {} needs {} values; the file is damaged",
                tag.size,
                number.name(),
                shape_in_words(&matrix.shape),
                count
            ));
        }
        let encoding = Encoding { number, endian };
        let values = match tag.small {
            Some(data) => encoding.read(&mut &data[..], count)?,
            None => encoding.read(&mut *reader, count)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: Vec<u8>) -> Parsed<MatFile> {
        MatFile::open(&Input::of_bytes(&bytes))
    }

    /// A file with one matrix element of this content.
    fn file(content: &[u8]) -> Vec<u8> {
        let mut bytes = [&[b' '; 124][..], &[0, 1, b'I', b'M']].concat();
        bytes.extend(MATRIX.to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(content);
        bytes
    }

    const FLAGS: [u8; 16] = [6, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0];
    const ONE_BY_TWO: [u8; 16] = [5, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
    const NAME: [u8; 8] = [1, 0, 1, 0, b'c', 0, 0, 0];

    #[test]
    fn whole_doubles_that_matlab_stored_as_bytes_are_read() {
        let small = [2, 0, 2, 0, 7, 200, 0, 0];
        let mut parsed = parse(file(&[&FLAGS[..], &ONE_BY_TWO, &NAME, &small].concat())).unwrap();
        assert_eq!((&*parsed.tensors[0].name, &*parsed.tensors[0].dtype), ("c", "float64"));
        assert_eq!(parsed.values(0).unwrap(), ndarray::array![[7.0, 200.0]].into_dyn());
    }

    #[test]
    fn objects_are_listed_without_a_shape() {
        let flags = [6, 0, 0, 0, 8, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0];
        let mut parsed = parse(file(&[&flags[..], &NAME].concat())).unwrap();
        assert_eq!(parsed.tensors[0].name, "c");
        assert!(parsed.values(0).unwrap_err().starts_with("holds an object"));
    }

    #[test]
    fn values_that_do_not_fill_the_shape_are_refused() {
        let small = [2, 0, 3, 0, 7, 200, 1, 0];
        let mut parsed = parse(file(&[&FLAGS[..], &ONE_BY_TWO, &NAME, &small].concat())).unwrap();
        let problem = parsed.values(0).unwrap_err();
        assert!(
            problem.starts_with("has 3 bytes of uint8, but its shape 1 x 2 needs 2"),
            "{problem}"
        );
        let once = file(&[&FLAGS[..], &ONE_BY_TWO, &NAME].concat());
        let twice = [&once[..], &once[HEADER_BYTES..]].concat();
        assert!(parse(twice).err().unwrap().contains("two variables named `c`"));
    }

    #[test]
    fn many_variables_take_time_in_proportion() {
        // 100,000 variables under different names; comparing all pairs would take minutes.
        let mut bytes = file(&[]);
        bytes.truncate(HEADER_BYTES);
        for number in 0..100_000u32 {
            let small = [2, 0, 2, 0, 7, 200, 0, 0];
            let long_name =
                [&[1, 0, 0, 0, 8, 0, 0, 0][..], format!("{number:08}").as_bytes()].concat();
            let one = file(&[&FLAGS[..], &ONE_BY_TWO, &long_name, &small].concat());
            bytes.extend(&one[HEADER_BYTES..]);
        }
        let started = std::time::Instant::now();
        assert_eq!(parse(bytes).unwrap().tensors.len(), 100_000);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
