//! A start distribution from sampling the model: its weights alone, no data set.

use super::initial::{InitialState, random_state};
use super::{Start, check_epsilon};
use crate::moves::Chain;
use crate::observer::{Observer, Phase, Progress};
use crate::random::{Purpose, Random};
use crate::{Error, Rbm, Result};
use ndarray::Array1;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// How the model is sampled for the means of its visible units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sampling {
    /// Gibbs or Metropolis.
    pub sampler: Sampler,
    /// First state of each chain.
    pub initial: InitialState,
    /// Number of states that are averaged.
    pub samples: usize,
    /// Sweeps or proposals before each of them.
    pub steps: usize,
    /// Many chains or one.
    pub layout: ChainLayout,
    /// Cut-off that keeps the bias finite.
    pub epsilon: f64,
}

impl Default for Sampling {
    /// The paper's recommended strategy Gibbs_mf, on parallel chains: on the hardest Gaussian family
    /// they put 87% of the instances within 5%, a single chain 56%.
    fn default() -> Self {
        Self {
            sampler: Sampler::Gibbs,
            initial: InitialState::MeanField,
            samples: 1024,
            steps: 100,
            layout: ChainLayout::Parallel,
            epsilon: 0.05,
        }
    }
}

/// The move of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampler {
    /// Block Gibbs: all hidden units, then all visible units.
    Gibbs,
    /// Metropolis on the visible marginal.
    Metropolis {
        /// How many units a proposal flips.
        flips: Flips,
    },
}

/// Number of distinct units that a Metropolis proposal flips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flips {
    /// So many units.
    Units(usize),
    /// So many per cent of the visible units, rounded, at least one; 100 flips them all.
    Percent(f64),
}

impl Flips {
    /// The number of units among `visible`, checked.
    pub fn count(self, visible: usize) -> Result<usize> {
        match self {
            Flips::Units(n) if (1..=visible).contains(&n) => Ok(n),
            Flips::Units(n) => {
                Err(Error::setting("flips", n, format!("1 to {visible}, the number of units")))
            }
            Flips::Percent(p) if p > 0.0 && p <= 100.0 => {
                Ok(((p / 100.0 * visible as f64).round() as usize).max(1))
            }
            Flips::Percent(p) => {
                Err(Error::setting("flips", format!("{p}%"), "more than 0% and at most 100%"))
            }
        }
    }
}

/// The two readings of "sampling" in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChainLayout {
    /// One chain per sample, each from the initial state.
    Parallel,
    /// One chain, `steps` moves between samples.
    Single,
}

/// Chains of a parallel layout that share a random stream: a unit of work for a thread.
const CHAINS_PER_TASK: usize = 16;

impl Start {
    /// Samples `model` as told and starts from the means of what was seen.
    pub fn sampled(
        model: &Rbm,
        sampling: &Sampling,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        check_epsilon(sampling.epsilon)?;
        if sampling.samples == 0 {
            return Err(Error::setting("samples", 0, "at least 1"));
        }
        if sampling.steps == 0 {
            return Err(Error::setting("steps", 0, "at least 1"));
        }
        let means = sampled_means(model, sampling, seed, observer)?;
        Start::from_means(means.view(), sampling.epsilon)
    }
}

