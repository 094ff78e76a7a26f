//! Adds up chains: the estimate of Z from their weights and from the states that were summed exactly.

use super::core::Core;
use super::design::Shares;
use super::student::student_95;
use crate::check::{KnownSum, Measured};
use crate::math::{log_add_exp, log_mean_exp, log_sum_exp};

/// A chain that has come to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    /// Its sample of log Z.
    pub(super) sample: f64,
    /// The cell in which it ended.
    pub(super) cell: usize,
    /// Its state of the smaller layer is one of those that were summed exactly.
    pub(super) known: bool,
}

/// The chains of all starts of a way, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) chains: Vec<Vec<Chain>>,
    /// Chains that were resampled together, and so are not independent; one where none were.
    pub(super) island: usize,
}

/// The estimate: log Z with its relative error, and what the tests need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) log_z: f64,
    /// Standard error of Z relative to Z.
    pub(super) error: f64,
    /// The estimate from the weights alone, and its relative error: how well the chains sample.
    pub(super) weights: Measured,
    /// The chains' own estimate of the sum that is known exactly.
    pub(super) log_known: f64,
    /// Effective number of chains, and the share of the largest weight.
    pub(super) ess: f64,
    pub(super) largest_share: f64,
    pub(super) chains: usize,
    /// Independent contributions: chains or islands.
    pub(super) units: usize,
}

impl Tally {
    pub(super) fn new(starts: usize, island: usize) -> Self {
        Self { chains: vec![vec![]; starts], island }
    }

    /// `Z^ = Z_known + sum_k mean_k(w A_kc 1[not known])`, or the same without what is known exactly.
    pub(super) fn summary(&self, shares: &Shares, core: &Core, with_core: bool) -> Summary {
        let chains = self.chains.iter().map(Vec::len).sum();
        let all = self.sum(shares, &|_| true);
        let known = self.sum(shares, &|chain| chain.known);
        let units = chains / self.island;
        let error = all.measured.error;
        // Equal weights say nothing about what no chain has met.
        let ess = (1.0 / (error * error)).min(chains as f64);
        let summary = Summary {
            log_z: all.measured.log_z,
            error,
            weights: all.measured,
            log_known: known.measured.log_z,
            ess,
            largest_share: all.largest_share,
            chains,
            units,
        };
        if !with_core {
            return summary;
        }
        let rest = self.sum(shares, &|chain| !chain.known).measured;
        let log_z = log_add_exp(core.log_z, rest.log_z);
        // One chain more, and it might have ended outside.
        let error = (rest.error * (rest.log_z - log_z).exp()).max(1.0 / ess);
        Summary { log_z, error, ..summary }
    }

    fn sum(&self, shares: &Shares, keep: &dyn Fn(&Chain) -> bool) -> Sum {
        let contribution = |k: usize, chain: &Chain| match keep(chain) {
            true => chain.sample + shares[k][chain.cell].ln(),
            false => f64::NEG_INFINITY,
        };
        let of_start = |(k, chains): (usize, &Vec<Chain>)| -> Vec<f64> {
            let samples: Vec<f64> = chains.iter().map(|chain| contribution(k, chain)).collect();
            match self.island {
                1 => samples,
                size => samples.chunks(size).map(log_mean_exp).collect(),
            }
        };
        let parts: Vec<Vec<f64>> =
            self.chains.iter().enumerate().filter(|(_, c)| !c.is_empty()).map(of_start).collect();
        let means: Vec<f64> = parts.iter().map(|part| log_mean_exp(part)).collect();
        let log_z = log_sum_exp(&means);
        if log_z == f64::NEG_INFINITY {
            return Sum { measured: Measured { log_z, error: 0.0 }, largest_share: 0.0 };
        }
        let variance = |(part, mean): (&Vec<f64>, &f64)| {
            let (n, mean) = (part.len() as f64, (mean - log_z).exp());
            let squares = part.iter().map(|s| ((s - log_z).exp() - mean).powi(2));
            squares.sum::<f64>() / ((n - 1.0) * n)
        };
        let squares: f64 = parts.iter().zip(&means).map(variance).sum();
        let largest = |part: &Vec<f64>| {
            let highest = part.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (highest - log_z).exp() / part.len() as f64
        };
        Sum {
            measured: Measured { log_z, error: squares.sqrt() },
            largest_share: parts.iter().map(largest).fold(0.0, f64::max),
        }
    }
}

struct Sum {
    measured: Measured,
    largest_share: f64,
}

impl Summary {
    /// What is known exactly, and as the chains see it.
    pub(super) fn known_sum(&self, log_core: f64) -> KnownSum {
        KnownSum {
            log_exact: log_core,
            log_seen: self.log_known,
            log_z: self.log_z,
            error: self.weights.error,
        }
    }

    /// 95% interval of log Z: symmetric on the scale of Z by Student's t, and not below the core.
    ///
    /// What is not exact is not known better than the weights show, and chains that all agree still say
    /// no more than that what they have not met is probably below 3 / n of Z (the rule of three). Mass
    /// that is known and that the chains miss widens it upwards, as does mass that others found.
    pub(super) fn interval(&self, log_core: f64, missed: f64) -> [f64; 2] {
        let t = student_95(self.units as f64 - 1.0);
        let not_exact = 1.0 - (log_core - self.log_z).exp().min(1.0);
        let reach = t * self.error.max(not_exact * self.weights.error);
        let low = if reach < 1.0 { self.log_z + (-reach).ln_1p() } else { f64::NEG_INFINITY };
        let unseen = 3.0 / self.ess.max(1.0);
        let mut high = self.log_z + reach.max(unseen).ln_1p().max(-(-reach.min(0.9)).ln_1p());
        let core = self.known_sum(log_core);
        if core.seems_missed() {
            high += core.shortfall().min(self.log_z - log_core + core.shortfall());
        }
        [low.max(log_core), high + missed.ln_1p()]
    }
}

impl Tally {
    /// The share of each cell in what the weights find, and the relative error of its part.
    pub(super) fn cells(&self, shares: &Shares, cells: usize) -> Vec<(f64, f64)> {
        let all = self.sum(shares, &|_| true).measured.log_z;
        let of_cell = |c: usize| {
            let Measured { log_z, error } = self.sum(shares, &|chain| chain.cell == c).measured;
            ((log_z - all).exp(), error)
        };
        (0..cells).map(of_cell).collect()
    }
}
