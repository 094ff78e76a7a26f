//! Inputs from persistent chains of which a large share of the units is on: sums of rows by tables.
//!
//! The states of such chains are known before a mini-batch begins. Threads share out the columns, not the
//! chains, so that each table is built once.

use crate::aligned::Aligned;
use crate::annealing::product::{Method, Scratch};
use crate::annealing::tile_product::TileProduct;
use crate::bits::Bits;
use crate::learning::chain::Chain;
use crate::learning::layers::{Layer, PANEL};
use crate::simd::{Kernel, Level, Simd, dispatch};

/// Tables are worth their while for at least this number of chains, of which one unit in `ONE_IN` is on.
const FEWEST_CHAINS: usize = 64;
const ONE_IN: usize = 3;

/// The sums of rows for all chains of a mini-batch.
#[derive(Default)]
pub struct DenseSums {
    states: Bits,
    /// Panel after panel: the columns of each chain.
    sums: Aligned<f32>,
    /// One for each share of the panels.
    scratch: Vec<Scratch>,
}

impl DenseSums {
    /// Takes over the states of the chains, if tables are worth their while for them.
    ///
    /// Whether they are must not depend on threads: rows are added in another order.
    pub fn take(&mut self, layer: &Layer, chains: &[Chain]) -> bool {
        let units = layer.weights.rows();
        let on: usize = chains.iter().filter_map(|c| c.state.as_ref()).map(Vec::len).sum();
        let started = chains.iter().all(|chain| chain.state.is_some());
        if !started || chains.len() < FEWEST_CHAINS || on * ONE_IN < units * chains.len() {
            return false;
        }
        let words = units.div_ceil(64) * chains.len();
        self.states.chains = chains.len();
        self.states.words.resize(words, 0);
        for (k, chain) in chains.iter().enumerate() {
            chain.write_state(self.states.words[k..].iter_mut().step_by(chains.len()));
        }
        let len = layer.weights.width() * chains.len();
        if self.sums.len() != len {
            self.sums = Aligned::zeroed(len);
        }
        true
    }

    /// The panels in `shares` shares, each to be computed with `DensePanels::run_on`.
    pub fn shares<'a>(&'a mut self, layer: &'a Layer, shares: usize) -> Vec<DensePanels<'a>> {
        let (panels, chains) = (layer.weights.width() / PANEL, self.states.chains);
        let share = panels.div_ceil(shares);
        self.scratch.resize_with(panels.div_ceil(share), Scratch::new);
        let (sums, states) = (self.sums.chunks_mut(share * chains * PANEL), &self.states);
        let parts = sums.zip(&mut self.scratch).enumerate();
        parts
            .map(|(k, (sums, scratch))| DensePanels {
                layer,
                first: k * share,
                states,
                sums,
                scratch,
            })
            .collect()
    }

    /// The columns of a chain, panel by panel.
    pub(crate) fn of(&self, chain: usize) -> impl Iterator<Item = &[f32]> {
        let panels = self.sums.chunks_exact(self.states.chains * PANEL);
        panels.map(move |panel| &panel[chain * PANEL..][..PANEL])
    }
}

/// Some panels of [`DenseSums`].
pub struct DensePanels<'a> {
    layer: &'a Layer,
    /// The first panel.
    first: usize,
    states: &'a Bits,
    sums: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl DensePanels<'_> {
    pub fn run_on(self, level: Level) {
        dispatch(level, self);
    }
}

impl Kernel for DensePanels<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { layer, first, states, sums, scratch } = self;
        let (inputs, panel_len) = (layer.weights.rows(), layer.weights.panel_len());
        let weights = layer.weights.panels().chunks_exact(panel_len).skip(first);
        scratch.prepare(simd, Method::Tables, inputs, states, None);
        for (weights, sums) in weights.zip(sums.chunks_exact_mut(states.chains * PANEL)) {
            let product = TileProduct::by_tables(weights, inputs, states);
            for pass in 0..product.passes() {
                product.build_tables::<S, 2>(simd, pass, scratch);
                product.look_up::<S, 2>(simd, pass, scratch, sums, 0..states.chains);
            }
        }
    }
}
