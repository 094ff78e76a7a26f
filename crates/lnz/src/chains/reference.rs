//! The readable engine: one chain after the other in float64. The fast one must agree with it.

use super::{Chain, Engine, Precision, Walkers};
use crate::observer::Observer;
use crate::path::Path;
use lnz_kernels::random::Random;
use lnz_kernels::{ChainRange, Flips, GROUP};
use ndarray::Array1;

/// A model in float64, and the path to it.
pub(crate) struct ReferenceEngine<'m> {
    path: Path<'m>,
    flips: Flips,
}

impl<'m> ReferenceEngine<'m> {
    /// Flips are left out where units are not binary: they mix faster, but change no distribution.
    pub(crate) fn new(path: Path<'m>, flips: Flips) -> Self {
        let flips = if path.model().is_binary() { flips } else { Flips::default() };
        Self { path, flips }
    }
}

impl Engine for ReferenceEngine<'_> {
    fn path(&self) -> &Path<'_> {
        &self.path
    }

    fn precision(&self) -> Precision {
        Precision::F64
    }

    /// One group per block: these chains are slow, and a run that is stopped keeps the blocks that have
    /// finished.
    fn share_out(&self, chains: usize) -> Vec<(usize, usize)> {
        let groups = 0..chains.div_ceil(GROUP);
        groups.map(|group| (group, GROUP.min(chains - group * GROUP))).collect()
    }

    fn walkers<'a>(
        &'a self,
        range: ChainRange,
        observer: &'a dyn Observer,
    ) -> Box<dyn Walkers + 'a> {
        let ChainRange { group, chains, seed, purpose } = range;
        let first = group * GROUP;
        let walker = |chain: usize| Walker {
            chain: Chain::new(self.path.model(), Array1::zeros(self.path.model().visible())),
            random: Random::stream(seed, purpose, chain as u64),
        };
        let walkers = (first..first + chains).map(walker).collect();
        let (path, flips, stopped) = (&self.path, self.flips, false);
        Box::new(ReferenceWalkers { path, flips, walkers, observer, stopped })
    }
}

/// Chains in float64.
struct ReferenceWalkers<'a> {
    path: &'a Path<'a>,
    flips: Flips,
    walkers: Vec<Walker<'a>>,
    observer: &'a dyn Observer,
    stopped: bool,
}

/// One chain and its random numbers.
struct Walker<'a> {
    chain: Chain<'a>,
    random: Random,
}

impl<'a> ReferenceWalkers<'a> {
    /// Moves one chain after the other. A move may take a while, so the observer is asked before each.
    fn for_each(&mut self, mut step: impl FnMut(&mut Chain<'a>, &mut Random)) {
        for Walker { chain, random } in &mut self.walkers {
            self.stopped |= self.observer.cancelled();
            if self.stopped {
                return;
            }
            step(chain, random);
        }
    }
}

impl Walkers for ReferenceWalkers<'_> {
    fn chains(&self) -> usize {
        self.walkers.len()
    }

    fn have_stopped(&self) -> bool {
        self.stopped
    }

    fn draw_start(&mut self) {
        for Walker { chain, random } in &mut self.walkers {
            let bias = self.path.bias().clone();
            chain.set(self.path.model().visible_units().draw(bias, random));
        }
    }

    fn set_states(&mut self, is_on: &mut dyn FnMut(usize, usize) -> bool) {
        let visible = self.path.model().visible();
        for (k, walker) in self.walkers.iter_mut().enumerate() {
            walker.chain.set((0..visible).map(|i| f64::from(is_on(k, i))).collect());
        }
    }

    fn weigh(&mut self, from: f64, to: f64, log_weights: &mut [f64]) {
        let (bias, flips) = (self.path.bias(), self.flips.visible);
        self.for_each(|chain, random| chain.flip_visible(bias, from, flips, random));
        let (mut before, mut after) = (vec![0.0; self.chains()], vec![0.0; self.chains()]);
        self.log_density(from, &mut before);
        self.log_density(to, &mut after);
        for (log_weight, (before, after)) in log_weights.iter_mut().zip(before.iter().zip(after)) {
            *log_weight += after - before;
        }
        self.for_each(|chain, random| chain.draw_hidden(to, random));
    }

    fn sweep(&mut self, beta: f64) {
        let (bias, flips) = (self.path.bias(), self.flips.hidden);
        self.for_each(|chain, random| {
            chain.flip_hidden(bias, beta, flips, random);
            chain.draw_visible(bias, beta, random);
        });
    }

    fn log_density(&self, beta: f64, out: &mut [f64]) {
        for (Walker { chain, .. }, out) in self.walkers.iter().zip(out) {
            *out = self.path.log_density(beta, chain.x.view(), chain.a.view());
        }
    }

    /// The chains see the real weights.
    fn log_bridge(&mut self, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn rearrange(&mut self, ancestors: &[usize]) {
        let before: Vec<_> = self.walkers.iter().map(|w| w.chain.clone()).collect();
        for (walker, &k) in self.walkers.iter_mut().zip(ancestors) {
            walker.chain = before[k].clone();
        }
    }

    fn state(&self, chain: usize) -> Array1<f64> {
        self.walkers[chain].chain.x.clone()
    }

    fn model_inputs(&self, chain: usize) -> Array1<f64> {
        self.walkers[chain].chain.a.clone()
    }
}
