//! The hot loops, on fixed-point weights and bit-packed states; all `unsafe` code is in here.
//!
//! Everything is written once, generic over `Simd`, and compiled for AVX-512, AVX2 and plain
//! Rust. Sums of weights are integer sums, which are exact in any order, and each floating-point
//! operation is done in the same order by every implementation, so that all of them give the same
//! bits: property tests compare them.
//!
//! This is the inside of `lnz`, in a crate of its own because it takes minutes to compile and seldom
//! changes. Nothing here is meant to be used directly, and anything may change in any version.

#![allow(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod aligned;
mod annealing;
mod bits;
pub mod enumeration;
mod free_energy;
mod learning;
pub mod math;
mod parameters;
pub mod random;
mod simd;
mod stop;
mod stream;
#[cfg(test)]
mod test_model;

pub use annealing::block::Flips;
pub use annealing::grid::{GridChains, GridModel, MetropolisChains};
pub use annealing::groups::{ChainRange, GROUP, LARGEST_BLOCK, share_out};
pub use annealing::path::Path;
pub use annealing::product::CHAINS_PER_BUILD;
pub use bits::Bits;
pub use free_energy::position::{FreeEnergy, Position};
pub use free_energy::rows::{GROUP_OF_ROWS, Marginals};
pub use learning::chain::{Chain, Example};
pub use learning::chains::{RunChains, measure_every};
pub use learning::dense::DenseSums;
pub use learning::gradient::{HiddenPanel, LearnRows, Move, transpose_panel};
pub use learning::layers::{Layers, Matrix, PANEL};
pub use learning::log_marginals::log_marginals;
pub use learning::occurrences::Occurrences;
pub use learning::row_sums::prefetch;
pub use parameters::Parameters;
pub use simd::Level;
pub use simd::instruction_set;
pub use stop::StopRule;
