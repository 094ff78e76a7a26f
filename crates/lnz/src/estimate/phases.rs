//! log Z as a sum over the phases of a model: what the dynamics does not join is estimated apart.
//!
//! 1. First states of many kinds, on both layers, are relaxed by sweeps; those that stay apart are phases.
//! 2. Phases are crossed, and their children relaxed, until no new one turns up.
//! 3. A start is fitted to each by short runs; phases that see each other share one.
//! 4. The space is cut into cells, one for each start. For any start and any fixed cell C the mean of
//!    w 1[x in C] is Z(C) / Z_0, so each cell is estimated by its own start alone, and the sum over all
//!    cells is unbiased whatever the phases are worth. A start that is blind to the others does no harm.
//! 5. A run from states of each phase back to its start shows what the way there has missed.

mod cells;
mod cluster;
mod crossover;
mod fit;
mod sampler;
mod search;

use super::{Cost, Details, Effort, Estimator, Exact, Finding, SecondOpinion, second_opinion};
use crate::check::{Measured, Opinion, Warning, missed_mass, uneven_weights};
use crate::energy::check_resolved;
use crate::math::{log_mean_exp, log_sum_exp};
use crate::observer::{Phase as Stage, Progress};
use crate::{Diagnosis, Error, Observer, Rbm, Result};
use cells::{Group, homes, masked};
use lnz_kernels::random::{Purpose, Random};
use ndarray::{Array1, Axis, concatenate};
use sampler::{ISLAND, Sampler, State, drawn, effective};
use search::Guess;
use serde::Serialize;
use std::time::Instant;

/// Sweeps before a chain is where it belongs, twice, and the window of its means.
const SWEEPS: usize = 100;
const WINDOW: usize = 25;
/// Rounds of crossing phases.
const CROSSINGS: u64 = 2;
/// Part of the chains that every phase has, whatever its share.
const EVEN_PART: f64 = 0.3;
/// Chains that go back from each phase.
const REVERSE_CHAINS: usize = 64;
/// Phases with less than this share of Z decide nothing.
const SHARE_THAT_MATTERS: f64 = 0.05;
/// Where more than this part of the weight leaves its cell, the cells are not those of phases.
const MOST_LEAK: f64 = 0.2;
/// A wider bracket than this went with errors of a quarter of a nat and more.
const WIDEST_BRACKET: f64 = 3.0;
/// The errors that weights claim are too small by about this factor.
const HONEST: f64 = 1.3;
/// Two-sided 95% quantile of the normal distribution.
const NORMAL_95: f64 = 1.96;

/// The sum over phases, with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phases {
    /// Chains of all phases together.
    pub chains: usize,
    /// Intervals of the schedule.
    pub betas: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Hold it against a quick search for mass that it may have missed.
    pub check: bool,
}

impl Default for Phases {
    /// About a million chain-steps besides the search: enough for an error of 0.1 on trained models.
    fn default() -> Self {
        Self { chains: 512, betas: 2048, seed: 0, check: true }
    }
}

/// What the sum over phases has to tell besides log Z.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PhasesRun {
    /// The phases, the largest first.
    pub phases: Vec<FoundPhase>,
}

/// A phase, or several that the dynamics joins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoundPhase {
    /// Its share of Z.
    pub share: f64,
    /// Relative error of its part of Z.
    pub relative_error: f64,
    /// Products in its start.
    pub products: usize,
    /// Chains from its start, and how many count effectively.
    pub chains: usize,
    /// Effective sample size.
    pub ess: f64,
    /// Part of the weight that ended in the cells of others.
    pub leak: f64,
    /// Mean log weight on the way there and on the way back, as estimates of its log Z: a bracket.
    pub bracket: Option<[f64; 2]>,
    /// The kinds of first states that lead there.
    pub found_by: Vec<&'static str>,
    /// log of its part of Z.
    log_z: f64,
    /// Share of the largest weight.
    largest: f64,
}

