//! The path from the start distribution to the model, as the kernels see it.
//!
//! One start: `log p~_beta(x) = ((1 - beta) B + beta b).x + sum_j softplus(beta a_j)`.
//! A mixture of starts: `log gamma_beta(x) = log sum_z exp((1 - beta)(alpha_z + B_z.x)) + beta b.x +
//! sum_j softplus(beta a_j)`, which has a latent z and is sampled as easily.

use crate::aligned::Aligned;
use crate::annealing::fixed::Layer;
use crate::free_energy::softplus::exp_of_negative;
use crate::math::{log_sum_exp, sigmoid, softplus};
use crate::random::Random;
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// The linear part of a path.
pub struct Path {
    /// B_z of each component, and the probability that each unit is on.
    starts: Vec<Vec<f32>>,
    on: Vec<Vec<f64>>,
    model: Vec<f32>,
    /// One start: b - B. Mixture: b.
    pub(crate) difference: Aligned<f32>,
    pub(crate) mixture: Option<Mixture>,
}

/// What a mixture needs besides its biases.
pub(crate) struct Mixture {
    /// pi_z: the share of each component.
    shares: Vec<f64>,
    /// `alpha_z = log pi_z - sum_i softplus(B_zi)`, padded with minus a million.
    log_alpha: [f64; MOST_COMPONENTS],
    /// Sums `B_z.x` are sums of these weights, times the step.
    pub(crate) biases: Layer<i32>,
    step: f64,
}

/// Components of a mixture at most: whole lanes of eight.
pub(crate) const MOST_COMPONENTS: usize = 24;

impl Path {
    /// From `exp(B.x)`.
    pub(crate) fn single(model: &[f32], start: ArrayView1<'_, f64>) -> Self {
        let start = as_float32(start);
        let mut difference = Aligned::zeroed(start.len().next_multiple_of(64));
        for i in 0..start.len() {
            difference[i] = model[i] - start[i];
        }
        let starts = vec![start];
        let on = probabilities(&starts);
        Self { starts, on, model: model.to_vec(), difference, mixture: None }
    }

    /// From `sum_z pi_z p_z(x)` with `p_z ~ exp(B_z.x)` normalised; the shares sum to one.
    ///
    /// The biases are rounded to a grid, on which their sums are exact: any bias is valid.
    pub(crate) fn mixture(model: &[f32], biases: &[Array1<f64>], shares: Vec<f64>) -> Self {
        assert!(biases.len() == shares.len() && biases.len() <= MOST_COMPONENTS);
        // No sum reaches 2^30; never finer than float32 resolves a bias of one.
        let largest = biases.iter().map(|bias| bias.iter().map(|b| b.abs()).sum::<f64>());
        let step = (largest.fold(0.0, f64::max) / f64::from(1 << 29)).max(2f64.powi(-24));
        let rounded: Vec<Array1<f64>> =
            biases.iter().map(|bias| bias.mapv(|b| (b / step).round() * step)).collect();
        let views: Vec<_> = rounded.iter().map(|bias| bias.view()).collect();
        let columns = ndarray::stack(Axis(1), &views)
            .unwrap_or_else(|_| Array2::zeros((model.len(), biases.len())));
        let mut log_alpha = [-1e6; MOST_COMPONENTS];
        for (z, bias) in rounded.iter().enumerate() {
            log_alpha[z] = shares[z].ln() - bias.iter().map(|&b| softplus(b)).sum::<f64>();
        }
        let mut difference = Aligned::zeroed(model.len().next_multiple_of(64));
        difference[..model.len()].copy_from_slice(model);
        let biases = Layer::new(columns.view(), step);
        let starts: Vec<Vec<f32>> = rounded.iter().map(|bias| as_float32(bias.view())).collect();
        Self {
            on: probabilities(&starts),
            starts,
            model: model.to_vec(),
            difference,
            mixture: Some(Mixture { shares, log_alpha, biases, step }),
        }
    }

    pub(crate) fn components(&self) -> usize {
        self.starts.len()
    }

    /// Visible units.
    pub(crate) fn units(&self) -> usize {
        self.model.len()
    }

