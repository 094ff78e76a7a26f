//! Data in arrays that are read as a whole: .mat, HDF5, pickles, tensors.

use super::Rows;
use super::dense::{rows_and_width, scaled};
use super::numpy::choose;
use crate::io::Parsed;
use crate::io::tensors::TensorSource;

/// Rows in memory.
struct MemoryRows {
    /// Row by row.
    values: Vec<f64>,
    shape: Vec<usize>,
    width: usize,
    scale: f64,
    next: usize,
}

/// The only array of a file, or the one named as data, or the only one with rows.
pub(super) fn open(source: &mut dyn TensorSource) -> Parsed<Box<dyn Rows>> {
    let tensors = source.tensors();
    let with_rows: Vec<usize> =
        (0..tensors.len()).filter(|&index| tensors[index].shape.len() > 1).collect();
    let index = match (choose(tensors), &with_rows[..]) {
        (Ok(index), _) => index,
        (Err(problem), _) if problem.starts_with("looks like a model") => return Err(problem),
        (Err(_), [only]) => *only,
        (Err(problem), _) => return Err(problem),
    };
    let info = tensors[index].clone();
    let about = |problem| match &*info.name {
        "" => problem,
        name => format!("its array `{name}` {problem}"),
    };
    let (_, width) = rows_and_width(&info.shape).map_err(about)?;
    source.tensors()[index].check_memory()?;
    let values: Vec<f64> = source.values(index).map_err(about)?.iter().copied().collect();
    let is_grey = info.dtype == "uint8" && values.iter().any(|&value| value > 1.0);
    let scale = if is_grey { 255.0 } else { 1.0 };
    Ok(Box::new(MemoryRows { values, shape: info.shape, width, scale, next: 0 }))
}

impl Rows for MemoryRows {
    fn width(&self) -> usize {
        self.width
    }

    fn count(&self) -> Option<usize> {
        Some(self.shape[0])
    }

    fn example_shape(&self) -> Vec<usize> {
        self.shape[1..].to_vec()
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn next_row(&mut self, row: &mut [f64]) -> Parsed<bool> {
        if self.next == self.shape[0] {
            return Ok(false);
        }
        let start = self.next * self.width;
        self.next += 1;
        scaled(row, &self.values[start..start + self.width], self.scale, self.next).map(|()| true)
    }
}
