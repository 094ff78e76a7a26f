//! The default estimator: finds the modes that annealing alone misses.

mod core;
mod family;
mod modes;
