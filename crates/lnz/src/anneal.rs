//! Annealed importance sampling: chains that go from the start distribution to the model.

use crate::math::{log_mean_exp, softplus};
use crate::moves::Chain;
use crate::observer::{Observer, Phase, Progress};
use crate::random::{Purpose, Random};
use crate::{Error, Rbm, Result, Schedule, Start};
use ndarray::Array1;
use rayon::prelude::*;
use serde::Serialize;
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

/// Resolution of the fixed-point weights that the chains see; every choice is unbiased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 16 bits: the fastest.
    I16,
    /// 32 bits.
    #[default]
    I32,
}

impl Default for Annealing {
    /// The paper's N_s.
    fn default() -> Self {
        Self { chains: 1024, seed: 0, precision: Precision::default() }
    }
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
}

/// Chains that share a random stream.
const BLOCK: usize = 64;

/// Anneals `settings.chains` chains from `start` to `model` along `schedule`.
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
    let total = settings.chains as u64 * schedule.intervals() as u64;
    let done = AtomicU64::new(0);
    let blocks: Vec<Option<Vec<f64>>> = (0..settings.chains.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let chains = BLOCK.min(settings.chains - block * BLOCK);
            let mut random = Random::stream(settings.seed, Purpose::Anneal, block as u64);
            let samples: Vec<f64> = (0..chains)
                .map_while(|_| {
                    let sample = anneal_chain(model, start, schedule, &mut random);
                    let steps = schedule.intervals() as u64;
                    let done = done.fetch_add(steps, Ordering::Relaxed) + steps;
                    observer.progress(Progress {
                        phase: Phase::Anneal,
                        done,
                        total,
                        log_z: None,
                        beta: None,
                    });
                    (!observer.cancelled()).then_some(sample)
                })
                .collect();
            (samples.len() == chains).then_some(samples)
        })
        .collect();
    let samples: Vec<f64> = blocks.into_iter().flatten().flatten().collect();
    if samples.is_empty() {
        return Err(Error::Cancelled { reached: "while annealing".into() });
    }
    observer.progress(Progress {
        phase: Phase::Anneal,
        done: total,
        total,
        log_z: Some(log_mean_exp(&samples)),
        beta: Some(1.0),
    });
    Ok(Annealed { samples, requested: settings.chains, precision: settings.precision })
}

/// One chain from start to end; returns `s = log w + log Z_0`.
fn anneal_chain(model: &Rbm, start: &Start, schedule: &Schedule, random: &mut Random) -> f64 {
    let first = start.bias().mapv(|b| f64::from(random.happens(crate::math::sigmoid(b))));
    let mut chain = Chain::new(model, first);
    let mut sample = model.constant() + start.log_z0(model.hidden());
    for step in schedule.betas().windows(2) {
        let (beta, next) = (step[0], step[1]);
        sample += log_path(model, start, next, &chain) - log_path(model, start, beta, &chain);
        if next < 1.0 {
            chain.gibbs(start.bias(), next, random);
        }
    }
    sample
}

/// `log p~_beta(x) = ((1 - beta) B + beta b).x + sum_j softplus(beta a_j)`.
fn log_path(model: &Rbm, start: &Start, beta: f64, chain: &Chain<'_>) -> f64 {
    let bias: Array1<f64> = start.bias() * (1.0 - beta) + &(&model.visible_bias() * beta);
    bias.dot(&chain.x) + chain.a.iter().map(|&a| softplus(beta * a)).sum::<f64>()
}
