//! Ladders of chains at several betas that exchange their states with their neighbours.
//!
//! A column has one chain on each rung, from the start (beta = 0) to the model (beta = 1). An iteration
//! sweeps every chain at its beta, and then lets the pairs of rungs (0, 1), (2, 3), ... or, every other
//! time, (1, 2), (3, 4), ... exchange states: with this fixed order states travel along the ladder instead
//! of diffusing. Columns do not know of each other, so that they are independent estimates.

use crate::math::ln;

/// A state of the layer that is tempered.
pub(super) type State = Vec<bool>;

/// Rungs at least and at most, where their number is not given.
const RUNGS: [usize; 2] = [4, 64];
/// Rungs per unit of the barrier: states then travel fastest for the work (Syed et al. 2022).
const RUNGS_PER_BARRIER: f64 = 2.0;
/// No pair of rungs is taken to exchange more easily than this.
const LEAST_REJECTION: f64 = 1e-3;

/// The betas, and where the chains are.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    pub(super) betas: Vec<f64>,
    /// By column, then by rung.
    pub(super) states: Vec<Vec<State>>,
    /// `log Z_(k+1) / Z_k` as far as known: Bennett's ratio is most exact near the truth.
    pub(super) guesses: Vec<f64>,
}

/// What one column has seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) iterations: usize,
    /// For each pair of rungs.
    pub(super) pairs: Vec<Pair>,
    /// Replicas that have gone from the start to the model and back.
    pub(super) round_trips: usize,
    /// Sum over the iterations of p / p~ at the model, where p~ has the rounded weights.
    pub(super) bridge: f64,
    /// Mean and sum of squared deviations of log p at the model.
    pub(super) log_density: (f64, f64),
    /// States at the model, where they are kept.
    pub(super) kept: Vec<State>,
}

/// What a column has seen of a pair of rungs, over the exchanges that it tried.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair {
    pub(super) tries: f64,
    /// Sum of the probabilities of not exchanging.
    pub(super) rejected: f64,
    /// Sums of `log p_(k+1) / p_k` on the lower and on the upper rung.
    pub(super) works: [f64; 2],
    /// The sums of Bennett's ratio.
    pub(super) bennett: [f64; 2],
}

impl Seen {
    fn add(&mut self, more: Seen) {
        let n = self.iterations as f64;
        let m = more.iterations as f64;
        let difference = more.log_density.0 - self.log_density.0;
        self.log_density.0 += difference * m / (n + m).max(1.0);
        self.log_density.1 +=
            more.log_density.1 + difference * difference * n * m / (n + m).max(1.0);
        self.iterations += more.iterations;
        self.round_trips += more.round_trips;
        self.bridge += more.bridge;
        self.kept.extend(more.kept);
        self.pairs.resize(more.pairs.len(), Pair::default());
        for (pair, more) in self.pairs.iter_mut().zip(&more.pairs) {
            pair.tries += more.tries;
            pair.rejected += more.rejected;
            for side in 0..2 {
                pair.works[side] += more.works[side];
                pair.bennett[side] += more.bennett[side];
            }
        }
    }
}

/// Adds what columns have seen since.
pub(super) fn add(columns: &mut [Seen], more: Vec<Seen>) {
    columns.iter_mut().zip(more).for_each(|(column, more)| column.add(more));
}

impl Ladder {
    /// All rungs of a column begin in the same state.
    pub(super) fn new(betas: Vec<f64>, first: Vec<State>) -> Self {
        let states = first.into_iter().map(|state| vec![state; betas.len()]).collect();
        let guesses = vec![0.0; betas.len() - 1];
        Self { betas, states, guesses }
    }

    /// The probability of not exchanging, of each pair.
    pub(super) fn rejections(seen: &[Seen]) -> Vec<f64> {
        let of = |k: usize| {
            let sum = |part: fn(&Pair) -> f64| seen.iter().map(|s| part(&s.pairs[k])).sum::<f64>();
            sum(|pair| pair.rejected) / sum(|pair| pair.tries).max(1.0)
        };
        (0..seen[0].pairs.len()).map(of).collect()
    }

    /// Places the rungs so that all pairs exchange equally often. There are twice as many as the barrier,
    /// or as many as wanted.
    pub(super) fn respace(&mut self, seen: &[Seen], wanted: Option<usize>) {
        let mut barrier = vec![0.0];
        for rejection in Self::rejections(seen) {
            barrier.push(barrier[barrier.len() - 1] + rejection.max(LEAST_REJECTION));
        }
        let total = barrier[barrier.len() - 1];
        let suitable = (RUNGS_PER_BARRIER * total).ceil() as usize + 2;
        let rungs = wanted.unwrap_or(suitable.clamp(RUNGS[0], RUNGS[1]));
        let place = |k: usize| {
            if k + 1 == rungs {
                return (1.0, self.betas.len() - 1);
            }
            let target = total * k as f64 / (rungs - 1) as f64;
            let below =
                barrier.partition_point(|&b| b <= target).clamp(1, self.betas.len() - 1) - 1;
            let part = (target - barrier[below]) / (barrier[below + 1] - barrier[below]);
            let beta = self.betas[below] + part * (self.betas[below + 1] - self.betas[below]);
            (beta, if part < 0.5 { below } else { below + 1 })
        };
        let places: Vec<(f64, usize)> = (0..rungs).map(place).collect();
        for column in &mut self.states {
            *column = places.iter().map(|&(_, nearest)| column[nearest].clone()).collect();
        }
        self.betas = places.into_iter().map(|(beta, _)| beta).collect();
        self.guesses = vec![0.0; rungs - 1];
    }

    /// Guesses the ratios of neighbours from the work on both rungs: if it is normal, the mean is right.
    pub(super) fn guess(&mut self, seen: &[Seen]) {
        for (k, guess) in self.guesses.iter_mut().enumerate() {
            let sum =
                |part: &dyn Fn(&Pair) -> f64| seen.iter().map(|s| part(&s.pairs[k])).sum::<f64>();
            let works = sum(&|pair| 0.5 * (pair.works[0] + pair.works[1]));
            *guess = works / sum(&|pair| pair.tries).max(1.0);
        }
    }

    /// `log Z / Z_0` by Bennett's ratio between neighbours, and the factor from the rounded weights to the
    /// real ones; without one of the columns, if told.
    pub(super) fn log_ratio(&self, seen: &[Seen], without: Option<usize>) -> f64 {
        let kept = || seen.iter().enumerate().filter(|(j, _)| Some(*j) != without).map(|(_, s)| s);
        let of_pair = |(k, guess): (usize, &f64)| {
            let side = |side: usize| kept().map(|s| s.pairs[k].bennett[side]).sum::<f64>();
            guess + ln(side(0) / side(1))
        };
        let iterations: f64 = kept().map(|s| s.iterations as f64).sum();
        let bridge = ln(kept().map(|s| s.bridge).sum::<f64>() / iterations);
        self.guesses.iter().enumerate().map(of_pair).sum::<f64>() + bridge
    }
}
