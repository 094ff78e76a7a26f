//! The families of starts, behind one face.
//!
//! Every one of them is unbiased, and each is confidently too low on models where another is right:
//! - modes: a mixture of independent units around the best modes, on the larger layer, with flips;
//! - means: the paper's start, from the means of parallel Gibbs chains, on the larger layer; once for
//!   chains from random states, once for chains from the mean-field state;
//! - flips: the uniform start on the smaller layer, with single-unit flips and resampling.

use crate::observer::Observer;
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

/// The families behind one face, whatever their resolution.
pub(super) trait Anneals: Sync {
    fn family(&self) -> Family;
    /// How much larger islands must be than those of independent chains.
    fn chains_factor(&self) -> usize;
    /// A run with resampling that finds its own schedule.
    fn pilot(&self, seed: u64, observer: &dyn Observer) -> Option<Pilot>;
    /// log Z from chains that go the other way: from states of the smaller layer, after some sweeps of
    /// the model, to the start distribution. Too high on average if they begin in equilibrium.
    fn reverse(
        &self,
        betas: &[f64],
        states: &[Vec<bool>],
        seed: u64,
        observer: &dyn Observer,
    ) -> Option<Reverse>;
    /// Independent chains (or one resampled population) along `betas`.
    fn island(&self, betas: &[f64], place: IslandPlace, observer: &dyn Observer) -> Option<Island>;
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

/// What the pilot found.
pub(super) struct Pilot {
    /// The betas it went through, and the standard deviation of d log gamma / d beta between them.
    pub(super) betas: Vec<f64>,
    pub(super) spread: Vec<f64>,
    /// Last states of the smaller layer.
    pub(super) states: Vec<Vec<bool>>,
    /// The transitions are Gibbs sweeps alone.
    pub(super) gibbs_alone: bool,
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
