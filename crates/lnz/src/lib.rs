//! The partition function of a Restricted Boltzmann Machine (RBM): log Z, and how far to trust it.
//!
//! ```
//! use lnz::{Annealing, Auto, Estimate, Gwgm, Sampling, Schedule, Start};
//!
//! fn main() -> lnz::Result<()> {
//!     let model = Gwgm::HARDEST.generate(0)?.transposed()?;
//!     let best = lnz::auto(&model, &Auto::default(), &())?;
//!     println!("log Z = {:.3}, {:?}", best.log_z, best.diagnosis.verdict);
//!
//!     // The same by hand: annealing from the means of Gibbs samples.
//!     let start = Start::sampled(&model, &Sampling::default(), 0, &())?;
//!     let run = lnz::anneal(&model, &start, &Schedule::linear(1024)?, &Annealing::default(), &())?;
//!     let ais = Estimate::from_samples(&run.samples);
//!     println!("log Z = {:.2} +- {:.2}", ais.log_z, ais.std_error);
//!     assert!((ais.log_z - best.log_z).abs() < 4.0 * ais.std_error);
//!     Ok(())
//! }
//! ```
//!
//! Models have units in {0, 1} and the energy `E(x, h) = -b.x - c.h - x.W.h`; all logarithms are natural.
//!
//! | to | use |
//! |---|---|
//! | make or read a model | [`Rbm::new`], [`Rbm::from_spins`], [`io::read_model`], [`Gwgm`], [`block_system`], [`BUILT_IN`] |
//! | get log Z with the default method | [`auto`](fn@auto), whose result carries a [`Diagnosis`] |
//! | sum over all states | [`exact_log_z`], after asking [`exact_cost`]; [`exact_log_z_sparse`] without a matrix |
//! | choose where annealing starts | [`Start::uniform`], [`Start::from_means`] with [`data::means`], [`Start::sampled`] |
//! | anneal | [`Schedule`], [`anneal`](fn@anneal), [`Estimate::from_samples`] |
//! | get the log-likelihood of data | [`score`](fn@score) over a [`data::DataReader`], then [`Scores::likelihood`] |
//! | look for mass that a run has missed | [`second_opinion`], [`Diagnosis::of_annealing`] |
//! | train a model on data | [`train::Trainer`] |
//! | follow or stop long work | [`Observer`]; `()` does neither |
//!
//! Every function is deterministic: the same model, settings and seed give the same bits on any number
//! of threads and any instruction set. Only a time limit makes a result depend on the machine.
//!
//! The repository's `docs/method.md` maps the equations to functions, `docs/architecture.md` describes
//! the modules.

#![deny(unsafe_code)]

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
mod model;
mod moves;
mod observer;
mod problems;
mod schedule;
mod score;
mod start;
pub mod train;

pub use anneal::{Annealed, Annealing, Precision, anneal};
pub use auto::{
    Auto, AutoEstimate, Family, FamilyReport, Sampled, SecondOpinion, auto, second_opinion,
};
pub use builtin::{BUILT_IN, BuiltIn};
pub use diagnostics::{Change, Diagnosis, RunSettings, StartedFrom, Verdict, Warning};
#[doc(hidden)]
pub use duration::in_words;
pub use error::{Error, Result};
pub use estimate::Estimate;
pub use exact::{
    ExactCost, ExactSettings, SparseModel, exact_cost, exact_cost_sparse, exact_cost_with,
    exact_log_z, exact_log_z_sparse, exact_log_z_with, exact_log_z_within,
};
pub use lnz_kernels::{instruction_set, math};
pub use model::{Component, Rbm};
pub use observer::{Observer, Phase, Progress};
pub use problems::{Gwgm, block_system};
pub use schedule::Schedule;
pub use score::{Likelihood, Scores, log_marginals, score};
pub use start::{ChainLayout, Flips, InitialState, Sampler, Sampling, Start};
