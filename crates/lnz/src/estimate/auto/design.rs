//! The design of the main run: how many chains each start has, and how much of a cell it accounts for.
//!
//! Every start k gives an unbiased estimate of every cell c: E[w 1(x in c)] = Z_c / Z_0k. With shares
//! A_kc that are fixed beforehand and sum to one for each cell, sum_k mean_k(w A_kc) is an unbiased
//! estimate of Z. A trial says how many chains of start k count effectively in cell c. If each chain of
//! start k is worth e_kc there, the error of Z_c is 1 / sqrt(sum_k n_k e_kc), and the numbers n_k with the
//! smallest error of Z follow; A_kc = n_k e_kc / sum_j n_j e_jc combines what they find.

use super::sampler::effective;
use super::tally::{Chain, Tally};
use crate::math::{log_mean_exp, log_sum_exp};

/// A_kc, by start and cell.
pub(super) type Shares = Vec<Vec<f64>>;

/// Shares and chains of the starts.
#[derive(Debug, Clone)]
pub(super) struct Design {
    pub(super) shares: Shares,
    /// The part of all chains that each start has.
    pub(super) chains: Vec<f64>,
    /// The share of each cell in Z.
    pub(super) cells: Vec<f64>,
    /// Variance of log w among the chains that count, as a log-normal distribution would have it.
    pub(super) variance: f64,
}

/// Part of the chains that the starts of the phases share evenly, whatever the trial says.
const EVEN_PART: f64 = 0.25;
/// A start that sees a cell with fewer effective chains has no part in it, unless the cell is its own.
const FEWEST: f64 = 4.0;
/// Rounds of improving shares of cells, and steps of improving the numbers of chains in each.
const ROUNDS: usize = 3;
const STEPS: usize = 100;

impl Design {
    /// From a trial; the first starts are those of the cells.
    pub(super) fn from_trial(trial: &Tally, cells: usize) -> Self {
        let seen = Seen::of(trial, cells);
        let starts = trial.chains.len();
        let mut chains = vec![1.0 / starts as f64; starts];
        let mut shares = seen.shares(&chains);
        let mut of_z = seen.cells(&shares);
        for _ in 0..ROUNDS {
            for _ in 0..STEPS {
                improve(&mut chains, &seen.worth, &of_z);
            }
            shares = seen.shares(&chains);
            of_z = seen.cells(&shares);
        }
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
            if effective[k][c] < FEWEST || sees_less { 0.0 } else { effective[k][c] / n }
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
            log_sum_exp(&parts.map(|(share, log)| share[c].ln() + log[c]).collect::<Vec<_>>())
        };
        let log_cells: Vec<f64> = (0..shares[0].len()).map(log_cell).collect();
        let log_z = log_sum_exp(&log_cells);
        log_cells.iter().map(|log_cell| (log_cell - log_z).exp()).collect()
    }
}

/// A step towards the least of `sum_c p_c^2 / sum_k n_k e_kc` for a given sum of n_k: each is multiplied
/// by what one more of it would gain.
fn improve(chains: &mut [f64], worth: &[Vec<f64>], cells: &[f64]) {
    let found = |c: usize| worth.iter().zip(&*chains).map(|(w, n)| n * w[c]).sum::<f64>();
    let needs: Vec<f64> = cells.iter().enumerate().map(|(c, p)| (p / found(c)).powi(2)).collect();
    for (n, worth) in chains.iter_mut().zip(worth) {
        *n *= worth.iter().zip(&needs).map(|(worth, need)| worth * need).sum::<f64>();
    }
    let total: f64 = chains.iter().sum();
    chains.iter_mut().for_each(|n| *n /= total);
    let least = EVEN_PART / cells.len() as f64;
    chains.iter_mut().take(cells.len()).for_each(|n| *n = n.max(least));
    let total: f64 = chains.iter().sum();
    chains.iter_mut().for_each(|n| *n /= total);
}

/// Twice the distance from the median of log w to the log of the mean weight, over all parts.
fn variance(trial: &Tally, shares: &Shares, cells: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (chains, share) in trial.chains.iter().zip(shares) {
        for (c, part) in cells.iter().enumerate() {
            let inside = chains.iter().filter(|chain| chain.cell == c);
            let mut samples: Vec<f64> = inside.map(|chain| chain.sample).collect();
            if share[c] > 0.0 && samples.len() > 2 {
                samples.sort_by(f64::total_cmp);
                let median = samples[samples.len() / 2];
                sum += share[c] * part * 2.0 * (log_mean_exp(&samples) - median).max(0.0);
            }
        }
    }
    sum
}
