//! Models that come with the program: generated from a seed when asked for, no files.

use crate::{Gwgm, Rbm, Result, block_system};

/// A built-in model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub description: &'static str,
    blocks: usize,
    seed: u64,
}

/// The built-in models, all of the paper's hardest family; seeds chosen among the first 31 by what
/// the uniform start does on them with 1024 chains and 1024 betas.
pub const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        name: "gwgm-hard",
        description: "the uniform start is 70% off in both orientations, and looks healthy transposed",
        blocks: 1,
        seed: 0,
    },
    BuiltIn {
        name: "gwgm-near",
        description: "the uniform start is off by 0.2%, which is a factor of a hundred or more in Z",
        blocks: 1,
        seed: 1,
    },
    BuiltIn {
        name: "gwgm-easy",
        description: "every start comes within half a nat of log Z",
        blocks: 1,
        seed: 27,
    },
    BuiltIn {
        name: "bms-3",
        description: "three shuffled blocks: exact through components, hard to sample",
        blocks: 3,
        seed: 0,
    },
];

impl BuiltIn {
    /// The built-in model of this name.
    pub fn named(name: &str) -> Option<BuiltIn> {
        BUILT_IN.into_iter().find(|model| model.name == name)
    }

    /// Visible and hidden units.
    pub fn shape(&self) -> (usize, usize) {
        (self.blocks * Gwgm::HARDEST.visible, self.blocks * Gwgm::HARDEST.hidden)
    }

    /// Generates the model.
    pub fn generate(&self) -> Result<Rbm> {
        match self.blocks {
            1 => Gwgm::HARDEST.generate(self.seed),
            blocks => block_system(&Gwgm::HARDEST, blocks, true, self.seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_can_be_made_and_found_by_name() {
        for entry in BUILT_IN {
            let model = entry.generate().unwrap();
            assert_eq!((model.visible(), model.hidden()), entry.shape());
            assert_eq!(BuiltIn::named(entry.name), Some(entry));
        }
        assert_eq!(BuiltIn::named("none of these"), None);
    }
}
