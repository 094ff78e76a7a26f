//! log Z and the likelihood of data while a model learns, at a fraction of the cost of learning.

use super::state::set_parameters;
use super::{Examples, Trainer};
use crate::{
    Annealing, Diagnosis, Error, Estimate, Observer, Rbm, Result, Sampling, Schedule, Start,
    Verdict, anneal, exact_cost, exact_log_z,
};
use lnz_kernels::{Example, GROUP_OF_ROWS, Layers, Level, log_marginals};
use rayon::prelude::*;

/// How much an estimate along training may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracking {
    /// Chain-steps for each example and Gibbs step of an epoch. At 1, an estimate takes about a
    /// quarter of the time of the epoch, and its standard error says what that buys.
    pub effort: f64,
    /// The exact value is taken where it is predicted to need at most so many seconds.
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
    /// Its 95% interval.
    pub interval: [f64; 2],
    /// How far to trust it.
    pub verdict: Verdict,
    /// Mean log-likelihood of the examples it learns from, in nats, where they are known.
    pub train: Option<f64>,
    /// The same of other examples.
    pub validation: Option<f64>,
}

/// Chains of an estimate.
const CHAINS: usize = 128;
/// Bounds of the number of betas.
const BETAS: std::ops::RangeInclusive<usize> = 128..=65_536;
/// Chain-steps at effort 1 where nobody says how many examples an epoch has: 2000 betas, under a second
/// for 784 x 500 units (1000 take 0.4 s, see docs/decisions.md).
const STEPS_WITHOUT_DATA: usize = 2000 * CHAINS;
/// Samples of the model whose means take the place of those of the data, and the sweeps before each:
/// a fiftieth of the work of the annealing.
const SAMPLING_WITHOUT_DATA: (usize, usize) = (256, 20);

/// log Z of a model that learns elsewhere, and the mean log-likelihood of data: what
/// [`Trainer::track`] does for CD-1, for any model.
///
/// Annealing starts from the means of `train`; without it, from means of samples of the model.
pub fn track(
    model: &Rbm,
    train: Option<&Examples>,
    validation: Option<&Examples>,
    tracking: &Tracking,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Tracked> {
    let (layers, steps) = (&layers_of(model), 1);
    Subject { model, layers, train, steps, seed }.track(tracking, validation, observer)
}

/// The mean of F(x) over examples as [`track`] has it, in float32: the mean log-likelihood before log Z
/// is taken off.
pub fn mean_log_marginal(model: &Rbm, examples: &Examples) -> Result<f64> {
    let (layers, train, steps, seed) = (&layers_of(model), None, 1, 0);
    Subject { model, layers, train, steps, seed }.mean_log_marginal("data", examples)
}

fn layers_of(model: &Rbm) -> Layers {
    let mut layers = Layers::new(model.visible(), model.hidden());
    set_parameters(&mut layers, model);
    layers
}

impl Trainer<'_> {
    /// Estimates log Z by annealing from the means of the data, or sums over all states where that
    /// is cheap.
    pub fn track(
        &self,
        tracking: &Tracking,
        validation: Option<&Examples>,
        observer: &dyn Observer,
    ) -> Result<Tracked> {
        let (model, train) = (&self.model()?, Some(self.examples));
        let (steps, seed) = (self.settings.steps, self.settings.seed);
        Subject { model, layers: &self.layers, train, steps, seed }
            .track(tracking, validation, observer)
    }
}

/// What is tracked.
struct Subject<'a> {
    model: &'a Rbm,
    /// The same in float32, which is enough for F.
    layers: &'a Layers,
    train: Option<&'a Examples>,
    /// Gibbs steps of an epoch, for each example.
    steps: usize,
    seed: u64,
}

impl Subject<'_> {
    fn track(
        &self,
        tracking: &Tracking,
        validation: Option<&Examples>,
        observer: &dyn Observer,
    ) -> Result<Tracked> {
        let mean = |what, examples| self.mean_log_marginal(what, examples);
        let train = self.train.map(|examples| mean("data", examples)).transpose()?;
        let validation = validation.map(|examples| mean("validation", examples)).transpose()?;
        let (estimate, verdict) = self.log_z(tracking, observer)?;
        let log_z = estimate.log_z;
        Ok(Tracked {
            log_z,
            std_error: estimate.std_error,
            interval: estimate.interval,
            verdict,
            train: train.map(|mean| mean - log_z),
            validation: validation.map(|mean| mean - log_z),
        })
    }

    fn log_z(&self, tracking: &Tracking, observer: &dyn Observer) -> Result<(LogZ, Verdict)> {
        let model = self.model;
        if exact_cost(model)?.seconds <= tracking.exact_seconds {
            let log_z = exact_log_z(model, observer)?;
            return Ok((LogZ { log_z, std_error: 0.0, interval: [log_z; 2] }, Verdict::Exact));
        }
        let steps = self.train.map_or(STEPS_WITHOUT_DATA, |data| data.len() * self.steps);
        let betas = ((tracking.effort * steps as f64 / CHAINS as f64) as usize)
            .clamp(*BETAS.start(), *BETAS.end());
        let start = self.start(observer)?;
        let settings = Annealing { chains: CHAINS, seed: self.seed, ..Annealing::default() };
        let run = anneal(model, &start, &Schedule::linear(betas)?, &settings, observer)?;
        let estimate = Estimate::from_samples(&run.samples);
        let verdict = Diagnosis::of_annealing(&estimate, run.requested, None).verdict;
        let Estimate { log_z, std_error, interval, .. } = estimate;
        Ok((LogZ { log_z, std_error, interval }, verdict))
    }

    fn start(&self, observer: &dyn Observer) -> Result<Start> {
        let sampling = Sampling::default();
        if let Some(data) = self.train {
            return Start::from_means(data.means().view(), sampling.epsilon);
        }
        let (samples, steps) = SAMPLING_WITHOUT_DATA;
        Start::sampled(self.model, &Sampling { samples, steps, ..sampling }, self.seed, observer)
    }

    /// The mean of F(x), summed in the order of the examples.
    fn mean_log_marginal(&self, what: &str, examples: &Examples) -> Result<f64> {
        let (found, expected) = (examples.width(), self.model.visible());
        if found != expected {
            return Err(Error::Width { what: what.to_owned(), found, expected });
        }
        if self.model.hidden() == 0 {
            // F is b.x then, and its mean that of x.
            return Ok(self.model.visible_bias().dot(&examples.means()) + self.model.constant());
        }
        let level = Level::detect();
        let all: Vec<Example<'_>> = (0..examples.len()).map(|k| examples.get(k)).collect();
        let groups = all.par_chunks(GROUP_OF_ROWS);
        let each = groups.flat_map_iter(|group| log_marginals(level, self.layers, group));
        let each: Vec<f64> = each.collect();
        let mean = each.iter().sum::<f64>() / examples.len() as f64 + self.model.constant();
        // A foreign model may have weights that float32 does not hold.
        if mean.is_finite() { Ok(mean) } else { Err(Error::Overflow) }
    }
}

/// A value with its uncertainty.
struct LogZ {
    log_z: f64,
    std_error: f64,
    interval: [f64; 2],
}
