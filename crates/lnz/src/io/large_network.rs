//! Markov networks that are RBMs, but too large for a matrix of weights: trees of 100,000 variables.

use super::input::open_input;
use super::uai::{self, Network};
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A network in two layers that is too large for a matrix.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LargeNetwork {
    /// Variables of the first layer.
    pub visible: usize,
    /// Variables of the second layer.
    pub hidden: usize,
    /// The bias of each variable, in the order of the file.
    pub biases: Vec<f64>,
    /// Two variables and the weight between them.
    pub couplings: Vec<(usize, usize, f64)>,
    /// What is added to log Z.
    pub constant: f64,
}

/// A network of the UAI competitions, if a file is one and too large for a matrix: `None` for all other
/// files, and for what is no file but a pipe, which can be read once only.
pub fn read_large_network(path: &Path) -> Result<Option<LargeNetwork>> {
    if !path.is_file() {
        return Ok(None);
    }
    let found = open_input(path, "a model file").and_then(|input| {
        if !uai::looks_like_it(&input.start(64)?) {
            return Ok(None);
        }
        let (network, is_hidden) = uai::read_network(&input)?;
        let hidden = is_hidden.iter().filter(|hidden| **hidden).count();
        let visible = is_hidden.len() - hidden;
        let Network { constant, fields: biases, couplings } = network;
        let large = LargeNetwork { visible, hidden, biases, couplings, constant };
        Ok(Some(large).filter(|_| !uai::fits_a_matrix(visible, hidden)))
    });
    found.map_err(|problem| Error::file(path, problem))
}

impl LargeNetwork {
    /// Root mean square of all weights, most of which are zero.
    pub fn weight_rms(&self) -> f64 {
        let squares: f64 = self.couplings.iter().map(|(_, _, weight)| weight * weight).sum();
        (squares / (self.visible as f64 * self.hidden as f64)).sqrt()
    }

    /// The SHA-256 of its numbers in the order of the file, in hexadecimal digits. That of a matrix, as
    /// models have it, would take longer than the sum over all states.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"lnz-network-1\n");
        hash.update((self.biases.len() as u64).to_le_bytes());
        for number in self.biases.iter().chain([&self.constant]) {
            hash.update((number + 0.0).to_le_bytes());
        }
        for &(x, y, weight) in &self.couplings {
            hash.update((x as u64).to_le_bytes());
            hash.update((y as u64).to_le_bytes());
            hash.update((weight + 0.0).to_le_bytes());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
