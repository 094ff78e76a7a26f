//! The moves of one chain in float64, formula by formula: the readable twin of the fast kernels.

use crate::Rbm;
use crate::math::{exp, sigmoid, softplus};
use lnz_kernels::random::Random;
use ndarray::Array1;

/// A visible state with the hidden inputs that belong to it, and a hidden state.
#[derive(Debug, Clone)]
pub(crate) struct Chain<'a> {
    model: &'a Rbm,
    pub(crate) x: Array1<f64>,
    /// `a_j = c_j + sum_i x_i W_ij`.
    pub(crate) a: Array1<f64>,
    h: Array1<f64>,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(model: &'a Rbm, x: Array1<f64>) -> Self {
        let a = model.hidden_input(x.view());
        Self { model, x, a, h: Array1::zeros(model.hidden()) }
    }

    pub(crate) fn set(&mut self, x: Array1<f64>) {
        self.a = self.model.hidden_input(x.view());
        self.x = x;
    }

    /// h ~ exp(beta a.h): units that are 0 or 1 are on with probability sigma(beta a).
    pub(crate) fn draw_hidden(&mut self, beta: f64, random: &mut Random) {
        self.h = self.model.hidden_units().draw(&self.a * beta, random);
    }

    /// x ~ exp(((1 - beta) B + beta (b + W h)).x) on the path that starts at bias B.
    pub(crate) fn draw_visible(&mut self, start: &Array1<f64>, beta: f64, random: &mut Random) {
        let input = start * (1.0 - beta) + &(self.model.visible_input(self.h.view()) * beta);
        self.set(self.model.visible_units().draw(input, random));
    }

    /// One block Gibbs sweep at inverse temperature `beta`.
    pub(crate) fn gibbs(&mut self, start: &Array1<f64>, beta: f64, random: &mut Random) {
        self.draw_hidden(beta, random);
        self.draw_visible(start, beta, random);
    }

    /// Flips up to `flips` visible units with the hidden layer summed out, on the path from bias B:
    /// each with the probability that the flipped state has among the two.
    pub(crate) fn flip_visible(
        &mut self,
        start: &Array1<f64>,
        beta: f64,
        flips: usize,
        random: &mut Random,
    ) {
        if flips == 0 {
            return;
        }
        for _ in 0..flips {
            let i = random.below(self.x.len());
            let sign = 1.0 - 2.0 * self.x[i];
            let row = self.model.weights().row(i).to_owned();
            let bias = (1.0 - beta) * start[i] + beta * self.model.visible_bias()[i];
            let change = self
                .a
                .iter()
                .zip(&row)
                .map(|(&a, &w)| softplus(beta * (a + sign * w)) - softplus(beta * a));
            if random.happens(sigmoid(sign * bias + change.sum::<f64>())) {
                self.x[i] += sign;
                self.a.scaled_add(sign, &row);
            }
        }
        // Afresh, so that rounding does not add up from step to step.
        self.a = self.model.hidden_input(self.x.view());
    }

    /// Flips up to `flips` hidden units with the visible layer summed out, on the path from bias B.
    pub(crate) fn flip_hidden(
        &mut self,
        start: &Array1<f64>,
        beta: f64,
        flips: usize,
        random: &mut Random,
    ) {
        if flips == 0 {
            return;
        }
        let mut input = start * (1.0 - beta) + &(self.model.visible_input(self.h.view()) * beta);
        for _ in 0..flips {
            let j = random.below(self.h.len());
            let sign = 1.0 - 2.0 * self.h[j];
            let column = &self.model.weights().column(j) * (sign * beta);
            let change = input.iter().zip(&column).map(|(&v, &w)| softplus(v + w) - softplus(v));
            let gain = sign * beta * self.model.hidden_bias()[j] + change.sum::<f64>();
            if random.happens(sigmoid(gain)) {
                self.h[j] += sign;
                input += &column;
            }
        }
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
        if random.uniform() < exp(log_ratio) {
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
