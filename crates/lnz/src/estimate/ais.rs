//! Annealed importance sampling from one start, checked by a quick search for what it may have missed.

use super::anneal::least_seconds;
use super::decided::decided;
use super::{
    Annealed, Annealing, Cost, Details, Effort, Estimate, Estimator, Finding, SecondOpinion,
    anneal, second_opinion,
};
use crate::check::{Measured, Opinion, Weights};
use crate::energy::{check_finite, rounding_of};
use crate::{Deadline, Diagnosis, Error, Observer, Rbm, Result, Sampling, Schedule, Start};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::time::Instant;

/// Annealed importance sampling, as in the paper.
///
/// ```
/// use lnz::{Ais, Estimator, Schedule};
/// let model = lnz::Gwgm::HARDEST.generate(27)?;
/// let found = Ais::along(Schedule::linear(256)?).estimate(&model, &())?;
/// let exact = lnz::exact_log_z(&model, &())?;
/// assert!((found.log_z - exact).abs() < 1.0);
/// # Ok::<(), lnz::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ais {
    /// Where it starts.
    pub start: StartRule,
    /// The betas.
    pub schedule: Schedule,
    /// Chains, seed and precision.
    pub annealing: Annealing,
    /// Exchange the layers: the same Z, a different run.
    pub transpose: bool,
    /// Hold it against a quick search for mass that it may have missed.
    pub check: bool,
}

/// Share of a limited time that the search for missed mass may take.
const SEARCH_SHARE: f64 = 1.0 / 3.0;

/// Seconds for each weight until the chains begin, which nothing interrupts: the weights on a grid for
/// the search, for the start and for the run.
const SECONDS_TO_SET_UP: f64 = 8e-8;
/// Chains may be so many times as fast as predicted.
const FASTER_MACHINES: f64 = 2.0;

/// Share of a limited time that sampling the start may take: the run itself needs more.
const START_SHARE: f64 = 0.25;

/// How the start distribution is found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StartRule {
    /// All states equally likely.
    Uniform,
    /// Means of samples of the model.
    Sampled(Sampling),
    /// It is there already, from means of data for example.
    Given(Start),
}

/// What plain AIS has to tell besides log Z.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AisRun {
    /// The samples, and the estimates along the path.
    pub annealed: Annealed,
    /// Statistics of the samples.
    pub statistics: Estimate,
    /// A limit of time ended the sampling of the start, which is one from fewer steps then.
    pub start_was_cut: bool,
}

impl Ais {
    /// From the means of Gibbs samples, with the paper's number of chains and a search for what the run
    /// may have missed.
    pub fn along(schedule: Schedule) -> Self {
        Self {
            start: StartRule::Sampled(Sampling::default()),
            schedule,
            annealing: Annealing::default(),
            transpose: false,
            check: true,
        }
    }

    /// One run, compared with an opinion that may serve several runs.
    pub fn estimate_against(
        &self,
        opinion: Option<&SecondOpinion>,
        model: &Rbm,
        observer: &dyn Observer,
    ) -> Result<Finding> {
        self.estimate_then(model, observer, || opinion.cloned())
    }

    /// One run, compared with an opinion that is asked for when the run is done.
    fn estimate_then(
        &self,
        model: &Rbm,
        observer: &dyn Observer,
        opinion: impl FnOnce() -> Option<SecondOpinion>,
    ) -> Result<Finding> {
        let model = match self.transpose {
            true => Cow::Owned(model.transposed()?),
            false => Cow::Borrowed(model),
        };
        check_finite(&model)?;
        let rounding = rounding_of(&model);
        let clock = Instant::now();
        let (start, start_was_cut) = self.find_start(&model, observer)?;
        let start_seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let annealed = anneal(&model, &start, &self.schedule, &self.annealing, observer)?;
        let seconds = clock.elapsed().as_secs_f64();
        let opinion = opinion();
        let opinion = opinion.as_ref();
        let statistics = Estimate::from_samples(&annealed.samples);
        let betas = self.schedule.intervals();
        // Fewer chains because of a limit of time are what was asked for.
        let wanted = match annealed.stopped {
            true => annealed.requested,
            false => annealed.samples.len(),
        };
        let mut finding = Finding {
            log_z: statistics.log_z,
            std_error: statistics.std_error.max(rounding),
            interval: [statistics.interval[0] - rounding, statistics.interval[1] + rounding],
            lower_bound: opinion.map(|opinion| opinion.lower_bound),
            proven: None,
            diagnosis: Diagnosis::of_annealing(&statistics, wanted, opinion),
            ess: Some(statistics.ess),
            stopped: annealed.stopped,
            effort: Effort {
                betas: Some(betas),
                chains: Some(self.annealing.chains),
                rounds: None,
                seed: Some(self.annealing.seed),
            },
            cost: Cost {
                chain_steps: Some(annealed.samples.len() as u64 * betas as u64),
                states: None,
                seconds,
                start_seconds: Some(start_seconds),
            },
            details: Details::Ais(Box::new(AisRun { annealed, statistics, start_was_cut })),
        };
        finding.respect_floor();
        Ok(finding)
    }
}

