//! What the reader of a model file may be told.

use super::Units;

/// Which way round a matrix of weights is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One row for each visible unit.
    VisibleHidden,
    /// One row for each hidden unit.
    HiddenVisible,
}

crate::choices!(Layout {
    VisibleHidden: "vh", "One row for each visible unit";
    HiddenVisible: "hv", "One row for each hidden unit";
});

impl Layout {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Layout::VisibleHidden => "(visible, hidden)",
            Layout::HiddenVisible => "(hidden, visible)",
        }
    }
}

/// What the reader of a model file may be told; by default it finds out by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The values of the units, where the file does not say or says wrongly.
    pub units: Option<Units>,
    /// The name of the tensor with the weights, or a file with nothing else.
    pub weights: Option<String>,
    /// The same for the visible bias; `none` for zero.
    pub visible_bias: Option<String>,
    /// The same for the hidden bias.
    pub hidden_bias: Option<String>,
    /// Which way round the weights are stored.
    pub layout: Option<Layout>,
    /// Which update of a training run of `rbms`; without it, the last.
    pub update: Option<u64>,
}

impl ReadOptions {
    /// Only the values of the units are told.
    pub fn with_units(units: Option<Units>) -> Self {
        Self { units, ..Self::default() }
    }
}
