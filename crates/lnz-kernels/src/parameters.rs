//! The numbers of a model, borrowed from whoever owns and has checked them.

use ndarray::{ArrayView1, ArrayView2};

/// `-E(x, h) = constant + b.x + c.h + x.W.h`, with finite values and biases of the right lengths.
#[derive(Clone, Copy)]
pub struct Parameters<'a> {
    /// W, a row for each visible unit.
    pub weights: ArrayView2<'a, f64>,
    /// b.
    pub visible_bias: ArrayView1<'a, f64>,
    /// c.
    pub hidden_bias: ArrayView1<'a, f64>,
    /// The part of -E that does not depend on the units.
    pub constant: f64,
}
