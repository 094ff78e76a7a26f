//! The families of starts, each on the fast kernels.
//!
//! Every one of them is unbiased, and each is confidently too low on models where another is right:
//! - modes: a mixture of independent units around the best modes, on the larger layer, with flips;
//! - means: the paper's start, from the means of parallel Gibbs chains, on the larger layer; once for
//!   chains from random states, once for chains from the mean-field state;
//! - flips: the uniform start on the smaller layer, with single-unit flips and resampling.

use super::core::pack;
use super::population::{Population, standard_deviation};
use crate::kernel::{Block, Fixed, FixedModel, Flips, GROUP, Landscape, Level, Path, Place};
use crate::kernel::{Position, Resolution};
use crate::math::{log_mean_exp, log_sum_exp, sigmoid, softplus};
use crate::observer::Observer;
use crate::random::{Purpose, Random, stream_seed};
use crate::{Rbm, Start};
use ndarray::Array1;
use serde::Serialize;

/// A way to anneal a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// From a mixture around the best modes.
    Modes,
    /// From the means of the visible units.
    Means,
    /// From the means of chains that begin at the mean-field state.
    #[serde(rename = "mean_field")]
    MeanField,
    /// From the uniform distribution of the smaller layer, with flips and resampling.
    Flips,
}

impl Family {
    /// Where it starts, after "from".
    pub fn describe(self) -> &'static str {
        match self {
            Family::Modes => "the modes",
            Family::Means => "the means",
            Family::MeanField => "the means around the mean-field state",
            Family::Flips => "the uniform distribution with flips",
        }
    }
}

/// One family, ready to run on one model.
pub(super) struct Annealer<T: Fixed> {
    pub(super) family: Family,
    /// The model, with the layer that is annealed as the visible one.
    model: Rbm,
    fixed: FixedModel<T>,
    path: Path,
    /// B of a path with one start, as the kernels see it.
    start: Option<Array1<f64>>,
    /// What turns a log weight into a sample of log Z.
    log_start: f64,
    flips: Flips,
    resamples: bool,
    /// The smaller layer is the hidden one.
    small_is_hidden: bool,
}

/// The families behind one face, whatever their resolution.
pub(super) trait Anneals: Sync {
    fn family(&self) -> Family;
    /// How much larger islands must be than those of independent chains.
    fn chains_factor(&self) -> usize;
    /// A run with resampling that finds its own schedule.
    fn pilot(&self, seed: u64, observer: &dyn Observer) -> Option<Pilot>;
    /// log Z from chains that go the other way: from states of the smaller layer, after some sweeps of
    /// the model, to the start distribution. Too high on average if they begin in equilibrium.
    fn reverse(
        &self,
        betas: &[f64],
        states: &[Vec<bool>],
        seed: u64,
        observer: &dyn Observer,
    ) -> Option<Reverse>;
    /// Independent chains (or one resampled population) along `betas`.
    fn island(&self, betas: &[f64], place: IslandPlace, observer: &dyn Observer) -> Option<Island>;
}

/// Which random numbers an island uses, and how many chains it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandPlace {
    pub(super) index: usize,
    pub(super) chains: usize,
    pub(super) seed: u64,
    pub(super) purpose: Purpose,
}

/// What the pilot found.
pub(super) struct Pilot {
    /// The betas it went through, and the standard deviation of d log gamma / d beta between them.
    pub(super) betas: Vec<f64>,
    pub(super) spread: Vec<f64>,
    /// Last states of the smaller layer.
    pub(super) states: Vec<Vec<bool>>,
}

/// log Z from the other end, and the relative error of Z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reverse {
    pub(super) log_z: f64,
    pub(super) relative_error: f64,
}

/// What an island found: a sample of log Z for each chain, and its state of the smaller layer.
pub(super) struct Island {
    pub(super) samples: Vec<f64>,
    pub(super) states: Vec<Vec<u64>>,
}

/// Modes in the mixture.
const COMPONENTS: usize = 16;
/// Largest |B| of a component.
const LARGEST_BIAS: f64 = 3.0;
/// Shares of the components: by weight, equal, and of the uniform component.
const SHARES: [f64; 3] = [0.5, 0.35, 0.15];
/// Particles of a pilot.
const PARTICLES: usize = 64;
/// Intervals of a pilot at most.
const PILOT_STEPS: usize = 400;
/// Sweeps of the model before chains go back.
const SWEEPS_BEFORE_REVERSE: usize = 50;
/// Flips per step at most: each costs as much as many units of a Gibbs step.
const MOST_FLIPS: usize = 6;

