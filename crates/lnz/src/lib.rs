//! The partition function of a Restricted Boltzmann Machine (RBM).

mod duration;
mod error;
mod estimate;
mod exact;
mod kernel;
pub mod math;
mod model;
mod observer;
mod random;
mod schedule;

pub use duration::in_words;
pub use error::{Error, Result};
pub use estimate::Estimate;
pub use exact::{ExactCost, exact_cost, exact_log_z, exact_log_z_within};
pub use model::{Component, Rbm};
pub use observer::{Observer, Phase, Progress};
pub use schedule::Schedule;
