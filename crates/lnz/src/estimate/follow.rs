//! log Z along a sequence of models, such as the checkpoints of a training run: each is reached from the
//! last one by a bridge.
//!
//! Chains that follow a model are led to the next one and back, along the straight line between their
//! parameters. The work of both directions together gives the ratio of the partition functions (Bennett's
//! acceptance ratio); how far the directions are apart says whether the bridge holds. The chains are carried
//! along in islands that do not know of each other, so that errors add up as they do in truth.

mod span;
#[cfg(test)]
mod tests;

pub use span::Span;

use super::auto::student_95;
use super::statistics::jackknife_error;
use super::tempering::sample;
use crate::chains::{Between, Walkers};
use crate::observer::{Observer, Phase, Progress, Steps};
use crate::walk::{Population, stay, walk};
use crate::{Error, Precision, Rbm, Result, Tempering, Verdict, memory};
use lnz_kernels::random::{Purpose, Random, stream_seed};
use lnz_kernels::{ChainRange, GROUP};
use rayon::prelude::*;
use span::Work;

/// Settings of bridges along a sequence of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Following {
    /// Chains that are carried along: a multiple of 256, so that 16 islands have whole groups of 16.
    pub chains: usize,
    /// Sweeps of each model, once the chains have arrived there.
    pub sweeps: usize,
    /// Models on the way from one to the next at most; as many are taken as the bridge needs.
    pub most_betas: usize,
    /// Resolution of the weights that the chains see.
    pub precision: Precision,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Following {
    fn default() -> Self {
        Self {
            chains: 1024,
            // As long as half of a short bridge.
            sweeps: 32,
            // A bridge that needs more costs as much as an independent estimate.
            most_betas: 256,
            // The chains are to follow the models themselves: 16 bits would need a factor at every model.
            precision: Precision::I32,
            seed: 0,
        }
    }
}

impl Following {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<()> {
        if self.chains == 0 || !self.chains.is_multiple_of(ISLANDS * GROUP) {
            return Err(Error::setting("chains", self.chains, "a multiple of 256"));
        }
        if self.most_betas < 2 {
            return Err(Error::setting("betas", self.most_betas, "at least 2"));
        }
        Ok(())
    }
}

/// Islands of chains: an error from 16 of them is itself known to a fifth.
const ISLANDS: usize = 16;
/// Models on the way for the first bridge.
const FIRST_BETAS: usize = 8;
/// No fewer later on.
const LEAST_BETAS: usize = 4;
/// Bytes of models that are kept at a time.
const BYTES_OF_RUNGS: usize = 1 << 28;
/// Standard error of log Z at which the ladders that draw the first states may end, and their rounds at most:
/// an independent estimate says how good the chains are that begin there.
const FIRST_ERROR: f64 = 0.1;
const FIRST_ROUNDS: usize = 8;

/// A visible state.
type State = Vec<bool>;

/// Chains that follow one model after the other, and the way that they have come.
#[derive(Debug, Clone)]
pub struct Follower {
    settings: Following,
    model: Rbm,
    islands: Vec<Vec<State>>,
    first_states: Verdict,
    /// Models on the way of the next bridge.
    betas: usize,
    /// Walks so far: each has random numbers of its own.
    walks: u64,
    /// log Z of the present model less that of the first, and the same without each island.
    log_ratio: f64,
    without: Vec<f64>,
}

impl Follower {
    /// Chains that follow a model, drawn by parallel tempering.
    pub fn begin(model: Rbm, settings: &Following, observer: &dyn Observer) -> Result<Self> {
        settings.check()?;
        let weights = model.weights().len() as f64;
        let units = (model.visible() + model.hidden()) as f64;
        let rungs = (8.0 * weights).max(BYTES_OF_RUNGS as f64);
        memory::check("a bridge", rungs + 8.0 * weights + 4.0 * units * settings.chains as f64)?;
        let Following { chains, seed, precision, .. } = *settings;
        let (target_error, rounds) = (FIRST_ERROR, FIRST_ROUNDS);
        let tempering = Tempering { seed, precision, target_error, rounds, ..Tempering::default() };
        let samples = sample(&model, chains, &tempering, observer)?;
        // Neighbours come from different ladders: an island takes those of its own ladders.
        let state = |k: usize| samples.visible.row(k).iter().map(|&x| x == 1).collect::<State>();
        let island = |i: usize| (i..chains).step_by(ISLANDS).map(state).collect();
        let islands = (0..ISLANDS).map(island).collect();
        Ok(Self::in_states(islands, samples.diagnosis().verdict, model, settings))
    }

    fn in_states(
        islands: Vec<Vec<State>>,
        first_states: Verdict,
        model: Rbm,
        settings: &Following,
    ) -> Self {
        Self {
            settings: *settings,
            model,
            islands,
            first_states,
            betas: FIRST_BETAS.min(settings.most_betas),
            walks: 0,
            log_ratio: 0.0,
            without: vec![0.0; ISLANDS],
        }
    }

    /// How far the states can be trusted that the chains began in.
    pub fn first_states(&self) -> Verdict {
        self.first_states
    }

