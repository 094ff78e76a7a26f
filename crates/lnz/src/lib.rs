//! The partition function of a Restricted Boltzmann Machine (RBM).

pub mod data;
mod error;
mod estimate;
pub mod io;
pub mod math;
mod model;
mod observer;
mod random;
mod schedule;

pub use error::{Error, Result};
pub use estimate::Estimate;
pub use model::{Component, Rbm};
pub use observer::{Observer, Phase, Progress};
pub use schedule::Schedule;
