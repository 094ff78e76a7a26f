//! Arrays of numpy, of any layout and of both floating-point types, seen without copying them.

use lnz::Error;
use lnz::data::Binarize;
use lnz_app::Result;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::Range;
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
        let found = self.width();
        match found == expected {
            true => Ok(()),
            false => Err(Error::Width { what: name.to_owned(), found, expected }.into()),
        }
    }

    pub(crate) fn width(&self) -> usize {
        match self {
            Rows::Double(rows) => rows.ncols(),
            Rows::Single(rows) => rows.ncols(),
        }
    }

    /// Writes one row in float64, checked and binarised, to `values`.
    pub(crate) fn read(
        &self,
        name: &str,
        number: usize,
        binarize: Binarize,
        seed: u64,
        values: &mut [f64],
    ) -> Result<()> {
        match self {
            Rows::Double(rows) => copy(rows.row(number), values),
            Rows::Single(rows) => copy(rows.row(number), values),
        }
        if let Some(i) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let value = values[i];
            let text = format!("{name} is {value} at [{number}, {i}]; expected values in [0, 1]");
            return Err(lnz_app::Error::Options { text });
        }
        binarize.apply(values, seed, number as u64);
        Ok(())
    }

    /// Some of the rows, one after the other, on the threads of the caller's pool.
    pub(crate) fn block(
        &self,
        name: &str,
        numbers: Range<usize>,
        binarize: Binarize,
        seed: u64,
    ) -> Result<Array2<f64>> {
        let mut block = Array2::zeros((numbers.len(), self.width()));
        let values = block.as_slice_mut().unwrap_or_default();
        let rows = values.par_chunks_mut(self.width().max(1)).zip(numbers);
        // The first of the bad rows, whichever thread finds one first.
        match rows.find_map_first(|(row, n)| self.read(name, n, binarize, seed, row).err()) {
            Some(error) => Err(error),
            None => Ok(block),
        }
    }
}

fn copy<T: Copy + Into<f64>>(from: ArrayView1<'_, T>, to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, &value)| *to = value.into());
}
