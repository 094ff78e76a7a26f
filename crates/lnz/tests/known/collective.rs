//! Two phases of all visible units together, in which every few units have phases of their own.

use super::coexistence::{CurieWeiss, Valley};
use super::disguise::Solved;
use super::numbers::Numbers;
use super::sums::{log_counts, log_sum, softplus};
use lnz::{Rbm, Result};
use ndarray::{Array2, s};

/// A Curie-Weiss model whose visible units come in small groups, each held together by strong hidden units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Collective {
    pub(crate) groups: usize,
    /// All visible units, and the hidden ones that see all of them.
    pub(crate) whole: CurieWeiss,
    /// Hidden units of each group, and the size of their weights.
    pub(crate) local: usize,
    pub(crate) strength: f64,
}

/// Not every draw has two phases.
const TRIES: usize = 50;

impl Collective {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(14, seed);
        for _ in 0..TRIES {
            let model = self.drawn(&mut numbers)?;
            let profile = self.profile(&model);
            let Some(valley) = Valley::of(&profile) else { continue };
            let share = [0.5, 0.9, 0.99, 0.1, 0.01][numbers.below(5)];
            let Some(tilt) = valley.tilt_for(share) else { continue };
            let bias = model.visible_bias().mapv(|bias| bias + tilt);
            let hidden_bias = model.hidden_bias().to_owned();
            let model = Rbm::new(model.weights().to_owned(), bias, hidden_bias)?;
            let log_z = log_sum(&self.profile(&model));
            return Solved::new(model, log_z)?.disguised(&mut numbers);
        }
        unreachable!("none of {TRIES} models has two phases: {self:?}")
    }

    fn size(&self) -> usize {
        self.whole.visible / self.groups
    }

    fn drawn(&self, numbers: &mut Numbers) -> Result<Rbm> {
        let whole = self.whole.tuned(numbers)?;
        let hidden = self.whole.hidden + self.groups * self.local;
        let mut weights = Array2::zeros((self.whole.visible, hidden));
        weights.slice_mut(s![.., ..self.whole.hidden]).assign(&whole.weights());
        let mut visible_bias = whole.visible_bias().to_owned();
        let mut hidden_bias = whole.hidden_bias().to_vec();
        for group in 0..self.groups {
            let units = group * self.size()..(group + 1) * self.size();
            for _ in 0..self.local {
                let weight = self.strength * (1.0 + 0.2 * numbers.normal());
                weights.slice_mut(s![units.clone(), hidden_bias.len()]).fill(weight);
                let threshold = 0.3 + 0.4 * numbers.uniform();
                hidden_bias.push(-weight * self.size() as f64 * threshold);
                visible_bias.slice_mut(s![units.clone()]).mapv_inplace(|b| b - weight / 2.0);
            }
        }
        Rbm::new(weights, visible_bias, hidden_bias.into())
    }

    /// For every number of visible units on, the log of the sum over all that have it: groups are independent given
    /// that number, up to it.
    fn profile(&self, model: &Rbm) -> Vec<f64> {
        let mut profile = vec![0.0];
        for group in 0..self.groups {
            let first = group * self.size();
            let biases = model.visible_bias().slice(s![first..first + self.size()]).to_vec();
            let of_group = self.whole.hidden + group * self.local;
            let of_group = of_group..of_group + self.local;
            let term = |(on, log): (usize, f64)| {
                let input =
                    |j: usize| model.hidden_bias()[j] + on as f64 * model.weights()[[first, j]];
                log + of_group.clone().map(|j| softplus(input(j))).sum::<f64>()
            };
            let terms: Vec<f64> = log_counts(&biases).into_iter().enumerate().map(term).collect();
            profile = convolved(&profile, &terms);
        }
        let collective = |(on, log): (usize, f64)| {
            let input = |j: usize| model.hidden_bias()[j] + on as f64 * model.weights()[[0, j]];
            log + (0..self.whole.hidden).map(|j| softplus(input(j))).sum::<f64>()
        };
        profile.into_iter().enumerate().map(collective).collect()
    }
}

/// log of the sum of exp(a_i + b_j) over all i + j = k.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let sum = |k: usize| {
        let from = k.saturating_sub(b.len() - 1);
        log_sum(&(from..=k.min(a.len() - 1)).map(|i| a[i] + b[k - i]).collect::<Vec<_>>())
    };
    (0..a.len() + b.len() - 1).map(sum).collect()
}
