//! Training by contrastive divergence, one epoch at a time.
//!
//! ```
//! use lnz::train::{Examples, Trainer, Training};
//!
//! fn main() -> lnz::Result<()> {
//!     let bars = ndarray::array![[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]];
//!     let examples = Examples::from_rows(bars.view())?;
//!     let settings = Training { hidden: 2, epochs: 50, batch: 2, ..Training::default() };
//!     let mut trainer = Trainer::new(&examples, settings)?;
//!     while trainer.epoch() < settings.epochs {
//!         trainer.run_epoch(&())?;
//!     }
//!     let log_z = lnz::exact_log_z(&trainer.model()?, &())?;
//!     println!("log Z = {log_z:.3}");
//!     Ok(())
//! }
//! ```
//!
//! Numbers are float32. The gradient of the weights is `<x h>` over a mini-batch minus the same over
//! chains that ran k Gibbs steps from the batch (CD-k) or from where the last batch left them
//! (persistent CD); hidden units enter it by their probabilities, visible ones by their states.

mod batch;
mod examples;
mod settings;
mod state;
mod track;

pub use examples::Examples;
pub use settings::{LearningRate, Training, VisibleBias};
pub use track::{Tracked, Tracking, mean_log_marginal, track};

use crate::math::{ln, sigmoid};
use crate::{Error, Observer, Phase, Progress, Rbm, Result, memory};
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{Chain, DenseSums, Layers, Level, Matrix, Occurrences, measure_every};
use ndarray::{Array1, Array2};

/// A model while it learns.
pub struct Trainer<'a> {
    examples: &'a Examples,
    settings: Training,
    /// Epochs that are done.
    epoch: usize,
    layers: Layers,
    velocity: Velocity,
    /// One for each example of a mini-batch.
    chains: Vec<Chain>,
    /// What their states give the visible units, where they are persistent and many units are on.
    dense: DenseSums,
    /// The examples of a mini-batch, where their values are drawn.
    drawn: Vec<Vec<u32>>,
    /// Of the visible units in a mini-batch, a part for each thread.
    occurrences: Vec<Occurrences>,
    level: Level,
    /// The smallest reconstruction error of an epoch so far.
    best_error: f64,
}

/// What momentum remembers; all zeros without it.
struct Velocity {
    weights: Matrix,
    visible: Vec<f32>,
    hidden: Vec<f32>,
}

/// What an epoch has done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochReport {
    /// Its number, from 1.
    pub epoch: usize,
    /// Its learning rate.
    pub learning_rate: f64,
    /// Mean squared difference between values and the probabilities of their reconstruction, per
    /// visible unit, over the first example of each mini-batch and every sixteenth (every 64th with
    /// persistent chains).
    pub reconstruction_error: f64,
    /// Root mean square of the weights after it.
    pub weight_rms: f64,
}

/// More weights than this, gigabytes of them, are a typing error rather than a wish.
#[doc(hidden)]
pub const MOST_WEIGHTS: usize = 1 << 30;

/// The weights both ways and their velocity, in float32; two layers of each chain in float32 and a list of
/// units that are on; and float64 where the model is written.
fn bytes_for(visible: usize, hidden: usize, chains: usize) -> f64 {
    let (visible, hidden) = (visible as f64, hidden as f64);
    let weights = visible * hidden.max(16.0);
    (3.0 * 4.0 + 8.0) * weights + 12.0 * chains as f64 * (visible + hidden)
}

impl<'a> Trainer<'a> {
    /// A model with small random weights, ready for its first epoch.
    pub fn new(examples: &'a Examples, settings: Training) -> Result<Self> {
        settings.check()?;
        let (visible, hidden) = (examples.width(), settings.hidden);
        if visible.saturating_mul(hidden) > MOST_WEIGHTS {
            let expected =
                format!("at most {} for {visible} visible units", MOST_WEIGHTS / visible);
            return Err(Error::setting("hidden", hidden, expected));
        }
        let rows = settings.batch.min(examples.len());
        memory::check("training", bytes_for(visible, hidden, rows))?;
        let mut layers = Layers::new(visible, hidden);
        let mut random = Random::stream(settings.seed, Purpose::Model, 0);
        for row in 0..visible {
            let mut draw = || (settings.initial_weights * random.normal()) as f32;
            layers.hidden.weights.set_row(row, (0..hidden).map(|_| draw()));
        }
        if settings.visible_bias == VisibleBias::Data {
            let log_odds = |mean: f64| ln(mean / (1.0 - mean)) as f32;
            // As if each unit had been seen once more on and once more off.
            let n = examples.len() as f64;
            let means = examples.means().mapv(|mean| (mean * n + 1.0) / (n + 2.0));
            let bias = layers.visible.bias_mut().iter_mut();
            bias.zip(&means).for_each(|(b, &mean)| *b = log_odds(mean));
        }
        let mut trainer = Self {
            examples,
            settings,
            epoch: 0,
            velocity: Velocity {
                weights: Matrix::zeroed(visible, hidden),
                visible: vec![0.0; visible],
                hidden: vec![0.0; hidden],
            },
            chains: (0..rows).map(|_| Chain::new(&layers)).collect(),
            dense: DenseSums::default(),
            drawn: vec![vec![]; if settings.draw_values { rows } else { 0 }],
            occurrences: vec![],
            layers,
            level: Level::detect(),
            best_error: f64::INFINITY,
        };
        trainer.best_error = trainer.error_without_weights();
        trainer.mirror_weights();
        Ok(trainer)
    }

