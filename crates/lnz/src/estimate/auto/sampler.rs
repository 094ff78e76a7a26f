//! Runs of chains: annealed from a start, swept at beta = 1, and the way back.

use super::batch::{Batch, as_state, engine_of};
pub(super) use super::batch::{Ends, State, stopped};
use super::marks::Marks;
use super::orders;
use super::tally::Chain;
use crate::chains::{Engine, Held};
use crate::math::{exp, sigmoid};
use crate::walk::{Betas, Population, stay, walk};
use crate::{Observer, Precision, Rbm, Result, Start};
use lnz_kernels::random::{Purpose, Random, stream_seed};
use lnz_kernels::{ChainRange, Flips, GROUP};
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A first state and the kind of guess it is.
pub(super) type Guess = (&'static str, State);

/// States with their log weights.
pub(super) type Pool = Vec<(f64, State)>;

/// States that a trial has found, by weight.
pub(super) struct Source<'a> {
    pub(super) pool: &'a Pool,
    /// What it has found, relative to Z, and the relative error of that.
    pub(super) share: f64,
    pub(super) error: f64,
}

/// Runs chains of one model. Its larger layer is the one that starts are fitted to.
pub(super) struct Sampler<'a> {
    /// The model with its larger layer visible, and with its smaller one.
    pub(super) large: &'a Rbm,
    pub(super) small: &'a Rbm,
    precision: Precision,
    held: Held,
    seed: u64,
    observer: &'a dyn Observer,
    /// Runs so far: each has random numbers of its own.
    runs: AtomicU64,
    chain_steps: AtomicU64,
    /// The hash of the model, once somebody wants it.
    hash: OnceLock<String>,
}

