//! Seeded random numbers for the models.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) struct Numbers(Xoshiro256PlusPlus);

impl Numbers {
    /// `family` keeps models of different families with the same seed apart.
    pub(crate) fn new(family: u64, seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(family << 32 ^ seed))
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// One with probability `p`, else zero.
    pub(crate) fn bit(&mut self, p: f64) -> f64 {
        f64::from(self.uniform() < p)
    }

    /// Standard normal (Box and Muller, the cosine half).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A random order of 0, ..., n - 1 (Fisher and Yates).
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, self.below(i + 1)));
        order
    }
}
