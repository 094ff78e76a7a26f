//! What an elimination will do, worked out before it is done: tables, scales, memory and cost.

mod conditioning;

use super::SparseModel;
use super::cost::StepWork;
use super::order;
use super::scopes::Scopes;
use super::table::is_table;
use serde::{Deserialize, Serialize};

/// Largest spread, in nats, of what is multiplied in a step on the linear scale.
///
/// Float64 reaches from e^-708 to e^709; the rest is for sums, for tables that are up to 2^128 below
/// their normalised size, and for one bit that each of at most `MOST_LINEAR_TABLES` loses.
const LINEAR_SPREAD: f64 = 540.0;
pub(super) const MOST_LIFT: f64 = 128.0;
const MOST_LINEAR_TABLES: usize = 32;

/// The largest width that can be eliminated at all; as for layers, 2^62 entries take millennia.
pub(super) const MAX_WIDTH: usize = 62;

/// Elimination of all units of a model, in order, after some were fixed.
pub(super) struct Plan {
    /// The model without the units that are fixed.
    pub(super) model: SparseModel,
    /// Units that take all their states one after the other, with their couplings.
    pub(super) fixed: Vec<Fixed>,
    pub(super) scopes: Scopes,
    /// For each step whether it must compute with logarithms.
    pub(super) logarithmic: Vec<bool>,
    /// Entries of tables computed in all.
    pub(super) entries: f64,
    /// Entries computed on the linear and on the log scale, weighted by what they cost.
    pub(super) work: StepWork,
    /// Bytes of the tables that exist at the same time, at most.
    pub(super) bytes: f64,
    /// There is memory for it, and the index of a table is a number.
    pub(super) is_possible: bool,
}

/// A unit that is fixed to one state at a time.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Fixed {
    pub(super) bias: f64,
    /// Couplings to units of the rest.
    pub(super) to_rest: Vec<(u32, f64)>,
    /// Couplings to units that were fixed before.
    pub(super) to_fixed: Vec<(usize, f64)>,
}

impl Plan {
    /// The cheapest plan found, with units fixed where its tables would not fit into `max_bytes`; None
    /// if every order needs tables of hundreds of units.
    pub(super) fn of(model: SparseModel, max_bytes: f64) -> Option<Self> {
        let scopes = order::find(&model)?.with_less_memory(&model);
        if scopes.bytes > max_bytes
            && scopes.width <= MAX_WIDTH
            && let Some(plan) = conditioning::condition(&model, &scopes, max_bytes)
        {
            return Some(plan);
        }
        let is_possible = scopes.width <= MAX_WIDTH && scopes.bytes <= max_bytes;
        Some(Self { is_possible, ..Self::along(model, scopes, Vec::new()) })
    }

    /// The plan that follows an order.
    pub(super) fn along(model: SparseModel, scopes: Scopes, fixed: Vec<Fixed>) -> Self {
        let (logarithmic, work) = scales(&model, &scopes);
        let repeats = (fixed.len() as f64).exp2();
        Self {
            entries: scopes.entries * repeats,
            work: work.times(repeats),
            bytes: scopes.bytes,
            model,
            fixed,
            scopes,
            logarithmic,
            is_possible: true,
        }
    }

    /// Size of the largest table and the number of fixed units, as one number: the work grows like two
    /// to the power of it.
    pub(super) fn width(&self) -> usize {
        self.scopes.width + self.fixed.len()
    }
}

/// The scale of each step, and the work of all.
///
/// A table is a sum of products, so when one of its units changes, its logarithm changes by no more
/// than the couplings to that unit that went into it. The linear scale divides by powers of two that
/// make this symmetric: half of |w| either way, and 0.35 for rounding to a power of two.
fn scales(model: &SparseModel, scopes: &Scopes) -> (Vec<bool>, StepWork) {
    let mut logarithmic = vec![false; scopes.steps()];
    let mut work = StepWork::default();
    // For each place in a scope, how far its unit can move the logarithm of the table.
    let mut moves = vec![0.0; scopes.total()];
    for step in 0..scopes.steps() {
        let scope = scopes.range(step);
        let mut spread = 0.0;
        let mut sources = Vec::new();
        for child in scopes.children(step).filter(|&child| is_table(scopes.width_of(child))) {
            let inner = scopes.range(child);
            spread += moves[inner.clone()].iter().sum::<f64>();
            // The first unit of the child is the one being eliminated.
            let mut place = scope.start;
            for k in inner.start + 1..inner.end {
                while scopes.position(place) != scopes.position(k) {
                    place += 1;
                }
                moves[place] += moves[k];
            }
            sources.push(child);
        }
        let half = |weight: f64| 0.5 * weight.abs() + 0.35;
        spread += scopes.couplings(model, step).map(|(_, weight)| half(weight)).sum::<f64>();
        logarithmic[step] = spread > LINEAR_SPREAD || sources.len() > MOST_LINEAR_TABLES;
        for (place, weight) in scopes.couplings(model, step) {
            // Logarithms are not divided.
            moves[scope.start + place] +=
                if logarithmic[step] { weight.abs() } else { half(weight) };
        }
        work.add_step(scopes, step, &sources, logarithmic[step]);
    }
    (logarithmic, work)
}