/// The modes family; `large` has the larger layer visible, `landscape` is of the smaller one.
pub(super) fn modes_family(
    large: &Rbm,
    landscape: &Landscape,
    modes: &[Position],
) -> Option<Box<dyn Anneals>> {
    let best = &modes[..modes.len().min(COMPONENTS)];
    let heights: Vec<f64> = best.iter().map(Position::height).collect();
    let log_total = log_sum_exp(&heights);
    let mut biases: Vec<Array1<f64>> = best
        .iter()
        .map(|m| landscape.inputs(m).mapv(|a| a.clamp(-LARGEST_BIAS, LARGEST_BIAS)))
        .collect();
    let mut shares: Vec<f64> = heights
        .iter()
        .map(|h| SHARES[0] * (h - log_total).exp() + SHARES[1] / best.len() as f64)
        .collect();
    biases.push(Array1::zeros(large.visible()));
    shares.push(SHARES[2]);
    let log_start = large.hidden() as f64 * std::f64::consts::LN_2 - (biases.len() as f64).ln();
    let hidden = large.hidden().div_ceil(10).min(MOST_FLIPS);
    annealer(Recipe {
        family: Family::Modes,
        model: large,
        start: None,
        mixture: Some((biases, shares)),
        log_start,
        flips: Flips { visible: 0, hidden },
        resamples: false,
        small_is_hidden: true,
    })
}

/// The means family (or its mean-field twin), from a start distribution of the visible layer.
pub(super) fn means_family(
    family: Family,
    model: &Rbm,
    start: &Start,
    small_is_hidden: bool,
) -> Option<Box<dyn Anneals>> {
    let start = start.as_float32();
    annealer(Recipe {
        family,
        model,
        log_start: start.log_z0(model.hidden()),
        start: Some(start.bias().clone()),
        mixture: None,
        flips: Flips::default(),
        resamples: false,
        small_is_hidden,
    })
}

/// The flips family; `small` has the smaller layer visible.
pub(super) fn flips_family(small: &Rbm) -> Option<Box<dyn Anneals>> {
    let start = Start::uniform(small.visible());
    let visible = small.visible().div_ceil(10).clamp(2, MOST_FLIPS);
    annealer(Recipe {
        family: Family::Flips,
        model: small,
        log_start: start.log_z0(small.hidden()),
        start: Some(start.bias().clone()),
        mixture: None,
        flips: Flips { visible, hidden: 0 },
        resamples: true,
        small_is_hidden: false,
    })
}

struct Recipe<'a> {
    family: Family,
    model: &'a Rbm,
    start: Option<Array1<f64>>,
    mixture: Option<(Vec<Array1<f64>>, Vec<f64>)>,
    log_start: f64,
    flips: Flips,
    resamples: bool,
    small_is_hidden: bool,
}

/// On 16 bits where they are fine enough, else on 32; `None` beyond the range of float32.
fn annealer(recipe: Recipe<'_>) -> Option<Box<dyn Anneals>> {
    match Resolution::of::<i16>(recipe.model) {
        Some(grid) if grid.is_fine() => Some(Box::new(Annealer::<i16>::new(recipe, grid))),
        _ => {
            let grid = Resolution::of::<i32>(recipe.model)?;
            Some(Box::new(Annealer::<i32>::new(recipe, grid)))
        }
    }
}

impl<T: Fixed> Annealer<T> {
    fn new(recipe: Recipe<'_>, grid: Resolution) -> Self {
        let fixed = FixedModel::<T>::new(recipe.model, grid);
        let path = match (recipe.mixture, &recipe.start) {
            (Some((biases, shares)), _) => Path::mixture(&fixed, &biases, shares),
            (None, Some(start)) => Path::single(&fixed, start.view()),
            (None, None) => Path::single(&fixed, Array1::zeros(recipe.model.visible()).view()),
        };
        Self {
            family: recipe.family,
            model: recipe.model.clone(),
            fixed,
            path,
            start: recipe.start,
            log_start: recipe.log_start + recipe.model.constant(),
            flips: recipe.flips,
            resamples: recipe.resamples,
            small_is_hidden: recipe.small_is_hidden,
        }
    }

    fn block(&self, group: usize, chains: usize, seed: u64, purpose: Purpose) -> Block<'_, T> {
        let place = Place { group, chains, seed, purpose };
        let mut block = Block::new(&self.fixed, &self.path, self.flips, Level::detect(), place);
        block.draw_start();
        block
    }

    /// From the end of the path on the grid to the real model, right after a hidden step; and the
    /// hidden inputs of the real model.
    fn log_bridge(&self, block: &Block<'_, T>, chain: usize) -> (f64, Array1<f64>) {
        let x = block.state(chain);
        let a = self.model.hidden_input(x.view());
        let start = self.start.as_ref().map_or(0.0, |start| start.dot(&x));
        let end = self.model.visible_bias().dot(&x) + a.iter().map(|&a| softplus(a)).sum::<f64>();
        (end - (start + block.log_end(chain)), a)
    }

    /// Draws the visible layer given the hidden one.
    fn draw_visible(&self, h: &[bool], random: &mut Random) -> Vec<bool> {
        let h: Array1<f64> = h.iter().map(|&on| f64::from(on)).collect();
        let input = self.model.visible_input(h.view());
        input.iter().map(|&v| random.happens(sigmoid(v))).collect()
    }

    /// Exchanges the end of the path, on the grid, for the real model, after the last hidden step; and
    /// the state of the smaller layer of each chain, drawn from the real model too, so that the part
    /// of the weights outside the core is unbiased.
    fn finish(&self, block: &Block<'_, T>, population: &mut Population) -> Vec<Vec<u64>> {
        let mut states = Vec::with_capacity(population.samples.len());
        for (chain, sample) in population.samples.iter_mut().enumerate() {
            let (gain, a) = self.log_bridge(block, chain);
            *sample += gain;
            states.push(match self.small_is_hidden {
                true => {
                    let h: Vec<bool> =
                        a.iter().map(|&a| population.random.happens(sigmoid(a))).collect();
                    pack(&h)
                }
                false => block.visible().packed(chain),
            });
        }
        states
    }
}