/// An annealing run.
pub(super) struct Run<'a> {
    pub(super) start: &'a Start,
    pub(super) betas: &'a [f64],
    pub(super) chains: usize,
    /// Resampled in islands, or each chain for itself.
    pub(super) resampled: Option<usize>,
    /// The states of the other layer are wanted.
    pub(super) others: bool,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(
        [large, small]: [&'a Rbm; 2],
        precision: Precision,
        seed: u64,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let held = Held::new(large, precision, observer)?;
        let (runs, chain_steps) = (AtomicU64::new(0), AtomicU64::new(0));
        let hash = OnceLock::new();
        Ok(Self { large, small, precision, held, seed, observer, runs, chain_steps, hash })
    }

    /// The same with the layers exchanged.
    pub(super) fn swapped(&self) -> Result<Self> {
        let seed = self.seed.wrapping_add(1);
        Self::new([self.small, self.large], self.precision, seed, self.observer)
    }

    /// Chains of another model.
    pub(super) fn of_part<'b>(
        &self,
        layers: [&'b Rbm; 2],
        seed: u64,
        observer: &'b dyn Observer,
    ) -> Result<Sampler<'b>> {
        Sampler::new(layers, self.precision, seed, observer)
    }

    /// A part of the usual number: models of millions of weights are sampled with a quarter of the chains.
    pub(super) fn fewer(&self, usual: usize) -> usize {
        usual / part_of_effort(self.large)
    }

    pub(super) fn chain_steps(&self) -> u64 {
        self.chain_steps.load(Ordering::Relaxed)
    }

    /// Anneals chains of the larger layer from a start to the model, by sweeps.
    pub(super) fn anneal(&self, run: &Run<'_>) -> Result<Ends> {
        let engine = self.engine(run.start, Flips::default());
        self.run(&*engine, run, 0, self.next_seed())
    }

    /// The same for several runs side by side: each alone may be too small for all threads. A crew has them
    /// one after the other, and divides each.
    pub(super) fn anneal_all(&self, runs: &[Run<'_>]) -> Result<Vec<Ends>> {
        let numbered: Vec<_> = runs.iter().map(|run| (run, self.next_seed())).collect();
        let anneal = |(run, seed): (&Run<'_>, u64)| {
            let engine = self.engine(run.start, Flips::default());
            self.run(&*engine, run, 0, seed)
        };
        match self.observer.crew() {
            None => numbered.into_par_iter().map(anneal).collect(),
            Some(_) => numbered.into_iter().map(anneal).collect(),
        }
    }

    /// The same for chains of which only the marks are wanted.
    pub(super) fn marked_all(
        &self,
        runs: &[Run<'_>],
        marks: &Marks<'_>,
    ) -> Result<Vec<Vec<Chain>>> {
        let numbered: Vec<_> = runs.iter().map(|run| (run, self.next_seed())).collect();
        let chains = |(run, seed): (&Run<'_>, u64)| self.marked(run, 0, seed, marks);
        match self.observer.crew() {
            None => numbered.into_par_iter().map(chains).collect(),
            Some(_) => numbered.into_iter().map(chains).collect(),
        }
    }

    /// The marks of chains with other moves than sweeps alone.
    pub(super) fn marked_flipping(
        &self,
        run: &Run<'_>,
        flips: usize,
        marks: &Marks<'_>,
    ) -> Result<Vec<Chain>> {
        self.marked(run, flips, self.next_seed(), marks)
    }

    fn marked(
        &self,
        run: &Run<'_>,
        flips: usize,
        seed: u64,
        marks: &Marks<'_>,
    ) -> Result<Vec<Chain>> {
        let engine = self.engine(run.start, Flips { visible: flips, hidden: 0 });
        let batch = self.batch(&*engine, run, seed);
        let chains = match orders::marked_by_crew(&batch, run.start, flips, &self.hash, marks) {
            Some(chains) => chains?,
            None => marks.chains(&batch.compute(0..batch.items())?),
        };
        self.count(run.chains * (run.betas.len() - 1));
        Ok(chains)
    }

    /// Anneals chains with other moves than sweeps alone.
    pub(super) fn anneal_flipping(&self, run: &Run<'_>, flips: usize) -> Result<Ends> {
        let engine = self.engine(run.start, Flips { visible: flips, hidden: 0 });
        self.run(&*engine, run, flips, self.next_seed())
    }

    /// One resampled population whose betas follow from its weights.
    pub(super) fn pilot<B>(&self, flips: usize, chains: usize, betas: &mut B) -> Result<Ends>
    where
        for<'b> &'b mut B: Betas,
    {
        let start = Start::uniform(self.large.visible());
        let engine = self.engine(&start, Flips { visible: flips, hidden: 0 });
        let (seed, purpose) = (self.next_seed(), Purpose::Pilot);
        let mut walkers =
            engine.walkers(ChainRange { group: 0, chains, seed, purpose }, self.observer);
        walkers.draw_start();
        let mut population = Population::new(chains, engine.path().log_z0())
            .resampled(Random::stream(seed, Purpose::Resample, 0))
            .with_increments();
        let mut steps = 0;
        let watch = |_: f64, _: &Population| {
            steps += chains;
            self.go_on()
        };
        walk(&mut *walkers, &mut population, &mut *betas, watch).ok_or_else(stopped)?;
        self.count(steps);
        let states = (0..chains).map(|chain| as_state(&walkers.state(chain))).collect();
        Ok(Ends { samples: population.log_weights, states, others: vec![] })
    }

    fn run(&self, engine: &dyn Engine, run: &Run<'_>, flips: usize, seed: u64) -> Result<Ends> {
        let batch = self.batch(engine, run, seed);
        let ends = match orders::by_crew(&batch, run.start, flips, &self.hash) {
            Some(ends) => ends?,
            None => batch.compute(0..batch.items())?,
        };
        self.count(run.chains * (run.betas.len() - 1));
        Ok(ends)
    }

    fn batch<'b>(&self, engine: &'b dyn Engine, run: &Run<'b>, seed: u64) -> Batch<'b>
    where
        'a: 'b,
    {
        let Run { betas, chains, resampled, others, .. } = *run;
        let observer = self.observer;
        Batch { engine, betas, chains, seed, resampled, others, observer }
    }

    /// From states of the model back to starts: samples of log Z, too high on average.
    pub(super) fn reverse_all(
        &self,
        routes: &[(&Start, Vec<State>)],
        betas: &[f64],
    ) -> Result<Vec<Vec<f64>>> {
        let numbered: Vec<_> = routes.iter().map(|route| (route, self.next_seed())).collect();
        let reverse = |((start, states), seed): (&(&Start, Vec<State>), u64)| {
            self.reverse(start, states, betas, seed)
        };
        numbered.into_par_iter().map(reverse).collect()
    }

    fn reverse(
        &self,
        start: &Start,
        states: &[State],
        betas: &[f64],
        seed: u64,
    ) -> Result<Vec<f64>> {
        let engine = self.engine(start, Flips::default());
        let block = |(group, chains): (usize, usize)| {
            let purpose = Purpose::Reverse;
            let mut walkers =
                engine.walkers(ChainRange { group, chains, seed, purpose }, self.observer);
            walkers.set_states(&mut |chain, i| states[group * GROUP + chain][i]);
            let mut population = Population::new(chains, 0.0);
            let back = betas.iter().rev().copied();
            walk(&mut *walkers, &mut population, back, |_, _| self.go_on())?;
            let log_z0 = engine.path().log_z0();
            Some(population.log_weights.iter().map(|w| log_z0 - w).collect::<Vec<f64>>())
        };
        let parts: Option<Vec<Vec<f64>>> =
            engine.share_out(states.len()).into_par_iter().map(block).collect();
        self.count(states.len() * (betas.len() - 1));
        Ok(parts.ok_or_else(stopped)?.concat())
    }

    /// Sweeps of the model from the given states: where they end, and the means of each chain over the
    /// last `window` sweeps.
    pub(super) fn sweep(
        &self,
        states: &[State],
        sweeps: usize,
        window: usize,
    ) -> Result<(Vec<State>, Array2<f32>)> {
        let n = self.large.visible();
        let engine = self.engine(&Start::uniform(n), Flips::default());
        let seed = self.next_seed();
        let block = |(group, chains): (usize, usize)| {
            let purpose = Purpose::Start;
            let mut walkers =
                engine.walkers(ChainRange { group, chains, seed, purpose }, self.observer);
            walkers.set_states(&mut |chain, i| states[group * GROUP + chain][i]);
            stay(&mut *walkers, 1.0, sweeps - window, || self.go_on())?;
            let mut sums = Array2::<f32>::zeros((chains, n));
            for _ in 0..window {
                stay(&mut *walkers, 1.0, 1, || self.go_on())?;
                for (chain, mut sums) in sums.rows_mut().into_iter().enumerate() {
                    sums.zip_mut_with(&walkers.state(chain), |sum, &x| *sum += x as f32);
                }
            }
            let ends = (0..chains).map(|chain| as_state(&walkers.state(chain)));
            Some((ends.collect::<Vec<State>>(), sums / window.max(1) as f32))
        };
        let parts: Option<Vec<_>> =
            engine.share_out(states.len()).into_par_iter().map(block).collect();
        self.count(states.len() * sweeps);
        let (mut ends, mut means) = (Vec::new(), Vec::new());
        for (states, part) in parts.ok_or_else(stopped)? {
            ends.extend(states);
            means.extend(part);
        }
        let means = Array2::from_shape_vec((states.len(), n), means);
        Ok((ends, means.unwrap_or_else(|_| Array2::zeros((0, n)))))
    }

    /// Draws the other layer given states of the larger one.
    pub(super) fn other_layer(&self, state: &State, random: &mut Random) -> State {
        let x: Array1<f64> = state.iter().map(|&on| f64::from(on)).collect();
        self.large.hidden_input(x.view()).iter().map(|&a| random.happens(sigmoid(a))).collect()
    }

    fn engine(&self, start: &Start, flips: Flips) -> Box<dyn Engine + '_> {
        engine_of(self.large, start, flips, &self.held)
    }

    /// A name for the model that is sampled.
    pub(super) fn short_hash(&self) -> &str {
        &self.hash.get_or_init(|| self.large.sha256())[..16]
    }

    /// Random numbers of their own.
    pub(super) fn random(&self) -> Random {
        Random::stream(self.next_seed(), Purpose::Modes, 0)
    }

    fn next_seed(&self) -> u64 {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        stream_seed(self.seed, Purpose::Family, run)
    }

    fn go_on(&self) -> Option<()> {
        (!self.observer.cancelled()).then_some(())
    }

    fn count(&self, steps: usize) {
        self.chain_steps.fetch_add(steps as u64, Ordering::Relaxed);
    }
}

/// Weights of a model that is large.
const LARGE: usize = 2_000_000;

/// By how much the effort is divided.
pub(super) fn part_of_effort(model: &Rbm) -> usize {
    if model.weights().len() > LARGE { 4 } else { 1 }
}

/// Effective number of weights.
pub(super) fn effective(log_weights: &[f64]) -> f64 {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return 0.0;
    }
    let weights = log_weights.iter().map(|w| exp(w - largest));
    let (sum, squares) = weights.fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    sum * sum / squares
}

/// Systematic resampling: `n` indices in proportion to the weights, of which one is not zero.
pub(super) fn drawn(log_weights: &[f64], n: usize, random: &mut Random) -> Vec<usize> {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_weights.iter().map(|w| exp(w - largest)).collect();
    let (total, offset) = (weights.iter().sum::<f64>(), random.uniform());
    let (mut sum, mut k) = (weights[0], 0);
    let index = |i: usize| {
        let target = (i as f64 + offset) * total / n as f64;
        while sum <= target && k + 1 < weights.len() {
            k += 1;
            sum += weights[k];
        }
        k
    };
    (0..n).map(index).collect()
}
