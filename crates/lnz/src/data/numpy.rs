//! Data in .npy and .npz arrays.

use super::dense::{DenseRows, rows_and_width};
use super::{Rows, packed, sparse};
use crate::io::Parsed;
use crate::io::input::Input;
use crate::io::names;
use crate::io::npy::Header;
use crate::io::npz::NpzFile;
use crate::io::number::{Number, count_values};
use crate::io::tensors::{Order, TensorInfo, TensorSource};
use std::io::{Cursor, Read};

/// Names of the array with the data, where an archive has several.
const DATA_NAMES: [&str; 8] =
    ["data", "X", "x", "train", "X_train", "x_train", "images", "train_images"];

type Stream = Box<dyn Read + Send>;

/// A lone array.
pub(super) fn open_npy(input: &Input) -> Parsed<Box<dyn Rows>> {
    open_array(&|| {
        let mut stream = packed::open(input)?;
        Ok((Header::read(&mut stream)?, Box::new(stream)))
    })
}

/// The only array of an archive, or the one named as data.
pub(super) fn open_npz(input: &Input) -> Parsed<Box<dyn Rows>> {
    let mut file = NpzFile::open(input)?;
    if let Some(rows) = sparse::open(&mut file)? {
        return Ok(rows);
    }
    let index = choose(file.tensors())?;
    open_array(&|| {
        let (header, stream) = file.stream(index)?;
        Ok((header.clone(), stream))
    })
    .map_err(|problem| format!("its array `{}` {problem}", file.tensors()[index].name))
}

/// Which array holds the data.
pub(super) fn choose(tensors: &[TensorInfo]) -> Parsed<usize> {
    refuse_model(tensors)?;
    let named = |index: &usize| DATA_NAMES.contains(&&*tensors[*index].name);
    let candidates: Vec<usize> = match tensors.len() {
        1 => vec![0],
        count => (0..count).filter(named).collect(),
    };
    match candidates[..] {
        [index] => Ok(index),
        _ => {
            let names: Vec<String> = tensors.iter().map(|t| format!("`{}`", t.name)).collect();
            Err(format!(
                "has the arrays {}; expected exactly one of the names {}: save the data under one of them",
                names.join(", "),
                DATA_NAMES.join(", ")
            ))
        }
    }
}

/// A model given as data is told apart by the names of its parts.
fn refuse_model(tensors: &[TensorInfo]) -> Parsed<()> {
    let find = |role: &names::Role| {
        tensors.iter().find(|tensor| role.fits(names::leaf(&tensor.name))).map(|t| &*t.name)
    };
    let bias = find(&names::VISIBLE_BIAS).or_else(|| find(&names::HIDDEN_BIAS));
    match (find(&names::WEIGHTS), bias) {
        (Some(weights), Some(bias)) => Err(format!(
            "looks like a model (it has the weights `{weights}` and the bias `{bias}`), expected data: rows of values from 0 to 1"
        )),
        _ => Ok(()),
    }
}

/// `open` gives the header and the stream of values, anew on each call.
fn open_array(open: &dyn Fn() -> Parsed<(Header, Stream)>) -> Parsed<Box<dyn Rows>> {
    let (header, mut stream) = open()?;
    let encoding = header.numeric()?;
    rows_and_width(&header.shape)?;
    if header.order == Order::ColumnMajor {
        stream = Box::new(Cursor::new(by_rows(&header, stream)?));
    }
    // A byte above 1 tells grey values from zeros and ones, and mostly comes early.
    let scale = match encoding.number {
        Number::U8 if has_grey_values(open()?.1)? => 255.0,
        _ => 1.0,
    };
    Ok(Box::new(DenseRows::new(stream, encoding, &header.shape, scale)?))
}

fn has_grey_values(mut stream: Stream) -> Parsed<bool> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        match stream.read(&mut bytes).map_err(|error| packed::unreadable(&error))? {
            0 => return Ok(false),
            read if bytes[..read].iter().any(|&byte| byte > 1) => return Ok(true),
            _ => {}
        }
    }
}

