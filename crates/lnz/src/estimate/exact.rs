//! Exact log Z: connected components, and for each the cheaper of enumeration and elimination.

pub(super) mod cases;
mod cost;
mod eliminate;
pub(super) mod layers;
mod memory;
mod order;
mod parts;
pub(super) mod pendants;
mod plan;
mod scopes;
mod sparse;
mod table;
#[cfg(test)]
mod tests;
mod watch;

pub use cost::ExactCost;
pub use sparse::SparseModel;

use super::decided::decided;
use super::{Cost, Details, Effort, Estimator, Finding};
use crate::{Diagnosis, Observer, Rbm, Result};
use parts::Parts;
use std::time::Instant;

/// A sum over all states, and what it may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// Refuse up front what is predicted to take longer.
    pub max_seconds: f64,
    /// Memory for the tables of an elimination; None is a quarter of the machine's, which leaves room
    /// for the model and for others. Where tables would need more, some units take their states one
    /// after the other, which takes longer and may change the last digits of log Z.
    pub max_bytes: Option<f64>,
}

impl Default for Exact {
    /// Ten minutes: more should be asked for twice.
    fn default() -> Self {
        Self { max_seconds: 600.0, ..Self::FORCED }
    }
}

impl Exact {
    /// However long it takes.
    pub const FORCED: Self = Self { max_seconds: f64::INFINITY, max_bytes: None };

    fn bytes(&self) -> f64 {
        self.max_bytes.unwrap_or_else(|| memory::machine_bytes() / 4.0)
    }

    /// The memory of the machine has a say in how a sum is done: that of the first one decides.
    fn decided_bytes(&self, observer: &dyn Observer) -> Result<f64> {
        decided(observer, "exact-bytes", || Ok(self.bytes()))
    }
}

impl Estimator for Exact {
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        let clock = Instant::now();
        self.sum(Parts::of(model, self.decided_bytes(observer)?)?, clock, observer)
    }
}

impl Exact {
    /// log Z of a model without a matrix.
    pub fn estimate_sparse(&self, model: &SparseModel, observer: &dyn Observer) -> Result<Finding> {
        let clock = Instant::now();
        self.sum(Parts::of_sparse(model, self.decided_bytes(observer)?)?, clock, observer)
    }

    fn sum(&self, parts: Parts, clock: Instant, observer: &dyn Observer) -> Result<Finding> {
        let predicted = parts.cost();
        let log_z = parts.log_z(self.max_seconds, observer)?;
        let seconds = clock.elapsed().as_secs_f64();
        Ok(Finding {
            log_z,
            std_error: 0.0,
            interval: [log_z; 2],
            lower_bound: Some(log_z),
            proven: None,
            diagnosis: Diagnosis::exact(),
            ess: None,
            stopped: false,
            effort: Effort::default(),
            cost: Cost { states: Some(predicted.states), seconds, ..Cost::default() },
            details: Details::Exact(predicted),
        })
    }
}

/// An order in which to eliminate the units where tables are cut that are too large.
pub(super) fn order_with_cuts(model: &SparseModel) -> Vec<u32> {
    order::with_cuts(model)
}

/// log Z by a sum over all states, however long it takes.
///
/// The model is split into connected components, whose log Z add up. Where one is dense, its smaller
/// layer is enumerated and the larger one summed analytically. Where it is sparse, like a grid, a band
/// or a tree, its units are summed out one after the other, each leaving a table over its neighbours;
/// the cost is two to the power of the number of units in the largest table, the width. The cheaper way
/// is taken, on the current rayon pool. The result is the same to the last bit for any number of
/// threads.
///
/// Fails with [`Error::TooManyUnits`](crate::Error::TooManyUnits) when a component has more than 62
/// units in its smaller layer and no elimination is cheaper, with
/// [`Error::FarTooWide`](crate::Error::FarTooWide) when one is but has a width beyond 62, and with
/// [`Error::Cancelled`](crate::Error::Cancelled) once the observer asks to stop.
///
/// ```
/// use ndarray::array;
/// let model = lnz::Rbm::new(array![[0.5, -1.0]], array![0.2], array![0.0, 0.3])?;
/// // Two visible states: x = 0 and x = 1.
/// let z = 2.0 * (1.0 + 0.3f64.exp()) + 0.2f64.exp() * (1.0 + 0.5f64.exp()) * (1.0 + (-0.7f64).exp());
/// assert!((lnz::exact_log_z(&model, &())? - z.ln()).abs() < 1e-14);
/// # Ok::<(), lnz::Error>(())
/// ```
pub fn exact_log_z(model: &Rbm, observer: &dyn Observer) -> Result<f64> {
    exact_log_z_with(model, &Exact::FORCED, observer)
}

/// Like [`exact_log_z`], but refuses up front with
/// [`Error::TooManyStates`](crate::Error::TooManyStates) or [`Error::TooWide`](crate::Error::TooWide)
/// when the predicted time exceeds `max_seconds`.
pub fn exact_log_z_within(model: &Rbm, max_seconds: f64, observer: &dyn Observer) -> Result<f64> {
    exact_log_z_with(model, &Exact { max_seconds, ..Exact::FORCED }, observer)
}

/// Like [`exact_log_z`], within limits of time and memory.
pub fn exact_log_z_with(model: &Rbm, settings: &Exact, observer: &dyn Observer) -> Result<f64> {
    let bytes = settings.decided_bytes(observer)?;
    Parts::of(model, bytes)?.log_z(settings.max_seconds, observer)
}

/// log Z of a model without a matrix, by elimination.
pub fn exact_log_z_sparse(
    model: &SparseModel,
    settings: &Exact,
    observer: &dyn Observer,
) -> Result<f64> {
    let bytes = settings.decided_bytes(observer)?;
    Parts::of_sparse(model, bytes)?.log_z(settings.max_seconds, observer)
}

/// What [`exact_log_z`] would cost, from the sizes of layers and tables and the measured speed of this
/// machine (the first call takes a few milliseconds to measure it).
pub fn exact_cost(model: &Rbm) -> Result<ExactCost> {
    exact_cost_with(model, &Exact::FORCED)
}

/// What [`exact_log_z_with`] would cost.
pub fn exact_cost_with(model: &Rbm, settings: &Exact) -> Result<ExactCost> {
    Ok(Parts::of(model, settings.bytes())?.cost())
}

/// What [`exact_log_z_sparse`] would cost.
pub fn exact_cost_sparse(model: &SparseModel, settings: &Exact) -> Result<ExactCost> {
    Ok(Parts::of_sparse(model, settings.bytes())?.cost())
}
