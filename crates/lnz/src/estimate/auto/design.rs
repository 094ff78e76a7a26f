//! The design of the main run: how many chains each start has, and how much of a cell it accounts for.
//!
//! Every start k gives an unbiased estimate of every cell c: E[w 1(x in c)] = Z_c / Z_0k. With shares
//! A_kc that are fixed beforehand and sum to one for each cell, sum_k mean_k(w A_kc) is an unbiased
//! estimate of Z. A trial says how many chains of start k count effectively in cell c. If each chain of
//! start k is worth e_kc there, the error of Z_c is 1 / sqrt(sum_k n_k e_kc), and the numbers n_k with the
//! smallest error of Z follow; A_kc = n_k e_kc / sum_j n_j e_jc combines what they find.

use super::effort::{FEW, STEPS};
use super::sampler::effective;
use super::tally::{Chain, Shares, Tally};
use crate::math::{exp, ln, log_mean_exp, log_sum_exp};

/// Shares and chains of the starts.
#[derive(Debug, Clone)]
pub(super) struct Design {
    pub(super) shares: Shares,
    /// The part of all chains that each start has.
    pub(super) chains: Vec<f64>,
    /// The share of each cell in Z.
    pub(super) cells: Vec<f64>,
    /// Variance of log w among the chains that count.
    pub(super) variance: f64,
}

/// Part of the chains that the starts of the phases share evenly, whatever the trial says.
pub(super) const EVEN_PART: f64 = 0.25;

impl Design {
    /// From a trial; the first starts are those of the cells.
    pub(super) fn from_trial(trial: &Tally, cells: usize) -> Self {
        let seen = Seen::of(trial, cells);
        let starts = trial.chains.len();
        let mut chains = vec![1.0 / starts as f64; starts];
        let mut shares = seen.shares(&chains);
        let mut of_z = seen.cells(&shares);
        for _ in 0..STEPS {
            improve(&mut chains, &seen.worth, &of_z);
            shares = seen.shares(&chains);
            of_z = seen.cells(&shares);
        }
        let even = |k: usize| if k < cells { EVEN_PART / cells as f64 } else { 0.0 };
        let part = |(k, n): (usize, &f64)| even(k) + (1.0 - EVEN_PART) * n;
        let chains: Vec<f64> = chains.iter().enumerate().map(part).collect();
        let shares = seen.shares(&chains);
        let variance = variance(trial, &shares, &of_z);
        Self { shares, chains, cells: of_z, variance }
    }
}

/// What the starts see of the cells.
struct Seen {
    /// Effective chains per chain, e_kc.
    worth: Vec<Vec<f64>>,
    /// log of what a start finds in a cell.
    log_parts: Vec<Vec<f64>>,
}

impl Seen {
    fn of(trial: &Tally, cells: usize) -> Self {
        let weights = |k: usize, c: usize| -> Vec<f64> {
            let weight = |x: &Chain| if x.cell == c { x.sample } else { f64::NEG_INFINITY };
            trial.chains[k].iter().map(weight).collect()
        };
        let table = |value: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            let row = |k| (0..cells).map(|c| value(k, c)).collect();
            (0..trial.chains.len()).map(row).collect()
        };
        let log_parts = table(&|k, c| log_mean_exp(&weights(k, c)));
        let effective = table(&|k, c| effective(&weights(k, c)));
        let worth = table(&|k, c| {
            let n = trial.chains[k].len() as f64;
            if k == c {
                return effective[k][c].max(1.0) / n;
            }
            let error = (1.0 / effective[k][c] + 1.0 / effective[c][c].max(1.0)).sqrt();
            // A start that finds clearly less than the cell's own does not see all of it.
            let sees_less = log_parts[c][c] - log_parts[k][c] > 2.0 * error;
            if effective[k][c] < FEW as f64 || sees_less { 0.0 } else { effective[k][c] / n }
        });
        Self { worth, log_parts }
    }

    fn shares(&self, chains: &[f64]) -> Shares {
        let total = |c: usize| self.worth.iter().zip(chains).map(|(w, n)| n * w[c]).sum::<f64>();
        let totals: Vec<f64> = (0..self.worth[0].len()).map(total).collect();
        let row = |(worth, n): (&Vec<f64>, &f64)| {
            worth.iter().zip(&totals).map(|(worth, total)| n * worth / total).collect()
        };
        self.worth.iter().zip(chains).map(row).collect()
    }

    /// The share of each cell in Z.
    fn cells(&self, shares: &Shares) -> Vec<f64> {
        let log_cell = |c: usize| {
            let parts = shares.iter().zip(&self.log_parts);
            log_sum_exp(&parts.map(|(share, log)| ln(share[c]) + log[c]).collect::<Vec<_>>())
        };
        let log_cells: Vec<f64> = (0..shares[0].len()).map(log_cell).collect();
        let log_z = log_sum_exp(&log_cells);
        log_cells.iter().map(|log_cell| exp(log_cell - log_z)).collect()
    }
}

