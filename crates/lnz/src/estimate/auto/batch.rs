//! A batch of annealed chains: the same for whoever computes it.

use crate::chains::{Engine, Held, engine};
use crate::math::{log_mean_exp, sigmoid};
use crate::path::Path;
use crate::walk::{Population, walk};
use crate::{Error, Observer, Rbm, Result, Start};
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{ChainRange, Flips, GROUP};
use ndarray::Array1;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// A state of a layer.
pub(super) type State = Vec<bool>;

/// Where chains ended, with the sample of log Z that each makes.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) samples: Vec<f64>,
    /// The states of the layer that was annealed.
    pub(super) states: Vec<State>,
    /// Those of the other layer, drawn from the model; empty if nobody wants them.
    pub(super) others: Vec<State>,
}

impl Ends {
    pub(super) fn log_z(&self) -> f64 {
        log_mean_exp(&self.samples)
    }

    fn extend(&mut self, more: Ends) {
        self.samples.extend(more.samples);
        self.states.extend(more.states);
        self.others.extend(more.others);
    }
}

/// The engine for chains of the visible layer of a model.
pub(super) fn engine_of<'m>(
    model: &'m Rbm,
    start: &Start,
    flips: Flips,
    held: &Held,
) -> Box<dyn Engine + 'm> {
    engine(Path::new(Cow::Borrowed(model), start), flips, held)
}

/// Chains that are annealed together: the same for whoever computes them.
pub(super) struct Batch<'a> {
    pub(super) engine: &'a dyn Engine,
    pub(super) betas: &'a [f64],
    pub(super) chains: usize,
    pub(super) seed: u64,
    pub(super) resampled: Option<usize>,
    pub(super) others: bool,
    pub(super) observer: &'a dyn Observer,
}

impl Batch<'_> {
    /// Chains of an item, which have nothing to do with the others: an island, or a group.
    pub(super) fn item(&self) -> usize {
        self.resampled.unwrap_or(GROUP)
    }

    pub(super) fn items(&self) -> usize {
        self.chains.div_ceil(self.item())
    }

    /// The chains of some items, in order.
    pub(super) fn compute(&self, items: Range<usize>) -> Result<Ends> {
        let first = items.start * self.item();
        let chains = self.chains.min(items.end * self.item()) - first;
        let blocks = match self.resampled {
            None => self.engine.share_out(chains),
            Some(size) => {
                (0..chains).step_by(size).map(|c| (c / GROUP, size.min(chains - c))).collect()
            }
        };
        let blocks = blocks.into_par_iter();
        let parts: Option<Vec<Ends>> =
            blocks.map(|(group, chains)| self.block(first / GROUP + group, chains)).collect();
        let mut ends = Ends::default();
        parts.ok_or_else(stopped)?.into_iter().for_each(|part| ends.extend(part));
        Ok(ends)
    }

    fn block(&self, group: usize, chains: usize) -> Option<Ends> {
        let &Batch { engine, seed, observer, .. } = self;
        let purpose = Purpose::Anneal;
        let mut walkers = engine.walkers(ChainRange { group, chains, seed, purpose }, observer);
        walkers.draw_start();
        let mut population = Population::new(chains, engine.path().log_z0());
        if self.resampled.is_some() {
            let random = Random::stream(seed, Purpose::Resample, group as u64);
            population = population.resampled(random);
        }
        let go_on = |_: f64, _: &Population| (!observer.cancelled()).then_some(());
        walk(&mut *walkers, &mut population, self.betas.iter().copied(), go_on)?;
        let other = |chain: usize| {
            let index = (group * GROUP + chain) as u64;
            let mut random = Random::stream(seed, Purpose::FirstState, index);
            let inputs = walkers.model_inputs(chain);
            inputs.iter().map(|&a| random.happens(sigmoid(a))).collect()
        };
        Some(Ends {
            samples: std::mem::take(&mut population.log_weights),
            states: (0..chains).map(|chain| as_state(&walkers.state(chain))).collect(),
            others: if self.others { (0..chains).map(other).collect() } else { vec![] },
        })
    }
}

pub(super) fn as_state(x: &Array1<f64>) -> State {
    x.iter().map(|&x| x == 1.0).collect()
}

pub(super) fn stopped() -> Error {
    Error::Cancelled { reached: "while preparing the first round".into() }
}
