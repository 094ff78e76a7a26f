//! Tracks log Z and the likelihood of data while a model learns, at a fraction of the cost of learning.

use super::{Examples, Trainer};
use crate::{
    Annealing, Diagnosis, Error, Estimate, Observer, Result, Sampling, Schedule, Start, Verdict,
    anneal, exact_cost, exact_log_z,
};
use lnz_kernels::{Example, GROUP_OF_ROWS, log_marginals};
use rayon::prelude::*;

/// How much an estimate along training may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracking {
    /// Chain-steps for each example and Gibbs step of an epoch. At 1, an estimate takes about a
    /// quarter of the time of the epoch, and its standard error says what that buys.
    pub effort: f64,
    /// The exact value is taken where it is predicted to need at most this many seconds.
    pub exact_seconds: f64,
}

impl Default for Tracking {
    fn default() -> Self {
        Self { effort: 1.0, exact_seconds: 1.0 }
    }
}

/// log Z and log-likelihoods of a model in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracked {
    /// log Z.
    pub log_z: f64,
    /// Its standard error; zero for an exact value.
    pub std_error: f64,
    /// How far to trust it.
    pub verdict: Verdict,
    /// Mean log-likelihood of the examples it learns from, in nats.
    pub train: f64,
    /// The same of other examples.
    pub validation: Option<f64>,
}

/// Chains of an estimate.
const CHAINS: usize = 128;
/// Bounds of the number of betas.
const BETAS: std::ops::RangeInclusive<usize> = 128..=65_536;

impl Trainer<'_> {
    /// Estimates log Z by annealing from the means of the data, or sums over all states where that
    /// is cheap.
    pub fn track(
        &self,
        tracking: &Tracking,
        validation: Option<&Examples>,
        observer: &dyn Observer,
    ) -> Result<Tracked> {
        let train = self.mean_log_marginal(self.examples)?;
        let validation = validation.map(|examples| self.mean_log_marginal(examples)).transpose()?;
        let (log_z, std_error, verdict) = self.log_z(tracking, observer)?;
        let validation = validation.map(|mean| mean - log_z);
        Ok(Tracked { log_z, std_error, verdict, train: train - log_z, validation })
    }

    fn log_z(&self, tracking: &Tracking, observer: &dyn Observer) -> Result<(f64, f64, Verdict)> {
        let model = self.model()?;
        if exact_cost(&model)?.seconds <= tracking.exact_seconds {
            return Ok((exact_log_z(&model, observer)?, 0.0, Verdict::Exact));
        }
        let steps = tracking.effort * (self.examples.len() * self.settings.steps) as f64;
        let betas = ((steps / CHAINS as f64) as usize).clamp(*BETAS.start(), *BETAS.end());
        let means = self.examples.means();
        let start = Start::from_means(means.view(), Sampling::default().epsilon)?;
        let settings =
            Annealing { chains: CHAINS, seed: self.settings.seed, ..Annealing::default() };
        let run = anneal(&model, &start, &Schedule::linear(betas)?, &settings, observer)?;
        let estimate = Estimate::from_samples(&run.samples);
        let verdict = Diagnosis::of_annealing(&estimate, run.requested, None).verdict;
        Ok((estimate.log_z, estimate.std_error, verdict))
    }

    /// The mean of F(x), summed in the order of the examples.
    fn mean_log_marginal(&self, examples: &Examples) -> Result<f64> {
        if examples.width() != self.examples.width() {
            let (found, expected) = (examples.width(), self.examples.width());
            return Err(Error::Width { what: "validation data".to_owned(), found, expected });
        }
        let all: Vec<Example<'_>> = (0..examples.len()).map(|k| examples.get(k)).collect();
        let groups = all.par_chunks(GROUP_OF_ROWS);
        let each = groups.flat_map_iter(|group| log_marginals(self.level, &self.layers, group));
        let each: Vec<f64> = each.collect();
        Ok(each.iter().sum::<f64>() / examples.len() as f64)
    }
}