fn sampled_means(
    model: &Rbm,
    sampling: &Sampling,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Array1<f64>> {
    let flips = match sampling.sampler {
        Sampler::Gibbs => 0,
        Sampler::Metropolis { flips } => flips.count(model.visible())?,
    };
    let common = sampling.initial.common_state(model);
    let zero_bias = Array1::zeros(model.visible());
    let total = sampling.samples as u64 * sampling.steps as u64;
    let done = AtomicU64::new(0);

    // The sum of the states of samples `first..end`, from one random stream.
    let sum_of_states = |task: usize, first: usize, end: usize| -> Option<Array1<f64>> {
        let mut random = Random::stream(seed, Purpose::Start, task as u64);
        let mut sum = Array1::zeros(model.visible());
        let fresh = |random: &mut Random| match &common {
            Some(x) => Chain::new(model, x.clone()),
            None => Chain::new(model, random_state(model.visible(), random)),
        };
        let mut chain = fresh(&mut random);
        for sample in first..end {
            if observer.cancelled() {
                return None;
            }
            if sampling.layout == ChainLayout::Parallel && sample > first {
                chain = fresh(&mut random);
            }
            for _ in 0..sampling.steps {
                match sampling.sampler {
                    Sampler::Gibbs => chain.gibbs(&zero_bias, 1.0, &mut random),
                    Sampler::Metropolis { .. } => chain.metropolis(flips, &mut random),
                }
            }
            sum += &chain.x;
            let steps = sampling.steps as u64;
            let done = done.fetch_add(steps, Ordering::Relaxed) + steps;
            observer.progress(Progress {
                phase: Phase::Start,
                done,
                total,
                log_z: None,
                beta: None,
            });
        }
        Some(sum)
    };

    let sums: Option<Vec<Array1<f64>>> = match sampling.layout {
        ChainLayout::Single => sum_of_states(0, 0, sampling.samples).map(|sum| vec![sum]),
        ChainLayout::Parallel => (0..sampling.samples.div_ceil(CHAINS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let first = task * CHAINS_PER_TASK;
                sum_of_states(task, first, (first + CHAINS_PER_TASK).min(sampling.samples))
            })
            .collect(),
    };
    let Some(sums) = sums else {
        return Err(Error::Cancelled { reached: "while sampling the model for its means".into() });
    };
    let sum = sums.iter().fold(Array1::zeros(model.visible()), |total: Array1<f64>, s| total + s);
    Ok(sum / sampling.samples as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn flips_are_counted_as_the_paper_does() {
        assert_eq!(Flips::Percent(100.0).count(20).unwrap(), 20);
        assert_eq!(Flips::Percent(15.0).count(20).unwrap(), 3);
        assert_eq!(Flips::Percent(1.0).count(20).unwrap(), 1);
        assert_eq!(Flips::Units(7).count(7).unwrap(), 7);
        for bad in [Flips::Units(0), Flips::Units(8), Flips::Percent(0.0), Flips::Percent(101.0)] {
            assert!(bad.count(7).is_err());
        }
        assert!(Flips::Percent(f64::NAN).count(7).is_err());
    }

    /// Without weights the means are known, and samples are independent after one Gibbs sweep.
    #[test]
    fn means_of_a_model_without_weights_are_found() {
        let bias = array![-2.0, 0.0, 1.0];
        let model = Rbm::new(Array2::zeros((3, 2)), bias.clone(), Array1::zeros(2)).unwrap();
        for sampler in [Sampler::Gibbs, Sampler::Metropolis { flips: Flips::Units(1) }] {
            for layout in [ChainLayout::Parallel, ChainLayout::Single] {
                for initial in [InitialState::Zero, InitialState::Random] {
                    let sampling = Sampling {
                        sampler,
                        initial,
                        samples: 4000,
                        steps: 60,
                        layout,
                        epsilon: 0.0,
                    };
                    let means = sampled_means(&model, &sampling, 1, &()).unwrap();
                    for (m, b) in means.iter().zip(&bias) {
                        let expected = crate::math::sigmoid(*b);
                        let std_error = (expected * (1.0 - expected) / 4000.0).sqrt();
                        assert!(
                            (m - expected).abs() < 5.0 * std_error,
                            "{sampling:?}: {m} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        let model = Rbm::new(array![[1.0]], array![0.0], array![0.0]).unwrap();
        for bad in [
            Sampling { samples: 0, ..Sampling::default() },
            Sampling { steps: 0, ..Sampling::default() },
            Sampling { epsilon: 0.5, ..Sampling::default() },
        ] {
            assert!(Start::sampled(&model, &bad, 0, &()).is_err());
        }
    }
}
