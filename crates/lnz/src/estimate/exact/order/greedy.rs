//! The elimination game, the best unit of the moment first.

use super::super::SparseModel;
use super::super::scopes::MOST_NEIGHBOURS;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What makes a unit a good one to eliminate next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Score {
    /// Few neighbours: a small table now.
    Degree,
    /// Few pairs of neighbours that are not yet neighbours: small tables later.
    Fill,
}

/// More than any number of gaps.
const GOES_LAST: u64 = 1 << 32;

/// An order, and the operations spent on it; none if it would need `limit` entries of tables or more,
/// a table of too many units, or more than `budget` operations. Equal units go by `ties`, lowest first.
pub(super) fn order(
    model: &SparseModel,
    score: Score,
    ties: &[u64],
    limit: f64,
    budget: u64,
) -> (Option<Vec<u32>>, u64) {
    play(Game::new(model), score, ties, limit, budget)
}

/// An order for tables that will be cut where they are too large: a unit with more neighbours than
/// `most_joined` goes last, and goes without joining them.
pub(super) fn order_with_cuts(model: &SparseModel, most_joined: usize) -> Vec<u32> {
    let ties: Vec<u64> = (0..model.units() as u64).collect();
    let game = Game { most_joined, ..Game::new(model) };
    let (order, _) = play(game, Score::Fill, &ties, f64::INFINITY, u64::MAX);
    order.unwrap_or_default()
}

fn play(
    mut game: Game,
    score: Score,
    ties: &[u64],
    limit: f64,
    budget: u64,
) -> (Option<Vec<u32>>, u64) {
    let units = game.degree.len();
    let is_cut = game.most_joined < MOST_NEIGHBOURS;
    let mut current: Vec<u64> = (0..units).map(|unit| game.score(unit, score)).collect();
    let entry = |score: u64, unit: usize| Reverse((score, ties[unit], unit as u32));
    let mut heap: BinaryHeap<_> = (0..units).map(|unit| entry(current[unit], unit)).collect();
    let mut order = Vec::with_capacity(units);
    let mut entries = 0.0;
    let mut touched = Vec::new();
    while let Some(Reverse((scored, _, unit))) = heap.pop() {
        let unit = unit as usize;
        // Out of date, or eliminated already.
        if scored != current[unit] {
            continue;
        }
        current[unit] = u64::MAX;
        let degree = game.degree[unit] as usize;
        entries += (degree as f64).exp2();
        let too_large = entries >= limit || degree > MOST_NEIGHBOURS;
        if too_large && !is_cut || game.operations > budget {
            return (None, game.operations);
        }
        order.push(unit as u32);
        let around = game.eliminate(unit);
        touched.clear();
        touched.extend_from_slice(&around);
        if score == Score::Fill && scored > 0 {
            // New pairs may have closed a gap between neighbours of units one step away.
            let left = |v: &u32| current[*v as usize] != u64::MAX;
            for &v in &around {
                touched.extend(game.neighbours[v as usize].iter().copied().filter(left));
            }
            touched.sort_unstable();
            touched.dedup();
        }
        for &v in &touched {
            let v = v as usize;
            let new = game.score(v, score);
            if new != current[v] {
                current[v] = new;
                heap.push(entry(new, v));
            }
        }
    }
    (Some(order), game.operations)
}

/// Which units are neighbours, so far.
struct Game {
    /// Rising lists, in which eliminated units may linger: a unit with many neighbours that go one by
    /// one would otherwise copy its list each time.
    neighbours: Vec<Vec<u32>>,
    /// Neighbours that are left.
    degree: Vec<u32>,
    is_left: Vec<bool>,
    /// A unit with more neighbours does not join them.
    most_joined: usize,
    operations: u64,
}

impl Game {
    fn new(model: &SparseModel) -> Self {
        let list = |unit| model.neighbours(unit).iter().map(|&(other, _)| other).collect();
        let neighbours: Vec<Vec<u32>> = (0..model.units()).map(list).collect();
        let degree = neighbours.iter().map(|list| list.len() as u32).collect();
        let is_left = vec![true; model.units()];
        Self { neighbours, degree, is_left, most_joined: usize::MAX, operations: 0 }
    }

    fn score(&mut self, unit: usize, score: Score) -> u64 {
        let degree = u64::from(self.degree[unit]);
        // Beyond this, a clique is out of the question, and counting its gaps a waste.
        if degree > self.most_joined as u64 {
            return GOES_LAST + degree;
        }
        if score == Score::Degree || degree > 2 * MOST_NEIGHBOURS as u64 {
            return degree;
        }
        let around = self.live(unit);
        let mut joined = 0;
        for &v in &around {
            let others = &self.neighbours[v as usize];
            self.operations += (others.len() as u64).min(8 * degree) + degree;
            joined += shared(&around, others);
        }
        self.neighbours[unit] = around;
        degree * degree.saturating_sub(1) / 2 - joined / 2
    }

    /// Takes the list of a unit, without those that are gone.
    fn live(&mut self, unit: usize) -> Vec<u32> {
        let mut list = std::mem::take(&mut self.neighbours[unit]);
        if list.len() > self.degree[unit] as usize {
            self.operations += list.len() as u64;
            list.retain(|&v| self.is_left[v as usize]);
        }
        list
    }

    /// Joins all neighbours of a unit and removes it; returns the neighbours.
    fn eliminate(&mut self, unit: usize) -> Vec<u32> {
        let around = self.live(unit);
        self.is_left[unit] = false;
        if around.len() > self.most_joined {
            around.iter().for_each(|&v| self.degree[v as usize] -= 1);
            return around;
        }
        let mut missing = Vec::new();
        for &v in &around {
            let list = &self.neighbours[v as usize];
            self.operations += around.len() as u64 * u64::from(list.len().max(1).ilog2());
            missing.clear();
            missing.extend(
                (around.iter().copied()).filter(|w| *w != v && list.binary_search(w).is_err()),
            );
            let degree = self.degree[v as usize] + missing.len() as u32 - 1;
            self.degree[v as usize] = degree;
            if !missing.is_empty() || list.len() > 2 * degree as usize + 8 {
                let old = self.live(v as usize);
                self.operations += (old.len() + missing.len()) as u64;
                self.neighbours[v as usize] = merged(&old, &missing);
            }
        }
        around
    }
}

/// How many values two rising lists share.
fn shared(a: &[u32], b: &[u32]) -> u64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() > 8 * short.len() {
        return short.iter().filter(|&value| long.binary_search(value).is_ok()).count() as u64;
    }
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        count += u64::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    count
}

/// Two rising lists without a common value as one.
fn merged(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut union = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        union.push(x.min(y));
        i += usize::from(x < y);
        j += usize::from(y < x);
    }
    union.extend_from_slice(&a[i..]);
    union.extend_from_slice(&b[j..]);
    union
}