impl Estimator for Phases {
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        if model.hidden() == 0 {
            return Exact::FORCED.estimate(model, observer);
        }
        self.check_settings()?;
        check_resolved(model)?;
        let clock = Instant::now();
        let swapped = model.transposed()?;
        let (large, small) = match model.visible() >= model.hidden() {
            true => (model, &swapped),
            false => (&swapped, model),
        };
        let sampler = Sampler::new(large, self.seed, observer);
        let other = Sampler::new(small, self.seed.wrapping_add(1), observer);
        let mut random = Random::stream(self.seed, Purpose::Modes, 1 << 50);
        stage(observer, 0);
        let (guesses, means) = search(&sampler, &other, &mut random, observer)?;
        stage(observer, 1);
        let (groups, pool) = fit::fit(&sampler, &means, &mut random)?;
        stage(observer, 2);
        let run = Main { sampler: &sampler, groups: &groups, guesses: &guesses, pool: &pool };
        let (phases, chains) = run.phases(self, &mut random)?;
        stage(observer, 3);
        // A search that was stopped, or cannot be made, has no opinion.
        let opinion = match self.check {
            true => second_opinion(model, self.seed, observer).ok(),
            false => None,
        };
        let steps = sampler.chain_steps() + other.chain_steps();
        Ok(self.finding(phases, chains, steps, opinion.as_ref(), clock))
    }
}

impl Phases {
    fn check_settings(&self) -> Result<()> {
        for (setting, value) in [("chains", self.chains), ("betas", self.betas)] {
            if value == 0 {
                return Err(Error::setting(setting, 0, "at least 1"));
            }
        }
        Ok(())
    }

    fn finding(
        &self,
        mut phases: Vec<FoundPhase>,
        chains: usize,
        chain_steps: u64,
        opinion: Option<&SecondOpinion>,
        clock: Instant,
    ) -> Finding {
        let log_z = log_sum_exp(&phases.iter().map(|phase| phase.log_z).collect::<Vec<_>>());
        for phase in &mut phases {
            phase.share = (phase.log_z - log_z).exp();
        }
        phases.sort_by(|a, b| b.share.total_cmp(&a.share));
        let squares: f64 = phases.iter().map(|p| (p.share * p.relative_error).powi(2)).sum();
        let error = HONEST * squares.sqrt();
        let ess = phases.iter().filter(|p| p.share > SHARE_THAT_MATTERS).map(|p| p.ess);
        let ess = ess.fold(f64::INFINITY, f64::min);
        let lower_bound = opinion.map(|opinion| opinion.lower_bound);
        let reach = NORMAL_95 * error;
        let low = if reach < 1.0 { log_z + (-reach).ln_1p() } else { f64::NEG_INFINITY };
        // Chains that never saw a thing leave room for three in their number of it.
        let high = log_z + (1.25 * reach).max((3.0 / ess).ln_1p());
        Finding {
            log_z,
            std_error: error,
            interval: [low.max(lower_bound.unwrap_or(f64::NEG_INFINITY)), high],
            lower_bound,
            diagnosis: diagnosis(&phases, Measured { log_z, error }, opinion),
            ess: Some(ess),
            stopped: false,
            effort: Effort {
                betas: Some(self.betas),
                chains: Some(chains),
                rounds: None,
                seed: Some(self.seed),
            },
            cost: Cost {
                chain_steps: Some(chain_steps),
                seconds: clock.elapsed().as_secs_f64(),
                ..Cost::default()
            },
            details: Details::Phases(Box::new(PhasesRun { phases })),
        }
    }
}

fn stage(observer: &dyn Observer, done: u64) {
    let (phase, total) = (Stage::Prepare, 3);
    observer.progress(Progress { phase, done, total, log_z: None, beta: None });
}

