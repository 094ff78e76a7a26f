//! A floor and a ceiling of log Z that hold without statistics, for sparse models of any size.

mod buckets;
mod passes;
mod projection;
mod tighten;

use super::exact::order_with_cuts;
use super::{Finding, SparseModel};
use crate::energy::check_energy;
use crate::{Observer, Rbm, Result};
use buckets::Buckets;
use tighten::{Side, tighten};

/// How much work a proven floor and ceiling may take.
///
/// The work is counted, not timed, so that the same settings prove the same bounds everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Entries of all tables together. More entries mean larger tables, fewer cuts between them and
    /// tighter bounds; an entry takes eight bytes, and some 15 ns in each pass.
    pub entries: f64,
    /// Passes over all tables, for each of the two bounds; each tightens them less than the one before.
    pub passes: usize,
}

impl Default for Bounds {
    /// About three seconds of one core, and 8 MB.
    fn default() -> Self {
        Self { entries: 1e6, passes: 60 }
    }
}

/// Two numbers that log Z is between, as far as float64 computes: rounding at its worst is allowed for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ProvenBounds {
    /// log Z is not below it.
    pub floor: f64,
    /// log Z is not above it.
    pub ceiling: f64,
    /// Units in the largest table.
    pub width: usize,
    /// Units that had to be summed out of several tables separately; with none, both bounds are log Z.
    pub cuts: usize,
}

impl ProvenBounds {
    /// The bounds are near enough to say something: within 10 nats or 5% of each other.
    pub fn say_something(&self) -> bool {
        self.ceiling - self.floor <= 10f64.max(0.05 * self.floor.abs().min(self.ceiling.abs()))
    }
}

impl Finding {
    /// Keeps proven bounds beside the result, and calls it suspect if it is outside them.
    pub fn hold_against(&mut self, mut bounds: ProvenBounds) {
        // A sum over known states may be a higher floor.
        bounds.floor = bounds.floor.max(self.lower_bound.unwrap_or(f64::NEG_INFINITY));
        let range = [bounds.floor, bounds.ceiling];
        self.diagnosis.hold_against(range, self.log_z, self.std_error);
        self.proven = Some(bounds);
    }
}

/// Proven bounds of log Z, by weighted mini-buckets with cost shifting (Liu and Ihler, 2011); None for a
/// model with so many couplings that even the smallest tables have more entries than allowed.
///
/// Units are summed out one after the other. Where a table would have too many units, it is cut in two
/// or more, and Hoelder's inequality bounds the sum of the product by a product of sums: from above
/// with positive weights, from below with one positive and otherwise negative ones. What the tables
/// have in common is then shared out between them, and the weights are chosen, so that the bound
/// becomes as tight as it can.
///
/// ```
/// use lnz::{Bounds, SparseModel, proven_bounds_sparse};
/// // A ring of ten units.
/// let ring: Vec<_> = (0..10).map(|i| (i, (i + 1) % 10, 1.0)).collect();
/// let model = SparseModel::new(vec![-0.5; 10], &ring)?;
/// let bounds = proven_bounds_sparse(&model, &Bounds::default(), &())?.unwrap();
/// let log_z = lnz::exact_log_z_sparse(&model, &lnz::Exact::FORCED, &())?;
/// assert!(bounds.floor <= log_z && log_z <= bounds.ceiling);
/// # Ok::<(), lnz::Error>(())
/// ```
pub fn proven_bounds_sparse(
    model: &SparseModel,
    settings: &Bounds,
    observer: &dyn Observer,
) -> Result<Option<ProvenBounds>> {
    let energy = model.largest_energy() + model.constant().abs();
    check_energy(energy)?;
    let order = order_with_cuts(model);
    let Some(buckets) = Buckets::within(model, &order, settings.entries) else { return Ok(None) };
    let ceiling = tighten(&buckets, Side::Above, settings.passes, observer)?;
    let floor = match buckets.groups.is_empty() {
        true => ceiling,
        false => tighten(&buckets, Side::Below, settings.passes, observer)?,
    };
    // Every sum rounds numbers of the size of the energies, a few times for each unit.
    let rounding = 8.0 * f64::EPSILON * (model.units() + 16) as f64 * (energy + 1.0);
    Ok(Some(ProvenBounds {
        floor: model.constant() + floor - rounding,
        ceiling: model.constant() + ceiling + rounding,
        width: buckets.width(),
        cuts: buckets.groups.len(),
    }))
}

/// [`proven_bounds_sparse`] of an RBM.
pub fn proven_bounds(
    model: &Rbm,
    settings: &Bounds,
    observer: &dyn Observer,
) -> Result<Option<ProvenBounds>> {
    // A large dense matrix is not worth a copy.
    if model.coupled_pairs() / (model.visible() + model.hidden()) > MOST_COUPLINGS_A_UNIT {
        return Ok(None);
    }
    proven_bounds_sparse(&SparseModel::from(model), settings, observer)
}

/// With more couplings for each unit, tables would be cut into so many that the bounds say nothing.
const MOST_COUPLINGS_A_UNIT: usize = 32;
