//! Runs of chains for the search and for the estimate: annealed, swept at beta = 1, and the way back.

use crate::chains::{Bridge, Engine, engine};
use crate::math::log_mean_exp;
use crate::path::Path;
use crate::walk::{Population, stay, walk};
use crate::{Error, Observer, Precision, Rbm, Result, Start};
use lnz_kernels::random::{Purpose, Random, stream_seed};
use lnz_kernels::{ChainRange, Flips, GROUP};
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Chains that are resampled together, and that one thread moves.
pub(super) const ISLAND: usize = 64;

/// A state of the visible layer.
pub(super) type State = Vec<bool>;

/// Chains of one model, whose visible layer is annealed.
pub(super) struct Sampler<'a> {
    pub(super) model: &'a Rbm,
    seed: u64,
    observer: &'a dyn Observer,
    /// Runs so far: each has random numbers of its own.
    runs: AtomicU64,
    chain_steps: AtomicU64,
}

/// Where chains ended, with the sample of log Z that each makes.
pub(super) struct Ends {
    pub(super) samples: Vec<f64>,
    pub(super) states: Vec<State>,
}

impl Ends {
    pub(super) fn log_z(&self) -> f64 {
        log_mean_exp(&self.samples)
    }
}

/// A start distribution: products of independent units with their shares.
pub(super) type Mixture = Vec<(Start, f64)>;

impl<'a> Sampler<'a> {
    pub(super) fn new(model: &'a Rbm, seed: u64, observer: &'a dyn Observer) -> Self {
        let (runs, chain_steps) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { model, seed, observer, runs, chain_steps }
    }

    pub(super) fn chain_steps(&self) -> u64 {
        self.chain_steps.load(Ordering::Relaxed)
    }

    /// Anneals islands of chains from a start to the model, resampled or each for itself.
    pub(super) fn anneal(
        &self,
        start: &Mixture,
        betas: &[f64],
        islands: usize,
        resampled: bool,
    ) -> Result<Ends> {
        let engine = self.engine(start);
        let seed = self.next_seed();
        let island = |k: usize| {
            let group = k * ISLAND / GROUP;
            let purpose = Purpose::Anneal;
            let mut walkers =
                engine.walkers(ChainRange { group, chains: ISLAND, seed, purpose }, self.observer);
            walkers.draw_start();
            let mut population = Population::new(ISLAND, engine.path().log_z0());
            if resampled {
                population =
                    population.resampled(Random::stream(seed, Purpose::Resample, k as u64));
            }
            walk(&mut *walkers, &mut population, betas.iter().copied(), |_, _| self.go_on())?;
            let states = (0..ISLAND).map(|chain| as_state(&walkers.state(chain))).collect();
            Some(Ends { samples: population.log_weights, states })
        };
        let parts: Option<Vec<Ends>> = (0..islands).into_par_iter().map(island).collect();
        self.count(islands * ISLAND * (betas.len() - 1));
        let mut ends = Ends { samples: vec![], states: vec![] };
        for part in parts.ok_or_else(stopped)? {
            ends.samples.extend(part.samples);
            ends.states.extend(part.states);
        }
        Ok(ends)
    }

    /// From states of the model back to the start: samples of log Z, too high on average.
    pub(super) fn reverse(
        &self,
        start: &Mixture,
        states: &[State],
        betas: &[f64],
    ) -> Result<Vec<f64>> {
        let engine = self.engine(start);
        let seed = self.next_seed();
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
        let n = self.model.visible();
        let engine = self.engine(&vec![(Start::uniform(n), 1.0)]);
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
            Some((ends.collect::<Vec<State>>(), sums / window as f32))
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

    fn engine(&self, start: &Mixture) -> Box<dyn Engine + '_> {
        let model = Cow::Borrowed(self.model);
        let path = match &start[..] {
            [(start, _)] => Path::new(model, start),
            many => {
                let biases = many.iter().map(|(start, _)| start.bias().clone()).collect();
                let total: f64 = many.iter().map(|(_, share)| share).sum();
                let shares: Vec<f64> = many.iter().map(|(_, share)| share / total).collect();
                Path::from_mixture(model, biases, &shares)
            }
        };
        engine(path, Flips::default(), Precision::I16, Bridge::in_tiles(self.model))
    }

    fn next_seed(&self) -> u64 {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        // Families of the default method have small numbers.
        stream_seed(self.seed, Purpose::Family, (1 << 32) + run)
    }

    fn go_on(&self) -> Option<()> {
        (!self.observer.cancelled()).then_some(())
    }

    fn count(&self, steps: usize) {
        self.chain_steps.fetch_add(steps as u64, Ordering::Relaxed);
    }
}

fn as_state(x: &Array1<f64>) -> State {
    x.iter().map(|&x| x == 1.0).collect()
}

fn stopped() -> Error {
    Error::Cancelled { reached: "while searching for phases".into() }
}

/// Effective number of weights.
pub(super) fn effective(log_weights: &[f64]) -> f64 {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return 0.0;
    }
    let weights = log_weights.iter().map(|w| (w - largest).exp());
    let (sum, squares) = weights.fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    sum * sum / squares
}

/// Systematic resampling: `n` indices in proportion to the weights, of which one is not zero.
pub(super) fn drawn(log_weights: &[f64], n: usize, random: &mut Random) -> Vec<usize> {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_weights.iter().map(|w| (w - largest).exp()).collect();
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
