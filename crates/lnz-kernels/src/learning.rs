//! Learning: the Gibbs chains of contrastive divergence and the step of the weights, in float32.

pub(crate) mod chain;
pub(crate) mod chains;
pub(crate) mod dense;
pub(crate) mod gradient;
pub(crate) mod layers;
pub(crate) mod lists;
pub(crate) mod log_marginals;
pub(crate) mod occurrences;
pub(crate) mod panel;
pub(crate) mod row_sums;
pub(crate) mod sampling;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_draws;
