//! Runs one family of starts on one model: islands forward, and the reverse run.

use super::core::pack;
use super::family::{Family, Island, IslandPlace, Reverse};
use super::recipe::Recipe;
use crate::chains::{Bridge, Engine, Walkers, engine};
use crate::math::{log_mean_exp, sigmoid};
use crate::observer::Observer;
use crate::walk::{Population, stay, walk};
use crate::{Precision, Rbm};
use lnz_kernels::ChainRange;
use lnz_kernels::random::{Purpose, Random, stream_seed};
use ndarray::Array1;

/// Sweeps of the model before chains go back.
const SWEEPS_BEFORE_REVERSE: usize = 50;

/// One family, ready to run on one model.
pub(super) struct Annealer {
    pub(super) family: Family,
    pub(super) engine: Box<dyn Engine>,
    /// The transitions are Gibbs sweeps alone.
    pub(super) gibbs_alone: bool,
    resamples: bool,
    /// The smaller layer is the hidden one.
    pub(super) small_is_hidden: bool,
}

impl Annealer {
    pub(super) fn new(recipe: Recipe, precision: Precision) -> Self {
        let bridge = Bridge::RowByRow { keeps_inputs: recipe.small_is_hidden };
        Self {
            family: recipe.family,
            engine: engine(recipe.path, recipe.flips, precision, bridge),
            gibbs_alone: recipe.flips.visible + recipe.flips.hidden == 0,
            resamples: recipe.resamples,
            small_is_hidden: recipe.small_is_hidden,
        }
    }

    /// How much larger islands must be than those of independent chains.
    pub(super) fn chains_factor(&self) -> usize {
        if self.resamples { 2 } else { 1 }
    }

    pub(super) fn model(&self) -> &Rbm {
        self.engine.path().model()
    }

    /// The seed of this family's random numbers.
    pub(super) fn seed(&self, seed: u64) -> u64 {
        stream_seed(seed, Purpose::Family, self.family as u64)
    }

    /// Chains that follow the start distribution.
    pub(super) fn walkers<'a>(
        &'a self,
        range: ChainRange,
        observer: &'a dyn Observer,
    ) -> Box<dyn Walkers + 'a> {
        let mut walkers = self.engine.walkers(range, observer);
        walkers.draw_start();
        walkers
    }

    /// Independent chains (or one resampled population) along `betas`.
    pub(super) fn island(
        &self,
        betas: &[f64],
        place: IslandPlace,
        observer: &dyn Observer,
    ) -> Option<Island> {
        let IslandPlace { index, group, chains, seed, purpose } = place;
        let seed = self.seed(seed);
        let mut walkers = self.walkers(ChainRange { group, chains, seed, purpose }, observer);
        let random = resampling(seed, purpose, index as u64);
        let mut population = Population::new(chains, self.engine.path().log_z0());
        if self.resamples {
            population = population.resampled(random.clone());
        }
        walk(&mut *walkers, &mut population, betas.iter().copied(), |_, _| go_on(observer))?;
        let (samples, left) = population.into_parts();
        let states = self.small_states(&*walkers, &mut left.unwrap_or(random));
        Some(Island { samples, states: states.iter().map(|state| pack(state)).collect() })
    }

    /// log Z from chains that go the other way: from states of the smaller layer, after some sweeps of
    /// the model, to the start distribution. Too high on average if they begin in equilibrium.
    pub(super) fn reverse(
        &self,
        betas: &[f64],
        states: &[Vec<bool>],
        seed: u64,
        observer: &dyn Observer,
    ) -> Option<Reverse> {
        let (chains, purpose) = (states.len(), Purpose::Reverse);
        let mut random = Random::stream(seed, purpose, u64::MAX);
        let first: Vec<Vec<bool>> = match self.small_is_hidden {
            false => states.to_vec(),
            true => states.iter().map(|h| self.draw_visible(h, &mut random)).collect(),
        };
        let mut walkers = self.walkers(ChainRange { group: 0, chains, seed, purpose }, observer);
        walkers.set_states(&mut |chain, i| first[chain][i]);
        stay(&mut *walkers, 1.0, SWEEPS_BEFORE_REVERSE, || go_on(observer))?;
        let mut population = Population::new(chains, 0.0);
        let back = betas.iter().rev().copied();
        walk(&mut *walkers, &mut population, back, |_, _| go_on(observer))?;
        let mean = log_mean_exp(&population.log_weights);
        let squares: f64 = population.log_weights.iter().map(|w| (2.0 * (w - mean)).exp()).sum();
        let n = chains as f64;
        Some(Reverse {
            log_z: self.engine.path().log_z0() - mean,
            relative_error: ((squares / n - 1.0).max(0.0) / n).sqrt(),
        })
    }

    /// Draws the visible layer given the hidden one.
    fn draw_visible(&self, h: &[bool], random: &mut Random) -> Vec<bool> {
        let h: Array1<f64> = h.iter().map(|&on| f64::from(on)).collect();
        let input = self.model().visible_input(h.view());
        input.iter().map(|&v| random.happens(sigmoid(v))).collect()
    }

    /// The state of the smaller layer of each chain at the model. A hidden layer is drawn from the real
    /// model, so that the part of the weights outside the core is unbiased.
    pub(super) fn small_states(
        &self,
        walkers: &dyn Walkers,
        random: &mut Random,
    ) -> Vec<Vec<bool>> {
        let state = |chain: usize| match self.small_is_hidden {
            true => {
                let inputs = walkers.model_inputs(chain);
                inputs.iter().map(|&a| random.happens(sigmoid(a))).collect()
            }
            false => walkers.state(chain).iter().map(|&x| x == 1.0).collect(),
        };
        (0..walkers.chains()).map(state).collect()
    }
}

/// The random numbers with which a population is resampled.
pub(super) fn resampling(seed: u64, purpose: Purpose, index: u64) -> Random {
    Random::stream(stream_seed(seed, purpose, 0), Purpose::Resample, index)
}

/// `None` when the observer wants to stop.
pub(super) fn go_on(observer: &dyn Observer) -> Option<()> {
    (!observer.cancelled()).then_some(())
}
