//! How much of an experiment is run: all of it, a quick look, or a trial for tests.

use std::path::{Path, PathBuf};

/// Sizes of the experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Its name, for the reader.
    pub name: &'static str,
    /// Models of each artificial family.
    pub(crate) instances: u64,
    /// Parameter sets of Fig. 1, from the hardest down.
    pub(crate) families: usize,
    /// Fig. 2: the largest N_beta is two to this power.
    pub(crate) log_betas: u32,
    /// Fig. 2: chain-steps of one run, at most: fewer chains where N_beta is large.
    pub(crate) most_steps: usize,
    /// Fig. 4: cut-offs of the grid.
    pub(crate) epsilons: &'static [f64],
    /// Fig. 4: Metropolis flips, in per cent for artificial models and in units for trained ones.
    pub(crate) percents: &'static [f64],
    pub(crate) units: &'static [usize],
    /// Fig. 4: numbers of Gibbs and of Metropolis steps.
    pub(crate) gibbs_steps: &'static [usize],
    pub(crate) metropolis_steps: &'static [usize],
    /// Fig. 7: chains and intervals of the reference.
    pub(crate) reference: (usize, usize),
}

impl Scale {
    /// The paper's numbers, with the exceptions that the figures state.
    pub const FULL: Scale = Scale {
        name: "full",
        instances: 100,
        families: 4,
        log_betas: 20,
        most_steps: 1 << 25,
        epsilons: &[0.01, 0.05, 0.10, 0.20],
        percents: &[5.0, 10.0, 15.0, 25.0, 50.0, 100.0],
        units: &[1, 10, 40, 80],
        gibbs_steps: &[1, 10, 100],
        metropolis_steps: &[10, 100],
        reference: (1024, 1 << 14),
    };

    /// Every figure in a few minutes.
    pub const QUICK: Scale = Scale {
        name: "quick",
        instances: 20,
        log_betas: 15,
        most_steps: 1 << 21,
        epsilons: &[0.05],
        percents: &[15.0, 100.0],
        units: &[1, 40],
        reference: (256, 1 << 13),
        ..Self::FULL
    };

    /// Every path of the code in seconds, for tests.
    pub const TINY: Scale = Scale {
        name: "tiny",
        instances: 4,
        families: 1,
        log_betas: 3,
        most_steps: 1 << 12,
        percents: &[100.0],
        units: &[1],
        gibbs_steps: &[1],
        metropolis_steps: &[10],
        reference: (16, 16),
        ..Self::QUICK
    };

    /// The folder of its results: that of the full scale, or one inside it.
    pub fn folder(&self, full: &Path) -> PathBuf {
        if *self == Self::FULL { full.to_owned() } else { full.join(self.name) }
    }
}
