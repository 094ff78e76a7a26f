//! IDX, the format of MNIST: a big-endian header, then values row by row.

use super::Rows;
use super::dense::DenseRows;
use super::packed::Stream;
use crate::io::Parsed;
use crate::io::number::{Encoding, Endian, Number};
use std::io::Read;

/// Reads the header; bytes are grey values, so they are divided by 255.
pub(super) fn open(mut stream: Stream) -> Parsed<Box<dyn Rows>> {
    let start = word(&mut stream)?;
    let number = match start[2] {
        0x08 => Number::U8,
        0x09 => Number::I8,
        0x0b => Number::I16,
        0x0c => Number::I32,
        0x0d => Number::F32,
        0x0e => Number::F64,
        other => {
            return Err(format!(
                "starts like an IDX file, but with the unknown type {other:#04x}; the file is damaged"
            ));
        }
    };
    let dimensions = start[3];
    if !(1..=4).contains(&dimensions) {
        return Err(format!("is an IDX file of {dimensions} dimensions, expected 2 to 4"));
    }
    let shape: Vec<usize> = (0..dimensions)
        .map(|_| Ok(u32::from_be_bytes(word(&mut stream)?) as usize))
        .collect::<Parsed<_>>()?;
    let scale = if number == Number::U8 { 255.0 } else { 1.0 };
    let encoding = Encoding { number, endian: Endian::Big };
    Ok(Box::new(DenseRows::new(Box::new(stream), encoding, &shape, scale)?))
}

fn word(stream: &mut Stream) -> Parsed<[u8; 4]> {
    let mut bytes = [0; 4];
    stream
        .read_exact(&mut bytes)
        .map_err(|error| format!("its IDX header cannot be read ({error}); it may be cut short"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_row(bytes: &[u8]) -> Parsed<Vec<f64>> {
        let mut rows = open(Box::new(std::io::Cursor::new(bytes.to_vec())))?;
        let mut row = vec![0.0; rows.width()];
        rows.next_row(&mut row)?;
        Ok(row)
    }

    #[test]
    fn bytes_are_scaled_and_floats_are_not() {
        assert_eq!(
            first_row(&[0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 2, 51, 1]).unwrap(),
            [0.2, 1.0 / 255.0]
        );
        let floats = [&[0, 0, 13, 2, 0, 0, 0, 1, 0, 0, 0, 1], &0.25f32.to_be_bytes()[..]].concat();
        assert_eq!(first_row(&floats).unwrap(), [0.25]);
    }

    #[test]
    fn labels_and_damaged_headers_are_refused() {
        let labels = first_row(&[0, 0, 8, 1, 0, 0, 0, 2, 3, 4]).unwrap_err();
        assert!(labels.contains("labels?"), "{labels}");
        assert!(first_row(&[0, 0, 7, 2]).unwrap_err().contains("0x07"));
        assert!(first_row(&[0, 0, 8, 9]).unwrap_err().contains("9 dimensions"));
        assert!(first_row(&[0, 0, 8, 2, 0]).unwrap_err().contains("cut short"));
    }
}
