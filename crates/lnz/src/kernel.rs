//! The hot loops, on fixed-point weights and bit-packed states; all `unsafe` code is in here.
//!
//! Everything is written once, generic over [`simd::Simd`], and compiled for AVX-512, AVX2 and plain
//! Rust. Sums of weights are integer sums, which are exact in any order, and each floating-point
//! operation is done in the same order by every implementation, so that all of them give the same
//! bits: property tests compare them.

mod aligned;
mod beside;
mod bits;
mod block;
mod contrast;
mod dense;
mod draw;
mod elementwise;
pub(crate) mod enumerate;
mod fixed;
mod flips;
mod landscape;
mod layers;
mod learn;
mod lists;
mod marginal;
mod metropolis;
mod occurrences;
mod path;
mod product;
mod row_sums;
mod simd;
mod steps;
mod stream;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_moves;
mod tile_product;

pub(crate) use block::{Block, Flips, GROUP, Place, share_out};
pub(crate) use contrast::{Chain, Contrast, Example, log_marginals, measure_every};
pub(crate) use dense::DenseSums;
pub(crate) use fixed::{Fixed, FixedModel, Resolution};
pub(crate) use landscape::{Landscape, Position};
pub(crate) use layers::{Layers, Matrix, PANEL};
pub(crate) use learn::{HiddenPanel, LearnRows, Move, transpose_panel};
pub(crate) use marginal::{GROUP_OF_ROWS, Marginals};
pub(crate) use metropolis::MetropolisBlock;
pub(crate) use occurrences::Occurrences;
pub(crate) use path::Path;
pub(crate) use row_sums::prefetch;
pub(crate) use simd::Level;
pub use simd::instruction_set;
