//! Annealed importance sampling: chains that go from the start distribution to the model.

mod reference;
mod waypoints;

use crate::math::log_mean_exp;
use crate::observer::{Observer, Phase, Progress};
use crate::{Error, Rbm, Result, Schedule, Start};
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{Flips, GROUP_OF_ROWS, GridChains, GridModel, Marginals, Place, share_out};
use ndarray::ArrayView1;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Resolution of the weights that the chains see; every choice is unbiased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 16-bit fixed point: the fastest. A model that it holds too coarsely is run with 32 bits.
    #[default]
    I16,
    /// 32-bit fixed point.
    I32,
    /// 64-bit floating point: slow, for models whose weights exceed the range of float32.
    F64,
}

/// What an annealing run returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Annealed {
    /// `s_i = log w_i + log Z_0` of every finished chain, in the order of the chains.
    pub samples: Vec<f64>,
    /// Number of chains asked for; more than there are samples if the run was stopped early.
    pub requested: usize,
    /// The resolution that was used.
    pub precision: Precision,
    /// (beta, estimate of log Z there) at up to 128 betas and at 0, over the finished chains; empty
    /// in floating point.
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
    if settings.chains == 0 {
        return Err(Error::setting("chains", 0, "at least 1"));
    }
    if start.bias().len() != model.visible() {
        let (found, expected) = (start.bias().len(), model.visible());
        return Err(Error::Width { what: "the start distribution".into(), found, expected });
    }
    let start = start.as_float32();
    let run = Run {
        model,
        start: &start,
        schedule,
        settings,
        observer,
        done: AtomicU64::new(0),
        total: settings.chains as u64 * schedule.intervals() as u64,
    };
    let (precision, grid) = usable_grid(model, settings.precision);
    let (samples, path) = match grid {
        Some(grid) => run.on_grid(&grid),
        None => (run.in_float64(), vec![]),
    };
    if samples.is_empty() {
        let reached = format!(
            "while annealing, {} of {} chain-steps done and no chain at its end",
            run.done.into_inner(),
            run.total
        );
        return Err(Error::Cancelled { reached });
    }
    Ok(Annealed { samples, requested: settings.chains, precision, path })
}

/// The model on the grid that is asked for, or on the next finer one that fits; none for float64.
fn usable_grid(model: &Rbm, wanted: Precision) -> (Precision, Option<GridModel>) {
    let (grid, finer) = match wanted {
        Precision::I16 => (GridModel::on_16_bits(model), Precision::I32),
        Precision::I32 => (GridModel::on_32_bits(model), Precision::F64),
        Precision::F64 => return (wanted, None),
    };
    if grid.is_some() { (wanted, grid) } else { usable_grid(model, finer) }
}

struct Run<'a> {
    model: &'a Rbm,
    start: &'a Start,
    schedule: &'a Schedule,
    settings: &'a Annealing,
    observer: &'a dyn Observer,
    done: AtomicU64,
    total: u64,
}

impl Run<'_> {
    /// The samples of all blocks that ran to their end, and the path of their chains.
    fn on_grid(&self, grid: &GridModel) -> (Vec<f64>, Vec<(f64, f64)>) {
        let exact = Marginals::new(self.model);
        let finished: Vec<Option<Finished>> = share_out(self.settings.chains)
            .into_par_iter()
            .map(|(group, chains)| self.block(grid, &exact, group, chains))
            .collect();
        let (samples, sums): (Vec<_>, Vec<_>) = finished.into_iter().flatten().unzip();
        let samples: Vec<f64> = samples.into_iter().flatten().collect();
        let path = self.path(&waypoints::along(&sums, samples.len()));
        (samples, path)
    }

    /// The betas of the path beside its values, from the start on.
    fn path(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let betas = self.schedule.betas().iter().enumerate().skip(1);
        let kept = betas
            .filter(|(step, _)| waypoints::is_kept(*step, self.schedule.intervals()))
            .map(|(_, &beta)| beta);
        std::iter::once((0.0, self.log_z0())).chain(kept.zip(values.iter().copied())).collect()
    }

    /// Where every sample begins.
    fn log_z0(&self) -> f64 {
        self.model.constant() + self.start.log_z0(self.model.hidden())
    }

    /// The annealing loop: `chains` chains from the start distribution to the model.
    ///
    /// The weights are those of the model on the grid; the last factor leads from there to the real
    /// model, in float64, so that the estimate of Z is unbiased.
    fn block(
        &self,
        grid: &GridModel,
        exact: &Marginals,
        group: usize,
        chains: usize,
    ) -> Option<Finished> {
        // Blocks that have not begun when the observer asks to stop never do.
        self.go_on()?;
        let bias = self.start.bias().view();
        let path = grid.path(bias);
        let place = Place { group, chains, seed: self.settings.seed, purpose: Purpose::Anneal };
        let mut block = GridChains::new(grid, &path, Flips::default(), place);
        block.draw_start();

        let mut samples = vec![self.log_z0(); chains];
        let mut sums = Vec::new();
        for (k, step) in self.schedule.betas().windows(2).enumerate() {
            let (beta, next) = (step[0], step[1]);
            block.hidden_step(beta, next, &mut samples);
            if next < 1.0 {
                block.visible_step(next);
                if waypoints::is_kept(k + 1, self.schedule.intervals()) {
                    sums.push(waypoints::group_sums(&samples));
                }
            }
            self.report(next, &samples)?;
        }

        let mut rows = Vec::new();
        let mut log_end = [0.0; GROUP_OF_ROWS];
        for (k, samples) in samples.chunks_mut(GROUP_OF_ROWS).enumerate() {
            let chains = k * GROUP_OF_ROWS..k * GROUP_OF_ROWS + samples.len();
            rows.clear();
            chains.clone().for_each(|chain| rows.extend(block.state(chain)));
            exact.of_rows(&rows, &mut log_end[..samples.len()]);
            let states = rows.chunks_exact(bias.len()).map(ArrayView1::from);
            for (((sample, x), chain), end) in
                samples.iter_mut().zip(states).zip(chains).zip(log_end)
            {
                *sample += end - self.model.constant() - (bias.dot(&x) + block.log_end(chain));
            }
        }
        sums.push(waypoints::group_sums(&samples));
        Some((samples, sums))
    }

    /// Reports a finished step of a block; `None` when the observer wants to stop.
    fn report(&self, beta: f64, samples: &[f64]) -> Option<()> {
        let steps = samples.len() as u64;
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        // About a thousand reports per run: the estimate costs an exponential per chain.
        let every = (self.total / 1000).max(1);
        if done / every != (done - steps) / every {
            self.observer.progress(Progress {
                phase: Phase::Anneal,
                done,
                total: self.total,
                log_z: Some(log_mean_exp(samples)),
                beta: Some(beta),
            });
        }
        self.go_on()
    }

    /// `None` when the observer wants to stop.
    fn go_on(&self) -> Option<()> {
        (!self.observer.cancelled()).then_some(())
    }

    fn in_float64(&self) -> Vec<f64> {
        let samples: Vec<Option<f64>> = (0..self.settings.chains)
            .into_par_iter()
            .map(|chain| {
                let mut random = Random::stream(self.settings.seed, Purpose::Anneal, chain as u64);
                let sample = reference::anneal_chain(
                    (self.model, self.start, self.schedule),
                    &mut random,
                    || self.go_on(),
                )?;
                let steps = self.schedule.intervals() as u64;
                self.done.fetch_add(steps - 1, Ordering::Relaxed);
                self.report(1.0, &[sample]).map(|()| sample)
            })
            .collect();
        samples.into_iter().flatten().collect()
    }
}
