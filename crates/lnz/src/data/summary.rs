//! What is in a data file, from one pass over it.

use super::{DataFormat, DataOptions, DataReader, Packing, VALUES_IN_BATCH};
use crate::math::CompensatedSum;
use crate::observer::{Observer, Phase, Progress};
use crate::{Error, Result};
use std::path::Path;

/// A data file in numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// What the unpacked bytes are.
    pub format: DataFormat,
    /// How the file is packed.
    pub packing: Packing,
    /// Number of examples.
    pub examples: u64,
    /// Values of each example.
    pub width: usize,
    /// Sides of an example: `[28, 28]` for images in IDX, else its width alone.
    pub example_shape: Vec<usize>,
    /// What values in the file are divided by: 255 for grey values of one byte.
    pub scale: f64,
    /// Smallest and largest value, after the division.
    pub range: [f64; 2],
    /// Mean of all values.
    pub mean: f64,
    /// Share of values that are 0.
    pub zeros: f64,
    /// Share of values that are 1.
    pub ones: f64,
    /// Columns with the same value in all examples.
    pub constant_columns: usize,
    /// Those of them that are always 0.
    pub zero_columns: usize,
    /// Examples without any value above 0.
    pub empty_examples: u64,
    /// How often each label occurs; empty in formats without labels, or when there are too many.
    pub labels: Vec<(f64, u64)>,
    /// The first example.
    pub first: Vec<f64>,
}

/// More different labels than this are values of a regression, and not counted.
const MOST_LABELS: usize = 1000;

/// Reads a file to its end and sums it up, in memory that does not depend on the number of examples.
pub fn summarise(path: &Path, observer: &dyn Observer) -> Result<Summary> {
    let mut reader = DataReader::open(path, DataOptions::default())?;
    let (width, total) = (reader.width(), reader.row_count().unwrap_or(0) as u64);
    let mut counts = RowCounts::new(width);
    let mut labels = Some(Vec::new());
    let mut row = vec![0.0; width];
    let between_reports = (VALUES_IN_BATCH / width).max(1) as u64;
    while reader.next_row(&mut row)? {
        counts.add(&row);
        count_label(&mut labels, reader.rows.label());
        if counts.examples.is_multiple_of(between_reports) {
            let (phase, done) = (Phase::Score, counts.examples);
            observer.progress(Progress::new(phase, done, total));
            if observer.cancelled() {
                return Err(Error::Cancelled { reached: format!("after {done} examples") });
            }
        }
    }
    let mut labels = labels.unwrap_or_default();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values = counts.examples as f64 * width as f64;
    let ranges = || counts.lowest.iter().zip(&counts.highest);
    Ok(Summary {
        format: reader.format,
        packing: reader.packing,
        examples: counts.examples,
        width,
        example_shape: reader.rows.example_shape(),
        scale: reader.rows.scale(),
        range: [
            counts.lowest.iter().copied().fold(f64::INFINITY, f64::min),
            counts.highest.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ],
        mean: counts.sum.total() / values,
        zeros: counts.zeros as f64 / values,
        ones: counts.ones as f64 / values,
        constant_columns: ranges().filter(|(low, high)| low == high).count(),
        zero_columns: ranges().filter(|(_, high)| **high == 0.0).count(),
        empty_examples: counts.empty,
        labels,
        first: counts.first,
    })
}

/// Counts of all rows so far.
struct RowCounts {
    examples: u64,
    empty: u64,
    zeros: u64,
    ones: u64,
    sum: CompensatedSum,
    /// Of each column.
    lowest: Vec<f64>,
    highest: Vec<f64>,
    first: Vec<f64>,
}

impl RowCounts {
    fn new(width: usize) -> Self {
        Self {
            examples: 0,
            empty: 0,
            zeros: 0,
            ones: 0,
            sum: CompensatedSum::default(),
            lowest: vec![f64::INFINITY; width],
            highest: vec![f64::NEG_INFINITY; width],
            first: Vec::new(),
        }
    }

    fn add(&mut self, row: &[f64]) {
        if self.examples == 0 {
            self.first = row.to_vec();
        }
        self.examples += 1;
        let zeros = row.iter().filter(|&&value| value == 0.0).count();
        self.empty += u64::from(zeros == row.len());
        self.zeros += zeros as u64;
        self.ones += row.iter().filter(|&&value| value == 1.0).count() as u64;
        self.sum.add(row.iter().sum());
        for ((low, high), &value) in self.lowest.iter_mut().zip(&mut self.highest).zip(row) {
            *low = low.min(value);
            *high = high.max(value);
        }
    }
}

/// Counts a label; `counts` becomes None when there are too many different ones.
fn count_label(counts: &mut Option<Vec<(f64, u64)>>, label: Option<f64>) {
    let (Some(label), Some(found)) = (label, counts.as_mut()) else { return };
    match found.iter().position(|(known, _)| *known == label) {
        Some(at) => found[at].1 += 1,
        None if found.len() < MOST_LABELS => found.push((label, 1)),
        None => *counts = None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(content: &[u8]) -> Result<Summary> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, content).unwrap();
        summarise(&path, &())
    }

    #[test]
    fn text_has_labels_and_columns_that_never_change() {
        let found = summary(b"+1 2:1 4:0.5\n-1 4:1\n-1\n-1 4:1\n").unwrap();
        assert_eq!((found.format, found.packing), (DataFormat::Libsvm, Packing::None));
        assert_eq!((found.examples, found.width), (4, 4));
        assert_eq!(found.labels, [(-1.0, 3), (1.0, 1)]);
        assert_eq!(found.range, [0.0, 1.0]);
        assert_eq!((found.zeros, found.ones), (12.0 / 16.0, 3.0 / 16.0));
        assert_eq!(found.mean, 3.5 / 16.0);
        assert_eq!((found.constant_columns, found.zero_columns), (2, 2));
        assert_eq!(found.empty_examples, 1);
        assert_eq!(found.first, [0.0, 1.0, 0.0, 0.5]);
    }

    #[test]
    fn images_keep_their_sides() {
        let header = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2];
        let found = summary(&[&header[..], &[255, 51, 255, 0]].concat()).unwrap();
        assert_eq!(found.format, DataFormat::Idx);
        assert_eq!((found.width, &found.example_shape[..]), (2, &[1, 2][..]));
        assert_eq!((found.scale, found.range), (255.0, [0.0, 1.0]));
        assert_eq!((found.constant_columns, found.zero_columns), (1, 0));
        assert!(found.labels.is_empty());
    }

    #[test]
    fn labels_of_a_regression_are_not_counted() {
        let text: String = (0..=MOST_LABELS).map(|label| format!("{label}.5 1:1\n")).collect();
        assert!(summary(text.as_bytes()).unwrap().labels.is_empty());
    }
}
