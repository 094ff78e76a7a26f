//! Parallel tempering: ladders of chains between a fitted start and the model that exchange their states.
//!
//! Each ladder, a column, visits the model for as long as it runs, so that phases are left and found again
//! by way of the start. log Z is a sum of Bennett's ratios between neighbouring rungs. Unlike annealing it
//! has no preferred side: an estimate may be too high as well as too low.

mod agreement;
mod columns;
mod finding;
mod ladder;
mod orders;
mod run;
mod samples;

pub use agreement::Visited;
pub use finding::TemperingRun;
pub(super) use orders::{KIND, carry_out};
pub use samples::{Samples, sample};

use super::auto::{Fitting, fit_model};
use crate::chains::{Engine, Held, engine};
use crate::observer::Observer;
use crate::path::Path;
use crate::{Error, Estimator, Finding, Precision, Rbm, Result};
use lnz_kernels::Flips;
use run::{LEAST_FOR_A_RESULT, Run};
use std::borrow::Cow;
use std::time::Instant;

/// Settings of parallel tempering.
#[derive(Debug, Clone, PartialEq)]
pub struct Tempering {
    /// Rungs of a ladder; `None` for twice as many as the barrier asks for.
    pub rungs: Option<usize>,
    /// Ladders that run side by side and do not know of each other: two at least, for an error.
    pub columns: usize,
    /// Standard error of log Z at which it ends.
    pub target_error: f64,
    /// Rounds at most.
    pub rounds: usize,
    /// Resolution of the weights that the chains see.
    pub precision: Precision,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Verdicts without the tests of travel are `unchecked`.
    pub check: bool,
}

impl Default for Tempering {
    fn default() -> Self {
        Self {
            rungs: None,
            // Errors from 32 columns are themselves known to an eighth.
            columns: 32,
            target_error: 0.03,
            // A minute on models of 784 x 500 units.
            rounds: 64,
            precision: Precision::default(),
            seed: 0,
            check: true,
        }
    }
}

impl Tempering {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<()> {
        if self.columns < 2 {
            return Err(Error::setting(
                "chains",
                self.columns,
                "at least 2 for parallel tempering",
            ));
        }
        if self.rungs.is_some_and(|rungs| rungs < 2) {
            return Err(Error::setting("betas", self.rungs.unwrap_or(0), "at least 2 rungs"));
        }
        match self.target_error > 0.0 {
            true => Ok(()),
            false => Err(Error::setting("target_error", self.target_error, "a number above 0")),
        }
    }
}

impl Estimator for Tempering {
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        self.check()?;
        if model.hidden() == 0 {
            return super::Exact::FORCED.estimate(model, observer);
        }
        let clock = Instant::now();
        let fitting = fit_model(model, self.precision, self.seed, observer)?;
        let start_seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let engine = self.engine(&fitting, observer)?;
        let mut run = Run::settled(self, &fitting, &*engine, observer)?;
        let mut stopped = false;
        let mut round_seconds = 0.0;
        while run.rounds < self.rounds && !run.is_enough(self, &fitting, round_seconds)? {
            let clock = Instant::now();
            match run.round() {
                Ok(()) => run.report(self),
                // A crew keeps what was done, and the run goes on another time.
                Err(error) if observer.crew().is_some() => return Err(error),
                Err(_) if run.rounds >= LEAST_FOR_A_RESULT => {
                    stopped = true;
                    break;
                }
                Err(error) => return Err(error),
            }
            round_seconds = clock.elapsed().as_secs_f64();
        }
        let seconds = clock.elapsed().as_secs_f64();
        Ok(run.finding(self, &fitting, stopped, [start_seconds, seconds]))
    }
}

impl Tempering {
    fn engine<'m>(
        &self,
        fitting: &'m Fitting,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Engine + 'm>> {
        let path = Path::new(Cow::Borrowed(&fitting.model), &fitting.start);
        let held = Held::new(&fitting.model, self.precision, observer)?;
        Ok(engine(path, Flips::default(), &held))
    }
}

fn stopped() -> Error {
    Error::Cancelled { reached: "while placing the rungs of the ladder".into() }
}
