//! Seeded random numbers: one independent stream for each purpose and index.

use crate::math::{cos, ln};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream is used for, so that no two parts of a run share random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Artificial models.
    Model = 1,
    /// Chains that sample the model for a start distribution.
    Start = 2,
    /// Annealed chains.
    Anneal = 3,
    /// Grey values of data, made 0 or 1.
    Binarize = 4,
    /// First states of chains.
    FirstState = 5,
    /// The search for modes.
    Modes = 6,
    /// Numbers that a group of annealed chains draws one by one, not in lanes.
    OneByOne = 7,
    /// The pilot of a family of starts.
    Pilot = 8,
    /// Resampling of weighted chains.
    Resample = 9,
    /// Trials of starts.
    Trial = 10,
    /// Annealing from the model back to the start.
    Reverse = 11,
    /// A seed of its own for each family of starts.
    Family = 12,
    /// The order of examples in training.
    Shuffle = 13,
    /// The chains of contrastive divergence.
    Learning = 14,
    /// Grey values of the examples of a batch, drawn as 0 or 1.
    GreyValues = 15,
}

/// A random stream (xoshiro256++).
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of `seed` for one purpose and index (a block of chains, say).
    pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(stream_seed(seed, purpose, index)))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform among 0, ..., n - 1 (by multiplication; the bias is below n / 2^64).
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Standard normal (Box and Muller, the cosine half).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * ln(1.0 - self.uniform())).sqrt();
        radius * cos(std::f64::consts::TAU * self.uniform())
    }

    /// True with probability `p`.
    pub fn happens(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// A random order of 0, ..., n - 1 (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// Mixes seed, purpose and index into one word (the finaliser of splitmix64, three times).
pub fn stream_seed(seed: u64, purpose: Purpose, index: u64) -> u64 {
    mix(mix(mix(seed).wrapping_add(purpose as u64)).wrapping_add(index))
}

fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, purpose, index| Random::stream(seed, purpose, index).bits();
        assert_eq!(draw(1, Purpose::Anneal, 2), draw(1, Purpose::Anneal, 2));
        assert_ne!(draw(1, Purpose::Anneal, 2), draw(1, Purpose::Anneal, 3));
        assert_ne!(draw(1, Purpose::Anneal, 2), draw(1, Purpose::Start, 2));
        assert_ne!(draw(1, Purpose::Anneal, 2), draw(2, Purpose::Anneal, 2));
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        let mut random = Random::stream(7, Purpose::Model, 0);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|d| d * d).sum::<f64>() / n as f64;
        // Five standard errors: 1 / sqrt(n) of the mean, sqrt(2 / n) of the variance.
        assert!(mean.abs() < 5.0 / (n as f64).sqrt());
        assert!((variance - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
    }

    #[test]
    fn permutation_holds_every_index_once() {
        let mut order = Random::stream(3, Purpose::Model, 0).permutation(50);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }
}
