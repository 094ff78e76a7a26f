//! Data sets: rows of visible values between 0 and 1, read from a file a batch at a time.
//!
//! Read are IDX (the format of MNIST), LIBSVM text, CSV, .npy, .npz (also scipy's sparse matrices),
//! .mat, HDF5 and pickled arrays, also packed by gzip or xz. The content of the file decides, not its
//! name; `-` is standard input. Grey values of one byte become value / 255: always in IDX, and in
//! arrays when one of them is above 1.

mod csv;
mod dense;
mod idx;
mod libsvm;
mod lines;
mod memory;
mod numpy;
mod packed;
mod source;
mod sparse;
mod summary;

pub use packed::{Packing, unpacked};
pub use source::DataFormat;
pub use summary::{Summary, summarise};

use crate::io::Parsed;
use crate::io::input::{Input, open_unpacked};
use crate::{Error, Result};
use lnz_kernels::random::{Purpose, Random};
use ndarray::{Array1, Array2};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Why a file without a single value is refused.
const NO_ROWS: &str = "holds no values; expected at least one row";

/// How grey values become 0 or 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Binarize {
    /// Not at all: values stay as they are, which is exact for data of zeros and ones.
    #[default]
    None,
    /// 1 where the value is above 0.5 (a byte above 127).
    Threshold,
    /// 1 with the probability that the value is.
    Bernoulli,
}

crate::choices!(serialized Binarize {
    None: "none", "Keep values in [0, 1]";
    Threshold: "threshold", "1 above 1/2";
    Bernoulli: "bernoulli", "1 with the value as its probability";
});

impl Binarize {
    /// Changes the values of one row, whose number and seed decide what [`Binarize::Bernoulli`] draws.
    pub fn apply(self, row: &mut [f64], seed: u64, number: u64) {
        match self {
            Binarize::None => {}
            Binarize::Threshold => {
                row.iter_mut().for_each(|value| *value = f64::from(u8::from(*value > 0.5)));
            }
            Binarize::Bernoulli => {
                let mut random = Random::stream(seed, Purpose::Binarize, number);
                row.iter_mut()
                    .for_each(|value| *value = f64::from(u8::from(random.happens(*value))));
            }
        }
    }
}

/// How to read a data set.
#[derive(Debug, Clone, Copy, Default)]
pub struct DataOptions {
    /// Visible units of the model. A dense file must have as many columns; a LIBSVM file, which
    /// leaves out zeros, may stop short of it. None takes what the file has.
    pub width: Option<usize>,
    /// How grey values become 0 or 1.
    pub binarize: Binarize,
    /// Seed of [`Binarize::Bernoulli`]; each row has its own random stream.
    pub seed: u64,
}

/// Rows in a file, one after the other.
trait Rows: Send {
    fn width(&self) -> usize;

    /// Number of rows, where the file says so.
    fn count(&self) -> Option<usize>;

    /// Fills in the next row; false at the end.
    fn next_row(&mut self, row: &mut [f64]) -> Parsed<bool>;

    /// Sides of one example, where the file says more than its width.
    fn example_shape(&self) -> Vec<usize> {
        vec![self.width()]
    }

    /// What a value in the file was divided by.
    fn scale(&self) -> f64 {
        1.0
    }

    /// The label of the last row, in formats that have them.
    fn label(&self) -> Option<f64> {
        None
    }
}

/// A data file that is being read.
pub struct DataReader {
    path: PathBuf,
    rows: Box<dyn Rows>,
    format: DataFormat,
    packing: Packing,
    options: DataOptions,
    next: u64,
    /// A copy of what came through a pipe lasts as long as the reader.
    _input: Input,
}

/// Rows that are held while they are gathered into an array; reading in blocks of this size keeps
/// [`means`] within a few megabytes for images.
const BATCH: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Values that are read at a time, 16 MB: work for all threads, little memory even for wide rows.
pub(crate) const VALUES_IN_BATCH: usize = 1 << 21;

impl DataReader {
    /// Opens a data file and reads as much of it as its shape takes; `-` is standard input.
    pub fn open(path: &Path, options: DataOptions) -> Result<Self> {
        Error::unless_readable(path)?;
        let input = open_unpacked(path, "a data file");
        Self::of_input(path, input.map_err(|problem| Error::file(path, problem))?, options)
    }

    /// Reads the bytes of a data file, packed or not; `name` is what problems call it.
    pub fn of_bytes(name: &Path, bytes: &[u8], options: DataOptions) -> Result<Self> {
        Self::of_input(name, Input::of_bytes(bytes), options)
    }

    fn of_input(path: &Path, input: Input, options: DataOptions) -> Result<Self> {
        let failed = |problem| Error::file(path, problem);
        let source::Opened { rows, format, packing } =
            source::open_rows(&input, options.width).map_err(failed)?;
        if let Some(expected) = options.width
            && rows.width() != expected
        {
            let (what, found) = (path.display().to_string(), rows.width());
            return Err(Error::Width { what, found, expected });
        }
        if rows.count() == Some(0) || rows.width() == 0 {
            return Err(failed(NO_ROWS.to_owned()));
        }
        Ok(Self { path: path.to_owned(), rows, format, packing, options, next: 0, _input: input })
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.rows.width()
    }

