//! Annealed importance sampling: chains that go from the start distribution to the model.

mod orders;
mod waves;
mod waypoints;

pub(super) use orders::{Betas, KIND, carry_out};
pub(super) use waves::{least_seconds, seconds_per_flip, seconds_per_step};

use crate::chains::{Engine, Held, engine};
use crate::math::log_mean_exp;
use crate::observer::{Observer, Phase, Progress, Steps};
use crate::path::Path;
use crate::walk::{Population, walk};
use crate::{Error, Precision, Rbm, Result, Schedule, Start, memory};
use lnz_kernels::random::Purpose;
use lnz_kernels::{ChainRange, Flips, LARGEST_BLOCK};
use rayon::prelude::*;
use std::borrow::Cow;

/// Settings of an annealing run besides its start and schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annealing {
    /// Number of chains, the paper's N_s.
    pub chains: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Resolution of the fixed-point weights.
    pub precision: Precision,
}

impl Default for Annealing {
    /// The paper's N_s.
    fn default() -> Self {
        Self { chains: 1024, seed: 0, precision: Precision::default() }
    }
}

/// What an annealing run returns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Annealed {
    /// `s_i = log w_i + log Z_0` of every finished chain, in the order of the chains.
    pub samples: Vec<f64>,
    /// Number of chains asked for; more than there are samples if the run was stopped early, or if its
    /// time was over.
    pub requested: usize,
    /// The observer asked to stop, for another reason than that the time was over.
    pub stopped: bool,
    /// The resolution that was used.
    pub precision: Precision,
    /// (beta, estimate of log Z there) at up to 128 betas and at 0, over the finished chains; empty
    /// in floating point, and where a crew has computed the chains.
    pub path: Vec<(f64, f64)>,
}

/// The samples of a block and its group sums at the betas of the path.
type Finished = (Vec<f64>, Vec<Vec<f64>>);

/// Anneals `settings.chains` chains from `start` to `model` along `schedule`.
///
/// Same model, settings and seed: the same bits, whatever the number of threads or the processor.
pub fn anneal(
    model: &Rbm,
    start: &Start,
    schedule: &Schedule,
    settings: &Annealing,
    observer: &dyn Observer,
) -> Result<Annealed> {
    anneal_run(model, start, schedule, settings, observer, |run| {
        let finished = match (observer.crew(), observer.seconds_left()) {
            (Some(crew), _) => orders::finished(run, start, crew)?,
            (None, Some(seconds)) => run.in_waves(seconds)?,
            (None, None) => run.at_once(),
        };
        run.annealed(finished)
    })
}

/// Checks the settings, makes the engine and has a run do something.
fn anneal_run<T>(
    model: &Rbm,
    start: &Start,
    schedule: &Schedule,
    settings: &Annealing,
    observer: &dyn Observer,
    work: impl FnOnce(&Run<'_>) -> Result<T>,
) -> Result<T> {
    if settings.chains == 0 {
        return Err(Error::setting("chains", 0, "at least 1"));
    }
    if start.bias().len() != model.visible() {
        let (found, expected) = (start.bias().len(), model.visible());
        return Err(Error::Width { what: "the start distribution".into(), found, expected });
    }
    check_memory(model, settings.chains)?;
    if observer.cancelled() {
        return Err(Error::Cancelled { reached: "before annealing had begun".into() });
    }
    let path = Path::new(Cow::Borrowed(model), start);
    let engine = engine(path, Flips::default(), &Held::new(model, settings.precision, observer)?);
    let run = Run {
        engine: &*engine,
        schedule,
        settings,
        observer,
        steps: Steps::new(settings.chains as u64 * schedule.intervals() as u64),
    };
    work(&run)
}

/// The weights on a grid both ways and in float64, and the sums of the chains that run at a time.
fn check_memory(model: &Rbm, chains: usize) -> Result<()> {
    let weights = model.weights().len() as f64;
    let units = (model.visible() + model.hidden()) as f64;
    let at_a_time = chains.min(LARGEST_BLOCK * rayon::current_num_threads()) as f64;
    memory::check("annealing", 16.0 * weights + 4.0 * units * at_a_time)
}

struct Run<'a> {
    engine: &'a dyn Engine,
    schedule: &'a Schedule,
    settings: &'a Annealing,
    observer: &'a dyn Observer,
    steps: Steps,
}

