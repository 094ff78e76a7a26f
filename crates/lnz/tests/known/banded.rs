//! Models in which each hidden unit sees a window of the visible ones, solved by a transfer matrix.
//!
//! They are connected and both layers are large, so neither splitting nor enumeration solves them.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::sums::{log_add, log_sum, softplus};
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2};

/// Gaussian weights in a band; biases balance them up to a little noise, so that on and off are about
/// equally good everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Banded {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    /// Visible units that a hidden unit sees.
    pub(crate) window: usize,
    /// Mean of the weights: above zero, neighbours agree and form domains.
    pub(crate) mean: f64,
    /// Standard deviation of the weights.
    pub(crate) spread: f64,
}

/// Standard deviation of the biases around balance.
const BIAS_NOISE: f64 = 0.3;

impl Banded {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(1, seed);
        let mut weights = Array2::zeros((self.visible, self.hidden));
        let places = self.visible - self.window;
        for hidden in 0..self.hidden {
            let first = hidden * places / (self.hidden - 1).max(1);
            for visible in first..first + self.window {
                weights[[visible, hidden]] = self.mean + self.spread * numbers.normal();
            }
        }
        let mut balanced =
            |sums: Array1<f64>| sums.mapv(|s| BIAS_NOISE * numbers.normal() - s / 2.0);
        let visible_bias = balanced(weights.sum_axis(ndarray::Axis(1)));
        let hidden_bias = balanced(weights.sum_axis(ndarray::Axis(0)));
        let model = Rbm::new(weights, visible_bias, hidden_bias)?;
        let log_z = log_z(&model);
        Solved::new(model, log_z)
    }
}

/// log Z of a model whose hidden units see at most 20 or so neighbouring visible units each.
///
/// Visible units are summed out from left to right; a table holds, for each state of the last units
/// that a hidden unit to come may see, the log of the sum over all earlier ones. A hidden unit joins,
/// summed over its two states, with the last visible unit that it sees.
pub(crate) fn log_z(model: &Rbm) -> f64 {
    let weights = model.weights();
    let seen = |hidden: usize| {
        let is_seen = |&i: &usize| weights[[i, hidden]] != 0.0;
        let first = (0..model.visible()).find(is_seen).unwrap_or(0);
        (first, (0..model.visible()).rfind(is_seen).unwrap_or(first))
    };
    let spans: Vec<(usize, usize)> = (0..model.hidden()).map(seen).collect();
    let window = spans.iter().map(|(first, last)| last - first + 1).max().unwrap_or(1);
    assert!(window <= 24, "a window of {window} visible units is too wide");

    // Bit k of a state is visible unit i - k; units before the first are off.
    let mut table = vec![f64::NEG_INFINITY; 1 << window];
    table[0] = 0.0;
    for i in 0..model.visible() {
        let oldest = 1 << (window - 1);
        let mut next: Vec<f64> = (0..table.len())
            .map(|state| {
                let before = state >> 1;
                let on = f64::from((state & 1) as u8) * model.visible_bias()[i];
                log_add(table[before], table[before | oldest]) + on
            })
            .collect();
        for j in (0..model.hidden()).filter(|&j| spans[j].1 == i) {
            let mut inputs = vec![model.hidden_bias()[j]];
            for k in 0..window {
                let weight = if k <= i { weights[[i - k, j]] } else { 0.0 };
                inputs.extend(inputs.clone().iter().map(|input| input + weight));
            }
            next.iter_mut().zip(inputs).for_each(|(log, input)| *log += softplus(input));
        }
        table = next;
    }
    model.constant() + log_sum(&table)
}
