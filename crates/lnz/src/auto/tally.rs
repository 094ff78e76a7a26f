//! Islands added up: the estimate of Z from the core and the weights outside it.

use super::core::Core;
use super::family::Island;
use crate::math::{log_add_exp, log_sum_exp};

/// All islands of one family.
#[derive(Default)]
pub(super) struct Tally {
    islands: Vec<Counted>,
}

/// What is kept of an island.
struct Counted {
    chains: usize,
    /// log of the mean weight of chains that ended outside the core, and inside.
    log_outside: f64,
    log_inside: f64,
    /// log of the sum of squared weights, outside and of all chains.
    log_squares: f64,
    log_all_squares: f64,
    log_largest: f64,
}

/// The estimate of one family: log Z with its relative error, and what the tests need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) log_z: f64,
    /// Standard error of Z relative to Z, from the spread between islands.
    pub(super) relative_error: f64,
    /// The sampler's own estimate of the core.
    pub(super) log_core: f64,
    /// The estimate from the weights alone, without the exact core, and its relative error: how well
    /// the family samples.
    pub(super) log_weights: f64,
    pub(super) weights_error: f64,
    pub(super) weights_ess: f64,
    /// Effective number of chains in the whole sum, and the share of the largest weight.
    pub(super) ess: f64,
    pub(super) largest_share: f64,
    pub(super) chains: usize,
}

impl Tally {
    pub(super) fn add(&mut self, island: &Island, core: &Core) {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for (sample, state) in island.samples.iter().zip(&island.states) {
            if core.contains(state) { &mut inside } else { &mut outside }.push(*sample);
        }
        let log_chains = (island.samples.len() as f64).ln();
        let squares =
            |samples: &[f64]| log_sum_exp(&samples.iter().map(|s| 2.0 * s).collect::<Vec<f64>>());
        self.islands.push(Counted {
            chains: island.samples.len(),
            log_outside: log_sum_exp(&outside) - log_chains,
            log_inside: log_sum_exp(&inside) - log_chains,
            log_squares: squares(&outside),
            log_all_squares: squares(&island.samples),
            log_largest: outside.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        });
    }

    /// `Z^ = Z_S + mean(w 1[x not in S])` over all islands, each weighted by its chains.
    pub(super) fn summary(&self, core: &Core) -> Summary {
        let chains: usize = self.islands.iter().map(|i| i.chains).sum();
        let shares: Vec<f64> =
            self.islands.iter().map(|i| i.chains as f64 / chains as f64).collect();
        let mean = |values: &dyn Fn(&Counted) -> f64| {
            let terms: Vec<f64> =
                self.islands.iter().zip(&shares).map(|(i, share)| values(i) + share.ln()).collect();
            log_sum_exp(&terms)
        };
        let log_outside = mean(&|i| i.log_outside);
        let log_z = log_add_exp(core.log_z, log_outside);
        let log_weights = mean(&|i| log_add_exp(i.log_outside, i.log_inside));
        // The spread of island means around `log_mean`, relative to `log_unit`.
        let error = |value: &dyn Fn(&Counted) -> f64, log_mean: f64, log_unit: f64| {
            let n = self.islands.len() as f64;
            let deviation = |i| (value(i) - log_unit).exp() - (log_mean - log_unit).exp();
            let squares = self.islands.iter().zip(&shares).map(|(i, share)| share * deviation(i));
            (squares.map(|d| d * d).sum::<f64>() * n / (n - 1.0).max(1.0)).sqrt()
        };
        let log_n = (chains as f64).ln();
        let sum_of = |values: &dyn Fn(&Counted) -> f64| {
            log_sum_exp(&self.islands.iter().map(values).collect::<Vec<f64>>())
        };
        // The weights as parts of Z^: the core counts like chains of equal weight.
        let log_sum = log_z + log_n;
        let log_squares = log_add_exp(sum_of(&|i| i.log_squares), 2.0 * core.log_z + log_n);
        let ess = (2.0 * log_sum - log_squares).exp();
        let weights_ess = (2.0 * (log_weights + log_n) - sum_of(&|i| i.log_all_squares)).exp();
        // Few islands may agree by luck: independent chains know better.
        let error_of_chains = |ess: f64| (1.0 / ess - 1.0 / chains as f64).max(0.0).sqrt();
        let log_largest =
            self.islands.iter().map(|i| i.log_largest).fold(f64::NEG_INFINITY, f64::max);
        Summary {
            log_z,
            relative_error: error(&|i| i.log_outside, log_outside, log_z).max(error_of_chains(ess)),
            log_core: mean(&|i| i.log_inside),
            log_weights,
            weights_error: error(
                &|i| log_add_exp(i.log_outside, i.log_inside),
                log_weights,
                log_weights,
            )
            .max(error_of_chains(weights_ess)),
            weights_ess,
            ess,
            largest_share: (log_largest - log_sum).exp(),
            chains,
        }
    }

