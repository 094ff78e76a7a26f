//! A bridge between two models: what the work of both directions says.

use crate::estimate::bennett::acceptance_ratio;
use crate::estimate::statistics::jackknife_error;
use crate::math::log_mean_exp;

/// A bridge holds if its two directions are no farther gap: the work of each then has a standard
/// deviation below one, and few chains suffice.
const MOST_APART: f64 = 0.5;
/// Both directions are estimates of one number; beyond so many errors they are not.
const MOST_ERRORS: f64 = 4.0;

/// The log weights of the chains of each island, in both directions.
pub(super) struct Work {
    pub(super) there: Vec<Vec<f64>>,
    pub(super) back: Vec<Vec<f64>>,
    /// What the models add to log Z whatever the state is.
    pub(super) constant: f64,
}

/// The way from one model to the next.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// log Z of the next model less that of the last one.
    pub log_ratio: f64,
    /// Its standard error.
    pub std_error: f64,
    /// The mean work there, which is not above the ratio on average, and the mean work back, not below it.
    pub bracket: [f64; 2],
    /// The ratio from each direction alone.
    pub one_way: [f64; 2],
    /// How far these are gap, in units of the error of their difference.
    pub disagreement: f64,
    /// Steps on the way.
    pub betas: usize,
    /// Chain-steps in both directions, attempts with fewer betas included.
    pub chain_steps: u64,
    /// The ratio without each island.
    pub(super) without: Vec<f64>,
}

impl Span {
    pub(super) fn new(work: &Work, betas: usize) -> Self {
        let islands = work.there.len();
        // Without one island, or with all.
        let kept = |of: &[Vec<f64>], sign: f64, without: Option<usize>| -> Vec<f64> {
            let islands = of.iter().enumerate().filter(|(k, _)| Some(*k) != without);
            islands.flat_map(|(_, works)| works.iter().map(|w| sign * w + work.constant)).collect()
        };
        let both = |without| [kept(&work.there, 1.0, without), kept(&work.back, -1.0, without)];
        let ratio = |[there, back]: &[Vec<f64>; 2]| acceptance_ratio(there, back);
        let one_way = |[there, back]: &[Vec<f64>; 2]| {
            let negative: Vec<f64> = back.iter().map(|w| -w).collect();
            [log_mean_exp(there), -log_mean_exp(&negative)]
        };
        let mean = |works: &Vec<f64>| works.iter().sum::<f64>() / works.len() as f64;
        let all = both(None);
        let parts: Vec<_> = (0..islands).map(|k| both(Some(k))).collect();
        let without: Vec<f64> = parts.iter().map(ratio).collect();
        let gap = |ways: [f64; 2]| ways[1] - ways[0];
        let error = jackknife_error(&parts.iter().map(|p| gap(one_way(p))).collect::<Vec<_>>());
        let one_way = one_way(&all);
        Self {
            log_ratio: ratio(&all),
            std_error: jackknife_error(&without),
            bracket: [mean(&all[0]), mean(&all[1])],
            disagreement: if error > 0.0 { gap(one_way) / error } else { 0.0 },
            one_way,
            betas,
            chain_steps: 0,
            without,
        }
    }

    /// How far the mean works of both directions are gap: what was lost on the way, and hysteresis.
    pub fn gap(&self) -> f64 {
        self.bracket[1] - self.bracket[0]
    }

    /// The directions are close, and agree within their errors.
    pub fn holds(&self) -> bool {
        self.gap() <= MOST_APART && self.disagreement.abs() <= MOST_ERRORS
    }

    /// More betas, if they are likely to help: the gap falls as one over their number.
    pub(super) fn wants(&self, most: usize) -> Option<usize> {
        let is_close = self.gap() <= MOST_APART;
        (!is_close && self.betas < most).then(|| self.suitable().min(most))
    }

    fn suitable(&self) -> usize {
        // A gap that is no number, or infinite, wants all it can get.
        let gap = if self.gap().is_nan() { f64::INFINITY } else { self.gap() };
        let factor = (gap / MOST_APART).clamp(2.0, 1e6);
        ((self.betas as f64 * factor) as usize).next_power_of_two()
    }

    /// Betas for the next bridge, which is likely to be as long.
    pub(super) fn enough(&self) -> usize {
        if self.gap() < MOST_APART / 4.0 { self.betas / 2 } else { self.betas }
    }
}