/// The values of a column-major array in row-major order; it has to be held in memory.
fn by_rows(header: &Header, stream: Stream) -> Parsed<Vec<u8>> {
    let size = header.numeric()?.number.size();
    let total = count_values(&header.shape)? * size;
    if total == 0 {
        // Sides without values may be of any length.
        return Err(super::NO_ROWS.to_owned());
    }
    let mut by_columns = Vec::new();
    stream
        .take(total as u64 + 1)
        .read_to_end(&mut by_columns)
        .map_err(|error| packed::unreadable(&error))?;
    if by_columns.len() != total {
        return Err(format!(
            "has {} bytes, but its header promises {total}; the file is damaged",
            if by_columns.len() > total { "more".to_owned() } else { by_columns.len().to_string() }
        ));
    }
    let (count, width) = rows_and_width(&header.shape)?;
    let starts = column_starts(&header.shape);
    let mut by_rows = Vec::with_capacity(total);
    for row in 0..count {
        for start in &starts[..width] {
            let at = (start + row) * size;
            by_rows.extend_from_slice(&by_columns[at..at + size]);
        }
    }
    Ok(by_rows)
}

/// Where the first value of each column of a flattened column-major array stands.
fn column_starts(shape: &[usize]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut stride = shape[0];
    for &side in &shape[1..] {
        // Later sides run faster in the flattened column and slower in the file.
        starts =
            starts.iter().flat_map(|start| (0..side).map(move |i| start + i * stride)).collect();
        stride *= side;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(descr: &str, fortran: bool, shape: &str, content: &[u8]) -> Parsed<Vec<f64>> {
        let fortran = if fortran { "True" } else { "False" };
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), content].concat();
        let mut rows = open_npy(&Input::of_bytes(&bytes))?;
        let (mut row, mut values) = (vec![0.0; rows.width()], Vec::new());
        while rows.next_row(&mut row)? {
            values.extend_from_slice(&row);
        }
        Ok(values)
    }

    #[test]
    fn bytes_are_grey_values_only_when_one_exceeds_1() {
        assert_eq!(npy("|u1", false, "(2, 2)", &[0, 1, 1, 0]).unwrap(), [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(npy("|u1", false, "(1, 2)", &[1, 51]).unwrap(), [1.0 / 255.0, 0.2]);
        assert_eq!(npy("|b1", false, "(1, 2)", &[1, 0]).unwrap(), [1.0, 0.0]);
    }

    #[test]
    fn column_major_arrays_give_the_same_rows() {
        // Element (i, j, k) of a 2 x 3 x 2 array is 100i + 10j + k.
        let element = |i: u8, j: u8, k: u8| 100 * i + 10 * j + k;
        let (mut in_c, mut in_fortran) = (Vec::new(), Vec::new());
        for (a, b, c) in (0..12u8).map(|at| (at / 6, at / 2 % 3, at % 2)) {
            in_c.push(element(a, b, c));
        }
        for (a, b, c) in (0..12u8).map(|at| (at % 2, at / 2 % 3, at / 6)) {
            in_fortran.push(element(a, b, c));
        }
        let by_rows = npy("|u1", false, "(2, 3, 2)", &in_c).unwrap();
        assert_eq!(npy("|u1", true, "(2, 3, 2)", &in_fortran).unwrap(), by_rows);
    }

    #[test]
    fn lies_and_objects_are_refused() {
        assert!(npy("|O", false, "(2, 2)", &[0; 32]).unwrap_err().contains("Python objects"));
        assert!(npy("<f8", true, "(1000000, 1000000)", &[0; 8]).is_err());
        assert!(npy("<f4", true, "(1000, 100)", &[0; 8]).unwrap_err().contains("promises 400000"));
        assert!(
            npy("<f4", false, "(1000, 100)", &[0; 8]).unwrap_err().contains("row 1 of the 1000")
        );
    }
}
