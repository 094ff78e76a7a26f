//! The families of starts, and what each of them finds.
//!
//! Every one of them is unbiased, and each is confidently too low on models where another is right:
//! - modes: a mixture of independent units around the best modes, on the larger layer, with flips;
//! - means: the paper's start, from the means of parallel Gibbs chains, on the larger layer; once for
//!   chains from random states, once for chains from the mean-field state;
//! - flips: the uniform start on the smaller layer, with single-unit flips and resampling.

use lnz_kernels::random::Purpose;
use serde::Serialize;

/// A way to anneal a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// From a mixture around the best modes.
    Modes,
    /// From the means of the visible units.
    Means,
    /// From the means of chains that begin at the mean-field state.
    #[serde(rename = "mean_field")]
    MeanField,
    /// From the uniform distribution of the smaller layer, with flips and resampling.
    Flips,
}

impl Family {
    /// Where it starts, after "from".
    pub fn describe(self) -> &'static str {
        match self {
            Family::Modes => "the modes",
            Family::Means => "the means",
            Family::MeanField => "the means around the mean-field state",
            Family::Flips => "the uniform distribution with flips",
        }
    }
}

/// Which random numbers an island uses, and how many chains it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandPlace {
    pub(super) index: usize,
    /// Its first group of chains: each group has a stream of its own.
    pub(super) group: usize,
    pub(super) chains: usize,
    pub(super) seed: u64,
    pub(super) purpose: Purpose,
}

/// log Z from the other end, and the relative error of Z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reverse {
    pub(super) log_z: f64,
    pub(super) relative_error: f64,
}

/// What an island found: a sample of log Z for each chain, and its state of the smaller layer.
pub(super) struct Island {
    pub(super) samples: Vec<f64>,
    pub(super) states: Vec<Vec<u64>>,
}
