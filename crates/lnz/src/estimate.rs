//! The ways to log Z: each is an [`Estimator`], each returns a [`Finding`].
//!
//! A new one is a file with its settings. In this file it gets a module, a variant of [`Details`], and a
//! variant of [`Method`] with its name and its defaults. Everything that is `pub` here is public in `lnz`.

mod ais;
mod anneal;
mod auto;
mod bennett;
mod bounds;
mod decided;
mod delegate;
mod estimator;
mod exact;
mod follow;
mod orders;
mod statistics;
mod tempering;

pub use ais::{Ais, AisRun, StartRule};
pub use anneal::{Annealed, Annealing, anneal};
pub use auto::{
    Auto, AutoRun, Family, FamilyReport, FoundPhase, Sampled, SecondOpinion, auto, second_opinion,
};
pub use bounds::{Bounds, proven_bounds, proven_bounds_sparse};
pub use estimator::{Cost, Effort, Estimator, Finding, ProvenBounds};
pub use exact::{
    Exact, ExactCost, SparseModel, exact_cost, exact_cost_sparse, exact_cost_with, exact_log_z,
    exact_log_z_sparse, exact_log_z_with, exact_log_z_within,
};
pub use follow::{Follower, Following, Span};
pub use orders::carry_out;
pub use statistics::Estimate;
pub use tempering::{Samples, Tempering, TemperingRun, Visited, sample};

use crate::{Rbm, Result, Schedule, choices};
use std::sync::Arc;

/// The methods by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// Exact where that takes a few seconds, otherwise a sum over the phases of the model.
    #[default]
    Auto,
    /// Annealed importance sampling from one start, as in the paper.
    Ais,
    /// A sum over all states.
    Exact,
    /// Parallel tempering from a fitted start: an independent second opinion, and samples.
    Tempering,
}

choices!(Method {
    Auto: "auto", "Exact where that takes a few seconds, otherwise a sum over the phases of the model";
    Ais: "ais", "Annealed importance sampling from one start, as in the paper";
    Exact: "exact", "Sum over all states";
    Tempering: "tempering", "Parallel tempering from a fitted start; its errors have no preferred side";
});

/// Options that all methods take. A method ignores those that mean nothing to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MethodOptions {
    /// Intermediate distributions; `None` leaves them to the method.
    pub betas: Option<usize>,
    /// Chains; `None` leaves them to the method.
    pub chains: Option<usize>,
    /// Rounds, for methods that have them; `None` leaves them to the method.
    pub rounds: Option<usize>,
    /// Standard error of log Z to stop at; `None` leaves it to the method.
    pub target_error: Option<f64>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Do not search for mass that the chains may have missed.
    pub no_check: bool,
}

/// The paper's N_beta.
pub const DEFAULT_BETAS: usize = 1024;

impl Method {
    /// The method with these options, and with its defaults for everything else.
    pub fn estimator(self, options: &MethodOptions) -> Result<Arc<dyn Estimator>> {
        let MethodOptions { betas, chains, rounds, target_error, seed, no_check } = *options;
        let check = !no_check;
        Ok(match self {
            Method::Auto => {
                let defaults = Auto::default();
                let target_error = target_error.unwrap_or(defaults.target_error);
                Arc::new(Auto { rounds, target_error, seed, ..defaults })
            }
            Method::Ais => {
                let defaults = Ais::along(Schedule::linear(betas.unwrap_or(DEFAULT_BETAS))?);
                let chains = chains.unwrap_or(defaults.annealing.chains);
                let annealing = Annealing { chains, seed, ..defaults.annealing };
                Arc::new(Ais { annealing, check, ..defaults })
            }
            Method::Exact => Arc::new(Exact::default()),
            Method::Tempering => {
                let defaults = Tempering::default();
                Arc::new(Tempering {
                    rungs: betas,
                    columns: chains.unwrap_or(defaults.columns),
                    rounds: rounds.unwrap_or(defaults.rounds),
                    target_error: target_error.unwrap_or(defaults.target_error),
                    seed,
                    check,
                    ..defaults
                })
            }
        })
    }
}

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
    /// Of parallel tempering.
    Tempering(Box<TemperingRun>),
}

impl Details {
    /// The method whose details these are.
    pub fn method(&self) -> Method {
        match self {
            Details::Exact(_) => Method::Exact,
            Details::Ais(_) => Method::Ais,
            Details::Auto(_) => Method::Auto,
            Details::Tempering(_) => Method::Tempering,
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

    /// Means of the visible units in the phases that the default method has found: see [`AutoRun::starts`].
    pub fn starts(&self) -> &[ndarray::Array1<f64>] {
        match &self.details {
            Details::Auto(run) => &run.starts,
            _ => &[],
        }
    }

    /// The run of parallel tempering; `None` for other methods.
    pub fn tempering(&self) -> Option<&TemperingRun> {
        match &self.details {
            Details::Tempering(run) => Some(run),
            _ => None,
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
/// [`Auto`] has its settings; [`Exact`], [`Ais`] and [`Tempering`] are the other methods.
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
