//! Ladders of chains at several betas that exchange their states with their neighbours.
//!
//! A column has one chain on each rung, from the start (beta = 0) to the model (beta = 1). An iteration
//! sweeps every chain at its beta, and then lets the pairs of rungs (0, 1), (2, 3), ... or, every other
//! time, (1, 2), (3, 4), ... exchange states: with this fixed order states travel along the ladder instead
//! of diffusing. Columns do not know of each other, so that they are independent estimates.

use crate::chains::{Engine, Walkers};
use crate::math::{exp, ln};
use crate::observer::Observer;
use lnz_kernels::random::{Purpose, Random, stream_seed};
use lnz_kernels::{ChainRange, GROUP};
use rayon::prelude::*;

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
    states: Vec<Vec<State>>,
    /// `log Z_(k+1) / Z_k` as far as known: Bennett's ratio is most exact near the truth.
    guesses: Vec<f64>,
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
    bridge: f64,
    /// Mean and sum of squared deviations of log p at the model.
    pub(super) height: (f64, f64),
    /// States at the model, where they are kept.
    pub(super) kept: Vec<State>,
}

/// What a column has seen of a pair of rungs, over the exchanges that it tried.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair {
    tries: f64,
    /// Sum of the probabilities of not exchanging.
    rejected: f64,
    /// Sums of `log p_(k+1) / p_k` on the lower and on the upper rung.
    works: [f64; 2],
    /// The sums of Bennett's ratio.
    bennett: [f64; 2],
}

