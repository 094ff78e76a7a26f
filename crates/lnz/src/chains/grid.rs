//! The fast engine: chains on fixed-point weights and bit-packed states.

use super::{Bridge, Engine, Precision, Task, Walkers};
use crate::observer::Observer;
use crate::path::Path;
use lnz_kernels::{ChainRange, Flips, GROUP_OF_ROWS, GridChains, GridModel, share_out};
use ndarray::{Array1, ArrayView1};
use std::sync::Arc;

/// For models of binary units that a grid holds.
pub(super) fn backend<'m>(task: Box<Task<'m>>) -> Result<Box<dyn Engine + 'm>, Box<Task<'m>>> {
    match task.held.grid.clone() {
        Some(grid) => Ok(Box::new(GridEngine::new(task.path, grid, task.flips, task.held.bridge))),
        None => Err(task),
    }
}

/// A model on a grid, and the path to it.
pub(crate) struct GridEngine<'m> {
    path: Path<'m>,
    grid: Arc<GridModel>,
    path_on_grid: lnz_kernels::Path,
    flips: Flips,
    bridge: Arc<Bridge>,
}

impl<'m> GridEngine<'m> {
    pub(crate) fn new(
        path: Path<'m>,
        grid: Arc<GridModel>,
        flips: Flips,
        bridge: Arc<Bridge>,
    ) -> Self {
        let path_on_grid = grid.path(path.bias().view());
        Self { path, grid, path_on_grid, flips, bridge }
    }

    pub(crate) fn grid(&self) -> &GridModel {
        &self.grid
    }
}

impl Engine for GridEngine<'_> {
    fn path(&self) -> &Path<'_> {
        &self.path
    }

    fn precision(&self) -> Precision {
        match *self.grid {
            GridModel::I16(_) => Precision::I16,
            GridModel::I32(_) => Precision::I32,
        }
    }

    fn share_out(&self, chains: usize) -> Vec<(usize, usize)> {
        share_out(chains)
    }

    fn walkers<'a>(
        &'a self,
        range: ChainRange,
        observer: &'a dyn Observer,
    ) -> Box<dyn Walkers + 'a> {
        let block = GridChains::new(&self.grid, &self.path_on_grid, self.flips, range)
            .stopped_by(Box::new(|| observer.cancelled()));
        let (chains, model_inputs, stopped) = (range.chains, vec![], false);
        Box::new(GridWalkers { engine: self, chains, block, model_inputs, observer, stopped })
    }
}

/// Chains of the fast engine.
struct GridWalkers<'a> {
    engine: &'a GridEngine<'a>,
    chains: usize,
    block: GridChains<'a>,
    /// Of the real model, as the bridge has computed them; empty once the chains have moved.
    model_inputs: Vec<Array1<f64>>,
    observer: &'a dyn Observer,
    /// The bridge was not finished.
    stopped: bool,
}

impl Walkers for GridWalkers<'_> {
    fn chains(&self) -> usize {
        self.chains
    }

    fn have_stopped(&self) -> bool {
        self.stopped || self.block.has_stopped()
    }

    fn draw_start(&mut self) {
        self.model_inputs.clear();
        self.block.draw_start();
    }

    fn set_states(&mut self, is_on: &mut dyn FnMut(usize, usize) -> bool) {
        self.model_inputs.clear();
        self.block.set_states(is_on);
    }

    fn weigh(&mut self, from: f64, to: f64, log_weights: &mut [f64]) {
        self.model_inputs.clear();
        self.block.hidden_step(from, to, log_weights);
    }

    fn sweep(&mut self, beta: f64) {
        self.model_inputs.clear();
        self.block.visible_step(beta);
    }

    fn log_density(&self, beta: f64, out: &mut [f64]) {
        for (chain, out) in out.iter_mut().enumerate() {
            *out = self.block.log_density(beta, chain);
        }
    }

    fn log_bridge(&mut self, out: &mut [f64]) {
        let GridEngine { path, bridge, .. } = self.engine;
        self.model_inputs.clear();
        let mut rows = Vec::new();
        for (k, out) in out.chunks_mut(GROUP_OF_ROWS).enumerate() {
            let chains = k * GROUP_OF_ROWS..k * GROUP_OF_ROWS + out.len();
            rows.clear();
            chains.clone().for_each(|chain| rows.extend(self.block.state(chain)));
            let inputs = &mut self.model_inputs;
            if !bridge.log_marginals(path.model(), &rows, out, inputs, self.observer) {
                self.stopped = true;
                return;
            }
            let states = rows.chunks_exact(path.model().visible()).map(ArrayView1::from);
            for ((chain, x), out) in chains.zip(states).zip(out) {
                *out -= path.bias().dot(&x) + self.block.log_end(chain);
            }
        }
    }

    fn rearrange(&mut self, ancestors: &[usize]) {
        self.model_inputs.clear();
        self.block.resample(ancestors);
    }

    fn state(&self, chain: usize) -> Array1<f64> {
        self.block.state(chain)
    }

    fn model_inputs(&self, chain: usize) -> Array1<f64> {
        match self.model_inputs.get(chain) {
            Some(inputs) => inputs.clone(),
            None => self.engine.path.model().hidden_input(self.state(chain).view()),
        }
    }
}
