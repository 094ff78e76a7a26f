//! Blocks of Curie-Weiss units that share a hub: a few units coupled weakly to all of them.

use super::coexistence::CurieWeiss;
use super::disguise::Solved;
use super::numbers::Numbers;
use super::occupations;
use super::sums::log_sum;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2, s};

/// Every block has two phases, so that k of them have 2^k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hub {
    pub(crate) blocks: usize,
    /// Units of one block.
    pub(crate) block: CurieWeiss,
    /// Visible units that see every block.
    pub(crate) hub: usize,
}

/// Nats that a unit of the hub moves between the phases of a block, about.
const PULL: f64 = 0.7;

impl Hub {
    pub(crate) fn of(blocks: usize, block: CurieWeiss) -> Self {
        Self { blocks, block, hub: 1 }
    }

    pub(crate) fn visible(&self) -> usize {
        self.blocks * self.block.visible + self.hub
    }

    pub(crate) fn hidden(&self) -> usize {
        self.blocks * self.block.hidden
    }

    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(6, seed);
        // In some blocks the visible units are the equal ones, in others the hidden ones: a search
        // on one layer finds the phases of some blocks only.
        let is_turned: Vec<bool> = (0..self.blocks).map(|_| numbers.bit(0.5) > 0.0).collect();
        let block = |&is_turned: &bool| {
            let CurieWeiss { visible, hidden, .. } = self.block;
            if !is_turned {
                return self.block.tuned(&mut numbers);
            }
            let turned = CurieWeiss { visible: hidden, hidden: visible, ..self.block };
            turned.tuned(&mut numbers)?.transposed()
        };
        let blocks: Vec<Rbm> = is_turned.iter().map(block).collect::<Result<_>>()?;
        let apart = Rbm::block_diagonal(&blocks)?;
        let mut weights = Array2::zeros((self.visible(), self.hidden()));
        weights.slice_mut(s![..apart.visible(), ..]).assign(&apart.weights());
        for unit in apart.visible()..self.visible() {
            for block in 0..self.blocks {
                let of_block = block * self.block.hidden..(block + 1) * self.block.hidden;
                let weight = PULL * numbers.normal() / self.block.hidden as f64;
                weights.slice_mut(s![unit, of_block]).fill(weight);
            }
        }
        let mut visible_bias = apart.visible_bias().to_vec();
        visible_bias.extend((0..self.hub).map(|_| 0.5 * numbers.normal()));
        let model = Rbm::new(weights, visible_bias.into(), apart.hidden_bias().to_owned())?;
        let log_z = self.log_z(&model, &is_turned)?;
        Solved::new(model, log_z)?.disguised(&mut numbers)
    }

    /// Given the states of the hub, blocks are independent sums over occupation numbers.
    fn log_z(&self, model: &Rbm, is_turned: &[bool]) -> Result<f64> {
        let first = self.blocks * self.block.visible;
        let given = |state: usize| -> Result<f64> {
            let on = Array1::from_shape_fn(self.hub, |k| f64::from((state >> k & 1) as u8));
            let mut log = model.visible_bias().slice(s![first..]).dot(&on);
            let input = on.dot(&model.weights().slice(s![first.., ..])) + model.hidden_bias();
            for block in 0..self.blocks {
                let visible = block * self.block.visible..(block + 1) * self.block.visible;
                let hidden = block * self.block.hidden..(block + 1) * self.block.hidden;
                let part = Rbm::new(
                    model.weights().slice(s![visible.clone(), hidden.clone()]).to_owned(),
                    model.visible_bias().slice(s![visible]).to_owned(),
                    input.slice(s![hidden]).to_owned(),
                )?;
                let part = if is_turned[block] { part.transposed()? } else { part };
                log += occupations::log_z(&part, &[(0..part.visible()).collect()]);
            }
            Ok(log)
        };
        let logs: Vec<f64> = (0..1 << self.hub).map(given).collect::<Result<_>>()?;
        Ok(log_sum(&logs))
    }
}
