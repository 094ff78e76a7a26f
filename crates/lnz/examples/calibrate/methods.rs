//! The estimators that are calibrated.

use crate::Chosen;
use crate::known::Solved;
use crate::options::Options;
use crate::outcome::Outcome;
use lnz::{
    Annealing, Auto, Diagnosis, Estimate, Rbm, Result, Sampling, Schedule, Start, anneal, auto,
};
use std::time::Instant;

/// An estimator with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// `auto` without shortcuts.
    Auto,
    /// Plain annealing from the uniform distribution.
    Uniform,
    /// The paper's Gibbs_mf, with the larger layer as the visible one.
    Gibbs,
}

/// Chains and betas of plain annealing, the paper's.
pub(crate) const CHAINS: usize = 1024;
pub(crate) const BETAS: usize = 1024;

impl Method {
    pub(crate) fn all(with_peers: bool) -> &'static [Self] {
        if with_peers { &[Method::Auto, Method::Uniform, Method::Gibbs] } else { &[Method::Auto] }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Uniform => "AIS uniform",
            Method::Gibbs => "AIS Gibbs MF",
        }
    }

    pub(crate) fn run(self, chosen: &Chosen, of: &Solved, options: &Options) -> Result<Outcome> {
        let (model, seed) = (&of.model, options.seed_of_run);
        let clock = Instant::now();
        let mut outcome = Outcome::of(self, chosen, of);
        match self {
            Method::Auto => {
                let max_seconds = options.max_seconds;
                let settings = Auto { shortcuts: false, seed, max_seconds, ..Auto::default() };
                let found = auto(model, &settings, &())?;
                outcome.log_z = found.log_z;
                outcome.std_error = found.std_error;
                outcome.interval = found.interval;
                outcome.verdict = found.diagnosis.verdict;
                outcome.warnings =
                    found.diagnosis.warnings.iter().map(|w| w.kind().into()).collect();
                outcome.chain_steps = found.cost.chain_steps.unwrap_or_default();
            }
            Method::Uniform => plain(&mut outcome, model, &Start::uniform(model.visible()), seed)?,
            Method::Gibbs => {
                let model =
                    if model.hidden() > model.visible() { &model.transposed()? } else { model };
                let sampling = Sampling::default();
                let start = Start::sampled(model, &sampling, seed, &())?;
                plain(&mut outcome, model, &start, seed)?;
                outcome.chain_steps += (sampling.samples * sampling.steps) as u64;
            }
        }
        outcome.seconds = clock.elapsed().as_secs_f64();
        Ok(outcome)
    }
}

/// Annealing as it is elsewhere, without a second opinion.
fn plain(outcome: &mut Outcome, model: &Rbm, start: &Start, seed: u64) -> Result<()> {
    let settings = Annealing { chains: CHAINS, seed, ..Annealing::default() };
    let run = anneal(model, start, &Schedule::linear(BETAS)?, &settings, &())?;
    let estimate = Estimate::from_samples(&run.samples);
    outcome.log_z = estimate.log_z;
    outcome.std_error = estimate.std_error;
    outcome.interval = estimate.interval;
    // Without the second opinion that `lnz estimate --method ais` adds: as it is elsewhere.
    outcome.verdict = Diagnosis::of_annealing(&estimate, CHAINS, None).verdict;
    outcome.chain_steps = (CHAINS * BETAS) as u64;
    Ok(())
}
