//! Named arrays of numbers, whatever the format of the file they are in.

use super::Parsed;
use crate::memory;
use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use std::collections::BTreeMap;
use std::fmt;

/// Which index runs fastest in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last one, as in C.
    RowMajor,
    /// The first one, as in Fortran and MATLAB.
    ColumnMajor,
}

impl Order {
    /// An array of this shape from values in file order.
    pub(crate) fn arrange(self, shape: &[usize], values: Vec<f64>) -> Parsed<ArrayD<f64>> {
        let shape = IxDyn(shape).set_f(self == Order::ColumnMajor);
        ArrayD::from_shape_vec(shape, values).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Order::RowMajor => "row-major",
            Order::ColumnMajor => "column-major",
        })
    }
}

/// One array in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Its name; empty in a .npy file, which has none.
    pub name: String,
    /// Its sides.
    pub shape: Vec<usize>,
    /// Its type in numpy's words (`float32`), or what it holds instead of numbers.
    pub dtype: String,
    /// Its layout.
    pub order: Order,
}

impl TensorInfo {
    /// Fails if there is no room for its values: twice, because a model is a copy of them.
    pub(crate) fn check_memory(&self) -> Parsed<()> {
        let count: f64 = self.shape.iter().map(|&side| side as f64).product();
        memory::check("its numbers", 2.0 * 8.0 * count).map_err(|error| error.to_string())
    }
}

/// A file of named arrays: the list is known at once, values are read on demand.
pub(crate) trait TensorSource {
    fn tensors(&self) -> &[TensorInfo];

    /// The values of one array of the list; the problem does not repeat its name.
    fn values(&mut self, index: usize) -> Parsed<ArrayD<f64>>;

    /// Names of classes and short texts, each with the path that leads to it: they tell what
    /// kind of layers a model has.
    fn words(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Words that the file carries besides numbers.
    fn metadata(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

/// Refuses an array that unpacks to far more than a model of its file size could.
///
/// Deflate packs zeros 1000 times, so small all-zero models are fine, but gigabytes out of a few
/// megabytes are a trap and not weights: a trained 784 x 500 model
/// was measured to pack 1.05 times (float64) to 1.09 times (float16).
pub(super) fn check_expansion(values: usize, file_bytes: u64) -> Parsed<()> {
    const ALWAYS_FINE: u64 = 1 << 30;
    let unpacked = values as u64 * 8;
    if unpacked > ALWAYS_FINE && unpacked / 200 > file_bytes {
        return Err(format!(
            "unpacks to {values} values from a file of {file_bytes} bytes, which no real model does; store it uncompressed if it is one"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_major_values_are_arranged_by_columns() {
        let values = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let by_columns = Order::ColumnMajor.arrange(&[2, 3], values.clone()).unwrap();
        assert_eq!(by_columns[[1, 0]], 1.0);
        let by_rows = Order::RowMajor.arrange(&[2, 3], values).unwrap();
        assert_eq!(by_rows[[1, 0]], 3.0);
    }

    #[test]
    fn a_zip_bomb_is_told_from_a_model_of_zeros() {
        assert!(check_expansion(784 * 500, 4_000).is_ok());
        assert!(check_expansion(1 << 28, 1 << 30).is_ok());
        assert!(check_expansion(1 << 30, 1 << 23).is_err());
    }
}
