//! The library by its public functions: methods against exact values, files of every format.
//!
//! Tests that watch over memory have an allocator, and so a program of their own beside this one.

#[path = "../known/families.rs"]
mod known;
#[path = "../support/statistics.rs"]
mod statistics;
#[path = "../support/writers.rs"]
mod writers;

mod annealing;
mod auto;
mod calibration;
mod data_files;
mod exact_grids;
mod exact_sparse;
mod foreign_files;
mod model_files;
mod orders;
mod tempering;
