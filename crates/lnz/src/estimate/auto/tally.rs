//! Islands added up: the estimate of Z from the core and the weights outside it.

use super::core::Core;
use super::family::Island;
use super::student::student_95;
use crate::check::{KnownSum, Measured};
use crate::math::{log_add_exp, log_sum_exp};
use lnz_kernels::GROUP;

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
    /// log of the sum of squared weights, outside and inside.
    log_outside_squares: f64,
    log_inside_squares: f64,
    /// log of the largest weight, outside and inside.
    log_largest: [f64; 2],
}

/// The estimate of one family: log Z with its relative error, and what the tests need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) log_z: f64,
    /// Standard error of Z relative to Z, from the spread between islands.
    pub(super) relative_error: f64,
    /// Degrees of freedom of that spread.
    pub(super) freedom: f64,
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

/// Below this share of the weights outside the core, the core is all that the sampler sees.
const NOTHING_OUTSIDE: f64 = 1e-3;

impl Summary {
    /// The weights alone are known to `error`, or almost all of them lie in the core, which is exact.
    pub(super) fn is_settled(&self, error: f64) -> bool {
        let outside = 1.0 - (self.log_core - self.log_weights).exp();
        self.weights_error <= error || outside < NOTHING_OUTSIDE
    }

    fn measured(&self) -> Measured {
        Measured { log_z: self.log_z, error: self.relative_error }
    }

