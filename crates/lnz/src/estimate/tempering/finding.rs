//! What a run of parallel tempering has found: log Z, its details, and the reasons to doubt it.

use super::Tempering;
use super::agreement::{Visited, largest_r_hat, times, visits};
use super::ladder::Ladder;
use super::run::Run;
use crate::check::{
    Measured, below_known_sum, columns_disagree, few_round_trips, large_error, missed_mass,
    rare_exchanges,
};
use crate::estimate::auto::Fitting;
use crate::json::real;
use crate::{Cost, Details, Diagnosis, Effort, Finding, Warning};
use serde::Serialize;

/// What parallel tempering has to tell besides log Z.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TemperingRun {
    /// Rungs of a ladder.
    pub rungs: usize,
    /// Ladders side by side.
    pub columns: usize,
    /// Iterations that count: a sweep of every chain and one round of exchanges.
    pub iterations: usize,
    /// The betas of the rungs.
    pub betas: Vec<f64>,
    /// Probability that a pair of neighbouring rungs does not exchange.
    pub rejections: Vec<f64>,
    /// Their sum: how hard it is to get from the start to the model.
    pub barrier: f64,
    /// Times that a state has gone from the start to the model and back, in all columns.
    pub round_trips: usize,
    /// How much columns differ in their energy at the model or in the phase they are in: 1 if they are
    /// alike (Gelman and Rubin).
    #[serde(serialize_with = "real")]
    pub r_hat: f64,
    /// Part of the time at the model that was spent in each phase, the largest first, with its error.
    pub phases: Vec<Visited>,
}

impl Run<'_> {
    /// The result; `[start_seconds, seconds]` went into the fit and into the ladder.
    pub(super) fn finding(
        &self,
        settings: &Tempering,
        fitting: &Fitting,
        was_stopped: bool,
        [start_seconds, seconds]: [f64; 2],
    ) -> Finding {
        let (log_z, std_error) = self.found();
        let rejections = Ladder::rejections(&self.seen);
        let times = times(&self.seen, fitting);
        let details = TemperingRun {
            rungs: self.ladder.betas.len(),
            columns: self.seen.len(),
            iterations: self.seen[0].iterations,
            betas: self.ladder.betas.clone(),
            barrier: rejections.iter().sum(),
            round_trips: self.round_trips(),
            r_hat: largest_r_hat(&self.seen, &times),
            phases: visits(&times),
            rejections,
        };
        let found = Measured { log_z, error: std_error };
        let mut warnings = Vec::new();
        warnings.extend(below_known_sum(found, fitting.opinion.lower_bound));
        warnings.extend(missed_mass(found, &fitting.opinion).filter(|_| warnings.is_empty()));
        warnings.extend(details.warnings(std_error, settings.target_error));
        warnings
            .extend(was_stopped.then_some(Warning::StoppedBetweenRounds { rounds: self.rounds }));
        let reason = "states travel between the start and the model, and the ladders agree";
        let mut finding = Finding {
            log_z,
            std_error,
            interval: self.interval(log_z, std_error),
            lower_bound: Some(fitting.opinion.lower_bound).filter(|floor| floor.is_finite()),
            proven: None,
            diagnosis: match settings.check {
                true => Diagnosis::new(warnings, reason),
                false => Diagnosis::unchecked(vec![], "the tests were off"),
            },
            ess: None,
            stopped: was_stopped,
            effort: Effort {
                betas: Some(details.rungs),
                chains: Some(details.columns),
                rounds: Some(self.rounds),
                seed: Some(settings.seed),
            },
            cost: Cost {
                chain_steps: Some(self.chain_steps + fitting.chain_steps),
                states: None,
                seconds,
                start_seconds: Some(start_seconds),
            },
            details: Details::Tempering(Box::new(details)),
        };
        finding.respect_floor();
        finding
    }
}

impl TemperingRun {
    fn warnings(&self, error: f64, target: f64) -> Vec<Warning> {
        let hardest = self.rejections.iter().copied().fold(0.0, f64::max);
        let found = [
            few_round_trips(self.round_trips, self.columns),
            columns_disagree(self.r_hat),
            rare_exchanges(hardest),
            large_error(error, target),
        ];
        found.into_iter().flatten().collect()
    }
}
