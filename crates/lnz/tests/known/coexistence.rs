//! Curie-Weiss models: all weights equal, and two phases that share the mass as told.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::occupations::{log_terms, log_z};
use super::sums::log_sum;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2};

/// Equal weights, or hidden units that differ; two phases, tuned by the bias of the visible units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CurieWeiss {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) phases: Phases,
    /// Spread of the logarithm of the hidden units' weights, and of all biases in nats.
    pub(crate) roughness: f64,
}

/// How two phases share the mass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phases {
    /// As images of each other: half each.
    Mirrored,
    /// Mirrored but for a field: 50, 90, 99 or 99.9% for one of them.
    Weighted,
    /// The one that has 90 to 99.9% is not entered by any of 400 chains that are annealed from the
    /// uniform distribution.
    Hidden,
    /// The same with 50 to 80%, so that both count.
    HalfHidden,
}

impl Phases {
    fn is_hidden(self) -> bool {
        matches!(self, Phases::Hidden | Phases::HalfHidden)
    }
}

/// A valley between two phases is at least so deep, in nats below both.
const LEAST_BARRIER: f64 = 4.0;
/// Most have two phases, and one in some has a hidden one.
const TRIES: usize = 1000;
/// Chains none of which enters a phase that is called hidden.
const CHAINS: usize = 400;

impl CurieWeiss {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(5, seed);
        let model = self.tuned(&mut numbers)?;
        let log_z = log_z(&model, &[(0..self.visible).collect()]);
        Solved::new(model, log_z)?.disguised(&mut numbers)
    }

    /// Tries parameters until there are two phases as told.
    pub(super) fn tuned(&self, numbers: &mut Numbers) -> Result<Rbm> {
        for _ in 0..TRIES {
            let model = self.drawn(numbers)?;
            let Some(valley) = Valley::of(&self.profile(&model)) else { continue };
            let share_above = match self.phases {
                Phases::Mirrored => 0.5,
                Phases::Weighted => {
                    let share = [0.5, 0.9, 0.99, 0.999][numbers.below(4)];
                    if numbers.bit(0.5) > 0.0 { share } else { 1.0 - share }
                }
                Phases::Hidden | Phases::HalfHidden => {
                    let rest = match self.phases {
                        Phases::Hidden => 10f64.powf(-1.0 - 2.0 * numbers.uniform()),
                        _ => 0.2 + 0.3 * numbers.uniform(),
                    };
                    let balanced = tilted(&model, valley.level)?;
                    if self.enters_above(&balanced, &valley)? { rest } else { 1.0 - rest }
                }
            };
            let Some(tilt) = valley.tilt_for(share_above) else { continue };
            let tuned = tilted(&model, tilt)?;
            let is_minor = |on: usize| (on > valley.at) == (share_above < 0.5);
            if !self.phases.is_hidden() || (0..CHAINS).all(|_| is_minor(annealed(&tuned, numbers)))
            {
                return Ok(tuned);
            }
        }
        unreachable!("none of {TRIES} models has two phases: {self:?}")
    }

    /// Visible units on between the two phases of a model; half of them if there is one phase.
    pub(super) fn valley(&self, model: &Rbm) -> f64 {
        let valley = Valley::of(&self.profile(model));
        valley.map_or(self.visible as f64 / 2.0, |valley| valley.at as f64)
    }

    /// A model whose hidden units turn on once a certain share of the visible ones is on.
    fn drawn(&self, numbers: &mut Numbers) -> Result<Rbm> {
        let (visible, hidden) = (self.visible as f64, self.hidden as f64);
        // Coupling of hidden units in units of the critical one, and the share of visible units at which
        // they turn on. With one kind of them annealing enters the heavier phase; a phase is hidden
        // where strongly coupled ones turn on only near its end.
        let (kinds, of_first) = match self.phases {
            Phases::Hidden | Phases::HalfHidden => {
                let far = 0.05 + 0.15 * numbers.uniform();
                let threshold = if numbers.bit(0.5) > 0.0 { far } else { 1.0 - far };
                let strong = (3.0 + 3.0 * numbers.uniform(), threshold);
                let weak = (0.5 + 1.5 * numbers.uniform(), numbers.uniform());
                ([strong, weak], hidden * (0.4 + 0.5 * numbers.uniform()))
            }
            _ => ([(1.15 + 0.6 * numbers.uniform(), 0.5); 2], hidden),
        };
        let mut weights = Array2::zeros((self.visible, self.hidden));
        let mut hidden_bias = Array1::zeros(self.hidden);
        for j in 0..self.hidden {
            let (coupling, threshold) = kinds[usize::from(j as f64 >= of_first)];
            let rough = (self.roughness * numbers.normal()).exp();
            let weight = rough * 4.0 * coupling / (visible * hidden).sqrt();
            weights.column_mut(j).fill(weight);
            hidden_bias[j] = -weight * visible * threshold + self.roughness * numbers.normal();
        }
        // With every state of the hidden layer half on, visible units are indifferent.
        let balance = -weights.row(0).sum() / 2.0;
        let visible_bias = Array1::from_shape_simple_fn(self.visible, || {
            balance + self.roughness * numbers.normal()
        });
        Rbm::new(weights, visible_bias, hidden_bias)
    }

    /// For every number of visible units on, the log of the sum over all states that have it.
    pub(super) fn profile(&self, model: &Rbm) -> Vec<f64> {
        let units = [(0..self.visible).collect()];
        log_terms(model, &units, 1).into_iter().map(|(_, log)| log).collect()
    }

    /// Where a walker ends that stays on the peak it is on, while the model is turned on.
    fn enters_above(&self, model: &Rbm, valley: &Valley) -> Result<bool> {
        const STEPS: usize = 64;
        let mut at = self.visible / 2;
        for step in 1..=STEPS {
            let beta = step as f64 / STEPS as f64;
            let at_beta = Rbm::new(
                model.weights().mapv(|w| beta * w),
                model.visible_bias().mapv(|b| beta * b),
                model.hidden_bias().mapv(|c| beta * c),
            )?;
            let profile = self.profile(&at_beta);
            loop {
                let around = [at.saturating_sub(1), at, (at + 1).min(self.visible)];
                let best = around.into_iter().max_by(|&a, &b| profile[a].total_cmp(&profile[b]));
                match best {
                    Some(best) if profile[best] > profile[at] => at = best,
                    _ => break,
                }
            }
        }
        Ok(at > valley.at)
    }
}

