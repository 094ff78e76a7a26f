//! Models with few hidden units that stand for patterns of many visible ones.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::occupations::enumerated;
use super::sums::softplus;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2, Axis};

/// Hidden units as noisy prototypes, each about as likely on as off while it is alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prototypes {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    /// Size of the weights.
    pub(crate) strength: f64,
}

/// Share of visible units that are on in a pattern.
const DENSITY: f64 = 0.3;
/// Probability that a unit differs from its pattern.
const FLIPPED: f64 = 0.05;

impl Prototypes {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(2, seed);
        let patterns = Array2::from_shape_simple_fn((self.visible, self.hidden), || {
            2.0 * numbers.bit(DENSITY) - 1.0
        });
        let weights = patterns.mapv(|p| self.strength * (p + 0.5 * numbers.normal()));
        let visible_bias =
            Array1::from_shape_simple_fn(self.visible, || -1.0 + 0.5 * numbers.normal());
        // The hidden bias undoes what a unit alone adds to F, up to a few nats.
        let hidden_bias = weights.axis_iter(Axis(1)).map(|column| {
            let gain = |(w, b): (&f64, &f64)| softplus(b + w) - softplus(*b);
            3.0 * numbers.normal() - column.iter().zip(&visible_bias).map(gain).sum::<f64>()
        });
        let hidden_bias = hidden_bias.collect();
        let model = Rbm::new(weights, visible_bias, hidden_bias)?;
        let log_z = enumerated(&model)?;
        Solved::new(model, log_z)
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Contrastive divergence on noisy copies of a few patterns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trained {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) epochs: usize,
}

const PATTERNS: usize = 12;
const EXAMPLES: usize = 600;
const BATCH: usize = 20;
const LEARNING_RATE: f64 = 0.1;

impl Trained {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let (visible, hidden) = (self.visible, self.hidden);
        let mut numbers = Numbers::new(3, seed);
        let patterns = Array2::from_shape_simple_fn((PATTERNS, visible), || numbers.bit(DENSITY));
        let mut weights =
            Array2::from_shape_simple_fn((visible, hidden), || 0.01 * numbers.normal());
        let mut visible_bias: Array1<f64> = Array1::zeros(visible);
        let mut hidden_bias: Array1<f64> = Array1::zeros(hidden);
        let batches = self.epochs * EXAMPLES / BATCH;
        let rate = LEARNING_RATE / BATCH as f64;
        for _ in 0..batches {
            let of_pattern: Vec<usize> = (0..BATCH).map(|_| numbers.below(PATTERNS)).collect();
            let data =
                patterns.select(Axis(0), &of_pattern).mapv(|on| (on - numbers.bit(FLIPPED)).abs());
            let hidden_means = (data.dot(&weights) + &hidden_bias).mapv(sigmoid);
            let hidden_states = hidden_means.mapv(|p| numbers.bit(p));
            let dream = (hidden_states.dot(&weights.t()) + &visible_bias).mapv(sigmoid);
            let dream = dream.mapv(|p| numbers.bit(p));
            let dream_means = (dream.dot(&weights) + &hidden_bias).mapv(sigmoid);
            weights.scaled_add(rate, &(data.t().dot(&hidden_means) - dream.t().dot(&dream_means)));
            visible_bias.scaled_add(rate, &(&data - &dream).sum_axis(Axis(0)));
            hidden_bias.scaled_add(rate, &(&hidden_means - &dream_means).sum_axis(Axis(0)));
        }
        let model = Rbm::new(weights, visible_bias, hidden_bias)?;
        let log_z = enumerated(&model)?;
        Solved::new(model, log_z)
    }
}
