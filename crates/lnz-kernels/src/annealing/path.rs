//! The path from the start distribution to the model, as the kernels see it:
//! `log p~_beta(x) = ((1 - beta) B + beta b).x + sum_j softplus(beta a_j)`.

use crate::aligned::Aligned;
use crate::math::sigmoid;
use crate::random::Random;
use ndarray::ArrayView1;

/// The linear part of a path.
pub struct Path {
    /// B, and the probability that each unit is on at the start.
    start: Vec<f32>,
    on: Vec<f64>,
    model: Vec<f32>,
    /// b - B.
    pub(crate) difference: Aligned<f32>,
}

impl Path {
    /// From `exp(B.x)`.
    pub(crate) fn new(model: &[f32], start: ArrayView1<'_, f64>) -> Self {
        // Copied first: valgrind reports a branch on an uninitialised value in a loop over an array view,
        // where the compiler looks at a field that only views with gaps have. The branch changes nothing.
        let start: Vec<f32> = start.to_vec().into_iter().map(|b| b as f32).collect();
        let mut difference = Aligned::zeroed(start.len().next_multiple_of(64));
        for i in 0..start.len() {
            difference[i] = model[i] - start[i];
        }
        let on = start.iter().map(|&b| sigmoid(f64::from(b))).collect();
        Self { start, on, model: model.to_vec(), difference }
    }

    /// Visible units.
    pub(crate) fn units(&self) -> usize {
        self.model.len()
    }

    /// Draws a state from the start distribution.
    pub(crate) fn draw(&self, random: &mut Random) -> Vec<bool> {
        self.on.iter().map(|&p| random.happens(p)).collect()
    }

    /// -log2(e) ((1 - beta) B + beta b), padded.
    pub(crate) fn exponents(&self, beta: f64, padded: &mut Aligned<f32>) {
        let biases = self.start.iter().zip(&self.model);
        for (value, (start, model)) in padded.iter_mut().zip(biases) {
            let bias = (1.0 - beta) * f64::from(*start) + beta * f64::from(*model);
            *value = (-bias * std::f64::consts::LOG2_E) as f32;
        }
    }

    /// B.x.
    pub(crate) fn log_start(&self, is_on: impl Fn(usize) -> bool) -> f64 {
        let start = self.start.iter().enumerate();
        start.filter(|(i, _)| is_on(*i)).map(|(_, &b)| f64::from(b)).sum()
    }

    /// (1 - beta) B_i + beta b_i: the log-odds of a unit without weights.
    pub(crate) fn log_odds(&self, beta: f64, i: usize) -> f64 {
        (1.0 - beta) * f64::from(self.start[i]) + beta * f64::from(self.model[i])
    }
}
