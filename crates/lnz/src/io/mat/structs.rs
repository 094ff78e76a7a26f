//! Fields of structs in a MATLAB file, as matrices of their own: `rbm.W` is the field `W` of the struct `rbm`.

use super::elements::{MATRIX, Matrix, Tag, skip, to_u32};
use crate::io::Parsed;
use crate::io::number::Endian;
use std::io::{self, Read};

/// Structs in structs beyond this are no model.
const DEEPEST: usize = 8;

/// MATLAB allows 63 characters in the name of a field.
const LONGEST_FIELD_NAME: u32 = 1024;
const MOST_BYTES_OF_NAMES: u32 = 1 << 24;

/// The matrix that a reader is at, and where its content begins; of a struct all fields that are
/// matrices in its place, `room` at most.
pub(super) fn matrices(
    reader: impl Read,
    endian: Endian,
    room: usize,
) -> Parsed<Vec<(Matrix, u64)>> {
    let mut walk = Walk { reader: Counted { reader, at: 0 }, endian, room, found: Vec::new() };
    let matrix = Matrix::read(&mut walk.reader, endian)?;
    walk.visit(matrix, 0, 0)?;
    Ok(walk.found)
}

struct Walk<R> {
    reader: Counted<R>,
    endian: Endian,
    room: usize,
    found: Vec<(Matrix, u64)>,
}

impl<R: Read> Walk<R> {
    fn visit(&mut self, matrix: Matrix, start: u64, depth: usize) -> Parsed<()> {
        if !matrix.is_struct() || depth >= DEEPEST {
            if self.found.len() < self.room {
                self.found.push((matrix, start));
            }
            return Ok(());
        }
        for field in self.field_names()? {
            let tag = Tag::read(&mut self.reader, self.endian)?;
            let begin = self.reader.at;
            if tag.kind != MATRIX {
                return Err(format!(
                    "has a field of type {}, expected 14; it is damaged",
                    tag.kind
                ));
            }
            // An empty field has no more than its tag.
            if tag.size > 0 {
                let mut inner = Matrix::read(&mut self.reader, self.endian)?;
                inner.name = format!("{}.{field}", matrix.name);
                self.visit(inner, begin, depth + 1)?;
            }
            let end = begin + u64::from(tag.size);
            let rest = end.checked_sub(self.reader.at);
            skip(&mut self.reader, rest.ok_or("has a field that is too long; it is damaged")?)?;
        }
        Ok(())
    }

    fn field_names(&mut self) -> Parsed<Vec<String>> {
        let length = Tag::read(&mut self.reader, self.endian)?.bytes(&mut self.reader, 8)?;
        let length = length.first_chunk().map(|bytes| to_u32(*bytes, self.endian));
        let length = length
            .filter(|length| (1..=LONGEST_FIELD_NAME).contains(length))
            .ok_or("has a struct whose fields have no names; it is damaged")?;
        let tag = Tag::read(&mut self.reader, self.endian)?;
        let names = tag.bytes(&mut self.reader, MOST_BYTES_OF_NAMES)?;
        let name = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        Ok(names.chunks(length as usize).map(name).collect())
    }
}

/// A reader that knows how far it has come.
struct Counted<R> {
    reader: R,
    at: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}
