//! Learning: the Gibbs chains of contrastive divergence and the step of the weights, in float32.

pub(crate) mod chains;
pub(crate) mod dense;
pub(crate) mod gradient;
pub(crate) mod layers;
pub(crate) mod lists;
pub(crate) mod occurrences;
pub(crate) mod row_sums;
