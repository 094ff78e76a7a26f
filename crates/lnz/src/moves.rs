//! Gibbs and Metropolis moves of one chain, in float64: the readable twin of the fast kernels.

use crate::Rbm;
use crate::math::{sigmoid, softplus};
use lnz_kernels::random::Random;
use ndarray::Array1;

/// A visible state with the hidden inputs that belong to it.
#[derive(Debug, Clone)]
pub(crate) struct Chain<'a> {
    model: &'a Rbm,
    pub(crate) x: Array1<f64>,
    /// `a_j = c_j + sum_i x_i W_ij`.
    pub(crate) a: Array1<f64>,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(model: &'a Rbm, x: Array1<f64>) -> Self {
        let a = model.hidden_input(x.view());
        Self { model, x, a }
    }

    /// One block Gibbs sweep at inverse temperature `beta` of the path that starts at bias `start`:
    /// h ~ sigma(beta a), then x ~ sigma((1 - beta) B + beta (b + W h)).
    pub(crate) fn gibbs(&mut self, start: &Array1<f64>, beta: f64, random: &mut Random) {
        let h = self.a.mapv(|a| f64::from(random.happens(sigmoid(beta * a))));
        let input = start * (1.0 - beta) + &(self.model.visible_input(h.view()) * beta);
        self.x = input.mapv(|v| f64::from(random.happens(sigmoid(v))));
        self.a = self.model.hidden_input(self.x.view());
    }

    /// One Metropolis proposal: flip `flips` distinct units, accept with the ratio of marginals.
    pub(crate) fn metropolis(&mut self, flips: usize, random: &mut Random) {
        let mut x = self.x.clone();
        let mut a = self.a.clone();
        let mut log_ratio = 0.0;
        for i in distinct_units(x.len(), flips, random) {
            let sign = 1.0 - 2.0 * x[i];
            x[i] += sign;
            log_ratio += sign * self.model.visible_bias()[i];
            a.scaled_add(sign, &self.model.weights().row(i));
        }
        for (new, old) in a.iter().zip(&self.a) {
            log_ratio += softplus(*new) - softplus(*old);
        }
        if random.uniform() < log_ratio.exp() {
            (self.x, self.a) = (x, a);
        }
    }
}

/// `count` different units among `n`: the start of a random permutation.
pub(crate) fn distinct_units(n: usize, count: usize, random: &mut Random) -> Vec<usize> {
    let mut units: Vec<usize> = (0..n).collect();
    for i in 0..count {
        units.swap(i, i + random.below(n - i));
    }
    units.truncate(count);
    units
}