impl Run<'_> {
    /// What the finished chains say.
    fn annealed(&self, finished: Vec<Finished>) -> Result<Annealed> {
        let observer = self.observer;
        let (samples, sums): (Vec<_>, Vec<_>) = finished.into_iter().unzip();
        let samples: Vec<f64> = samples.into_iter().flatten().collect();
        if samples.is_empty() {
            let reached = format!(
                "while annealing, {} of {} chain-steps done and no chain at its end",
                self.steps.done(),
                self.steps.total()
            );
            return Err(Error::Cancelled { reached });
        }
        let precision = self.engine.precision();
        let path = match precision {
            Precision::F64 => vec![],
            // Chains that were computed elsewhere have left nothing on the way.
            _ if sums.iter().all(Vec::is_empty) => vec![],
            _ => self.path(&waypoints::along(&sums, samples.len())),
        };
        let requested = self.settings.chains;
        let out_of_time = observer.seconds_left().is_some_and(|left| left <= 0.0);
        let stopped = samples.len() < requested && observer.cancelled() && !out_of_time;
        Ok(Annealed { samples, requested, stopped, precision, path })
    }

    /// The path from the start on: each beta with its value.
    fn path(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let betas = self.schedule.betas().iter().enumerate().skip(1);
        let kept = betas
            .filter(|(step, _)| waypoints::is_kept(*step, self.schedule.intervals()))
            .map(|(_, &beta)| beta);
        let start = (0.0, self.engine.path().log_z0());
        std::iter::once(start).chain(kept.zip(values.iter().copied())).collect()
    }

    /// All chains; only some if the observer asks to stop.
    fn at_once(&self) -> Vec<Finished> {
        self.groups_from(0, self.settings.chains).into_iter().flatten().collect()
    }

    /// Some chains, from a group on; without those that were stopped.
    fn groups_from(&self, first: usize, chains: usize) -> Vec<Option<Finished>> {
        let shares = match self.engine.precision() {
            // Small ones: these chains are slow.
            Precision::F64 => self.engine.share_out(chains),
            _ => {
                let weights = self.engine.path().model().weights().len();
                waves::blocks(chains, self.schedule.intervals(), weights)
            }
        };
        let shares = shares.into_par_iter();
        shares.map(|(group, chains)| self.block(first + group, chains)).collect()
    }

    fn range(&self, group: usize, chains: usize) -> ChainRange {
        ChainRange { group, chains, seed: self.settings.seed, purpose: Purpose::Anneal }
    }

    /// `chains` chains from the start distribution to the model, and what they found on the way.
    fn block(&self, group: usize, chains: usize) -> Option<Finished> {
        // Blocks that have not begun when the observer asks to stop never do.
        self.go_on()?;
        let mut walkers = self.engine.walkers(self.range(group, chains), self.observer);
        walkers.draw_start();
        let mut population = Population::new(chains, self.engine.path().log_z0());
        let (mut step, mut sums) = (0, Vec::new());
        let betas = self.schedule.betas().iter().copied();
        walk(&mut *walkers, &mut population, betas, |beta, population| {
            step += 1;
            if beta < 1.0 && waypoints::is_kept(step, self.schedule.intervals()) {
                sums.push(waypoints::group_sums(&population.log_weights));
            }
            self.report(beta, &population.log_weights)
        })?;
        // The last point has the factor from the rounded to the real weights, too.
        let samples = population.log_weights;
        sums.push(waypoints::group_sums(&samples));
        Some((samples, sums))
    }

    /// Reports a finished step of a block; `None` when the observer wants to stop.
    fn report(&self, beta: f64, samples: &[f64]) -> Option<()> {
        if let Some(done) = self.steps.add_and_report(samples.len() as u64) {
            self.observer.progress(Progress {
                log_z: Some(log_mean_exp(samples)),
                beta: Some(beta),
                ..Progress::new(Phase::Anneal, done, self.steps.total())
            });
        }
        self.go_on()
    }

    /// `None` when the observer wants to stop.
    fn go_on(&self) -> Option<()> {
        (!self.observer.cancelled()).then_some(())
    }
}
