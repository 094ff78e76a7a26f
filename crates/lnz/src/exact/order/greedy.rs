//! The elimination game, the best unit of the moment first.

use super::super::SparseModel;
use super::MOST_NEIGHBOURS;
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

/// An order, and the operations spent on it; none if it would need `limit` entries of tables or more,
/// a table of too many units, or more than `budget` operations. Equal units go by `ties`, lowest first.
pub(super) fn order(
    model: &SparseModel,
    score: Score,
    ties: &[u64],
    limit: f64,
    budget: u64,
) -> (Option<Vec<u32>>, u64) {
    let units = model.units();
    let mut game = Game {
        neighbours: (0..units)
            .map(|unit| model.neighbours(unit).iter().map(|&(other, _)| other).collect())
            .collect(),
        operations: 0,
    };
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
        let degree = game.neighbours[unit].len();
        entries += (degree as f64).exp2();
        if entries >= limit || degree > MOST_NEIGHBOURS || game.operations > budget {
            return (None, game.operations);
        }
        order.push(unit as u32);
        let around = game.eliminate(unit);
        touched.clear();
        touched.extend_from_slice(&around);
        if score == Score::Fill && scored > 0 {
            // New pairs may have closed a gap between neighbours of units one step away.
            around.iter().for_each(|&v| touched.extend(&game.neighbours[v as usize]));
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
    /// Rising lists.
    neighbours: Vec<Vec<u32>>,
    operations: u64,
}

impl Game {
    fn score(&mut self, unit: usize, score: Score) -> u64 {
        let around = &self.neighbours[unit];
        let degree = around.len() as u64;
        // Beyond this, a clique is out of the question, and counting its gaps a waste.
        if score == Score::Degree || degree > 2 * MOST_NEIGHBOURS as u64 {
            return degree;
        }
        let mut joined = 0;
        for &v in around {
            let others = &self.neighbours[v as usize];
            self.operations += (others.len() as u64).min(8 * degree) + degree;
            joined += shared(around, others);
        }
        degree * degree.saturating_sub(1) / 2 - joined / 2
    }

    /// Joins all neighbours of a unit and removes it; returns the neighbours.
    fn eliminate(&mut self, unit: usize) -> Vec<u32> {
        let around = std::mem::take(&mut self.neighbours[unit]);
        let mut merged = Vec::new();
        for &v in &around {
            let old = &mut self.neighbours[v as usize];
            self.operations += (old.len() + around.len()) as u64;
            merged.clear();
            merge(old, &around, &mut merged);
            merged.retain(|&other| other != v && other != unit as u32);
            old.clear();
            old.extend_from_slice(&merged);
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

/// The union of two rising lists, rising.
pub(in super::super) fn merge(a: &[u32], b: &[u32], union: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        union.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    union.extend_from_slice(&a[i..]);
    union.extend_from_slice(&b[j..]);
}