/// Finds phases: relaxed first states of all kinds, and the means of each phase.
fn search(
    sampler: &Sampler<'_>,
    other: &Sampler<'_>,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<(Vec<Guess>, Vec<Array1<f64>>)> {
    let relaxed = |guesses: Vec<Guess>| -> Result<_> {
        let (kinds, states): (Vec<_>, Vec<State>) = guesses.into_iter().unzip();
        let (states, before) = sampler.sweep(&states, SWEEPS, WINDOW)?;
        let (states, after) = sampler.sweep(&states, SWEEPS, WINDOW)?;
        let guesses: Vec<Guess> = kinds.into_iter().zip(states).collect();
        Ok((guesses, before, after))
    };
    let first = search::guesses(sampler, other, random, observer)?;
    let (mut guesses, mut before, mut after) = relaxed(first)?;
    let mut means = cluster::phases(&before, &after);
    for _ in 0..CROSSINGS {
        let children = crossover::children(sampler.model, &means, random);
        if children.is_empty() {
            break;
        }
        let (more, b, a) = relaxed(children)?;
        guesses.extend(more);
        let joined = concatenate(Axis(0), &[before.view(), b.view()]);
        before = joined.unwrap_or(before);
        after = concatenate(Axis(0), &[after.view(), a.view()]).unwrap_or(after);
        let known = means.len();
        means = cluster::phases(&before, &after);
        if means.len() <= known {
            break;
        }
    }
    Ok((guesses, means))
}

/// The main run: nothing in it is chosen from its own samples.
struct Main<'a> {
    sampler: &'a Sampler<'a>,
    groups: &'a [Group],
    guesses: &'a [Guess],
    pool: &'a [(f64, State)],
}

impl Main<'_> {
    /// All phases, and the chains that were used.
    fn phases(&self, settings: &Phases, random: &mut Random) -> Result<(Vec<FoundPhase>, usize)> {
        let betas = schedule(settings.betas);
        let (log_weights, states): (Vec<f64>, Vec<State>) = self.pool.iter().cloned().unzip();
        let pool = Pool { homes: homes(self.groups, &states), log_weights, states };
        let guessed: Vec<State> = self.guesses.iter().map(|(_, state)| state.clone()).collect();
        let guessed = homes(self.groups, &guessed);
        let islands = islands(self.groups, settings.chains);
        let mut found = Vec::new();
        for (k, group) in self.groups.iter().enumerate() {
            let mut phase = self.phase(k, group, &betas, islands[k])?;
            phase.bracket[1] = self.way_back(k, group, &betas, &pool, random)?;
            let kinds = self.guesses.iter().zip(&guessed).filter(|(_, home)| **home == k);
            let mut found_by: Vec<&'static str> = kinds.map(|((kind, _), _)| *kind).collect();
            found_by.sort_unstable();
            found_by.dedup();
            found.push(phase.found(group, found_by));
        }
        Ok((found, islands.iter().sum::<usize>() * ISLAND))
    }

    /// The chains from one start; those that end in other cells weigh nothing.
    fn phase(&self, k: usize, group: &Group, betas: &[f64], islands: usize) -> Result<OnePhase> {
        let ends = self.sampler.anneal(&group.start(), betas, islands, false)?;
        let homes = homes(self.groups, &ends.states);
        let samples = masked(&ends.samples, &homes, |home| home == k);
        let inside: Vec<f64> = samples.iter().copied().filter(|s| s.is_finite()).collect();
        let mean = (!inside.is_empty()).then(|| inside.iter().sum::<f64>() / inside.len() as f64);
        Ok(OnePhase { log_all: ends.log_z(), samples, bracket: [mean, None] })
    }

    /// The mean of log Z from states of the phase, after sweeps, back to its start.
    fn way_back(
        &self,
        k: usize,
        group: &Group,
        betas: &[f64],
        pool: &Pool,
        random: &mut Random,
    ) -> Result<Option<f64>> {
        let weights = masked(&pool.log_weights, &pool.homes, |home| home == k);
        if weights.iter().all(|w| *w == f64::NEG_INFINITY) {
            return Ok(None);
        }
        let chosen = drawn(&weights, REVERSE_CHAINS, random);
        let first: Vec<State> = chosen.into_iter().map(|i| pool.states[i].clone()).collect();
        let (states, _) = self.sampler.sweep(&first, SWEEPS, 1)?;
        let stayed: Vec<State> = homes(self.groups, &states)
            .into_iter()
            .zip(states)
            .filter_map(|(home, state)| (home == k).then_some(state))
            .collect();
        if stayed.is_empty() {
            return Ok(None);
        }
        let back = self.sampler.reverse(&group.start(), &stayed, betas)?;
        Ok(Some(back.iter().sum::<f64>() / back.len() as f64))
    }
}

