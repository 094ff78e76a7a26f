//! The experiments of the paper behind lnz: what is run, what is drawn, and which of its claims hold.
//!
//! Mazzanti and Romero, *Efficient Evaluation of the Partition Function of RBMs with Annealed Importance
//! Sampling* (arXiv 2007.11926).
//!
//! | to | use |
//! |---|---|
//! | find an experiment | [`EXPERIMENTS`], [`Experiment::named`] |
//! | choose how much of it is run | [`Scale`] |
//! | open a folder of results | [`Results::open`] |
//! | run what is missing | [`complete`], after [`with_needs`] |
//! | draw a figure | [`Experiment::write_figure`] |
//! | judge the claims | [`Page`], as HTML and as Markdown |
//! | train models that do not come along | [`train_missing`] |
//! | follow or stop any of it | [`RunObserver`], [`TrainingObserver`]; `()` does neither |
//!
//! Nothing here prints. Every run is seeded by its settings: the same rows on every machine.

#![deny(unsafe_code)]

mod claims;
mod error;
mod experiments;
mod job;
mod observer;
mod page;
mod problem;
mod record;
mod results;
mod row;
mod runner;
mod scale;
mod statistics;
mod training;

pub use error::{Error, Result};
pub use experiments::{EXPERIMENTS, Experiment, with_needs};
pub use observer::{RunObserver, TrainingObserver};
pub use page::Page;
pub use results::Results;
pub use runner::{LeftOut, Outcome, complete};
pub use scale::Scale;
pub use training::{TrainingData, train_missing};
