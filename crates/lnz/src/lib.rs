//! The partition function of a Restricted Boltzmann Machine (RBM): log Z, and how far to trust it.
//!
//! ```
//! use lnz::{Ais, Estimator, Gwgm, Schedule};
//!
//! fn main() -> lnz::Result<()> {
//!     let model = Gwgm::HARDEST.generate(0)?.transposed()?;
//!     let best = lnz::estimate(&model)?;
//!     println!("log Z = {:.3}, {:?}", best.log_z, best.diagnosis.verdict);
//!
//!     // The same by hand: annealing from the means of Gibbs samples.
//!     let ais = Ais::along(Schedule::linear(1024)?).estimate(&model, &())?;
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
//! | make or read a model | [`Rbm::new`], [`Rbm::from_spins`], [`io::read_model`], [`Gwgm`], [`block_system`], [`Spins`], [`BUILT_IN`] |
//! | get log Z with the default method | [`estimate`](fn@estimate), or [`Auto`] for its settings |
//! | choose the method | [`Auto`], [`Ais`], [`Exact`] and [`Tempering`], each an [`Estimator`] that returns a [`Finding`]; [`Method`] has them by name |
//! | sum over all states | [`exact_log_z`], after asking [`exact_cost`]; [`exact_log_z_sparse`] without a matrix |
//! | prove a floor and a ceiling | [`proven_bounds`] |
//! | choose where annealing starts | [`Start::uniform`], [`Start::from_means`] with [`data::means`], [`Start::sampled`] |
//! | anneal | [`Schedule`], [`anneal`](fn@anneal), [`Estimate::from_samples`] |
//! | get the log-likelihood of data | [`score`](fn@score) over a [`data::DataReader`], then [`Scores::likelihood`] |
//! | look for mass that a run has missed | [`second_opinion`], [`Diagnosis::of_annealing`]; [`Ais`] does both |
//! | draw states of a model | [`sample`](fn@sample) |
//! | follow log Z from model to model | [`Follower`] |
//! | train a model on data | [`train::Trainer`] |
//! | watch or stop long work | [`Observer`]; `()` does neither |
//! | have work done elsewhere, or keep what was done | [`crew::Crew`], [`carry_out`] |
//!
//! Every function is deterministic: the same model, settings and seed give the same bits on any number
//! of threads and any instruction set. Only a time limit makes a result depend on the machine.
//!
//! The feature `models`, on by default, adds the trained models of [`BUILT_IN`], 7 MB. The generated ones
//! are always there.
//!
//! In the repository, `docs/method.md` maps the equations to functions and `docs/architecture.md` describes
//! the modules.

#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod builtin;
mod chains;
mod check;
mod choice;
pub mod crew;
pub mod data;
mod duration;
mod energy;
mod error;
mod estimate;
mod identity;
pub mod io;
#[doc(hidden)]
pub mod json;
mod memory;
mod model;
mod observer;
mod path;
mod problems;
mod sampling;
mod score;
pub mod train;
mod walk;

pub use builtin::{BUILT_IN, BuiltIn};
pub use chains::Precision;
pub use check::{Change, Diagnosis, RunSettings, StartedFrom, Verdict, Warning};
#[doc(hidden)]
pub use check::{MANY_DIGITS, in_nats};
pub use choice::{Choice, Named};
#[doc(hidden)]
pub use duration::in_words;
pub use error::{Error, Result};
// Every method, as `estimate.rs` lists them.
pub use estimate::*;
pub use lnz_kernels::{instruction_set, math};
pub use model::{Component, Rbm};
pub use observer::{Deadline, Observer, Phase, Progress, WithCrew};
pub use path::{Schedule, Start};
pub use problems::{Gwgm, Spins, block_system};
pub use sampling::{ChainLayout, Flips, InitialState, Sampler, Sampling};
pub use score::{Batches, Likelihood, Scores, log_marginals, score};
