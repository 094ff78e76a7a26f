//! Trees: models without loops, solved by messages from the leaves to the root.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::sums::log_add;
use lnz::Result;
use ndarray::{Array1, Array2};

/// A random tree of spins with Gaussian couplings and fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tree {
    pub(crate) units: usize,
    /// A new unit hangs on one of the last so many: few make long branches, many make stars.
    pub(crate) reach: usize,
    /// Spread of the couplings.
    pub(crate) coupling: f64,
    pub(crate) field: f64,
}

impl Tree {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(10, seed);
        // Unit k > 0 hangs on an earlier one, with this coupling.
        let mut parents: Vec<(usize, f64)> = vec![(0, 0.0)];
        let mut fields = vec![self.field * numbers.normal()];
        let mut is_visible = vec![true];
        for unit in 1..self.units {
            let parent = unit - 1 - numbers.below(self.reach.min(unit));
            parents.push((parent, self.coupling * numbers.normal()));
            fields.push(self.field * numbers.normal());
            is_visible.push(!is_visible[parent]);
        }
        let log_z = messages(&parents, &fields);
        let mut place = Vec::new();
        let (mut visible, mut hidden) = (Vec::new(), Vec::new());
        for (&field, &is_visible) in fields.iter().zip(&is_visible) {
            let layer = if is_visible { &mut visible } else { &mut hidden };
            place.push(layer.len());
            layer.push(field);
        }
        let mut couplings = Array2::zeros((visible.len(), hidden.len()));
        for (unit, &(parent, coupling)) in parents.iter().enumerate().skip(1) {
            let (v, h) = if is_visible[unit] { (unit, parent) } else { (parent, unit) };
            couplings[[place[v], place[h]]] = coupling;
        }
        let (visible, hidden) = (Array1::from(visible), Array1::from(hidden));
        Solved::from_spins(&couplings, &visible, &hidden, log_z)?.disguised(&mut numbers)
    }
}

/// log Z: each unit tells its parent, for both states of it, the log of the sum over its own branch.
fn messages(parents: &[(usize, f64)], fields: &[f64]) -> f64 {
    let mut branch: Vec<[f64; 2]> = fields.iter().map(|field| [-field, *field]).collect();
    for unit in (1..parents.len()).rev() {
        let (parent, coupling) = parents[unit];
        let [down, up] = branch[unit];
        branch[parent][0] += log_add(down + coupling, up - coupling);
        branch[parent][1] += log_add(down - coupling, up + coupling);
    }
    log_add(branch[0][0], branch[0][1])
}
