//! One family on the fast kernels: pilot, islands, and the way back.

use super::core::pack;
use super::family::{Anneals, Family, Island, IslandPlace, Pilot, Reverse};
use super::population::{Population, standard_deviation};
use super::recipe::Recipe;
use crate::Rbm;
use crate::math::{log_mean_exp, sigmoid, softplus};
use crate::observer::Observer;
use lnz_kernels::random::{Purpose, Random, stream_seed};
use lnz_kernels::{Flips, GridChains, GridModel, Path, Place};
use ndarray::Array1;

/// Particles of a pilot.
const PARTICLES: usize = 64;
/// Intervals of a pilot at most.
const PILOT_STEPS: usize = 400;
/// Sweeps of the model before chains go back.
const SWEEPS_BEFORE_REVERSE: usize = 50;

/// One family, ready to run on one model.
pub(super) struct Annealer {
    family: Family,
    /// The model, with the layer that is annealed as the visible one.
    model: Rbm,
    grid: GridModel,
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

impl Annealer {
    pub(super) fn new(recipe: Recipe<'_>, grid: GridModel) -> Self {
        let path = match (recipe.mixture, &recipe.start) {
            (Some((biases, shares)), _) => grid.path_from_mixture(&biases, shares),
            (None, Some(start)) => grid.path(start.view()),
            (None, None) => grid.path(Array1::zeros(recipe.model.visible()).view()),
        };
        Self {
            family: recipe.family,
            model: recipe.model.clone(),
            grid,
            path,
            start: recipe.start,
            log_start: recipe.log_start + recipe.model.constant(),
            flips: recipe.flips,
            resamples: recipe.resamples,
            small_is_hidden: recipe.small_is_hidden,
        }
    }

    fn block(&self, group: usize, chains: usize, seed: u64, purpose: Purpose) -> GridChains<'_> {
        let place = Place { group, chains, seed, purpose };
        let mut block = GridChains::new(&self.grid, &self.path, self.flips, place);
        block.draw_start();
        block
    }

    /// From the end of the path on the grid to the real model, right after a hidden step; and the
    /// hidden inputs of the real model.
    fn log_bridge(&self, block: &GridChains<'_>, chain: usize) -> (f64, Array1<f64>) {
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
    fn finish(&self, block: &GridChains<'_>, population: &mut Population) -> Vec<Vec<u64>> {
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

impl Anneals for Annealer {
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
        let gibbs_alone = self.flips.visible + self.flips.hidden == 0;
        Some(Pilot { betas, spread, states, gibbs_alone })
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
        block.set_states(&mut |chain, i| first[chain][i]);
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
        let IslandPlace { index, group, chains, seed, purpose } = place;
        let seed = stream_seed(seed, Purpose::Family, self.family as u64);
        let mut block = self.block(group, chains, seed, purpose);
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
