//! Arrays of numpy, of any layout and of both floating-point types, seen without copying them.

use lnz::data::Binarize;
use lnz::{Error, Result};
use ndarray::{Array1, Array2, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A matrix. Its strides are those of numpy: nothing here assumes that rows follow each other.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// A vector.
#[derive(FromPyObject)]
pub(crate) enum Vector<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
}

/// A data set: rows in memory, or a file.
#[derive(FromPyObject)]
pub(crate) enum Data<'py> {
    Rows(Matrix<'py>),
    File(PathBuf),
}

/// Rows that can be read without the interpreter.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Double(ArrayView2<'a, f64>),
    Single(ArrayView2<'a, f32>),
}

impl Matrix<'_> {
    pub(crate) fn rows(&self) -> Rows<'_> {
        match self {
            Matrix::Double(array) => Rows::Double(array.as_array()),
            Matrix::Single(array) => Rows::Single(array.as_array()),
        }
    }

    pub(crate) fn to_owned(&self) -> Array2<f64> {
        match self {
            Matrix::Double(array) => array.as_array().to_owned(),
            Matrix::Single(array) => array.as_array().mapv(f64::from),
        }
    }
}

impl Vector<'_> {
    pub(crate) fn to_owned(&self) -> Array1<f64> {
        match self {
            Vector::Double(array) => array.as_array().to_owned(),
            Vector::Single(array) => array.as_array().mapv(f64::from),
        }
    }
}

impl Rows<'_> {
    pub(crate) fn count(&self) -> usize {
        match self {
            Rows::Double(rows) => rows.nrows(),
            Rows::Single(rows) => rows.nrows(),
        }
    }

    pub(crate) fn check_width(&self, name: &str, expected: usize) -> Result<()> {
        let found = match self {
            Rows::Double(rows) => rows.ncols(),
            Rows::Single(rows) => rows.ncols(),
        };
        match found == expected {
            true => Ok(()),
            false => Err(Error::Width { what: name.to_owned(), found, expected }),
        }
    }

    /// One row in float64, checked and binarised.
    pub(crate) fn values(
        &self,
        name: &str,
        number: usize,
        binarize: Binarize,
        seed: u64,
    ) -> Result<Array1<f64>> {
        let row = match self {
            Rows::Double(rows) => rows.row(number).to_owned(),
            Rows::Single(rows) => rows.row(number).mapv(f64::from),
        };
        if let Some((i, value)) = row.indexed_iter().find(|(_, v)| !(0.0..=1.0).contains(*v)) {
            let text = format!("{name} is {value} at [{number}, {i}]; expected values in [0, 1]");
            return Err(Error::Options { text });
        }
        let mut row = row.to_vec();
        binarize.apply(&mut row, seed, number as u64);
        Ok(row.into())
    }
}
