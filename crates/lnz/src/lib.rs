//! The partition function of a Restricted Boltzmann Machine (RBM).

mod anneal;
mod auto;
mod builtin;
pub mod data;
mod diagnostics;
mod duration;
mod error;
mod estimate;
mod exact;
pub mod io;
mod kernel;
pub mod math;
mod model;
mod moves;
mod observer;
mod problems;
mod random;
mod schedule;
mod start;

pub use anneal::{Annealed, Annealing, Precision, anneal};
pub use auto::{
    Auto, AutoEstimate, Family, FamilyReport, Sampled, SecondOpinion, auto, second_opinion,
};
pub use builtin::{BUILT_IN, BuiltIn};
pub use diagnostics::{Change, Diagnosis, RunSettings, StartedFrom, Verdict, Warning};
pub use duration::in_words;
pub use error::{Error, Result};
pub use estimate::Estimate;
pub use exact::{ExactCost, exact_cost, exact_log_z, exact_log_z_within};
pub use model::{Component, Rbm};
pub use observer::{Observer, Phase, Progress};
pub use problems::{Gwgm, block_system};
pub use schedule::Schedule;
pub use start::{ChainLayout, Flips, InitialState, Sampler, Sampling, Start};
