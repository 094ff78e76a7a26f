//! The log marginal F(x) of a layer in float64: of one state whose units flip, and of rows of data.

pub(crate) mod position;
pub(crate) mod rows;
pub(crate) mod softplus;