/// States of all short runs.
struct Pool {
    log_weights: Vec<f64>,
    states: Vec<State>,
    homes: Vec<usize>,
}

/// What the chains of one start have found.
struct OnePhase {
    /// log of the mean weight, wherever it ended.
    log_all: f64,
    /// Samples of log Z of the phase; minus infinity for chains that ended elsewhere.
    samples: Vec<f64>,
    /// The means of the samples there and back.
    bracket: [Option<f64>; 2],
}

impl OnePhase {
    fn found(self, group: &Group, found_by: Vec<&'static str>) -> FoundPhase {
        let (chains, ess) = (self.samples.len(), effective(&self.samples));
        let log_z = log_mean_exp(&self.samples);
        let highest = self.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        FoundPhase {
            share: 0.0,
            relative_error: (1.0 / ess.max(1.0) - 1.0 / chains as f64).max(0.0).sqrt(),
            products: group.products.len(),
            chains,
            ess,
            leak: 1.0 - (log_z - self.log_all).exp().min(1.0),
            bracket: match self.bracket {
                [Some(there), Some(back)] => Some([there, back]),
                _ => None,
            },
            found_by,
            log_z,
            largest: (highest - log_z).exp() / chains as f64,
        }
    }
}

/// The islands of each group: most where share and error are large, some everywhere.
fn islands(groups: &[Group], chains: usize) -> Vec<usize> {
    let needs: Vec<f64> = groups.iter().map(|g| g.share * g.error.clamp(0.05, 3.0)).collect();
    let total: f64 = needs.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let part = |need: &f64| (1.0 - EVEN_PART) * need / total + EVEN_PART / groups.len() as f64;
    let islands = |need: &f64| (part(need) * chains as f64 / ISLAND as f64).ceil() as usize;
    needs.iter().map(|need| islands(need).max(1)).collect()
}

/// Betas on [0, 1], almost half of them above 0.9, where trained models relax slowly.
fn schedule(intervals: usize) -> Vec<f64> {
    let late = intervals * 46 / 100;
    let early = intervals - late;
    let end = if late == 0 { 1.0 } else { 0.9 };
    let mut betas: Vec<f64> = (0..early).map(|k| end * k as f64 / early as f64).collect();
    betas.extend((0..late).map(|k| 0.9 + 0.1 * k as f64 / late as f64));
    betas.push(1.0);
    betas
}

fn diagnosis(phases: &[FoundPhase], found: Measured, opinion: Option<&SecondOpinion>) -> Diagnosis {
    let mut warnings = Vec::new();
    let opinion = opinion.map(|opinion| Opinion {
        lower_bound: opinion.lower_bound,
        trials: opinion.trials.iter().map(|t| (t.family.describe(), t.trial())).collect(),
    });
    warnings.extend(opinion.as_ref().and_then(|opinion| missed_mass(found, opinion)));
    for phase in phases.iter().filter(|phase| phase.share > SHARE_THAT_MATTERS) {
        warnings.extend(uneven_weights(phase.ess, phase.largest, phase.chains));
        if phase.leak > MOST_LEAK {
            warnings.push(Warning::PhasesOverlap { leak: phase.leak, share: phase.share });
        }
        if let Some([there, back]) = phase.bracket
            && back - there > WIDEST_BRACKET
        {
            let (log_z, reverse) = (there, back);
            warnings.push(Warning::WideBracket { log_z, reverse, chains: phase.chains });
        }
    }
    let reason = "every phase keeps its weight, and the way back agrees";
    match opinion {
        Some(_) => Diagnosis::new(warnings, reason),
        None => Diagnosis::unchecked(warnings, reason),
    }
}

#[cfg(test)]
mod tests;
