//! The annealing loop: weighted chains along a path, from the start to the model or back.
//!
//! A step from beta to the next one does this for every chain:
//! 1. adds `log p~_next(x) - log p~_beta(x)` to its log weight (`Walkers::weigh`);
//! 2. draws its hidden units given the visible ones, at the next beta (`Walkers::weigh`, too);
//! 3. if few chains carry most of the weight and resampling is on, draws the chains anew by weight;
//! 4. draws its visible units given the hidden ones, at the next beta (`Walkers::sweep`).
//!
//! What this computes is spelt out in `chains/reference.rs` (a chain in float64) and, formula by
//! formula, in `chains/moves.rs` and `path.rs`; `chains/grid.rs` does the same on the fast kernels.

#[cfg(test)]
mod contract;
mod population;

pub(crate) use population::Population;

use crate::chains::Walkers;

/// The betas of a walk, one after the other.
pub(crate) trait Betas {
    /// The next beta, which may depend on what the last step has done to the chains; `None` at the end.
    fn next(&mut self, population: &Population) -> Option<f64>;
}

/// Betas that are known beforehand.
impl<I: Iterator<Item = f64>> Betas for I {
    fn next(&mut self, _: &Population) -> Option<f64> {
        Iterator::next(self)
    }
}

/// Leads chains along all `betas`. Betas that rise to 1 need chains that follow the start distribution;
/// betas that fall from 1 need chains that follow the model.
///
/// The chains may see rounded weights, but the log weights are those of the real model: at beta = 1 they
/// get one more factor, computed in float64.
///
/// `watch` is called after each step. The walk ends early, with `None`, if `watch` returns `None` or if the
/// chains were stopped in the middle of a step.
pub(crate) fn walk(
    walkers: &mut dyn Walkers,
    population: &mut Population,
    mut betas: impl Betas,
    mut watch: impl FnMut(f64, &Population) -> Option<()>,
) -> Option<()> {
    let mut beta = betas.next(population)?;
    while let Some(next) = betas.next(population) {
        population.weigh(walkers, beta, next);
        if beta == 1.0 {
            population.leave_model(walkers);
        }
        // Nobody looks at the chains where the path ends, only at their weights.
        if 0.0 < next && next < 1.0 {
            population.resample_if_needed(walkers);
            walkers.sweep(next);
        }
        watch(next, population)?;
        if walkers.have_stopped() {
            return None;
        }
        beta = next;
    }
    if beta == 1.0 {
        population.reach_model(walkers);
    }
    (!walkers.have_stopped()).then_some(())
}

/// Sweeps at a fixed beta, without weights.
pub(crate) fn stay(
    walkers: &mut dyn Walkers,
    beta: f64,
    sweeps: usize,
    mut watch: impl FnMut() -> Option<()>,
) -> Option<()> {
    let mut unused = vec![0.0; walkers.chains()];
    for _ in 0..sweeps {
        walkers.weigh(beta, beta, &mut unused);
        walkers.sweep(beta);
        watch()?;
    }
    (!walkers.have_stopped()).then_some(())
}
