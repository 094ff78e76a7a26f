//! The ways to log Z: each is an [`Estimator`], each returns a [`Finding`].
//!
//! A new one is a file here, a line among the modules and a variant of [`Details`].

mod ais;
mod anneal;
mod auto;
mod bounds;
mod estimator;
mod exact;
mod phases;
mod statistics;

pub use ais::{Ais, AisRun, StartRule};
pub use anneal::{Annealed, Annealing, anneal};
pub use auto::{Auto, AutoRun, Family, FamilyReport, Sampled, SecondOpinion, auto, second_opinion};
pub use bounds::{Bounds, proven_bounds, proven_bounds_sparse};
pub use estimator::{Cost, Effort, Estimator, Finding, ProvenBounds};
pub use exact::{
    Exact, ExactCost, SparseModel, exact_cost, exact_cost_sparse, exact_cost_with, exact_log_z,
    exact_log_z_sparse, exact_log_z_with, exact_log_z_within,
};
pub use phases::{FoundPhase, Phases, PhasesRun};
pub use statistics::Estimate;

use crate::{Rbm, Result};

/// What only one method has to tell.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Details {
    /// Of a sum over all states.
    Exact(ExactCost),
    /// Of annealed importance sampling from one start.
    Ais(Box<AisRun>),
    /// Of the default method, where it had to sample.
    Auto(Box<AutoRun>),
    /// Of the sum over phases.
    Phases(Box<PhasesRun>),
}

impl Details {
    /// The name of the method: `exact`, `ais`, `auto` or `phases`.
    pub fn method(&self) -> &'static str {
        match self {
            Details::Exact(_) => "exact",
            Details::Ais(_) => "ais",
            Details::Auto(_) => "auto",
            Details::Phases(_) => "phases",
        }
    }
}

impl Finding {
    /// The parts that the default method sampled; none for other methods.
    pub fn sampled(&self) -> &[Sampled] {
        match &self.details {
            Details::Auto(run) => &run.sampled,
            _ => &[],
        }
    }

    /// The run of plain AIS; `None` for other methods.
    pub fn ais(&self) -> Option<&AisRun> {
        match &self.details {
            Details::Ais(run) => Some(run),
            _ => None,
        }
    }
}

/// log Z by the default method with its default settings: exact where that takes a few seconds,
/// otherwise from several starts, for a minute at most.
///
/// [`Auto`] has the settings; [`Exact`] and [`Ais`] are the other methods.
///
/// ```
/// let model = lnz::Gwgm::HARDEST.generate(0)?;
/// let found = lnz::estimate(&model)?;
/// assert_eq!(found.diagnosis.verdict, lnz::Verdict::Exact);
/// assert_eq!(found.log_z, lnz::exact_log_z(&model, &())?);
/// # Ok::<(), lnz::Error>(())
/// ```
pub fn estimate(model: &Rbm) -> Result<Finding> {
    Auto::default().estimate(model, &())
}
