//! The ways to anneal a model.

use serde::Serialize;

/// A way to anneal a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Family {
    /// From products of independent units that were fitted to the phases of the model, by sweeps.
    Phases,
    /// From combinations of blocks of units, each fitted to its own phases.
    Blocks,
    /// From the uniform distribution of the smaller layer, with flips and resampling.
    Flips,
}

impl Family {
    /// Where it starts, after "from".
    pub fn describe(self) -> &'static str {
        match self {
            Family::Phases => "the fitted starts",
            Family::Blocks => "the combinations of blocks",
            Family::Flips => "the uniform distribution with flips",
        }
    }
}
