//! Start distributions from samples of the model itself, without a data set.

mod initial;

pub use initial::InitialState;

use crate::chains::{Chain, Engine, GridEngine, Held};
use crate::observer::{Observer, Phase, Progress};
use crate::path::{Path, check_epsilon};
use crate::walk::stay;
use crate::{Deadline, Error, Precision, Rbm, Result, Start};
use initial::random_state;
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{ChainRange, GROUP, MetropolisChains};
use ndarray::Array1;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::str::FromStr;
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
    /// This many per cent of the visible units, rounded, at least one; 100 flips them all.
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

impl FromStr for Flips {
    type Err = &'static str;

    /// `3` units or `15%` of them.
    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let parsed = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(Flips::Percent).ok(),
            None => text.parse().map(Flips::Units).ok(),
        };
        parsed.ok_or("expected a number of units such as 3, or a share such as 15%")
    }
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

fn stopped() -> Error {
    Error::Cancelled { reached: "while sampling the model for its means".into() }
}

/// The means of the states that `sampling` reaches, before the cut-off; if `may_be_cut`, of those that
/// it has reached when the observer says stop.
fn sampled_means(
    model: &Rbm,
    sampling: &Sampling,
    common: Option<Array1<f64>>,
    held: Held,
    seed: u64,
    observer: &dyn Observer,
    may_be_cut: bool,
) -> Result<Array1<f64>> {
    let flips = match sampling.sampler {
        Sampler::Gibbs => 0,
        Sampler::Metropolis { flips } => flips.count(model.visible())?,
    };
    let total = sampling.samples as u64 * sampling.steps as u64;
    let done = AtomicU64::new(0);
    let run = Run { model, sampling, common, flips, seed, observer, may_be_cut, done, total };
    let counts = match held.grid {
        Some(grid) => {
            // At beta = 1 the start distribution plays no part, and no weight leads to the model.
            let path = Path::new(Cow::Borrowed(model), &Start::uniform(model.visible()));
            let flips = lnz_kernels::Flips::default();
            run.in_blocks(&GridEngine::new(path, grid, flips, held.bridge))
        }
        None => run.in_float64(),
    };
    match counts {
        Some(counts) => Ok(counts / sampling.samples as f64),
        None => Err(stopped()),
    }
}

struct Run<'a> {
    model: &'a Rbm,
    sampling: &'a Sampling,
    /// The state that every chain starts from, if they do not draw their own.
    common: Option<Array1<f64>>,
    flips: usize,
    seed: u64,
    observer: &'a dyn Observer,
    may_be_cut: bool,
    done: AtomicU64,
    total: u64,
}

impl Run<'_> {
    /// One chain per sample on the fast kernels: how often each unit is on at the end.
    fn in_blocks(&self, engine: &GridEngine<'_>) -> Option<Array1<f64>> {
        let common = &self.common;
        let counts: Option<Vec<Array1<f64>>> = engine
            .share_out(self.sampling.samples)
            .into_par_iter()
            .map(|(group, chains)| {
                let mut randoms: Vec<Random> = (0..chains.div_ceil(GROUP))
                    .map(|k| Random::stream(self.seed, Purpose::FirstState, (group + k) as u64))
                    .collect();
                let first = |chain: usize, i: usize| match common {
                    Some(x) => x[i] == 1.0,
                    None => randoms[chain / GROUP].happens(0.5),
                };
                match self.sampling.sampler {
                    Sampler::Gibbs => self.gibbs_block(engine, group, chains, first),
                    Sampler::Metropolis { .. } => {
                        self.metropolis_block(engine, group, chains, first)
                    }
                }
            })
            .collect();
        Some(counts?.iter().fold(Array1::zeros(self.model.visible()), |sum, counts| sum + counts))
    }

    fn gibbs_block(
        &self,
        engine: &GridEngine<'_>,
        group: usize,
        chains: usize,
        mut first: impl FnMut(usize, usize) -> bool,
    ) -> Option<Array1<f64>> {
        let range = ChainRange { group, chains, seed: self.seed, purpose: Purpose::Start };
        let mut walkers = engine.walkers(range, self.observer);
        walkers.set_states(&mut first);
        let done = stay(&mut *walkers, 1.0, self.sampling.steps, || self.report(chains));
        done.or(self.may_be_cut.then_some(()))?;
        let nothing = Array1::zeros(self.model.visible());
        Some((0..chains).fold(nothing, |counts, chain| counts + walkers.state(chain)))
    }

    fn metropolis_block(
        &self,
        engine: &GridEngine<'_>,
        group: usize,
        chains: usize,
        mut first: impl FnMut(usize, usize) -> bool,
    ) -> Option<Array1<f64>> {
        let observer = self.observer;
        let mut block = MetropolisChains::new(engine.grid(), group, chains, self.seed, &mut first)
            .stopped_by(Box::new(|| observer.cancelled()));
        for _ in 0..self.sampling.steps {
            block.step(self.flips);
            if self.report(chains).is_none() || block.has_stopped() {
                self.may_be_cut.then_some(())?;
                break;
            }
        }
        let counts = block.bits().counts(self.model.visible());
        Some(counts.into_iter().map(|count| count as f64).collect())
    }

    /// The readable way: one chain in float64, or one after the other.
    fn in_float64(&self) -> Option<Array1<f64>> {
        let mut random = Random::stream(self.seed, Purpose::Start, 0);
        let fresh = |random: &mut Random| match &self.common {
            Some(x) => Chain::new(self.model, x.clone()),
            None => Chain::new(self.model, random_state(self.model.visible(), random)),
        };
        let zero_bias = Array1::zeros(self.model.visible());
        let mut counts = Array1::zeros(self.model.visible());
        let mut chain = fresh(&mut random);
        for sample in 0..self.sampling.samples {
            if self.sampling.layout == ChainLayout::Parallel && sample > 0 {
                chain = fresh(&mut random);
            }
            for _ in 0..self.sampling.steps {
                match self.sampling.sampler {
                    Sampler::Gibbs => chain.gibbs(&zero_bias, 1.0, &mut random),
                    Sampler::Metropolis { .. } => chain.metropolis(self.flips, &mut random),
                }
                if self.report(1).is_none() {
                    self.may_be_cut.then_some(())?;
                    break;
                }
            }
            counts += &chain.x;
        }
        Some(counts)
    }

    /// Reports a step of some chains; `None` when the observer wants to stop.
    fn report(&self, chains: usize) -> Option<()> {
        let steps = chains as u64;
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        let every = (self.total / 1000).max(1);
        if done / every != (done - steps) / every {
            self.observer.progress(Progress::new(Phase::Start, done, self.total));
        }
        (!self.observer.cancelled()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn flips_are_units_or_per_cent() {
        assert_eq!("3".parse(), Ok(Flips::Units(3)));
        assert_eq!("12.5%".parse(), Ok(Flips::Percent(12.5)));
        assert!("3.5".parse::<Flips>().is_err());
        assert!("%".parse::<Flips>().is_err());
    }

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
