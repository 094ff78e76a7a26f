//! The betas of a run: fixed in advance, or found by a pilot run.

use super::effort::BETAS;
use crate::math::ln;
use crate::walk::{Betas, Population};

/// Betas on [0, 1]: two fifths even, two fifths above 0.9, where trained models relax slowly, and a
/// fifth even on a log scale, because strong weights matter from the first moment on.
pub(super) fn schedule(intervals: usize) -> Vec<f64> {
    let log_uniform = |beta: f64| 1.0 - ln(beta.max(1e-4)) / ln(1e-4);
    let cumulative = |b: f64| 0.4 * b + 0.4 * (b - 0.9).max(0.0) / 0.1 + 0.2 * log_uniform(b);
    let mut betas = vec![0.0];
    let mut last = 0.0;
    for k in 1..intervals {
        let target = k as f64 / intervals as f64;
        let (mut low, mut high) = (last, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if cumulative(middle) < target { low = middle } else { high = middle }
        }
        last = 0.5 * (low + high);
        if last > betas[betas.len() - 1] && last < 1.0 {
            betas.push(last);
        }
    }
    betas.push(1.0);
    betas
}

/// The steps of a pilot so far, each as wide as the spread of the log weights in the last one allows.
#[derive(Default)]
pub(super) struct Pilot {
    betas: Vec<f64>,
    spread: Vec<f64>,
}

impl Betas for &mut Pilot {
    fn next(&mut self, population: &Population) -> Option<f64> {
        let next = match self.betas[..] {
            [] => 0.0,
            [_] => 1e-4,
            [.., last, beta] => {
                let deviation = standard_deviation(population.increments()) / (beta - last);
                self.spread.push(deviation);
                if beta >= 1.0 {
                    return None;
                }
                beta + self.width(beta, deviation)
            }
        };
        let next = if next > 0.9999 { 1.0 } else { next };
        self.betas.push(next);
        Some(next)
    }
}

impl Pilot {
    /// Half a unit of log w per step, but small steps at the start, where things change by factors of
    /// beta, and no more than half of the steps of a trial.
    fn width(&self, beta: f64, deviation: f64) -> f64 {
        let steps = self.spread.len();
        let steps_left = (BETAS / 2).saturating_sub(steps).max(1);
        let least = if steps > BETAS / 4 { (1.0 - beta) / steps_left as f64 } else { 0.0 };
        (0.5 / deviation.max(1e-9)).min((0.25 * beta).clamp(1e-4, 0.02)).max(least)
    }

    /// Betas at equal steps of a density: mostly the spread, partly even and even on a log scale, so
    /// that no region is left out.
    pub(super) fn schedule(&self, intervals: usize) -> Vec<f64> {
        let lengths: Vec<f64> =
            self.spread.iter().zip(self.betas.windows(2)).map(|(s, b)| s * (b[1] - b[0])).collect();
        let total: f64 = lengths.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let log_uniform = |beta: f64| 1.0 - ln(beta.max(1e-4)) / ln(1e-4);
        let mut cumulative = vec![0.0];
        for (length, betas) in lengths.iter().zip(self.betas.windows(2)) {
            let share = 0.6 * length / total
                + 0.2 * (betas[1] - betas[0])
                + 0.2 * (log_uniform(betas[1]) - log_uniform(betas[0]));
            cumulative.push(cumulative[cumulative.len() - 1] + share);
        }
        let end = cumulative[cumulative.len() - 1];
        let mut betas = vec![0.0];
        let mut k = 0;
        for i in 1..intervals {
            let target = end * i as f64 / intervals as f64;
            while cumulative[k + 1] < target {
                k += 1;
            }
            let part = (target - cumulative[k]) / (cumulative[k + 1] - cumulative[k]);
            let beta = self.betas[k] + part * (self.betas[k + 1] - self.betas[k]);
            if beta > betas[betas.len() - 1] && beta < 1.0 {
                betas.push(beta);
            }
        }
        betas.push(1.0);
        betas
    }
}

fn standard_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64).sqrt()
}
