//! Annealing: chains on fixed-point weights that walk along a path, block by block.

pub(crate) mod block;
pub(crate) mod draw;
pub(crate) mod elementwise;
pub(crate) mod exponential;
pub(crate) mod fixed;
pub(crate) mod flips;
pub(crate) mod grid;
pub(crate) mod groups;
pub(crate) mod interleave;
pub(crate) mod metropolis;
pub(crate) mod path;
pub(crate) mod product;
pub(crate) mod steps;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_moves;
#[cfg(test)]
mod tests_of_products;
pub(crate) mod tile_product;
