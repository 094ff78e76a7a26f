//! Chains that walk along a path, and the engines that move them.
//!
//! | file | has |
//! |---|---|
//! | `walkers` | what every engine can do |
//! | `grid` | the fast engine, on fixed-point weights |
//! | `reference` | its twin, the readable engine in float64 |
//! | `moves` | the moves of one chain in float64, formula by formula |
//! | `held` | what engines for one model share: its weights on a grid |
//! | `between` | chains between two models, on either engine |
//! | `bridge` | the last factor of a weight, from the rounded weights to the real ones |

mod between;
mod bridge;
mod grid;
mod held;
mod moves;
mod reference;
mod walkers;

pub(crate) use between::Between;
pub(crate) use bridge::Bridge;
pub(crate) use grid::GridEngine;
pub(crate) use held::Held;
pub(crate) use moves::Chain;
pub(crate) use reference::ReferenceEngine;
pub(crate) use walkers::{Engine, Walkers};

use crate::path::Path;
use lnz_kernels::Flips;
use serde::{Deserialize, Serialize};

/// Resolution of the weights that the chains see; every choice is unbiased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Precision {
    /// 16-bit fixed point: the fastest. A model that it holds too coarsely is run with 32 bits.
    #[default]
    I16,
    /// 32-bit fixed point.
    I32,
    /// 64-bit floating point: slow, for models whose weights exceed the range of float32.
    F64,
}

/// What an engine is asked to do.
pub(crate) struct Task<'m> {
    pub(crate) path: Path<'m>,
    pub(crate) flips: Flips,
    pub(crate) held: Held,
}

/// Makes an engine for a task, or gives the task back if it is not for this kind of engine.
pub(crate) type Backend = for<'m> fn(Box<Task<'m>>) -> Result<Box<dyn Engine + 'm>, Box<Task<'m>>>;

/// The fast backends, the preferred one first. The readable engine does what all of them refuse.
pub(crate) const FAST: [Backend; 1] = [grid::backend];

/// The engine for chains on a path, with the weights as they are held.
pub(crate) fn engine<'m>(path: Path<'m>, flips: Flips, held: &Held) -> Box<dyn Engine + 'm> {
    let mut task = Box::new(Task { path, flips, held: held.clone() });
    for backend in FAST {
        match backend(task) {
            Ok(engine) => return engine,
            Err(refused) => task = refused,
        }
    }
    Box::new(ReferenceEngine::new(task.path, task.flips))
}
