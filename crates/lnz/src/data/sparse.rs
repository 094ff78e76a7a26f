//! Sparse matrices as scipy saves them in .npz: by rows, by columns or as a list of entries.

use super::Rows;
use super::dense::{WIDEST, scaled};
use crate::io::Parsed;
use crate::io::npz::NpzFile;
use crate::io::tensors::TensorSource;

/// A matrix whose zeros are left out.
struct SparseRows {
    rows: usize,
    width: usize,
    scale: f64,
    /// (row, column, value), by rows.
    entries: Vec<(u32, u32, f64)>,
    next: usize,
    at: usize,
}

/// Rows that any matrix may have.
const MOST_ROWS: usize = 1 << 20;

/// The matrix, if the archive is one of scipy.
pub(super) fn open(file: &mut NpzFile) -> Parsed<Option<Box<dyn Rows>>> {
    let find = |file: &NpzFile, name: &str| file.tensors().iter().position(|t| t.name == name);
    let (Some(format), Some(_), Some(data)) =
        (find(file, "format"), find(file, "shape"), find(file, "data"))
    else {
        return Ok(None);
    };
    let kind = file.text(format)?;
    let is_grey_type = file.tensors()[data].dtype == "uint8";
    let mut integers = |name: &str| -> Parsed<Vec<usize>> {
        let index = file.tensors().iter().position(|tensor| tensor.name == name);
        let index = index.ok_or_else(|| format!("is a sparse matrix ({kind}) without `{name}`"))?;
        Ok(file.values(index)?.iter().map(|&value| value as usize).collect())
    };
    let sides = integers("shape")?;
    let [rows, width] = sides[..] else {
        return Err(format!("is a sparse matrix of {} sides, expected 2", sides.len()));
    };
    if rows > u32::MAX as usize || width > WIDEST {
        return Err(format!("claims a sparse matrix of {rows} x {width}, more than can be read"));
    }
    let places = match &*kind {
        "csr" => spread(&integers("indptr")?, &integers("indices")?, rows)?,
        "csc" => {
            let turned = spread(&integers("indptr")?, &integers("indices")?, width)?;
            turned.into_iter().map(|(column, row)| (row, column)).collect()
        }
        "coo" => integers("row")?.into_iter().zip(integers("col")?).collect::<Vec<_>>(),
        other => {
            return Err(format!("is a sparse matrix of the kind {other}; save it .tocsr()"));
        }
    };
    // Empty rows cost a list of entries nothing, but every row takes time.
    if rows > MOST_ROWS.max(places.len().saturating_mul(1000)) {
        return Err(format!(
            "claims {rows} rows for {} entries, nearly all of them empty",
            places.len()
        ));
    }
    let values = file.values(data)?;
    if values.len() != places.len()
        || places.iter().any(|&(row, column)| row >= rows || column >= width)
    {
        return Err("is a sparse matrix whose parts do not fit together; it is damaged".to_owned());
    }
    let is_grey = is_grey_type && values.iter().any(|&value| value > 1.0);
    let mut entries: Vec<(u32, u32, f64)> = places
        .iter()
        .zip(&values)
        .map(|(&(row, column), &v)| (row as u32, column as u32, v))
        .collect();
    entries.sort_by_key(|&(row, column, _)| (row, column));
    let scale = if is_grey { 255.0 } else { 1.0 };
    Ok(Some(Box::new(SparseRows { rows, width, scale, entries, next: 0, at: 0 })))
}

/// (line, index) of each entry, where `starts` says where the entries of each line begin.
fn spread(starts: &[usize], indices: &[usize], lines: usize) -> Parsed<Vec<(usize, usize)>> {
    let rises = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    if starts.len() != lines + 1
        || !rises
        || starts.last() != Some(&indices.len())
        || starts[0] != 0
    {
        return Err("is a sparse matrix whose `indptr` makes no sense; it is damaged".to_owned());
    }
    let line =
        |line: usize| indices[starts[line]..starts[line + 1]].iter().map(move |&i| (line, i));
    Ok((0..lines).flat_map(line).collect())
}

impl Rows for SparseRows {
    fn width(&self) -> usize {
        self.width
    }

    fn count(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn next_row(&mut self, row: &mut [f64]) -> Parsed<bool> {
        if self.next == self.rows {
            return Ok(false);
        }
        let mut found = vec![0.0; self.width];
        while let Some(&(_, column, value)) =
            self.entries.get(self.at).filter(|entry| entry.0 as usize == self.next)
        {
            // scipy adds up entries of the same place.
            found[column as usize] += value;
            self.at += 1;
        }
        self.next += 1;
        scaled(row, &found, self.scale, self.next).map(|()| true)
    }
}
