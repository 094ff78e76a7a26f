//! Which units each table of an elimination has.

use super::SparseModel;
use super::table::{is_table, table_bytes};
use std::ops::Range;

/// A unit with more neighbours than this ends a try: no table of that many units will ever be made.
pub(super) const MOST_NEIGHBOURS: usize = 160;

/// The scope of each step: the later units that its table depends on, by their place in the order.
///
/// Bit k of the index into a table is the k-th unit of its scope, so the next one to be eliminated is
/// bit 0: its two states lie side by side in memory.
#[derive(Debug, Clone)]
pub(super) struct Scopes {
    /// The units in the order of their elimination.
    pub(super) order: Vec<u32>,
    /// Largest scope.
    pub(super) width: usize,
    /// Entries of all tables.
    pub(super) entries: f64,
    /// Bytes of tables at the same time, at most.
    pub(super) bytes: f64,
    starts: Vec<usize>,
    positions: Vec<u32>,
    /// The place of each unit in the order.
    position_of: Vec<u32>,
    /// Steps that hand their table to the step, as linked lists.
    first_child: Vec<u32>,
    next_child: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Scopes {
    /// Follows an order; None if a scope grows beyond all use.
    pub(super) fn of(model: &SparseModel, order: Vec<u32>) -> Option<Self> {
        let steps = order.len();
        let mut position_of = vec![0; steps];
        for (position, &unit) in (0u32..).zip(&order) {
            position_of[unit as usize] = position;
        }
        let mut scopes = Self {
            order,
            width: 0,
            entries: 0.0,
            bytes: 0.0,
            starts: vec![0],
            positions: Vec::new(),
            position_of,
            first_child: vec![NONE; steps],
            next_child: vec![NONE; steps],
        };
        let mut scope = Vec::new();
        let mut live = 0.0;
        for step in 0..steps {
            scope.clear();
            let later = scopes.later_neighbours(model, step).map(|(position, _)| position);
            scope.extend(later);
            let mut freed = 0.0;
            for child in scopes.children(step) {
                scope.extend_from_slice(&scopes.positions[scopes.range(child)][1..]);
                freed += table_bytes(scopes.width_of(child));
            }
            scope.sort_unstable();
            scope.dedup();
            if scope.len() > MOST_NEIGHBOURS {
                return None;
            }
            scopes.width = scopes.width.max(scope.len());
            scopes.entries += (scope.len() as f64).exp2();
            live += table_bytes(scope.len());
            scopes.bytes = scopes.bytes.max(live);
            live -= freed;
            if let Some(&parent) = scope.first() {
                scopes.next_child[step] = scopes.first_child[parent as usize];
                scopes.first_child[parent as usize] = step as u32;
            }
            scopes.positions.extend_from_slice(&scope);
            scopes.starts.push(scopes.positions.len());
        }
        Some(scopes)
    }

    pub(super) fn steps(&self) -> usize {
        self.order.len()
    }

    /// Length of all scopes together.
    pub(super) fn total(&self) -> usize {
        self.positions.len()
    }

    /// Where the scope of a step is among all.
    pub(super) fn range(&self, step: usize) -> Range<usize> {
        self.starts[step]..self.starts[step + 1]
    }

    pub(super) fn position(&self, place: usize) -> u32 {
        self.positions[place]
    }

    /// The scope of a step, rising.
    pub(super) fn scope(&self, step: usize) -> &[u32] {
        &self.positions[self.range(step)]
    }

    pub(super) fn width_of(&self, step: usize) -> usize {
        self.starts[step + 1] - self.starts[step]
    }

    /// Steps whose scope begins with this step's unit, the latest first.
    pub(super) fn children(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        let some = |child: u32| (child != NONE).then_some(child as usize);
        std::iter::successors(some(self.first_child[step]), move |&child| {
            some(self.next_child[child])
        })
    }

    /// Couplings of the unit of a step to units that come later, by position but in any order.
    fn later_neighbours<'a>(
        &'a self,
        model: &'a SparseModel,
        step: usize,
    ) -> impl Iterator<Item = (u32, f64)> + 'a {
        let neighbours = model.neighbours(self.order[step] as usize).iter();
        neighbours
            .map(|&(other, weight)| (self.position_of[other as usize], weight))
            .filter(move |&(position, _)| position as usize > step)
    }

    /// Couplings of the unit of a step to those of its scope, by their place in it.
    pub(super) fn couplings<'a>(
        &'a self,
        model: &'a SparseModel,
        step: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let scope = self.scope(step);
        self.later_neighbours(model, step)
            .filter_map(|(position, weight)| Some((scope.binary_search(&position).ok()?, weight)))
    }

    /// The same elimination with its steps in another order, so that fewer tables wait for their use.
    ///
    /// Steps form a forest, and any order with children before their parents makes the same tables.
    /// Those children go first that need the most memory beyond what they leave behind (Liu, 1987).
    pub(super) fn with_less_memory(self, model: &SparseModel) -> Self {
        let steps = self.steps();
        let size = |step: usize| table_bytes(self.width_of(step));
        let mut peak = vec![0.0; steps];
        let mut sorted: Vec<Vec<u32>> = vec![Vec::new(); steps];
        for step in 0..steps {
            let mut children: Vec<u32> = self.children(step).map(|child| child as u32).collect();
            let beyond = |&child: &u32| peak[child as usize] - size(child as usize);
            children.sort_by(|a, b| beyond(b).total_cmp(&beyond(a)).then(a.cmp(b)));
            let (mut kept, mut most) = (0.0, 0.0f64);
            for &child in &children {
                most = most.max(kept + peak[child as usize]);
                kept += size(child as usize);
            }
            peak[step] = most.max(kept + size(step));
            sorted[step] = children;
        }
        let mut order = Vec::with_capacity(steps);
        let roots = (0..steps).filter(|&step| self.width_of(step) == 0);
        let mut pending: Vec<(usize, usize)> = Vec::new();
        for root in roots {
            pending.push((root, 0));
            while let Some((step, next)) = pending.last_mut() {
                match sorted[*step].get(*next) {
                    Some(&child) => {
                        *next += 1;
                        pending.push((child as usize, 0));
                    }
                    None => {
                        order.push(self.order[*step]);
                        pending.pop();
                    }
                }
            }
        }
        match Self::of(model, order) {
            Some(better) if better.bytes <= self.bytes => better,
            _ => self,
        }
    }

    /// For each unit the entries of the tables that depend on it.
    pub(super) fn entries_with(&self) -> Vec<f64> {
        let mut entries = vec![0.0; self.steps()];
        for step in (0..self.steps()).filter(|&step| is_table(self.width_of(step))) {
            for &position in self.scope(step) {
                entries[self.order[position as usize] as usize] +=
                    (self.width_of(step) as f64).exp2();
            }
        }
        entries
    }
}
