//! Chains with their weights, and resampling them.

use crate::chains::Walkers;
use crate::math::{exp, log_mean_exp};
use lnz_kernels::random::Random;

/// The weights of some chains.
pub(crate) struct Population {
    /// The log weight of each chain, or the sample of log Z that it makes.
    pub(crate) log_weights: Vec<f64>,
    /// What the last step has added to them, if that is wanted.
    increments: Option<Vec<f64>>,
    /// The random numbers of resampling; none if chains keep their weights.
    resampling: Option<Random>,
}

impl Population {
    /// Chains that all begin with the same log weight and keep to themselves.
    pub(crate) fn new(chains: usize, log_weight: f64) -> Self {
        Self { log_weights: vec![log_weight; chains], increments: None, resampling: None }
    }

    /// The same chains, resampled on the way with these random numbers.
    pub(crate) fn resampled(self, random: Random) -> Self {
        Self { resampling: Some(random), ..self }
    }

    /// The same chains; the increments of each step are kept apart.
    pub(crate) fn with_increments(self) -> Self {
        Self { increments: Some(vec![0.0; self.log_weights.len()]), ..self }
    }

    /// What the last step has added to the log weights, if they are kept.
    pub(crate) fn increments(&self) -> &[f64] {
        self.increments.as_deref().unwrap_or_default()
    }

    pub(super) fn weigh(&mut self, walkers: &mut dyn Walkers, from: f64, to: f64) {
        let Some(increments) = &mut self.increments else {
            return walkers.weigh(from, to, &mut self.log_weights);
        };
        // From zero: differences of large log weights would have lost their last digits.
        increments.fill(0.0);
        walkers.weigh(from, to, increments);
        self.log_weights.iter_mut().zip(increments).for_each(|(sum, gain)| *sum += *gain);
    }

    /// At beta = 1: from the weights that the chains see to the real model.
    pub(super) fn reach_model(&mut self, walkers: &mut dyn Walkers) {
        self.cross_bridge(walkers, 1.0);
    }

    /// At beta = 1: from the real model to the weights that the chains see.
    pub(super) fn leave_model(&mut self, walkers: &mut dyn Walkers) {
        self.cross_bridge(walkers, -1.0);
    }

    fn cross_bridge(&mut self, walkers: &mut dyn Walkers, sign: f64) {
        let mut gains = vec![0.0; self.log_weights.len()];
        walkers.log_bridge(&mut gains);
        self.log_weights.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += sign * gain);
    }

    /// Resampling when fewer than half of the chains count.
    pub(super) fn resample_if_needed(&mut self, walkers: &mut dyn Walkers) {
        let Some(mut random) = self.resampling.take() else { return };
        let mean = log_mean_exp(&self.log_weights);
        let squares = self.log_weights.iter().map(|s| exp(s - mean)).map(|w| w * w);
        let n = self.log_weights.len() as f64;
        if n * n / squares.sum::<f64>() < n / 2.0 {
            self.resample(walkers, &mut random);
        }
        self.resampling = Some(random);
    }

    /// Systematic resampling: each chain then carries the mean.
    pub(crate) fn resample(&mut self, walkers: &mut dyn Walkers, random: &mut Random) {
        let mean = log_mean_exp(&self.log_weights);
        let weights: Vec<f64> = self.log_weights.iter().map(|s| exp(s - mean)).collect();
        let offset = random.uniform();
        let mut ancestors = Vec::with_capacity(weights.len());
        let (mut sum, mut k) = (weights[0], 0);
        for i in 0..weights.len() {
            while sum <= i as f64 + offset && k + 1 < weights.len() {
                k += 1;
                sum += weights[k];
            }
            ancestors.push(k);
        }
        walkers.rearrange(&ancestors);
        self.log_weights.fill(mean);
    }
}
