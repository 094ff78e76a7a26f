//! The hot loops, on fixed-point weights and bit-packed states; all `unsafe` code is in here.
//!
//! Everything is written once, generic over [`simd::Simd`], and compiled for AVX-512, AVX2 and plain
//! Rust. Sums of weights are integer sums, which are exact in any order, and each floating-point
//! operation is done in the same order by every implementation, so that all of them give the same
//! bits: property tests compare them.
//!
//! This is the inside of `lnz`, in a crate of its own because it takes minutes to compile and seldom
//! changes. Nothing here is meant to be used directly, and anything may change in any version.

#![allow(missing_docs)]

mod aligned;
mod beside;
mod bits;
mod block;
mod contrast;
mod dense;
mod draw;
mod elementwise;
pub mod enumerate;
mod fixed;
mod flips;
mod grid;
mod landscape;
mod layers;
mod learn;
mod lists;
mod marginal;
pub mod math;
mod metropolis;
mod occurrences;
mod parameters;
mod path;
mod product;
pub mod random;
mod row_sums;
mod simd;
mod steps;
mod stream;
#[cfg(test)]
mod test_model;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_moves;
mod tile_product;

pub use bits::Bits;
pub use block::{ChainRange, Flips, GROUP, share_out};
pub use contrast::{Chain, Contrast, Example, log_marginals, measure_every};
pub use dense::DenseSums;
pub use grid::{GridChains, GridModel, MetropolisChains};
pub use landscape::{Landscape, Position};
pub use layers::{Layers, Matrix, PANEL};
pub use learn::{HiddenPanel, LearnRows, Move, transpose_panel};
pub use marginal::{GROUP_OF_ROWS, Marginals};
pub use occurrences::Occurrences;
pub use parameters::Parameters;
pub use path::Path;
pub use row_sums::prefetch;
pub use simd::Level;
pub use simd::instruction_set;