    /// What the unpacked bytes of the file are.
    pub fn format(&self) -> DataFormat {
        self.format
    }

    /// Number of rows in the file; LIBSVM text does not say.
    pub fn row_count(&self) -> Option<usize> {
        self.rows.count()
    }

    /// The next rows, at most `most` of them; None after the last.
    pub fn next_batch(&mut self, most: NonZeroUsize) -> Result<Option<Array2<f64>>> {
        let (width, mut values, mut count) = (self.width(), Vec::new(), 0);
        while count < most.get() {
            let start = values.len();
            values.resize(start + width, 0.0);
            if !self.next_row(&mut values[start..])? {
                values.truncate(start);
                break;
            }
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        let batch = Array2::from_shape_vec((count, width), values);
        batch.map(Some).map_err(|error| self.problem(error.to_string()))
    }

    fn next_row(&mut self, row: &mut [f64]) -> Result<bool> {
        if !self.rows.next_row(row).map_err(|problem| self.problem(problem))? {
            if self.next == 0 {
                return Err(self.problem("holds no rows; expected at least one".to_owned()));
            }
            return Ok(false);
        }
        self.options.binarize.apply(row, self.options.seed, self.next);
        self.next += 1;
        Ok(true)
    }

    fn problem(&self, problem: String) -> Error {
        Error::file(&self.path, problem)
    }
}

impl std::fmt::Debug for DataReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataReader").field("path", &self.path).finish_non_exhaustive()
    }
}

/// All rows of a file, in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    rows: Array2<f64>,
}

impl DataSet {
    /// Reads a whole file.
    pub fn read(path: &Path, options: DataOptions) -> Result<Self> {
        let mut reader = DataReader::open(path, options)?;
        let (width, mut values) = (reader.width(), Vec::new());
        while let Some(batch) = reader.next_batch(BATCH)? {
            values.extend(batch);
        }
        let rows = Array2::from_shape_vec((values.len() / width, width), values)
            .map_err(|error| reader.problem(error.to_string()))?;
        Ok(Self { rows })
    }

    /// One row per example, one column per visible unit.
    pub fn rows(&self) -> ndarray::ArrayView2<'_, f64> {
        self.rows.view()
    }
}

/// The mean of each column, in memory that does not depend on the number of rows.
pub fn means(path: &Path, options: DataOptions) -> Result<Array1<f64>> {
    let mut reader = DataReader::open(path, options)?;
    let mut sums = Array1::zeros(reader.width());
    while let Some(batch) = reader.next_batch(BATCH)? {
        // Row by row, so that the sum does not depend on the size of the batches.
        batch.rows().into_iter().for_each(|row| sums += &row);
    }
    Ok(sums / reader.next as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn images() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images");
        let header = [0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2];
        std::fs::write(&path, [&header[..], &[0, 127, 128, 255, 51, 204]].concat()).unwrap();
        (folder, path)
    }

    #[test]
    fn bytes_above_127_pass_the_threshold() {
        let (_folder, path) = images();
        let options = DataOptions { binarize: Binarize::Threshold, ..Default::default() };
        let data = DataSet::read(&path, options).unwrap();
        assert_eq!(data.rows(), array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }

    #[test]
    fn bernoulli_draws_do_not_depend_on_the_batches() {
        let (_folder, path) = images();
        let options = |seed| DataOptions { binarize: Binarize::Bernoulli, seed, width: Some(2) };
        let one_by_one = |seed| {
            let mut reader = DataReader::open(&path, options(seed)).unwrap();
            let mut values = Vec::new();
            while let Some(batch) = reader.next_batch(NonZeroUsize::MIN).unwrap() {
                assert_eq!(batch.dim(), (1, 2));
                values.extend(batch);
            }
            values
        };
        let at_once: Vec<f64> =
            DataSet::read(&path, options(5)).unwrap().rows().iter().copied().collect();
        assert_eq!(at_once, one_by_one(5));
        // Over 2000 seeds, the share of ones at grey value 51/255 = 0.2, within five standard errors.
        let ones: f64 = (0..2000).map(|seed| one_by_one(seed)[4]).sum();
        assert!((ones / 2000.0 - 0.2).abs() < 5.0 * (0.2f64 * 0.8 / 2000.0).sqrt());
    }

    #[test]
    fn means_are_those_of_the_columns() {
        let (_folder, path) = images();
        let found = means(&path, DataOptions::default()).unwrap();
        assert!((found[0] - 179.0 / 3.0 / 255.0).abs() < 1e-15);
        assert!((found[1] - 586.0 / 3.0 / 255.0).abs() < 1e-15);
    }

    #[test]
    fn a_wrong_width_is_told_with_both_numbers() {
        let (_folder, path) = images();
        let options = DataOptions { width: Some(784), ..Default::default() };
        let message = DataReader::open(&path, options).unwrap_err().to_string();
        let expected = "images has 2 columns, but the model has 784 visible units";
        assert!(message.ends_with(expected), "{message}");
    }
}
