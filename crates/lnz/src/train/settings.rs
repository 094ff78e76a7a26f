//! What can be chosen about training.

use crate::math::powf;
use crate::{Error, Result};

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LearningRate {
    /// The same in every epoch.
    Constant(f64),
    /// From the first value in the first epoch to the second in the last, by equal factors.
    Falling(f64, f64),
}

/// Where the biases of the visible units start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum VisibleBias {
    /// At the log-odds of the data, so that a model without weights has the right means.
    #[default]
    Data,
    /// At zero.
    Zero,
}

crate::choices!(VisibleBias {
    Data: "data", "At the log-odds of the data";
    Zero: "zero", "At zero";
});

/// Settings of [`Trainer`](super::Trainer).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// Number of hidden units.
    pub hidden: usize,
    /// Number of epochs; a longer run of the same settings passes through the same models if the
    /// learning rate is constant.
    pub epochs: usize,
    /// Examples in a mini-batch.
    pub batch: usize,
    /// The learning rate, for a gradient averaged over the mini-batch.
    pub learning_rate: LearningRate,
    /// Share of the last step that is added to the next one.
    pub momentum: f64,
    /// Pull of the weights towards zero, as a multiple of the weight in the gradient.
    pub weight_decay: f64,
    /// Gibbs steps per mini-batch: the k of CD-k.
    pub steps: usize,
    /// Persistent CD: the chains go on where the last mini-batch left them.
    pub persistent: bool,
    /// Draw each value as 0 or 1 with the probability that it is, anew in every epoch.
    pub draw_values: bool,
    /// Where the biases of the visible units start.
    pub visible_bias: VisibleBias,
    /// Standard deviation of the initial weights.
    pub initial_weights: f64,
    /// Seed of the initial weights, the order of the examples and the chains.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            hidden: 100,
            epochs: 10,
            batch: 100,
            learning_rate: LearningRate::Constant(0.01),
            momentum: 0.0,
            weight_decay: 0.0,
            steps: 1,
            persistent: false,
            draw_values: false,
            visible_bias: VisibleBias::Data,
            initial_weights: 0.01,
            seed: 0,
        }
    }
}

/// Most of anything that is counted; more is a typing error.
const MOST: usize = 1 << 24;

impl Training {
    /// The learning rate of an epoch, counted from 0.
    pub(super) fn rate_at(&self, epoch: usize) -> f64 {
        match self.learning_rate {
            LearningRate::Constant(rate) => rate,
            LearningRate::Falling(first, last) => {
                let done = epoch as f64 / (self.epochs.max(2) - 1) as f64;
                first * powf(last / first, done.min(1.0))
            }
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let counts = [
            ("hidden", self.hidden),
            ("epochs", self.epochs),
            ("batch", self.batch),
            ("steps", self.steps),
        ];
        for (setting, found) in counts {
            if found == 0 || found > MOST {
                return Err(Error::setting(setting, found, format!("from 1 to {MOST}")));
            }
        }
        let (first, last) = match self.learning_rate {
            LearningRate::Constant(rate) => (rate, rate),
            LearningRate::Falling(first, last) => (first, last),
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(first) {
            return Err(Error::setting("learning_rate", first, "a positive number"));
        }
        if !positive(last) {
            return Err(Error::setting("final_learning_rate", last, "a positive number"));
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(Error::setting("momentum", self.momentum, "from 0 to less than 1"));
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay * first < 1.0) {
            let expected = "at least 0, and below 1 when multiplied by the learning rate";
            return Err(Error::setting("weight_decay", self.weight_decay, expected));
        }
        if !(self.initial_weights >= 0.0 && self.initial_weights.is_finite()) {
            return Err(Error::setting("initial_weights", self.initial_weights, "at least 0"));
        }
        Ok(())
    }
}
