//! Columns of a ladder that sweep and exchange, on the threads of this process.

use super::ladder::{Ladder, Pair, Seen, State};
use super::stopped;
use crate::Result;
use crate::chains::{Engine, Walkers};
use crate::math::exp;
use crate::observer::Observer;
use lnz_kernels::random::{Purpose, Random, stream_seed};
use lnz_kernels::{ChainRange, GROUP};
use rayon::prelude::*;
use std::ops::Range;

/// Some iterations of a ladder: the same for whoever computes them.
pub(super) struct Advance<'a> {
    pub(super) engine: &'a dyn Engine,
    /// As it is before them.
    pub(super) ladder: &'a Ladder,
    pub(super) iterations: usize,
    /// Every `keep`-th state at the model is kept.
    pub(super) keep: Option<usize>,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

/// Columns after some iterations.
#[derive(Default)]
pub(super) struct Moved {
    /// By column, then by rung.
    pub(super) states: Vec<Vec<State>>,
    /// What each column has seen.
    pub(super) seen: Vec<Seen>,
}

impl Advance<'_> {
    pub(super) fn columns(&self) -> usize {
        self.ladder.states.len()
    }

    /// Groups of columns: those of one group share random numbers, and know nothing else of each other.
    pub(super) fn groups(&self) -> usize {
        self.columns().div_ceil(GROUP)
    }

    /// The columns of some groups, in order.
    pub(super) fn compute(&self, groups: Range<usize>) -> Result<Moved> {
        let first = groups.start * GROUP;
        let columns = self.columns().min(groups.end * GROUP) - first;
        let block = |(group, columns): (usize, usize)| {
            let first = first + group * GROUP;
            let mut block = Block::new(self, first..first + columns);
            for iteration in 0..self.iterations {
                let keeps = self.keep.is_some_and(|keep| iteration % keep == keep - 1);
                block.iterate(iteration % 2, keeps);
                (!self.observer.cancelled()).then_some(())?;
            }
            Some(block.into_moved())
        };
        let blocks = self.engine.share_out(columns).into_par_iter();
        let blocks: Option<Vec<Moved>> = blocks.map(block).collect();
        let mut moved = Moved::default();
        for block in blocks.ok_or_else(stopped)? {
            moved.states.extend(block.states);
            moved.seen.extend(block.seen);
        }
        Ok(moved)
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
    fn new(advance: &Advance<'a>, columns: Range<usize>) -> Self {
        let &Advance { engine, ladder, seed, observer, .. } = advance;
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
        let mut log_densities = vec![0.0; chains];
        let model = &mut self.rungs[top];
        model.weigh(1.0, 1.0, &mut unused);
        model.log_bridge(&mut bridge);
        model.log_density(1.0, &mut log_densities);
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
            let difference = log_densities[c] - seen.log_density.0;
            seen.log_density.0 += difference / seen.iterations as f64;
            seen.log_density.1 += difference * (log_densities[c] - seen.log_density.0);
            if keeps {
                seen.kept.push(state_of(&**model, c));
            }
        }
    }

    fn into_moved(self) -> Moved {
        let column = |c: usize| self.rungs.iter().map(|walkers| state_of(&**walkers, c)).collect();
        Moved { states: (0..self.chains()).map(column).collect(), seen: self.seen }
    }
}

fn state_of(walkers: &dyn Walkers, chain: usize) -> State {
    walkers.state(chain).iter().map(|&x| x == 1.0).collect()
}