/// Visible units on at the end of a chain that is annealed from the uniform distribution, in a model
/// whose visible units have the same weights.
fn annealed(model: &Rbm, numbers: &mut Numbers) -> usize {
    const STEPS: usize = 200;
    let mut drawn = |input: f64| numbers.bit(1.0 / (1.0 + (-input).exp()));
    let weights = model.weights();
    let mut on: f64 = (0..model.visible()).map(|_| drawn(0.0)).sum();
    for step in 1..=STEPS {
        let beta = step as f64 / STEPS as f64;
        let hidden = model.hidden_bias().into_iter().zip(weights.row(0));
        let input: f64 = hidden.map(|(c, w)| w * drawn(beta * (c + w * on))).sum();
        on = model.visible_bias().iter().map(|b| drawn(beta * (b + input))).sum();
    }
    on as usize
}

/// The same with this added to every visible bias.
fn tilted(model: &Rbm, tilt: f64) -> Result<Rbm> {
    let visible_bias = model.visible_bias().mapv(|b| b + tilt);
    Rbm::new(model.weights().to_owned(), visible_bias, model.hidden_bias().to_owned())
}

/// A valley between two phases along the number of units on.
pub(super) struct Valley {
    profile: Vec<f64>,
    at: usize,
    /// What to add per unit so that both peaks are equally high.
    level: f64,
}

impl Valley {
    /// The widest gap under the concave hull of the profile, if it is deep.
    pub(super) fn of(profile: &[f64]) -> Option<Self> {
        let mut hull: Vec<usize> = Vec::new();
        for p in 0..profile.len() {
            let slope = |a: usize, b: usize| (profile[b] - profile[a]) / (b - a) as f64;
            while let [.., a, b] = hull[..]
                && slope(a, b) <= slope(b, p)
            {
                hull.pop();
            }
            hull.push(p);
        }
        let (left, right) =
            hull.windows(2).map(|w| (w[0], w[1])).max_by_key(|(left, right)| right - left)?;
        let level = (profile[left] - profile[right]) / (right - left) as f64;
        let height = |p: usize| profile[p] + level * p as f64;
        let at = (left..=right).min_by(|&a, &b| height(a).total_cmp(&height(b)))?;
        let is_deep = height(left) - height(at) >= LEAST_BARRIER;
        is_deep.then(|| Self { profile: profile.to_vec(), at, level })
    }

    /// What to add per unit so that the phase above the valley has this share; None if the valley
    /// is gone by then.
    pub(super) fn tilt_for(&self, share: f64) -> Option<f64> {
        let log_odds = |tilt: f64| {
            let logs: Vec<f64> =
                self.profile.iter().enumerate().map(|(p, log)| log + tilt * p as f64).collect();
            log_sum(&logs[self.at + 1..]) - log_sum(&logs[..=self.at])
        };
        let wanted = (share / (1.0 - share)).ln();
        let (mut low, mut high) = (self.level - 1.0, self.level + 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if log_odds(middle) < wanted { low = middle } else { high = middle }
        }
        let height = |p: usize| self.profile[p] + low * p as f64;
        let peak = |range: std::ops::Range<usize>| range.map(height).fold(f64::MIN, f64::max);
        let lower = peak(0..self.at).min(peak(self.at + 1..self.profile.len()));
        (lower - height(self.at) > 1.0 && low.is_finite()).then_some(low)
    }
}