    /// Number of epochs that are done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Training {
        &self.settings
    }

    /// The model as it is now.
    pub fn model(&self) -> Result<Rbm> {
        let widen = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Array1<f64>>();
        let weights = &self.layers.hidden.weights;
        let mut wide = Array2::zeros((weights.rows(), weights.columns()));
        for (k, mut row) in wide.rows_mut().into_iter().enumerate() {
            row.iter_mut().zip(weights.row(k)).for_each(|(wide, w)| *wide = f64::from(w));
        }
        Rbm::new(wide, widen(self.layers.visible.bias()), widen(self.layers.hidden.bias()))
    }

    /// Root mean square of the weights.
    pub fn weight_rms(&self) -> f64 {
        let weights = &self.layers.hidden.weights;
        let squares = |row| weights.row(row).map(|w| f64::from(w).powi(2)).sum::<f64>();
        let sum: f64 = (0..weights.rows()).map(squares).sum();
        (sum / (weights.rows() * weights.columns()) as f64).sqrt()
    }

    /// One pass through all examples in a new random order.
    ///
    /// An error leaves the model in the middle of the epoch: go back to a saved state.
    pub fn run_epoch(&mut self, observer: &dyn Observer) -> Result<EpochReport> {
        let (settings, count) = (self.settings, self.examples.len());
        let learning_rate = settings.rate_at(self.epoch);
        let order = Random::stream(settings.seed, Purpose::Shuffle, self.epoch as u64);
        let order = { order }.permutation(count);
        let (mut error, mut measured) = (0.0, 0);
        for (k, batch) in order.chunks(settings.batch).enumerate() {
            self.go_on(observer)?;
            let first = self.epoch * count + k * settings.batch;
            let total = (settings.epochs.max(self.epoch + 1) * count) as u64;
            observer.progress(Progress::new(Phase::Train, first as u64, total));
            self.gibbs_chains(batch, first as u64);
            // Half a batch of a large model takes half a second.
            self.go_on(observer)?;
            self.learn(batch, learning_rate as f32);
            let chains = self.chains[..batch.len()].iter();
            for chain in chains.step_by(measure_every(settings.persistent)) {
                error += chain.error;
                measured += self.examples.width();
            }
        }
        self.epoch += 1;
        let report = EpochReport {
            epoch: self.epoch,
            learning_rate,
            reconstruction_error: error / measured as f64,
            weight_rms: self.weight_rms(),
        };
        self.check_convergence(&report)?;
        Ok(report)
    }

    fn go_on(&self, observer: &dyn Observer) -> Result<()> {
        match observer.cancelled() {
            true => Err(Error::Cancelled { reached: format!("in epoch {}", self.epoch + 1) }),
            false => Ok(()),
        }
    }

    /// Training that diverges reconstructs worse than the mean of the data does, and worse than it
    /// did before; its weights grow without bound.
    fn check_convergence(&mut self, report: &EpochReport) -> Result<()> {
        const WORSE: f64 = 2.0;
        const LARGEST_RMS: f64 = 100.0;
        let error = report.reconstruction_error;
        let bias = self.layers.visible.bias().iter().chain(self.layers.hidden.bias());
        let finite = error.is_finite() && { bias }.all(|b| b.is_finite());
        let variance = self.variance();
        let astray = error > WORSE * variance + f64::EPSILON && error > self.best_error * 1.2;
        // Written so that NaN is not small.
        let bounded = report.weight_rms < LARGEST_RMS;
        if finite && bounded && !astray {
            self.best_error = self.best_error.min(error);
            return Ok(());
        }
        Err(Error::Diverged {
            epoch: report.epoch,
            reconstruction_error: error,
            variance,
            weight_rms: report.weight_rms,
            learning_rate: report.learning_rate,
        })
    }

    /// Mean squared error of a model without weights.
    fn error_without_weights(&self) -> f64 {
        let means = self.examples.means();
        let off = |(&mean, &bias): (&f64, &f32)| (mean - sigmoid(f64::from(bias))).powi(2);
        let distance: f64 = means.iter().zip(self.layers.visible.bias()).map(off).sum();
        self.variance() + distance / means.len() as f64
    }

    /// Mean squared distance of what is learnt from its mean: of the values, or of the zeros and ones
    /// that are drawn from them, which scatter more.
    fn variance(&self) -> f64 {
        match self.settings.draw_values {
            true => self.examples.drawn_variance(),
            false => self.examples.variance(),
        }
    }
}

impl std::fmt::Debug for Trainer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Trainer");
        out.field("settings", &self.settings).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