/// A step towards the least of `sum_c p_c^2 / sum_k n_k e_kc` for a given sum of n_k: each is multiplied
/// by the root of what one more of it would gain, which leads to n_k = p_k at once if each start sees its
/// own cell alone.
fn improve(chains: &mut [f64], worth: &[Vec<f64>], cells: &[f64]) {
    let found = |c: usize| worth.iter().zip(&*chains).map(|(w, n)| n * w[c]).sum::<f64>();
    let needs: Vec<f64> = cells.iter().enumerate().map(|(c, p)| (p / found(c)).powi(2)).collect();
    for (n, worth) in chains.iter_mut().zip(worth) {
        *n *= worth.iter().zip(&needs).map(|(worth, need)| worth * need).sum::<f64>().sqrt();
    }
    let total: f64 = chains.iter().sum();
    chains.iter_mut().for_each(|n| *n /= total);
}

/// The mean over all parts of the variance of log w.
fn variance(trial: &Tally, shares: &Shares, cells: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (chains, share) in trial.chains.iter().zip(shares) {
        for (c, part) in cells.iter().enumerate() {
            let inside = chains.iter().filter(|chain| chain.cell == c);
            let samples: Vec<f64> = inside.map(|chain| chain.sample).collect();
            if share[c] > 0.0 && samples.len() > 2 {
                sum += share[c] * part * log_variance(samples);
            }
        }
    }
    sum
}

/// The variance of log w as a log-normal distribution would have it, whose median is half of that below the mean.
pub(super) fn log_variance(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.get(samples.len() / 2);
    middle.map_or(0.0, |median| 2.0 * (log_mean_exp(&samples) - median).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `chains` chains of a start that ends in cell 0 with probability about `part`, all of weight e^`log_z`.
    fn start(chains: usize, part: f64, log_z: f64) -> Vec<Chain> {
        let inside = (part * chains as f64).round() as usize;
        let chain =
            |i: usize| Chain { sample: log_z, cell: usize::from(i >= inside), known: false };
        (0..chains).map(chain).collect()
    }

    fn trial(starts: Vec<Vec<Chain>>) -> Tally {
        Tally { chains: starts, island: 1 }
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.01, "{found} instead of {expected}");
    }

    #[test]
    fn phases_that_do_not_see_each_other_keep_their_own_starts() {
        // Each start stays at home; the phases have shares of e / (1 + e) and 1 / (1 + e).
        let design = Design::from_trial(&trial(vec![start(64, 1.0, 1.0), start(64, 0.0, 0.0)]), 2);
        assert_eq!(design.shares, [[1.0, 0.0], [0.0, 1.0]]);
        let large = 1.0 / (1.0 + (-1f64).exp());
        assert_close(design.cells[0], large);
        // The least of p^2 / n + (1 - p)^2 / (1 - n) is at n = p.
        assert_close(design.chains[0], EVEN_PART / 2.0 + (1.0 - EVEN_PART) * large);
    }

    #[test]
    fn a_start_that_sees_everything_does_the_work_of_all() {
        // Two starts that see one half each, and waste the other half of their chains on weights of zero;
        // a third one sees both.
        let half = |home: usize| {
            let mut chains = start(64, 0.5, 0.0);
            for chain in &mut chains {
                chain.sample = if chain.cell == home { 0.0 } else { f64::NEG_INFINITY };
            }
            chains
        };
        let whole = start(64, 0.5, 0.0);
        let design = Design::from_trial(&trial(vec![half(0), half(1), whole]), 2);
        assert_close(design.chains[2], 1.0 - EVEN_PART);
        // A chain of the third start counts twice as much in each half as one of the others.
        assert!(design.shares[2].iter().all(|share| *share > 0.8));
    }

    #[test]
    fn a_start_that_finds_less_than_the_cells_own_has_no_part_in_it() {
        // The second start sees a tenth of what the first one finds in its own cell.
        let mut blind = start(64, 0.5, 0.0);
        blind.iter_mut().filter(|chain| chain.cell == 0).for_each(|chain| chain.sample = -1.6);
        let design = Design::from_trial(&trial(vec![start(64, 1.0, 0.0), blind]), 2);
        assert_eq!(design.shares[1][0], 0.0);
        assert_eq!(design.shares[0][0], 1.0);
    }

    #[test]
    fn shares_of_a_cell_sum_to_one_and_parts_of_the_chains_too() {
        let starts = vec![start(48, 0.9, 2.0), start(32, 0.2, 1.0), start(32, 0.6, 2.2)];
        let design = Design::from_trial(&trial(starts), 2);
        for cell in 0..2 {
            let sum: f64 = design.shares.iter().map(|shares| shares[cell]).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert!((design.chains.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((design.cells.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
