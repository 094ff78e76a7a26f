//! The log-likelihood of data under a model: F of every example, then log Z.

use crate::data::{DataReader, VALUES_IN_BATCH};
use crate::math::CompensatedSum;
use crate::observer::{Observer, Phase, Progress};
use crate::{Error, Rbm, Result};
use lnz_kernels::{GROUP_OF_ROWS, Marginals};
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;
use std::num::NonZeroUsize;

/// F(x) = log sum_h exp(-E(x, h)) over a data set: the log-likelihood before log Z is taken off.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scores {
    /// F of each example, in the order of the file.
    pub log_marginals: Vec<f64>,
    /// Mean of F.
    pub mean: f64,
    /// Standard deviation of F over the examples; zero for one example.
    pub std_dev: f64,
    /// Share of the values that are neither 0 nor 1. The model gives probabilities to zeros and ones
    /// only; F of a grey example is at most the mean of F over its random binarisations (Jensen).
    pub grey_share: f64,
    /// Mean of each visible unit over the examples.
    pub data_means: Array1<f64>,
}

/// The mean log-likelihood of a data set, with the uncertainty of log Z carried into it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Likelihood {
    /// Mean of F, less log Z.
    pub mean: f64,
    /// Its standard error for these very examples, which is that of log Z.
    pub std_error: f64,
    /// Its 95% interval for these very examples: that of log Z, turned round.
    pub interval: [f64; 2],
    /// Standard error of the mean as an estimate for other examples of the same source, from the
    /// spread over the examples; infinite for one example. Independent of `std_error`.
    pub sampling_error: f64,
}

/// Examples, some at a time: a file, or rows that are in memory already.
pub trait Batches: Send {
    /// Values in each example.
    fn width(&self) -> usize;

    /// Number of examples, where it is known from the beginning.
    fn row_count(&self) -> Option<usize>;

    /// The next examples, at most `most` of them; `None` after the last.
    fn next_batch(&mut self, most: NonZeroUsize) -> Result<Option<Array2<f64>>>;
}

impl Batches for DataReader {
    fn width(&self) -> usize {
        self.width()
    }

    fn row_count(&self) -> Option<usize> {
        self.row_count()
    }

    fn next_batch(&mut self, most: NonZeroUsize) -> Result<Option<Array2<f64>>> {
        self.next_batch(most)
    }
}

/// F of every example of a data set.
///
/// The data is read in batches while earlier ones are computed; what stays in memory is F, eight bytes
/// for each example. The result is the same bits for any number of threads.
pub fn score(model: &Rbm, reader: &mut impl Batches, observer: &dyn Observer) -> Result<Scores> {
    if reader.width() != model.visible() {
        let (what, found) = ("the data set".to_owned(), reader.width());
        return Err(Error::Width { what, found, expected: model.visible() });
    }
    let marginals = Marginals::new(model);
    let most = NonZeroUsize::MIN.saturating_add(VALUES_IN_BATCH / model.visible());
    let total = reader.row_count().unwrap_or(0) as u64;
    let (mut log_marginals, mut columns) = (Vec::new(), Array1::zeros(model.visible()));
    let mut grey = 0u64;
    let mut batch = reader.next_batch(most)?;
    while let Some(rows) = batch {
        let before = log_marginals.len();
        let ((values, grey_values), next) = rayon::join(
            || {
                let values = of_batch(&marginals, rows.view(), before, observer);
                (values, add_columns(&rows, &mut columns))
            },
            || reader.next_batch(most),
        );
        grey += grey_values;
        log_marginals.extend(values?);
        let done = log_marginals.len() as u64;
        observer.progress(Progress::new(Phase::Score, done, total));
        if observer.cancelled() {
            return Err(Error::Cancelled { reached: format!("after {done} examples") });
        }
        batch = next?;
    }
    if log_marginals.is_empty() {
        return Err(Error::setting("data", "empty", "at least one example"));
    }
    Ok(summarise(log_marginals, columns, grey))
}

/// F of each row, on all threads: row by row what [`Rbm::log_marginal`] computes, up to rounding.
pub fn log_marginals(model: &Rbm, rows: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
    if rows.ncols() != model.visible() {
        let (what, found) = ("the data set".to_owned(), rows.ncols());
        return Err(Error::Width { what, found, expected: model.visible() });
    }
    of_batch(&Marginals::new(model), rows, 0, &())
}

/// F of each row of a batch; `before` examples came before it. A batch of a wide model takes seconds, so
/// it can be stopped midway.
fn of_batch(
    marginals: &Marginals,
    rows: ArrayView2<'_, f64>,
    before: usize,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let mut values = vec![0.0f64; rows.nrows()];
    let rows_in_order = rows.as_standard_layout();
    rows_in_order
        .as_slice()
        .unwrap_or_default()
        .par_chunks(GROUP_OF_ROWS * rows.ncols())
        .zip(values.par_chunks_mut(GROUP_OF_ROWS))
        .try_for_each(|(rows, values)| {
            let rule = Box::new(|| observer.cancelled());
            match !observer.cancelled() && marginals.of_rows_until(rule, rows, values) {
                true => Ok(()),
                false => Err(Error::Cancelled { reached: format!("after {before} examples") }),
            }
        })?;
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(values),
        false => Err(Error::Overflow),
    }
}

/// Adds the rows to the sums of the columns, in order; returns the number of grey values.
fn add_columns(rows: &Array2<f64>, columns: &mut Array1<f64>) -> u64 {
    let mut grey = 0;
    for row in rows.rows() {
        *columns += &row;
        grey += row.iter().filter(|&&value| value != 0.0 && value != 1.0).count() as u64;
    }
    grey
}

fn summarise(log_marginals: Vec<f64>, columns: Array1<f64>, grey: u64) -> Scores {
    let n = log_marginals.len() as f64;
    let mean = log_marginals.iter().copied().collect::<CompensatedSum>().total() / n;
    let squares: CompensatedSum =
        log_marginals.iter().map(|value| (value - mean).powi(2)).collect();
    Scores {
        mean,
        std_dev: (squares.total() / (n - 1.0).max(1.0)).sqrt(),
        grey_share: grey as f64 / (n * columns.len() as f64),
        data_means: columns / n,
        log_marginals,
    }
}

impl Scores {
    /// The mean log-likelihood for a log Z with this standard error and interval.
    pub fn likelihood(&self, log_z: f64, std_error: f64, interval: [f64; 2]) -> Likelihood {
        let [low, high] = interval;
        let n = self.log_marginals.len();
        Likelihood {
            mean: self.mean - log_z,
            std_error,
            // A larger log Z is a smaller likelihood.
            interval: [self.mean - high, self.mean - low],
            sampling_error: match n {
                1 => f64::INFINITY,
                n => self.std_dev / (n as f64).sqrt(),
            },
        }
    }

    /// Quantiles of F for shares from 0 to 1, interpolated between neighbouring examples.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let mut sorted = self.log_marginals.clone();
        sorted.par_sort_unstable_by(f64::total_cmp);
        let last = sorted.len() - 1;
        shares.map(|share| {
            let place = share.clamp(0.0, 1.0) * last as f64;
            let below = place as usize;
            let above = (below + 1).min(last);
            sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
        })
    }
}