    /// log Z of the present model less that of the first one.
    pub fn log_ratio(&self) -> f64 {
        self.log_ratio
    }

    /// Its standard error: from the islands, each with the whole way that it has come, so that what one
    /// bridge hands on to the next counts as often as it should.
    pub fn std_error(&self) -> f64 {
        jackknife_error(&self.without)
    }

    /// Half of the 95% interval around it.
    pub fn reach(&self) -> f64 {
        student_95(ISLANDS as f64 - 1.0) * self.std_error()
    }

    /// Leads the chains to the next model and back, on as many models between as it takes. They then follow
    /// the next one.
    pub fn follow(&mut self, next: Rbm, observer: &dyn Observer) -> Result<Span> {
        let shape = |model: &Rbm| (model.visible(), model.hidden());
        if shape(&next) != shape(&self.model) {
            let ((m, n), (next_m, next_n)) = (shape(&self.model), shape(&next));
            let found = format!("{next_m} x {next_n} after {m} x {n}");
            return Err(Error::setting("models", found, "the same number of units in each"));
        }
        let (mut betas, mut chain_steps) = (self.betas, 0);
        loop {
            let path: Vec<f64> = (0..=betas).map(|k| k as f64 / betas as f64).collect();
            let back: Vec<f64> = path.iter().rev().copied().collect();
            let mut islands = self.islands.clone();
            let there = self.lead(&next, &path, &mut islands, observer)?;
            let mut led_back = islands.clone();
            let back = self.lead(&next, &back, &mut led_back, observer)?;
            let constant = next.constant() - self.model.constant();
            chain_steps += self.settings.chains as u64 * (2 * betas + self.settings.sweeps) as u64;
            let mut span = Span::new(&Work { there, back, constant }, betas);
            let most = self.settings.most_betas;
            if let Some(more) = span.wants(most) {
                betas = more;
                continue;
            }
            span.chain_steps = chain_steps;
            self.betas = span.enough().clamp(LEAST_BETAS.min(most), most);
            self.log_ratio += span.log_ratio;
            self.without.iter_mut().zip(&span.without).for_each(|(sum, more)| *sum += more);
            (self.islands, self.model) = (islands, next);
            return Ok(span);
        }
    }

    /// Leads all islands along the betas between the present model and the next one; the log weights of
    /// their chains. Where the way ends at the next model, chains are drawn anew by weight and swept there.
    fn lead(
        &mut self,
        next: &Rbm,
        betas: &[f64],
        islands: &mut [Vec<State>],
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<f64>>> {
        let Following { chains, sweeps, precision, seed, .. } = self.settings;
        let seed = stream_seed(seed, Purpose::Trial, self.walks);
        self.walks += 1;
        let per_island = chains / ISLANDS;
        let mut populations: Vec<Population> =
            (0..ISLANDS).map(|_| Population::new(per_island, 0.0)).collect();
        let steps = Steps::new((chains * (betas.len() - 1)) as u64);
        for window in windows(betas, next) {
            let path = Between::new(&self.model, next, window, precision, observer)?;
            let led = islands.par_iter_mut().zip(&mut populations).enumerate().map(
                |(island, (states, population))| {
                    let group = island * per_island / GROUP;
                    let purpose = Purpose::Anneal;
                    let range = ChainRange { group, chains: per_island, seed, purpose };
                    let mut walkers = path.walkers(range, window[0], observer);
                    walkers.set_states(&mut |chain, i| states[chain][i]);
                    let betas = window.iter().copied();
                    walk(&mut walkers, population, betas, |beta, _| {
                        if let Some(done) = steps.add_and_report(per_island as u64) {
                            let news = Progress::new(Phase::Anneal, done, steps.total());
                            observer.progress(Progress { beta: Some(beta), ..news });
                        }
                        (!observer.cancelled()).then_some(())
                    })?;
                    let weights = population.log_weights.clone();
                    if window.ends_with(&[1.0]) {
                        let mut random = Random::stream(seed, Purpose::Resample, island as u64);
                        population.resample(&mut walkers, &mut random);
                        stay(&mut walkers, 1.0, sweeps, || (!observer.cancelled()).then_some(()))?;
                    }
                    for (k, state) in states.iter_mut().enumerate() {
                        *state = walkers.state(k).iter().map(|&x| x == 1.0).collect();
                    }
                    population.log_weights = weights;
                    Some(())
                },
            );
            led.collect::<Option<Vec<()>>>().ok_or_else(|| Error::Cancelled {
                reached: "between two models of the sequence".into(),
            })?;
        }
        Ok(populations.into_iter().map(|population| population.log_weights).collect())
    }
}

/// Parts of a way, each of which begins where the last one ends; the models of one are kept at a time.
fn windows<'b>(betas: &'b [f64], model: &Rbm) -> Vec<&'b [f64]> {
    // Weights of four bytes, both ways round.
    let bytes = 8 * model.weights().len().max(1);
    let steps = (BYTES_OF_RUNGS / bytes).max(1);
    let last = betas.len() - 1;
    let window = |first: usize| &betas[first..=(first + steps).min(last)];
    (0..last).step_by(steps).map(window).collect()
}