impl Estimator for Ais {
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        if observer.crew().is_some() {
            // Chains may be missing yet; what they are held against can wait, and is computed here.
            let search = || second_opinion(model, self.annealing.seed, observer).ok();
            let found =
                self.estimate_then(model, observer, || self.check.then(search).flatten())?;
            return match observer.cancelled() {
                true => Err(Error::Cancelled { reached: "after annealing".into() }),
                false => Ok(found),
            };
        }
        if let Some(left) = observer.seconds_left() {
            let set_up = SECONDS_TO_SET_UP * model.weights().len() as f64;
            let chains = least_seconds(model, self.schedule.intervals());
            // A probe knows this machine better, but comes after the set-up.
            if set_up + chains / FASTER_MACHINES > left {
                return Err(Error::TooSlow { allowed: left, least: set_up + chains });
            }
        }
        // A search that was stopped, or cannot be made, has no opinion.
        let share = observer.seconds_left().map_or(f64::INFINITY, |left| left * SEARCH_SHARE);
        let search = Deadline::after(share, observer);
        let opinion = match self.check {
            true => second_opinion(model, self.annealing.seed, &search).ok(),
            false => None,
        };
        self.estimate_against(opinion.as_ref(), model, observer)
    }
}

impl Ais {
    /// The start, and whether sampling it was cut short; a crew remembers what was sampled.
    fn find_start(&self, model: &Rbm, observer: &dyn Observer) -> Result<(Start, bool)> {
        let find = || self.start.find(model, self.annealing.seed, observer);
        if observer.crew().is_none() || !matches!(self.start, StartRule::Sampled(_)) {
            return find();
        }
        // Several strategies on one model have starts of their own.
        let rule = short_hash(&format!("{:?} {}", self.start, self.annealing.seed));
        let name = format!("start-{}-{rule}", &model.sha256()[..16]);
        let (bias, was_cut) = decided(observer, &name, || {
            find().map(|(start, was_cut)| (start.bias().to_vec(), was_cut))
        })?;
        Ok((Start::from_bias(bias), was_cut))
    }
}

/// A few letters that tell texts apart.
fn short_hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl StartRule {
    /// The start, and whether sampling it was cut short by a limit of time.
    fn find(&self, model: &Rbm, seed: u64, observer: &dyn Observer) -> Result<(Start, bool)> {
        match self {
            StartRule::Uniform => Ok((Start::uniform(model.visible()), false)),
            StartRule::Sampled(sampling) => {
                Start::sampled_in_time(model, sampling, seed, START_SHARE, observer)
            }
            StartRule::Given(start) => Ok((start.clone(), false)),
        }
    }
}

impl Diagnosis {
    /// Of one annealing run, which had `requested` chains to begin with, with or without the opinion
    /// of a quick search.
    pub fn of_annealing(
        estimate: &Estimate,
        requested: usize,
        opinion: Option<&SecondOpinion>,
    ) -> Self {
        let weights = Weights {
            found: Measured { log_z: estimate.log_z, error: estimate.std_error },
            ess: estimate.ess,
            largest_share: estimate.max_weight_share,
            chains: estimate.chains,
            requested,
        };
        let opinion = opinion.map(|opinion| Opinion {
            lower_bound: opinion.lower_bound,
            trials: opinion.trials.iter().map(|t| (t.family.describe(), t.trial())).collect(),
        });
        Self::of_weights(&weights, opinion.as_ref())
    }
}
