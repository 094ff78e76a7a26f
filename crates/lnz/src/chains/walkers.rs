//! What an engine can do: move some chains along a path.

use super::Precision;
use crate::observer::Observer;
use crate::path::Path;
use lnz_kernels::ChainRange;
use ndarray::Array1;

/// Moves the chains of one path.
pub(crate) trait Engine: Send + Sync {
    /// The path that its chains walk on.
    fn path(&self) -> &Path<'_>;

    /// The resolution of its weights.
    fn precision(&self) -> Precision;

    /// Shares out chains to threads: the first group of each block, and how many chains it has.
    fn share_out(&self, chains: usize) -> Vec<(usize, usize)>;

    /// Some chains of a run, with all visible units off.
    ///
    /// The random numbers of a chain depend on its place in the run, not on the block it is in. Once the
    /// observer asks to stop, the chains stop in the middle of a step.
    fn walkers<'a>(
        &'a self,
        range: ChainRange,
        observer: &'a dyn Observer,
    ) -> Box<dyn Walkers + 'a>;
}

/// Some chains on a path. One call moves 16 to 1024 of them, so that `dyn` costs nothing.
///
/// A step of a walk is `weigh` and then `sweep`. Between them, chains may be rearranged.
pub(crate) trait Walkers {
    fn chains(&self) -> usize;

    /// The observer asked to stop, and a step has ended in the middle. States and weights mean nothing
    /// any more.
    fn have_stopped(&self) -> bool;

    /// Draws the visible state of every chain from the start distribution.
    fn draw_start(&mut self);

    /// Sets the visible state of every chain by asking whether a unit of a chain is on.
    fn set_states(&mut self, is_on: &mut dyn FnMut(usize, usize) -> bool);

    /// Flips visible units at `from`, if the engine has flips. Then adds `log p~_to(x) - log p~_from(x)`
    /// to the log weight of every chain, and draws its hidden layer at `to`.
    fn weigh(&mut self, from: f64, to: f64, log_weights: &mut [f64]);

    /// Flips hidden units, if the engine has flips. Then draws the visible layer given the hidden one,
    /// which `weigh` has drawn at the same beta.
    fn sweep(&mut self, beta: f64);

    /// `log p~_beta(x)` of every chain with the weights that it sees. Only valid after `weigh`.
    fn log_density(&self, beta: f64, out: &mut [f64]);

    /// The bridge from rounded to real weights, for every chain: `log p~_1(x)` of the real model minus that
    /// of the weights that the chain sees. Zero where these are the same. Only valid after `weigh`.
    fn log_bridge(&mut self, out: &mut [f64]);

    /// Chain k becomes a copy of chain `ancestors[k]`, but keeps its random numbers.
    fn rearrange(&mut self, ancestors: &[usize]);

    /// The visible state of a chain.
    fn state(&self, chain: usize) -> Array1<f64>;

    /// The inputs of the hidden units of a chain in the real model.
    fn model_inputs(&self, chain: usize) -> Array1<f64>;
}