impl Seen {
    fn add(&mut self, more: Seen) {
        let n = self.iterations as f64;
        let m = more.iterations as f64;
        let apart = more.height.0 - self.height.0;
        self.height.0 += apart * m / (n + m).max(1.0);
        self.height.1 += more.height.1 + apart * apart * n * m / (n + m).max(1.0);
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

    /// Sweeps and exchanges; what each column has seen, with every `keep`-th state at the model.
    pub(super) fn advance(
        &mut self,
        engine: &dyn Engine,
        iterations: usize,
        keep: Option<usize>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Option<Vec<Seen>> {
        let columns = self.states.len();
        let block = |(group, chains): (usize, usize)| {
            let first = group * GROUP;
            let mut block = Block::new(engine, self, first..first + chains, seed, observer);
            for iteration in 0..iterations {
                let keeps = keep.is_some_and(|keep| iteration % keep == keep - 1);
                block.iterate(iteration % 2, keeps);
                go_on(observer)?;
            }
            Some(block.into_parts())
        };
        let blocks: Option<Vec<_>> = engine.share_out(columns).into_par_iter().map(block).collect();
        let (states, seen): (Vec<_>, Vec<_>) = blocks?.into_iter().unzip();
        self.states = states.concat();
        Some(seen.concat())
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

/// Some columns on one thread.
struct Block<'a> {
    betas: &'a [f64],
    guesses: &'a [f64],
    rungs: Vec<Box<dyn Walkers + 'a>>,
    /// By column, then by rung: the number of the replica there.
    replicas: Vec<Vec<usize>>,
    /// By column and replica: the end of the ladder where it was last, 0 for none.
    last_end: Vec<Vec<i8>>,
    random: Vec<Random>,
    seen: Vec<Seen>,
}

const AT_START: i8 = -1;
/// From the start to the model.
const UPWARD: i8 = 1;

impl<'a> Block<'a> {
    fn new(
        engine: &'a dyn Engine,
        ladder: &'a Ladder,
        columns: std::ops::Range<usize>,
        seed: u64,
        observer: &'a dyn Observer,
    ) -> Self {
        let (group, chains) = (columns.start / GROUP, columns.len());
        let rung = |k: usize| {
            let seed = stream_seed(seed, Purpose::Family, k as u64);
            let purpose = Purpose::Anneal;
            let mut walkers = engine.walkers(ChainRange { group, chains, seed, purpose }, observer);
            walkers.set_states(&mut |chain, i| ladder.states[columns.start + chain][k][i]);
            walkers
        };
        let rungs = ladder.betas.len();
        let seen = Seen { pairs: vec![Pair::default(); rungs - 1], ..Seen::default() };
        let random = |column: usize| Random::stream(seed, Purpose::Resample, column as u64);
        Self {
            betas: &ladder.betas,
            guesses: &ladder.guesses,
            rungs: (0..rungs).map(rung).collect(),
            replicas: vec![(0..rungs).collect(); chains],
            last_end: vec![vec![0; rungs]; chains],
            random: columns.clone().map(random).collect(),
            seen: vec![seen; chains],
        }
    }

    fn chains(&self) -> usize {
        self.seen.len()
    }

    fn iterate(&mut self, parity: usize, keeps: bool) {
        let mut unused = vec![0.0; self.chains()];
        for (walkers, &beta) in self.rungs.iter_mut().zip(self.betas) {
            if beta == 0.0 {
                walkers.draw_start();
            } else {
                walkers.weigh(beta, beta, &mut unused);
                walkers.sweep(beta);
            }
        }
        for lower in (parity..self.betas.len() - 1).step_by(2) {
            self.exchange(lower);
        }
        self.look_at_ends(keeps);
    }

    /// Exchanges the states of a rung and the next one with the probability that keeps both distributions.
    fn exchange(&mut self, lower: usize) {
        let chains = self.chains();
        let (low, high) = (self.betas[lower], self.betas[lower + 1]);
        let (mut up, mut down) = (vec![0.0; chains], vec![0.0; chains]);
        self.rungs[lower].weigh(low, high, &mut up);
        self.rungs[lower + 1].weigh(high, low, &mut down);
        let mut accepted = vec![false; chains];
        for c in 0..chains {
            let works = [up[c], -down[c]];
            let probability = exp(works[0] - works[1]).min(1.0);
            let (guess, pair) = (self.guesses[lower], &mut self.seen[c].pairs[lower]);
            pair.tries += 1.0;
            pair.rejected += 1.0 - probability;
            for side in 0..2 {
                pair.works[side] += works[side];
                let sign = if side == 0 { 1.0 } else { -1.0 };
                pair.bennett[side] += 1.0 / (1.0 + exp(sign * (guess - works[side])));
            }
            accepted[c] = self.random[c].happens(probability);
        }
        if !accepted.contains(&true) {
            return;
        }
        let states = |walkers: &dyn Walkers| (0..chains).map(|c| state_of(walkers, c)).collect();
        let before: [Vec<State>; 2] =
            [states(&*self.rungs[lower]), states(&*self.rungs[lower + 1])];
        for side in 0..2 {
            let taken = |c: usize| if accepted[c] { 1 - side } else { side };
            self.rungs[lower + side].set_states(&mut |c, i| before[taken(c)][c][i]);
        }
        for c in (0..chains).filter(|&c| accepted[c]) {
            self.replicas[c].swap(lower, lower + 1);
        }
    }

    /// Follows the replicas at both ends, and looks at the states at the model.
    fn look_at_ends(&mut self, keeps: bool) {
        let (chains, top) = (self.chains(), self.betas.len() - 1);
        let (mut unused, mut bridge) = (vec![0.0; chains], vec![0.0; chains]);
        let mut height = vec![0.0; chains];
        let model = &mut self.rungs[top];
        model.weigh(1.0, 1.0, &mut unused);
        model.log_bridge(&mut bridge);
        model.log_density(1.0, &mut height);
        for (c, seen) in self.seen.iter_mut().enumerate() {
            let (replicas, last_end) = (&self.replicas[c], &mut self.last_end[c]);
            if last_end[replicas[top]] == AT_START {
                last_end[replicas[top]] = UPWARD;
            }
            if last_end[replicas[0]] == UPWARD {
                seen.round_trips += 1;
            }
            last_end[replicas[0]] = AT_START;
            seen.iterations += 1;
            seen.bridge += exp(bridge[c]);
            let apart = height[c] - seen.height.0;
            seen.height.0 += apart / seen.iterations as f64;
            seen.height.1 += apart * (height[c] - seen.height.0);
            if keeps {
                seen.kept.push(state_of(&**model, c));
            }
        }
    }

    fn into_parts(self) -> (Vec<Vec<State>>, Vec<Seen>) {
        let column = |c: usize| self.rungs.iter().map(|walkers| state_of(&**walkers, c)).collect();
        ((0..self.chains()).map(column).collect(), self.seen)
    }
}

fn state_of(walkers: &dyn Walkers, chain: usize) -> State {
    walkers.state(chain).iter().map(|&x| x == 1.0).collect()
}

fn go_on(observer: &dyn Observer) -> Option<()> {
    (!observer.cancelled()).then_some(())
}
