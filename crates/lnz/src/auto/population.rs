//! Chains with their weights, and resampling them.

use crate::math::log_mean_exp;
use lnz_kernels::GridChains;
use lnz_kernels::random::{Purpose, Random, stream_seed};

/// Weighted chains: samples of log Z that resampling makes equal.
pub(super) struct Population {
    pub(super) samples: Vec<f64>,
    pub(super) random: Random,
}

impl Population {
    pub(super) fn new(
        chains: usize,
        log_start: f64,
        seed: u64,
        purpose: Purpose,
        index: u64,
    ) -> Self {
        let random = Random::stream(stream_seed(seed, purpose, 0), Purpose::Resample, index);
        Self { samples: vec![log_start; chains], random }
    }

    pub(super) fn add(&mut self, gains: &[f64]) {
        self.samples.iter_mut().zip(gains).for_each(|(sample, gain)| *sample += gain);
    }

    /// Systematic resampling when fewer than half of the chains count; each then carries the mean.
    pub(super) fn resample_if_needed(&mut self, block: &mut GridChains<'_>) {
        let mean = log_mean_exp(&self.samples);
        let weights: Vec<f64> = self.samples.iter().map(|s| (s - mean).exp()).collect();
        let n = weights.len() as f64;
        if n * n / weights.iter().map(|w| w * w).sum::<f64>() >= n / 2.0 {
            return;
        }
        let offset = self.random.uniform();
        let mut ancestors = Vec::with_capacity(weights.len());
        let (mut sum, mut k) = (weights[0], 0);
        for i in 0..weights.len() {
            while sum <= i as f64 + offset && k + 1 < weights.len() {
                k += 1;
                sum += weights[k];
            }
            ancestors.push(k);
        }
        block.resample(&ancestors);
        self.samples.fill(mean);
    }
}

pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64).sqrt()
}