    /// Islands so far: the index of the next one.
    pub(super) fn next_island(&self) -> usize {
        self.islands.len()
    }
}

/// The weighted mean of several unbiased estimates of Z; the weights sum to one.
pub(super) fn combine(estimates: &[(f64, Summary)]) -> Summary {
    let log_mean = |value: &dyn Fn(&Summary) -> f64| {
        let terms: Vec<f64> = estimates.iter().map(|(w, s)| w.ln() + value(s)).collect();
        log_sum_exp(&terms)
    };
    let log_z = log_mean(&|s| s.log_z);
    let part = |w: f64, s: &Summary| w * (s.log_z - log_z).exp();
    let squares: f64 =
        estimates.iter().map(|(w, s)| (part(*w, s) * s.relative_error).powi(2)).sum();
    Summary {
        log_z,
        relative_error: squares.sqrt(),
        log_core: log_mean(&|s| s.log_core),
        log_weights: log_mean(&|s| s.log_weights),
        weights_error: f64::NAN,
        weights_ess: estimates.iter().map(|(_, s)| s.weights_ess).sum(),
        ess: 1.0 / estimates.iter().map(|(w, s)| part(*w, s).powi(2) / s.ess).sum::<f64>(),
        largest_share: estimates
            .iter()
            .map(|(w, s)| part(*w, s) * s.largest_share)
            .fold(0.0, f64::max),
        chains: estimates.iter().map(|(_, s)| s.chains).sum(),
    }
}

/// 95% interval of log Z: symmetric on the scale of Z by Student's t, and not below the core.
///
/// Chains that all agree still say no more than that what they have not seen is probably below 3 / n
/// of Z (the rule of three). Families that disagree beyond their errors widen it upwards, because an
/// unbiased estimate that misses mass is low.
pub(super) fn interval(
    summary: &Summary,
    parts: &[Summary],
    islands: usize,
    log_core: f64,
) -> [f64; 2] {
    let t = student_95(islands.saturating_sub(1));
    let reach = t * summary.relative_error;
    let lower = if reach < 1.0 { summary.log_z + (-reach).ln_1p() } else { log_core };
    let unseen = 3.0 / summary.weights_ess.max(1.0);
    let upper = summary.log_z + reach.max(unseen).ln_1p();
    let highest = parts.iter().map(|part| part.log_z + (t * part.relative_error).ln_1p());
    let disagree = parts.iter().any(|a| {
        parts.iter().any(|b| disagrees(a.log_z, a.relative_error, b.log_z, b.relative_error))
    });
    let upper = if disagree { highest.fold(upper, f64::max) } else { upper };
    [lower.max(log_core), upper]
}

/// Two estimates of log Z differ by more than their errors allow.
pub(crate) fn disagrees(a: f64, a_error: f64, b: f64, b_error: f64) -> bool {
    (a - b).abs() > 0.1 + 3.0 * a_error.hypot(b_error)
}

/// Two-sided 95% quantile of Student's t (the expansion of Cornish and Fisher; within 1% from 5
/// degrees of freedom on).
fn student_95(freedom: usize) -> f64 {
    let z: f64 = 1.959_963_984_540_054;
    let n = freedom.max(1) as f64;
    z + (z.powi(3) + z) / (4.0 * n)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
}
