//! Adds up chains: the estimate of Z from their weights and from the states that were summed exactly.

use super::core::Core;
use super::student::student_95;
use crate::check::{KnownSum, Measured};
use crate::math::{exp, ln, ln_1p, log_add_exp, log_mean_exp, log_sum_exp};

/// How much each start accounts for in each cell: A_kc, by start and cell.
pub(super) type Shares = Vec<Vec<f64>>;

/// A way with one cell accounts for all of it.
pub(super) fn alone() -> Shares {
    vec![vec![1.0]]
}

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

impl Summary {
    /// Of no chains at all.
    pub(super) const NOTHING: Self = Self {
        log_z: f64::NEG_INFINITY,
        error: f64::INFINITY,
        weights: Measured { log_z: f64::NEG_INFINITY, error: f64::INFINITY },
        log_known: f64::NEG_INFINITY,
        ess: 0.0,
        largest_share: 0.0,
        chains: 0,
        units: 0,
    };
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
        // One chain more, and it might have ended outside; but chains know only of what surrounds the states
        // that they reach.
        let reached = exp(known.measured.log_z - core.log_z).min(1.0);
        let unknown = 1.0 / (ess * reached).max(1.0);
        let error = (rest.error * exp(rest.log_z - log_z)).max(unknown);
        Summary { log_z, error, ..summary }
    }

    /// The log weight of every chain, such that the mean of the weights over all chains is Z.
    pub(super) fn log_weights(&self, shares: &Shares) -> Vec<f64> {
        let total: usize = self.chains.iter().map(Vec::len).sum();
        let of_start = |(k, chains): (usize, &Vec<Chain>)| -> Vec<f64> {
            let part = ln(total as f64 / chains.len() as f64);
            chains.iter().map(|c| c.sample + ln(shares[k][c.cell]) + part).collect()
        };
        self.chains.iter().enumerate().flat_map(of_start).collect()
    }

    fn sum(&self, shares: &Shares, keep: &dyn Fn(&Chain) -> bool) -> Sum {
        let contribution = |k: usize, chain: &Chain| match keep(chain) {
            true => chain.sample + ln(shares[k][chain.cell]),
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
            let (n, mean) = (part.len() as f64, exp(mean - log_z));
            let squares = part.iter().map(|s| (exp(s - log_z) - mean).powi(2));
            squares.sum::<f64>() / ((n - 1.0) * n)
        };
        let squares: f64 = parts.iter().zip(&means).map(variance).sum();
        let largest = |part: &Vec<f64>| {
            let highest = part.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            exp(highest - log_z) / part.len() as f64
        };
        Sum {
            measured: Measured { log_z, error: HONEST * squares.sqrt() },
            largest_share: parts.iter().map(largest).fold(0.0, f64::max),
        }
    }
}

/// What the spread of weights says is too small by this factor: rare weights are large, and a run that
/// has not met one does not know it (docs/decisions.md). The upper arm of an interval is that much longer.
const HONEST: f64 = 1.25;

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
        let not_exact = 1.0 - exp(log_core - self.log_z).min(1.0);
        let reach = t * self.error.max(not_exact * self.weights.error);
        let low = if reach < 1.0 { self.log_z + ln_1p(-reach) } else { f64::NEG_INFINITY };
        let unseen = 3.0 / self.ess.max(1.0);
        // Weights are skewed: an estimate is low more often than high, and then shows a smaller error.
        let mirrored = -ln_1p(-reach.min(0.9)) * (reach / 0.9).max(1.0);
        let mut high = self.log_z + (HONEST * mirrored).max(ln_1p(unseen));
        let core = self.known_sum(log_core);
        if core.seems_missed() {
            high += core.shortfall();
        }
        [low.max(log_core), high + ln_1p(missed)]
    }
}

impl Tally {
    /// The share of each cell in what the weights find, and the relative error of its part.
    pub(super) fn cells(&self, shares: &Shares, cells: usize) -> Vec<(f64, f64)> {
        let all = self.sum(shares, &|_| true).measured.log_z;
        let of_cell = |c: usize| {
            let Measured { log_z, error } = self.sum(shares, &|chain| chain.cell == c).measured;
            (exp(log_z - all), error)
        };
        (0..cells).map(of_cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(sample: f64, cell: usize) -> Chain {
        Chain { sample, cell, known: false }
    }

    #[test]
    fn every_cell_counts_by_the_shares_of_its_starts() {
        let ln = f64::ln;
        let tally = Tally {
            chains: vec![vec![chain(ln(6.0), 0), chain(ln(2.0), 1)], vec![chain(ln(4.0), 1); 3]],
            island: 1,
        };
        // The first start finds 3 in cell 0 and 1 in cell 1, the second 4 in cell 1.
        let shares = vec![vec![1.0, 0.5], vec![0.0, 0.5]];
        let found = tally.summary(&shares, &Core::default(), false);
        assert!((found.log_z - ln(3.0 + 0.5 + 2.0)).abs() < 1e-12);
        let [one, two] = tally.cells(&shares, 2)[..] else { panic!() };
        assert!((one.0 - 3.0 / 5.5).abs() < 1e-12 && (two.0 - 2.5 / 5.5).abs() < 1e-12);
        // Contributions of 6 and 1 have a variance of 12.5; those of the second start are all the same.
        assert!((found.error - HONEST * (12.5f64 / 2.0).sqrt() / 5.5).abs() < 1e-12);
    }

    #[test]
    fn islands_are_the_independent_units_where_chains_were_resampled() {
        let samples = [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0f64];
        let chains = vec![samples.iter().map(|w| chain(w.ln(), 0)).collect()];
        let shares = vec![vec![1.0]];
        let error = |island| {
            let tally = Tally { chains: Vec::clone(&chains), island };
            tally.summary(&shares, &Core::default(), false).error
        };
        assert!((error(4) - HONEST * 0.5).abs() < 1e-12, "{}", error(4));
        assert!(error(1) < error(4));
    }

    #[test]
    fn equal_weights_leave_room_for_what_no_chain_has_met() {
        let chains = vec![vec![chain(5.0, 0); 100]];
        let found = Tally { chains, island: 1 }.summary(&vec![vec![1.0]], &Core::default(), false);
        assert_eq!((found.log_z, found.error, found.ess), (5.0, 0.0, 100.0));
        let [low, high] = found.interval(f64::NEG_INFINITY, 0.0);
        assert_eq!(low, 5.0);
        assert!((high - 5.0 - 1.03f64.ln()).abs() < 1e-12);
        assert!(found.interval(f64::NEG_INFINITY, 0.5)[1] > high + 0.4);
    }
}
