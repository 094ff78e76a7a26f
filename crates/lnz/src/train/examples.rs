//! Examples in memory, without their zeros.

use crate::data::{DataOptions, DataReader};
use crate::{Error, Result};
use lnz_kernels::Example;
use ndarray::{Array1, ArrayView1, ArrayView2};
use std::hash::Hasher;
use std::num::NonZeroUsize;
use std::path::Path;

/// A data set to learn from: only values that are not zero take memory, 8 bytes each, or 4 where all
/// of them are one.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    width: usize,
    /// Where each example starts in `units`; one more at the end.
    starts: Vec<usize>,
    units: Vec<u32>,
    /// The value of each unit; none where all are one.
    values: Vec<f32>,
    sums: Array1<f64>,
    squares: f64,
    fingerprint: std::sync::OnceLock<u64>,
}

/// Rows read at a time.
const BATCH: NonZeroUsize = NonZeroUsize::new(256).unwrap();

impl Examples {
    fn empty(width: usize) -> Self {
        let sums = Array1::zeros(width);
        Self {
            width,
            starts: vec![0],
            units: Vec::new(),
            values: Vec::new(),
            sums,
            squares: 0.0,
            fingerprint: Default::default(),
        }
    }

    /// Reads a whole file.
    pub fn read(path: &Path, options: DataOptions) -> Result<Self> {
        let mut reader = DataReader::open(path, options)?;
        let mut examples = Self::empty(reader.width());
        while let Some(batch) = reader.next_batch(BATCH)? {
            batch.rows().into_iter().for_each(|row| examples.push(row));
        }
        Ok(examples)
    }

    /// One row per example, one column per visible unit, values from 0 to 1.
    pub fn from_rows(rows: ArrayView2<'_, f64>) -> Result<Self> {
        if rows.is_empty() {
            let found = format!("an array of {} x {} values", rows.nrows(), rows.ncols());
            return Err(Error::setting("data", found, "at least one example of one value"));
        }
        if let Some(((i, j), value)) =
            rows.indexed_iter().find(|(_, value)| !(0.0..=1.0).contains(*value))
        {
            let found = format!("{value} in row {i}, column {j}");
            return Err(Error::setting("data", found, "values from 0 to 1"));
        }
        let mut examples = Self::empty(rows.ncols());
        rows.rows().into_iter().for_each(|row| examples.push(row));
        Ok(examples)
    }

    /// At most so many of them, evenly spaced.
    pub fn thinned(&self, most: usize) -> Self {
        if self.len() <= most {
            return self.clone();
        }
        let mut fewer = Self::empty(self.width);
        for k in 0..most {
            let Example { units, values } = self.get(k * (self.len() - 1) / (most - 1).max(1));
            let mut row = Array1::zeros(self.width);
            for (n, &unit) in units.iter().enumerate() {
                row[unit as usize] = values.get(n).map_or(1.0, |&value| f64::from(value));
            }
            fewer.push(row.view());
        }
        fewer
    }

    fn push(&mut self, row: ArrayView1<'_, f64>) {
        for (unit, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            // Values are kept from the first one on that is not one.
            if value as f32 != 1.0 && self.values.is_empty() {
                self.values.resize(self.units.len(), 1.0);
            }
            if value as f32 != 1.0 || !self.values.is_empty() {
                self.values.push(value as f32);
            }
            self.units.push(unit as u32);
            self.sums[unit] += value;
            self.squares += value * value;
        }
        self.starts.push(self.units.len());
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values per example.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The mean of each value.
    pub fn means(&self) -> Array1<f64> {
        &self.sums / self.len() as f64
    }

    /// Share of the values that are neither 0 nor 1.
    pub fn grey_share(&self) -> f64 {
        let grey = self.values.iter().filter(|&&value| value != 1.0).count();
        grey as f64 / (self.len() as f64 * self.width as f64)
    }

    /// Mean squared distance of a value from its mean, over all columns.
    pub(super) fn variance(&self) -> f64 {
        let means = self.means();
        (self.squares / self.len() as f64 - means.dot(&means)) / self.width as f64
    }

    /// The same for values that are drawn as 0 or 1: a draw adds p (1 - p), so that only the mean of a
    /// column counts.
    pub(super) fn drawn_variance(&self) -> f64 {
        let means = self.means();
        (means.sum() - means.dot(&means)) / self.width as f64
    }

    pub(super) fn get(&self, example: usize) -> Example<'_> {
        let range = self.starts[example]..self.starts[example + 1];
        let values = if self.values.is_empty() { &[] } else { &self.values[range.clone()] };
        Example { units: &self.units[range], values }
    }

    /// A number that tells one data set from another.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| self.hash())
    }

    fn hash(&self) -> u64 {
        // SipHash with fixed keys: the same on every machine.
        #[allow(deprecated)]
        let mut hash = std::hash::SipHasher::new();
        hash.write_u64(self.width as u64);
        for example in 0..self.len() {
            let Example { units, values } = self.get(example);
            hash.write_u64(units.len() as u64);
            for (k, &unit) in units.iter().enumerate() {
                hash.write_u32(unit);
                hash.write_u32(values.get(k).unwrap_or(&1.0).to_bits());
            }
        }
        hash.finish()
    }
}
