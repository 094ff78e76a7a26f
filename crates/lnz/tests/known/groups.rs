//! Group Curie-Weiss models: units in a few groups, and weights that are constant between groups.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::occupations::{log_terms, log_z};
use super::sums::log_sum;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2};

/// Groups of either layer that agree in one pattern of signs, or compete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Groups {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) groups: usize,
    pub(crate) order: Order,
    /// Spread of the logarithm of the hidden units' weights.
    pub(crate) roughness: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Two phases: all groups agree, up to random signs; a field gives one of them 50 to 99.9%.
    Agreeing,
    /// As many phases as groups: in each, one group of either layer is on and the others are off.
    Competing,
}

impl Groups {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(7, seed);
        let groups = parted(self.visible, self.groups, self.order, &mut numbers);
        let model = match self.order {
            Order::Agreeing => self.agreeing(&groups, &mut numbers)?,
            Order::Competing => self.competing(&groups, &mut numbers)?,
        };
        let log_z = log_z(&model, &groups);
        Solved::new(model, log_z)?.disguised(&mut numbers)
    }

    /// Weights from a value per pair of groups.
    fn weights(
        &self,
        groups: &[Vec<usize>],
        numbers: &mut Numbers,
        of_pair: &dyn Fn(usize, usize) -> f64,
    ) -> Array2<f64> {
        let hidden_groups = parted(self.hidden, self.groups, self.order, numbers);
        let mut weights = Array2::zeros((self.visible, self.hidden));
        for (k, hidden) in hidden_groups.iter().enumerate() {
            for &j in hidden {
                let rough = (self.roughness * numbers.normal()).exp();
                for (g, visible) in groups.iter().enumerate() {
                    visible.iter().for_each(|&i| weights[[i, j]] = rough * of_pair(g, k));
                }
            }
        }
        weights
    }

    fn agreeing(&self, groups: &[Vec<usize>], numbers: &mut Numbers) -> Result<Rbm> {
        let scale = 4.0 / (self.visible as f64 * self.hidden as f64).sqrt();
        let couplings = Array2::from_shape_simple_fn((self.groups, self.groups), || {
            scale * (1.05 + 0.5 * numbers.uniform())
        });
        let weights = self.weights(groups, numbers, &|g, k| couplings[[g, k]]);
        // Balanced: on and off are mirror images, until a field tilts them.
        let visible_bias = weights.sum_axis(ndarray::Axis(1)) / -2.0;
        let hidden_bias = weights.sum_axis(ndarray::Axis(0)) / -2.0;
        let model = Rbm::new(weights, visible_bias, hidden_bias)?;
        let share = [0.5, 0.9, 0.99, 0.999][numbers.below(4)];
        let tilt = tilt_for(share, &model, groups);
        let visible_bias = model.visible_bias().mapv(|b| b + tilt);
        Rbm::new(model.weights().to_owned(), visible_bias, model.hidden_bias().to_owned())
    }

    fn competing(&self, groups: &[Vec<usize>], numbers: &mut Numbers) -> Result<Rbm> {
        let unit = 4.0 * self.groups as f64 / (self.visible as f64 * self.hidden as f64).sqrt();
        let coupling = 1.6 + 0.6 * numbers.uniform();
        let of_pair = |g: usize, k: usize| if g == k { coupling * unit } else { -0.6 * unit };
        let weights = self.weights(groups, numbers, &of_pair);
        // A group that is on keeps its partner on, and without it both are off.
        let threshold = 0.45 * coupling * unit / self.groups as f64;
        let mut visible_bias = Array1::zeros(self.visible);
        for group in groups {
            // Some nats between the phases.
            let field = 1.5 * numbers.normal() / group.len() as f64;
            group.iter().for_each(|&i| {
                visible_bias[i] = field - threshold * self.hidden as f64;
            });
        }
        let hidden_bias = Array1::from_elem(self.hidden, -threshold * self.visible as f64);
        Rbm::new(weights, visible_bias, hidden_bias)
    }
}

/// Units 0, ..., n - 1 in groups of random size, or of the same where groups compete.
fn parted(units: usize, groups: usize, order: Order, numbers: &mut Numbers) -> Vec<Vec<usize>> {
    let sizes: Vec<f64> = (0..groups)
        .map(|_| if order == Order::Competing { 1.0 } else { 0.5 + numbers.uniform() })
        .collect();
    let total: f64 = sizes.iter().sum();
    let mut bounds = vec![0];
    for group in 1..=groups {
        bounds.push((units as f64 * sizes[..group].iter().sum::<f64>() / total).round() as usize);
    }
    bounds.windows(2).map(|b| (b[0]..b[1]).collect()).collect()
}

/// What to add to every visible bias so that states with more than half of the units on have this share.
fn tilt_for(share: f64, model: &Rbm, groups: &[Vec<usize>]) -> f64 {
    let units: usize = groups.iter().map(Vec::len).sum();
    let mut by_number: Vec<Vec<f64>> = vec![Vec::new(); units + 1];
    for (on, log) in log_terms(model, groups, groups.len()) {
        by_number[on.iter().sum::<usize>()].push(log);
    }
    let profile: Vec<f64> = by_number.iter().map(|logs| log_sum(logs)).collect();
    let log_odds = |tilt: f64| {
        let logs: Vec<f64> =
            profile.iter().enumerate().map(|(p, log)| log + tilt * p as f64).collect();
        log_sum(&logs[units / 2 + 1..]) - log_sum(&logs[..units.div_ceil(2)])
    };
    let wanted = (share / (1.0 - share)).ln();
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if log_odds(middle) < wanted { low = middle } else { high = middle }
    }
    low
}
