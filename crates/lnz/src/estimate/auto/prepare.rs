//! Everything that is fixed before the main run: modes, core, pilots and the trial of each family.

use super::annealer::Annealer;
use super::core::Core;
use super::family::Family;
use super::modes::find_modes;
use super::recipe::{Recipe, flips_family, means_family, modes_family};
use super::trial::{Candidate, Ready, try_all};
use super::{Auto, FamilyReport};
use crate::energy::check_resolved;
use crate::observer::{Observer, Phase, Progress};
use crate::{Error, InitialState, Rbm, Result, Sampling, Start};
use lnz_kernels::FreeEnergy;
use serde::Serialize;

/// How the model is sampled for the means family. Neither first state is enough: on one trained model
/// of 784 x 500 units the mean-field state leads all chains into one region, on another random states
/// do (docs/decisions.md). Moves, steps and cut-off are those of plain AIS.
fn means_sampling() -> Sampling {
    Sampling { initial: InitialState::Random, samples: 320, ..Sampling::default() }
}

/// The same from the mean-field state; all chains begin alike, so fewer tell as much.
fn mean_field_sampling() -> Sampling {
    Sampling { initial: InitialState::MeanField, samples: 128, ..Sampling::default() }
}

/// The core and the families, each with its pilot and its trial.
pub(super) struct Prepared {
    pub(super) core: Core,
    pub(super) ready: Vec<Ready>,
    pub(super) chain_steps: u64,
}

/// What a quick search says about a model, for comparison with the result of another method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SecondOpinion {
    /// log of an exact sum over some states: log Z is not below it.
    pub lower_bound: f64,
    /// Trials of the families of starts.
    pub trials: Vec<FamilyReport>,
}

/// Searches for modes and tries the families of starts, with about 0.2 million chain-steps.
pub fn second_opinion(model: &Rbm, seed: u64, observer: &dyn Observer) -> Result<SecondOpinion> {
    if model.hidden() == 0 {
        let lower_bound = crate::exact_log_z(model, observer)?;
        return Ok(SecondOpinion { lower_bound, trials: vec![] });
    }
    let prepared = prepare(model, &Auto { seed, ..Auto::default() }, observer)?;
    let trials = prepared.ready.iter().map(|ready| ready.report).collect();
    Ok(SecondOpinion { lower_bound: prepared.core.log_z, trials })
}

pub(super) fn prepare(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Prepared> {
    check_resolved(model)?;
    let swapped = model.transposed()?;
    let visible_is_small = model.visible() <= model.hidden();
    let (small, large) = if visible_is_small { (model, &swapped) } else { (&swapped, model) };
    let stage = |done: u64| {
        let (phase, total) = (Phase::Prepare, 4);
        observer.progress(Progress { phase, done, total, log_z: None, beta: None });
    };
    let candidate = |recipe: Recipe| -> Result<Candidate> {
        let annealer = Annealer::new(recipe, settings.precision);
        Candidate::new(annealer, settings.seed, observer).ok_or_else(stopped)
    };
    stage(0);
    let flips = candidate(flips_family(small))?;
    stage(1);
    let free_energy = FreeEnergy::new(small);
    let modes = find_modes(&free_energy, flips.pilot.states.clone(), settings.seed, observer);
    let core = Core::build(&free_energy, &modes, settings.core, model.constant(), observer);
    if observer.cancelled() {
        return Err(stopped());
    }
    stage(2);
    let modes = candidate(modes_family(large, &free_energy, &modes))?;
    let (means, mut chain_steps) = match &settings.data_means {
        Some(means) => {
            let start = Start::from_means(means.view(), Sampling::default().epsilon)?;
            (means_family(Family::Means, model, &start, !visible_is_small), 0)
        }
        None => {
            let sampling = means_sampling();
            let start = Start::sampled(large, &sampling, settings.seed, observer)?;
            (means_family(Family::Means, large, &start, true), sampling.samples * sampling.steps)
        }
    };
    let means = candidate(means)?;
    let sampling = mean_field_sampling();
    let start = Start::sampled(large, &sampling, settings.seed, observer)?;
    let mean_field = candidate(means_family(Family::MeanField, large, &start, true))?;
    chain_steps += sampling.samples * sampling.steps;
    stage(3);
    let candidates = vec![modes, means, flips, mean_field];
    let (ready, trial_steps) =
        try_all(candidates, &core, settings.seed, observer).ok_or_else(stopped)?;
    stage(4);
    Ok(Prepared { core, ready, chain_steps: chain_steps as u64 + trial_steps })
}

pub(super) fn stopped() -> Error {
    Error::Cancelled { reached: "while preparing the first round".into() }
}
