//! A matrix with its sides exchanged.

use ndarray::Array2;
use rayon::prelude::*;

/// Rows and columns of a matrix that are turned at once: as many rows as fit a small cache.
const TURNED_ROWS: usize = 32;
const TURNED_COLUMNS: usize = 64;

/// The matrix with its sides exchanged, in blocks: row by row every number would be a line of the cache.
pub(crate) fn turned(matrix: &Array2<f64>) -> Array2<f64> {
    let (rows, columns) = matrix.dim();
    let mut turned = vec![0.0; rows * columns];
    let blocks = turned.par_chunks_mut((rows * TURNED_COLUMNS).max(1));
    blocks.enumerate().for_each(|(block, turned)| {
        let first = block * TURNED_COLUMNS;
        for start in (0..rows).step_by(TURNED_ROWS) {
            let end = (start + TURNED_ROWS).min(rows);
            for (j, turned) in turned.chunks_exact_mut(rows).enumerate() {
                for (i, turned) in (start..end).zip(&mut turned[start..end]) {
                    *turned = matrix[[i, first + j]];
                }
            }
        }
    });
    Array2::from_shape_vec((columns, rows), turned).unwrap_or_default()
}
