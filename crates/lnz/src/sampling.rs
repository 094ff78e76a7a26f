//! Start distributions from samples of the model itself, without a data set.

mod flips;
mod initial;
mod means;

pub use flips::Flips;
pub use initial::InitialState;

use crate::chains::Held;
use crate::path::check_epsilon;
use crate::{Deadline, Error, Observer, Precision, Rbm, Result, Start};
use means::{sampled_means, stopped};
use serde::{Deserialize, Serialize};

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

/// The two readings of "sampling" in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChainLayout {
    /// One chain per sample, each from the initial state.
    Parallel,
    /// One chain, `steps` moves between samples.
    Single,
}

impl Sampling {
    fn check(&self) -> Result<()> {
        check_epsilon(self.epsilon)?;
        if self.samples == 0 {
            return Err(Error::setting("samples", 0, "at least 1"));
        }
        if self.steps == 0 {
            return Err(Error::setting("steps", 0, "at least 1"));
        }
        Ok(())
    }

    /// Rounding to 32 bits moves the means by far less than sampling does, and any B is valid; a model
    /// beyond the range of float32 takes the slow path, and so does a single chain.
    fn held(&self, model: &Rbm, observer: &dyn Observer) -> Result<Held> {
        let wanted = match self.layout {
            ChainLayout::Parallel => Precision::I32,
            ChainLayout::Single => Precision::F64,
        };
        Held::without_bridge(model, wanted, observer)
    }
}

impl Start {
    /// Samples `model` as told and starts from the means of what was seen.
    pub fn sampled(
        model: &Rbm,
        sampling: &Sampling,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        sampling.check()?;
        let common = sampling.initial.common_state(model, observer)?;
        let held = sampling.held(model, observer)?;
        let means = sampled_means(model, sampling, common, held, seed, observer, false)?;
        Start::from_means(means.view(), sampling.epsilon)
    }

    /// The same, for a share of the time that the observer allows: when that is over, the states that
    /// the chains have reached are taken, because any start is valid. Says whether it was.
    pub(crate) fn sampled_in_time(
        model: &Rbm,
        sampling: &Sampling,
        seed: u64,
        share: f64,
        observer: &dyn Observer,
    ) -> Result<(Self, bool)> {
        let Some(left) = observer.seconds_left() else {
            return Ok((Self::sampled(model, sampling, seed, observer)?, false));
        };
        sampling.check()?;
        let common = sampling.initial.common_state(model, observer)?;
        let held = sampling.held(model, observer)?;
        let deadline = Deadline::after(share * left, observer);
        let means = sampled_means(model, sampling, common, held, seed, &deadline, true)?;
        if observer.cancelled() {
            return Err(stopped());
        }
        Ok((Start::from_means(means.view(), sampling.epsilon)?, deadline.is_over()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, array};

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
                    let means = {
                        let common = initial.common_state(&model, &()).unwrap();
                        let held = sampling.held(&model, &()).unwrap();
                        sampled_means(&model, &sampling, common, held, 1, &(), false).unwrap()
                    };
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
            let limited = crate::Deadline::after(1e6, &());
            assert!(Start::sampled_in_time(&model, &bad, 0, 0.25, &limited).is_err());
        }
    }
}
