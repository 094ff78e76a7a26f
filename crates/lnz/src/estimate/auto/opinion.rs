//! What the search of `auto` tells other methods: a second opinion, and a start that is fitted to a model.

use super::cells::{Product, cell};
use super::fit::{Fitted, Whole};
use super::prepare::{Layers, Survey, survey, try_flips};
use super::sampler::{State, drawn};
use super::{Auto, Family, FamilyReport};
use crate::check::{Measured, Opinion};
use crate::observer::{Alone, Observer};
use crate::{Precision, Rbm, Result, Start};
use lnz_kernels::random::Random;
use serde::Serialize;

/// What a quick search says about a model, for comparison with the result of another method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SecondOpinion {
    /// log of an exact sum over some states: log Z is not below it.
    pub lower_bound: f64,
    /// Short runs from other starts.
    pub trials: Vec<FamilyReport>,
}

/// Searches for modes and makes short runs from a fitted start and with flips, with about half a million
/// chain-steps.
pub fn second_opinion(model: &Rbm, seed: u64, observer: &dyn Observer) -> Result<SecondOpinion> {
    if model.hidden() == 0 {
        let lower_bound = crate::exact_log_z(model, observer)?;
        return Ok(SecondOpinion { lower_bound, trials: vec![] });
    }
    // It is short, and nobody else has to do it.
    let observer = &Alone(observer);
    let layers = Layers::of(model)?;
    let settings = Auto { seed, ..Auto::default() };
    let Survey { sampler, mut flips, core, found, mut random } =
        survey(&layers, &settings, observer, &|_| {})?;
    let whole = Whole::fitted(&sampler, &found, &mut random)?.found;
    let flips = try_flips(&mut flips, &core, |_| false)?;
    let report = |family: Family, found: Measured| FamilyReport {
        family,
        trial_log_z: found.log_z,
        trial_error: found.error,
        share: 0.0,
        log_z: None,
        std_error: None,
        weights: None,
    };
    let trials = vec![report(Family::Phases, whole), report(Family::Flips, flips.weights)];
    Ok(SecondOpinion { lower_bound: core.log_z, trials })
}

/// A model with its larger layer visible, and a start fitted to it: for methods with chains of their own.
pub(crate) struct Fitting {
    pub(crate) model: Rbm,
    /// The larger layer is the hidden one of the model that was given.
    pub(crate) transposed: bool,
    pub(crate) start: Start,
    /// What the search says about log Z.
    pub(crate) opinion: Opinion,
    pub(crate) chain_steps: u64,
    phases: Vec<Product>,
    log_sizes: Vec<f64>,
    /// For each phase the states that the search has found in it.
    members: Vec<Vec<State>>,
}

impl Fitting {
    /// First states, as many in each phase as short runs have found there: what they got wrong, the columns
    /// have to mend, and so to leave their phases.
    pub(crate) fn first_states(&self, count: usize, random: &mut Random) -> Vec<State> {
        let phases = drawn(&self.log_sizes, count, random);
        let mut taken = vec![0; self.members.len()];
        let state = |phase: usize| {
            let members = &self.members[phase];
            taken[phase] += 1;
            match members.get(taken[phase] % members.len().max(1)) {
                Some(state) => state.clone(),
                None => vec![false; self.model.visible()],
            }
        };
        phases.into_iter().map(state).collect()
    }

    pub(crate) fn phases(&self) -> usize {
        self.phases.len()
    }

    /// The phase that a state is in.
    pub(crate) fn phase(&self, state: &State) -> usize {
        cell(&self.phases, state)
    }
}

/// Searches for the phases of a model and fits one start to all of them.
pub(crate) fn fit_model(
    model: &Rbm,
    precision: Precision,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Fitting> {
    let layers = Layers::of(model)?;
    let settings = Auto { seed, precision, ..Auto::default() };
    let Survey { sampler, mut flips, core, found, mut random } =
        survey(&layers, &settings, observer, &|_| {})?;
    let whole = Whole::fitted(&sampler, &found, &mut random)?;
    let Fitted { phases, log_sizes, whole, .. } = Fitted::to(&sampler, &found, whole, &mut random)?;
    let start = whole.product.start;
    let by_flips = try_flips(&mut flips, &core, |_| false)?.weights;
    let trials = vec![(Family::Flips.describe(), by_flips)];
    let opinion = Opinion { lower_bound: core.log_z, trials };
    let chain_steps = sampler.chain_steps() + flips.sampler.chain_steps();
    let members = found.members(&phases);
    let transposed = model.hidden() > model.visible();
    Ok(Fitting {
        model: layers.large,
        transposed,
        start,
        opinion,
        chain_steps,
        phases,
        log_sizes,
        members,
    })
}