    /// The core as it is, and as the chains see it.
    fn known_sum(&self, log_core: f64) -> KnownSum {
        KnownSum {
            log_exact: log_core,
            log_seen: self.log_core,
            log_z: self.log_z,
            error: self.weights_error,
        }
    }
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
            log_outside_squares: squares(&outside),
            log_inside_squares: squares(&inside),
            log_largest: [&outside, &inside]
                .map(|samples| samples.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        });
    }

    /// `Z^ = mean(w) + c (Z_S - mean(w 1[x in S]))` over all islands, each weighted by its chains.
    ///
    /// The exact core is a control variate: c = 1 replaces the sampled core by the exact one, c = 0
    /// ignores it. Any c that is fixed beforehand is unbiased.
    pub(super) fn summary(&self, core: &Core, c: f64) -> Summary {
        let chains: usize = self.islands.iter().map(|i| i.chains).sum();
        let log_n = (chains as f64).ln();
        let shares: Vec<f64> =
            self.islands.iter().map(|i| i.chains as f64 / chains as f64).collect();
        let mean = |values: &dyn Fn(&Counted) -> f64| {
            let terms: Vec<f64> =
                self.islands.iter().zip(&shares).map(|(i, share)| values(i) + share.ln()).collect();
            log_sum_exp(&terms)
        };
        // Islands count by their chains: the variance of one goes as 1 / share, so that sum(share^2) takes
        // the place of 1 / n in the variance of the mean and in its degrees of freedom.
        let one_island: f64 = shares.iter().map(|share| share * share).sum();
        // The spread of island means relative to `log_unit`, but not below that of independent chains.
        let error = |value: &dyn Fn(&Counted) -> f64, log_unit: f64, ess: f64| {
            let log_mean = mean(value);
            let deviation = |i| (value(i) - log_unit).exp() - (log_mean - log_unit).exp();
            let parts = self.islands.iter().zip(&shares).map(|(i, share)| share * deviation(i));
            let of_islands = (parts.map(|d| d * d).sum::<f64>() / (1.0 - one_island)).sqrt();
            of_islands.max((1.0 / ess - 1.0 / chains as f64).max(0.0).sqrt())
        };
        let sum_of = |values: &dyn Fn(&Counted) -> f64| {
            log_sum_exp(&self.islands.iter().map(values).collect::<Vec<f64>>())
        };
        // A chain counts w outside the core and (1 - c) w inside.
        let log_kept = (1.0 - c).ln();
        let counted = |i: &Counted| log_add_exp(i.log_outside, log_kept + i.log_inside);
        let log_core_part = c.ln() + core.log_z;
        let log_z = log_add_exp(log_core_part, mean(&counted));
        let log_weights = mean(&|i| log_add_exp(i.log_outside, i.log_inside));
        let squares = |log_kept: f64| {
            let inside = |i: &Counted| 2.0 * log_kept + i.log_inside_squares;
            sum_of(&|i| log_add_exp(i.log_outside_squares, inside(i)))
        };
        let weights_ess = (2.0 * (log_weights + log_n) - squares(0.0)).exp();
        // The exact part counts like chains of equal weight.
        let log_squares = log_add_exp(squares(log_kept), 2.0 * log_core_part + log_n);
        let ess = (2.0 * (log_z + log_n) - log_squares).exp().min(chains as f64);
        let log_largest = self
            .islands
            .iter()
            .map(|i| i.log_largest[0].max(log_kept + i.log_largest[1]))
            .fold(f64::NEG_INFINITY, f64::max);
        Summary {
            log_z,
            relative_error: error(&counted, log_z, ess),
            freedom: 1.0 / one_island - 1.0,
            log_core: mean(&|i| i.log_inside),
            log_weights,
            weights_error: error(
                &|i| log_add_exp(i.log_outside, i.log_inside),
                log_weights,
                weights_ess,
            ),
            weights_ess,
            ess,
            largest_share: (log_largest - log_z - log_n).exp(),
            chains,
        }
    }

    /// The c of the smallest variance, cov(w, w_S) / var(w_S) with w_S = w 1[x in S], kept in [0, 1].
    pub(super) fn best_core_share(&self) -> f64 {
        let n: f64 = self.islands.iter().map(|i| i.chains as f64).sum();
        let largest = self.islands.iter().map(|i| i.log_largest[0].max(i.log_largest[1]));
        let unit = largest.fold(f64::NEG_INFINITY, f64::max);
        let mean = |log_mean: &dyn Fn(&Counted) -> f64| {
            let sums = self.islands.iter().map(|i| i.chains as f64 * (log_mean(i) - unit).exp());
            sums.sum::<f64>() / n
        };
        let (inside, outside) = (mean(&|i| i.log_inside), mean(&|i| i.log_outside));
        let squares = self.islands.iter().map(|i| (i.log_inside_squares - 2.0 * unit).exp());
        let variance = squares.sum::<f64>() / n - inside * inside;
        // cov(w, w_S) = var(w_S) + cov(w_out, w_S), and a chain is never both inside and outside.
        let covariance = variance - inside * outside;
        if variance > 0.0 { (covariance / variance).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Islands so far.
    pub(super) fn islands(&self) -> usize {
        self.islands.len()
    }

    /// Groups of chains so far.
    pub(super) fn groups(&self) -> usize {
        self.islands.iter().map(|i| i.chains.div_ceil(GROUP)).sum()
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
    let variance = |(w, s): &(f64, Summary)| (part(*w, s) * s.relative_error).powi(2);
    let squares: f64 = estimates.iter().map(variance).sum();
    // Welch and Satterthwaite: the freedom of a sum of independent variances.
    let freedom =
        squares.powi(2) / estimates.iter().map(|e| variance(e).powi(2) / e.1.freedom).sum::<f64>();
    let least = estimates.iter().map(|(_, s)| s.freedom).fold(f64::INFINITY, f64::min);
    Summary {
        log_z,
        relative_error: squares.sqrt(),
        freedom: if freedom.is_finite() { freedom } else { least },
        log_core: log_mean(&|s| s.log_core),
        log_weights: log_mean(&|s| s.log_weights),
        weights_error: estimates
            .iter()
            .map(|(w, s)| (w * s.weights_error).powi(2))
            .sum::<f64>()
            .sqrt(),
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
/// What is not exact is not known better than the sampler shows by its own weights, and chains that
/// all agree still say no more than that what they have not seen is probably below 3 / n of Z (the
/// rule of three). Known mass that the chains miss, and families that disagree beyond their errors,
/// widen it upwards, because an unbiased estimate that misses mass is low.
pub(super) fn interval(summary: &Summary, parts: &[Summary], log_core: f64) -> [f64; 2] {
    let t = student_95(summary.freedom);
    let not_exact = 1.0 - (log_core - summary.log_z).exp().min(1.0);
    let reach = t * summary.relative_error.max(not_exact * summary.weights_error);
    let lower = if reach < 1.0 { summary.log_z + (-reach).ln_1p() } else { log_core };
    let unseen = 3.0 / summary.weights_ess.max(1.0);
    let mut upper = summary.log_z + upper_arm(reach).max(unseen.ln_1p());
    let core = summary.known_sum(log_core);
    if core.seems_missed() {
        upper += core.shortfall();
    }
    let disagrees = |a: &Summary, b: &Summary| a.measured().disagrees_with(b.measured());
    if parts.iter().any(|a| parts.iter().any(|b| disagrees(a, b))) {
        let highest = parts
            .iter()
            .map(|part| part.log_z + upper_arm(student_95(part.freedom) * part.relative_error));
        upper = highest.fold(upper, f64::max);
    }
    [lower.max(log_core), upper]
}

/// The way up from an estimate whose relative error reaches so far: a quarter more than the way down.
///
/// Weights are skewed, so that an estimate is low more often than high, and one that is low has the
/// smaller error: on skewed Gaussian and prototype models the shorter way missed the truth by a hair.
fn upper_arm(reach: f64) -> f64 {
    -1.25 * (-reach.min(0.9)).ln_1p() * (reach / 0.9).max(1.0)
}
