//! Data with all values of a row side by side in the file.

use super::Rows;
use super::packed::unreadable;
use crate::io::Parsed;
use crate::io::archive::expect_end;
use crate::io::number::Encoding;
use std::io::{ErrorKind, Read};

/// More columns than this are taken for a header that lies.
pub(super) const WIDEST: usize = 1 << 24;

/// Rows of equal width and type.
pub(super) struct DenseRows {
    reader: Box<dyn Read + Send>,
    encoding: Encoding,
    /// What a value is divided by.
    scale: f64,
    shape: Vec<usize>,
    count: usize,
    next: usize,
    bytes: Vec<u8>,
    values: Vec<f64>,
}

impl DenseRows {
    /// Rows of an array whose first side counts the rows; its other sides are flattened.
    pub(super) fn new(
        reader: Box<dyn Read + Send>,
        encoding: Encoding,
        shape: &[usize],
        scale: f64,
    ) -> Parsed<Self> {
        let (count, width) = rows_and_width(shape)?;
        let bytes = vec![0; width * encoding.number.size()];
        let shape = shape.to_vec();
        Ok(Self { reader, encoding, scale, shape, count, next: 0, bytes, values: Vec::new() })
    }
}

/// Number of rows, and of values in each.
pub(super) fn rows_and_width(shape: &[usize]) -> Parsed<(usize, usize)> {
    let [count, sides @ ..] = shape else {
        return Err("holds one number, expected rows of values".to_owned());
    };
    if sides.is_empty() {
        return Err(format!("holds a list of {count} numbers (labels?), expected rows of values"));
    }
    let width = sides.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
    let width = width.filter(|&width| width <= WIDEST).ok_or_else(|| {
        format!("claims more than {WIDEST} values in each row; the file is damaged")
    })?;
    Ok((*count, width))
}

impl Rows for DenseRows {
    fn width(&self) -> usize {
        self.bytes.len() / self.encoding.number.size()
    }

    fn count(&self) -> Option<usize> {
        Some(self.count)
    }

    fn example_shape(&self) -> Vec<usize> {
        self.shape[1..].to_vec()
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn next_row(&mut self, row: &mut [f64]) -> Parsed<bool> {
        if self.next == self.count {
            return expect_end(&mut self.reader).map(|()| false);
        }
        self.reader.read_exact(&mut self.bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => format!(
                "ends in row {} of the {} that its header promises; it is cut short",
                self.next + 1,
                self.count
            ),
            _ => unreadable(&error),
        })?;
        self.values.clear();
        self.encoding.decode(&self.bytes, &mut self.values);
        self.next += 1;
        scaled(row, &self.values, self.scale, self.next).map(|()| true)
    }
}

/// Fills in a row; its number counts from 1.
pub(super) fn scaled(row: &mut [f64], found: &[f64], scale: f64, number: usize) -> Parsed<()> {
    for (column, (value, &found)) in row.iter_mut().zip(found).enumerate() {
        *value = found / scale;
        if !(0.0..=1.0).contains(value) {
            return Err(format!(
                "row {number}, column {} is {found}; expected values from 0 to 1{}",
                column + 1,
                if found > 1.0 { " (grey values up to 255 are accepted as uint8)" } else { "" }
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::number::{Endian, Number};

    fn rows(number: Number, shape: &[usize], content: &[u8]) -> Parsed<Vec<f64>> {
        let encoding = Encoding { number, endian: Endian::Little };
        let reader = Box::new(std::io::Cursor::new(content.to_vec()));
        let mut source = DenseRows::new(reader, encoding, shape, 1.0)?;
        let (mut row, mut values) = (vec![0.0; source.width()], Vec::new());
        while source.next_row(&mut row)? {
            values.extend_from_slice(&row);
        }
        Ok(values)
    }

    #[test]
    fn images_are_flattened() {
        let found = rows(Number::U8, &[2, 2, 1], &[0, 1, 1, 0]).unwrap();
        assert_eq!(found, [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_value_out_of_range_is_found_by_row_and_column() {
        let message = rows(Number::I8, &[2, 2], &[0, 1, 0, 0xff]).unwrap_err();
        assert_eq!(message, "row 2, column 2 is -1; expected values from 0 to 1");
        let message = rows(Number::F32, &[1, 1], &f32::NAN.to_le_bytes()).unwrap_err();
        assert_eq!(message, "row 1, column 1 is NaN; expected values from 0 to 1");
    }

    #[test]
    fn a_header_that_lies_is_found_out() {
        let message = rows(Number::U8, &[3, 2], &[0; 5]).unwrap_err();
        assert_eq!(message, "ends in row 3 of the 3 that its header promises; it is cut short");
        assert!(rows(Number::U8, &[1, 2], &[0; 5]).unwrap_err().starts_with("goes on after"));
        assert!(rows(Number::U8, &[1, 1 << 30, 1 << 40], &[]).is_err());
        assert!(rows(Number::U8, &[9], &[0; 9]).unwrap_err().contains("labels?"));
        assert!(rows(Number::U8, &[], &[0]).is_err());
    }
}