    /// Draws a component and a state from the start distribution.
    pub(crate) fn draw(&self, random: &mut Random) -> Vec<bool> {
        let z = match &self.mixture {
            None => 0,
            Some(mixture) => pick(&mixture.shares, random.uniform()),
        };
        self.on[z].iter().map(|&p| random.happens(p)).collect()
    }

    /// -log2(e) ((1 - beta) B_z + beta b), one padded vector per component.
    pub(crate) fn exponents(&self, beta: f64, padded: &mut [Aligned<f32>]) {
        for (start, padded) in self.starts.iter().zip(padded) {
            for (value, (start, model)) in padded.iter_mut().zip(start.iter().zip(&self.model)) {
                let bias = (1.0 - beta) * f64::from(*start) + beta * f64::from(*model);
                *value = (-bias * std::f64::consts::LOG2_E) as f32;
            }
        }
    }

    /// B.x of a path with one start.
    pub(crate) fn log_start(&self, is_on: impl Fn(usize) -> bool) -> f64 {
        let start = self.starts[0].iter().enumerate();
        start.filter(|(i, _)| is_on(*i)).map(|(_, &b)| f64::from(b)).sum()
    }

    /// (1 - beta) B_i + beta b_i of a path with one start: the log-odds of a unit without weights.
    pub(crate) fn log_odds(&self, beta: f64, i: usize) -> f64 {
        (1.0 - beta) * f64::from(self.starts[0][i]) + beta * f64::from(self.model[i])
    }
}

impl Mixture {
    /// log sum_z exp((1 - beta)(alpha_z + B_z.x)) of a chain, from the sums of all of them.
    pub(crate) fn log_sum(&self, sums: &[i32], beta: f64, chain: usize) -> f64 {
        let width = self.biases.lanes();
        let sums = sums[chain * width..].iter().take(self.shares.len());
        let heights: Vec<f64> = sums
            .zip(self.log_alpha)
            .map(|(&sum, alpha)| (1.0 - beta) * (alpha + self.step * f64::from(sum)))
            .collect();
        log_sum_exp(&heights)
    }

    /// From the sums of a chain: the increment of log sum_z exp((1 - beta)(alpha_z + B_z.x)), and a
    /// component drawn at `next`.
    #[inline(always)]
    pub(crate) fn weigh(&self, sums: &[i32], beta: f64, next: f64, uniform: f64) -> (f64, usize) {
        let mut heights = self.log_alpha;
        for (height, &sum) in heights.iter_mut().zip(sums).take(self.shares.len()) {
            *height += self.step * f64::from(sum);
        }
        let largest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut before = [0.0; MOST_COMPONENTS];
        let mut after = [0.0; MOST_COMPONENTS];
        for z in 0..MOST_COMPONENTS {
            before[z] = exp_of_negative((1.0 - beta) * (heights[z] - largest));
            after[z] = exp_of_negative((1.0 - next) * (heights[z] - largest));
        }
        // At next = 1 the padding would count as well.
        let used = self.shares.len();
        let (sum_before, sum_after) =
            (before[..used].iter().sum::<f64>(), after[..used].iter().sum::<f64>());
        let increment = (beta - next) * largest + (sum_after / sum_before).ln();
        (increment, pick(&after[..used], uniform * sum_after))
    }
}

/// Copied first: valgrind reports a branch on an uninitialised value in a loop over an array view, where the
/// compiler looks at a field that only views with gaps have. The branch changes nothing.
fn as_float32(bias: ArrayView1<'_, f64>) -> Vec<f32> {
    bias.to_vec().into_iter().map(|b| b as f32).collect()
}

fn probabilities(starts: &[Vec<f32>]) -> Vec<Vec<f64>> {
    starts.iter().map(|bias| bias.iter().map(|&b| sigmoid(f64::from(b))).collect()).collect()
}

/// The first index at which the running sum of `shares` exceeds `target`; the last one at the end.
fn pick(shares: &[f64], target: f64) -> usize {
    let mut sum = 0.0;
    for (z, share) in shares.iter().enumerate() {
        sum += share;
        if target < sum {
            return z;
        }
    }
    shares.len() - 1
}
