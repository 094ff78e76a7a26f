//! The means of the states that chains of the model reach.

use super::initial::random_state;
use super::{ChainLayout, Sampler, Sampling};
use crate::chains::{Chain, Engine, GridEngine, Held};
use crate::observer::{Observer, Phase, Progress, Steps};
use crate::path::Path;
use crate::walk::stay;
use crate::{Error, Rbm, Result, Start};
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{ChainRange, GROUP, MetropolisChains};
use ndarray::Array1;
use rayon::prelude::*;
use std::borrow::Cow;

/// A signal or a limit came while the means were sampled.
pub(crate) fn stopped() -> Error {
    Error::Cancelled { reached: "while sampling the model for its means".into() }
}

/// The means of the states that `sampling` reaches, before the cut-off; if `may_be_cut`, of those that
/// it has reached when the observer says stop.
pub(crate) fn sampled_means(
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
    let steps = Steps::new(total);
    let run = Run { model, sampling, common, flips, seed, observer, may_be_cut, steps };
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
    steps: Steps,
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
                let mut first = |chain: usize, i: usize| match common {
                    Some(x) => x[i] == 1.0,
                    None => randoms[chain / GROUP].happens(0.5),
                };
                let (done, counts) = match self.sampling.sampler {
                    Sampler::Gibbs => self.gibbs_block(engine, group, chains, &mut first),
                    Sampler::Metropolis { .. } => {
                        self.metropolis_block(engine, group, chains, &mut first)
                    }
                };
                done.or(self.may_be_cut.then_some(())).map(|()| counts)
            })
            .collect();
        Some(counts?.iter().fold(Array1::zeros(self.model.visible()), |sum, counts| sum + counts))
    }

    /// All steps of a block, `None` if they were stopped; and how often each unit is on then.
    fn gibbs_block(
        &self,
        engine: &GridEngine<'_>,
        group: usize,
        chains: usize,
        first: &mut dyn FnMut(usize, usize) -> bool,
    ) -> (Option<()>, Array1<f64>) {
        let range = ChainRange { group, chains, seed: self.seed, purpose: Purpose::Start };
        let mut walkers = engine.walkers(range, self.observer);
        walkers.set_states(first);
        let done = stay(&mut *walkers, 1.0, self.sampling.steps, || self.report(chains));
        let nothing = Array1::zeros(self.model.visible());
        (done, (0..chains).fold(nothing, |counts, chain| counts + walkers.state(chain)))
    }

    /// The same with proposals, which kernels of their own weigh.
    fn metropolis_block(
        &self,
        engine: &GridEngine<'_>,
        group: usize,
        chains: usize,
        first: &mut dyn FnMut(usize, usize) -> bool,
    ) -> (Option<()>, Array1<f64>) {
        let observer = self.observer;
        let mut block = MetropolisChains::new(engine.grid(), group, chains, self.seed, first)
            .stopped_by(Box::new(|| observer.cancelled()));
        let done = (0..self.sampling.steps).try_for_each(|_| {
            block.step(self.flips);
            self.report(chains)?;
            (!block.has_stopped()).then_some(())
        });
        let counts = block.bits().counts(self.model.visible());
        (done, counts.into_iter().map(|count| count as f64).collect())
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
        if let Some(done) = self.steps.add_and_report(chains as u64) {
            self.observer.progress(Progress::new(Phase::Start, done, self.steps.total()));
        }
        (!self.observer.cancelled()).then_some(())
    }
}
