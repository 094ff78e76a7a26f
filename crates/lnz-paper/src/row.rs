//! One row of results, as it stands in the CSV files.

use serde::{Deserialize, Serialize};

/// The settings of a run and what it found. Everything is reproducible to the last digit, so there
/// are no times here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) problem: String,
    /// Seed of an artificial model, seeds of the blocks of one, or epoch of a trained one.
    pub(crate) instance: String,
    /// `uniform`, `data`, `gibbs`, `metropolis` or `auto`.
    pub(crate) method: String,
    pub(crate) orientation: String,
    pub(crate) init: String,
    pub(crate) samples: Option<usize>,
    pub(crate) steps: Option<usize>,
    pub(crate) flips: String,
    pub(crate) epsilon: Option<f64>,
    pub(crate) layout: String,
    pub(crate) betas: Option<usize>,
    pub(crate) chains: Option<usize>,
    pub(crate) seed: u64,
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) weight_rms: f64,
    pub(crate) log_z: f64,
    pub(crate) std_error: f64,
    /// Mean and standard deviation of the samples s_i.
    pub(crate) mean_sample: Option<f64>,
    pub(crate) std_sample: Option<f64>,
    pub(crate) ess: Option<f64>,
    pub(crate) exact_log_z: Option<f64>,
    /// |(exact - log Z) / exact|.
    pub(crate) xi: Option<f64>,
    pub(crate) verdict: String,
    /// Sweeps or proposals for B, all chains together.
    pub(crate) start_steps: u64,
    /// Annealing steps, all chains together; of `auto`, pilots and trials included.
    pub(crate) chain_steps: u64,
}

impl Row {
    /// The settings without the seed, which follows from them: what makes a run that run.
    pub(crate) fn key(&self) -> String {
        let number = |value: Option<usize>| value.map(|n| n.to_string()).unwrap_or_default();
        [
            self.problem.clone(),
            self.instance.clone(),
            self.method.clone(),
            self.orientation.clone(),
            self.init.clone(),
            number(self.samples),
            number(self.steps),
            self.flips.clone(),
            self.epsilon.map(|e| e.to_string()).unwrap_or_default(),
            self.layout.clone(),
            number(self.betas),
            number(self.chains),
        ]
        .join("|")
    }

    /// The strategy without problem, instance and orientation: a combination of the paper's grid.
    pub(crate) fn strategy(&self) -> String {
        let key = self.key();
        let parts: Vec<&str> = key.split('|').collect();
        [&[parts[2]], &parts[4..]].concat().join("|")
    }

    pub(crate) fn is_transposed(&self) -> bool {
        self.orientation == "transposed"
    }
}

/// FNV-1a of the settings of a run.
pub(crate) fn hash_of(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