impl<T: Fixed> Anneals for Annealer<T> {
    fn family(&self) -> Family {
        self.family
    }

    fn chains_factor(&self) -> usize {
        if self.resamples { 2 } else { 1 }
    }

    fn pilot(&self, seed: u64, observer: &dyn Observer) -> Option<Pilot> {
        let purpose = Purpose::Pilot;
        let seed = stream_seed(seed, Purpose::Family, self.family as u64);
        let mut block = self.block(0, PARTICLES, seed, purpose);
        let mut population = Population::new(PARTICLES, self.log_start, seed, purpose, 0);
        let (mut betas, mut spread) = (vec![0.0], Vec::new());
        let mut beta = 0.0;
        let mut width: f64 = 1e-4;
        while beta < 1.0 {
            if observer.cancelled() {
                return None;
            }
            let next = if beta + width > 0.9999 { 1.0 } else { beta + width };
            let mut gains = vec![0.0; PARTICLES];
            block.hidden_step(beta, next, &mut gains);
            let deviation = standard_deviation(&gains) / (next - beta);
            betas.push(next);
            spread.push(deviation);
            population.add(&gains);
            if next < 1.0 {
                population.resample_if_needed(&mut block);
                block.visible_step(next);
            }
            beta = next;
            // Half a unit of log w per step, but small steps at the start, where things change by
            // factors of beta, and no more steps than allowed.
            let steps_left = PILOT_STEPS.saturating_sub(spread.len()).max(1);
            let least =
                if 2 * spread.len() > PILOT_STEPS { (1.0 - beta) / steps_left as f64 } else { 0.0 };
            width = (0.5 / deviation.max(1e-9)).min((0.25 * beta).clamp(1e-4, 0.02)).max(least);
        }
        let units = if self.small_is_hidden { self.model.hidden() } else { self.model.visible() };
        let states = self
            .finish(&block, &mut population)
            .iter()
            .map(|words| (0..units).map(|i| words[i / 64] >> (i % 64) & 1 == 1).collect())
            .collect();
        Some(Pilot { betas, spread, states })
    }

    fn reverse(
        &self,
        betas: &[f64],
        states: &[Vec<bool>],
        seed: u64,
        observer: &dyn Observer,
    ) -> Option<Reverse> {
        let chains = states.len();
        let mut random = Random::stream(seed, Purpose::Reverse, u64::MAX);
        let first: Vec<Vec<bool>> = match self.small_is_hidden {
            false => states.to_vec(),
            true => states.iter().map(|h| self.draw_visible(h, &mut random)).collect(),
        };
        let mut block = self.block(0, chains, seed, Purpose::Reverse);
        block.set_states(|chain, i| first[chain][i]);
        let mut log_weights = vec![0.0; chains];
        for _ in 0..SWEEPS_BEFORE_REVERSE {
            block.hidden_step(1.0, 1.0, &mut log_weights);
            block.visible_step(1.0);
        }
        log_weights.fill(0.0);
        for (k, step) in betas.windows(2).rev().enumerate() {
            if observer.cancelled() {
                return None;
            }
            block.hidden_step(step[1], step[0], &mut log_weights);
            if k == 0 {
                // From the real model to the one on the grid.
                for (chain, log_weight) in log_weights.iter_mut().enumerate() {
                    *log_weight -= self.log_bridge(&block, chain).0;
                }
            }
            if step[0] > 0.0 {
                block.visible_step(step[0]);
            }
        }
        let mean = log_mean_exp(&log_weights);
        let squares: f64 = log_weights.iter().map(|w| (2.0 * (w - mean)).exp()).sum();
        let n = chains as f64;
        Some(Reverse {
            log_z: self.log_start - mean,
            relative_error: ((squares / n - 1.0).max(0.0) / n).sqrt(),
        })
    }

    fn island(&self, betas: &[f64], place: IslandPlace, observer: &dyn Observer) -> Option<Island> {
        let IslandPlace { index, chains, seed, purpose } = place;
        let seed = stream_seed(seed, Purpose::Family, self.family as u64);
        let mut block = self.block(index * chains.div_ceil(GROUP), chains, seed, purpose);
        let mut population = Population::new(chains, self.log_start, seed, purpose, index as u64);
        for step in betas.windows(2) {
            if observer.cancelled() {
                return None;
            }
            block.hidden_step(step[0], step[1], &mut population.samples);
            if step[1] < 1.0 {
                if self.resamples {
                    population.resample_if_needed(&mut block);
                }
                block.visible_step(step[1]);
            }
        }
        let states = self.finish(&block, &mut population);
        Some(Island { samples: population.samples, states })
    }
}
