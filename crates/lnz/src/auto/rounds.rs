//! The main run: fresh islands, in rounds that double the chains until the error is small.

use super::core::Core;
use super::family::Reverse;
use super::prepare::{Prepared, prepare, stopped};
use super::schedule::schedule;
use super::tally::{Summary, Tally, combine, interval};
use super::trial::{ISLAND_CHAINS, Ready, places, run_islands};
use super::{Auto, FamilyReport, Sampled};
use crate::check::Bracket;
use crate::observer::{Observer, Phase, Progress};
use crate::{Rbm, Result};
use lnz_kernels::random::{Purpose, Random};
use std::time::Instant;

/// Islands of a family in each round.
const ISLANDS: usize = 8;
/// Intervals of the schedules.
const BETAS: usize = 1024;
/// Intervals where Gibbs sweeps alone must cross a wide bracket: longer chains have the shorter tail
/// of weights (docs/decisions.md). Islands are as many times larger, because the kernels need blocks
/// of some size to be fast.
const MANY_BETAS: usize = 4096;
/// A core with less than this share of a trial is no core.
const SMALL_CORE: f64 = 1e-3;
/// A core may hide how badly the rest is known: the weights alone must be known this well, too.
const LARGEST_WEIGHTS_ERROR: f64 = 0.15;
/// Chains and intervals of the run from the other end.
const REVERSE_CHAINS: usize = 32;
const REVERSE_BETAS: usize = 512;

/// Samples log Z of a model with hidden units.
pub(super) fn sample(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Sampled> {
    let begin = Instant::now();
    let Prepared { core, ready, mut chain_steps } = prepare(model, settings, observer)?;
    // Nothing below is chosen from the samples of the main run, except when to stop.
    let chosen: Vec<&Ready> = ready.iter().filter(|r| r.report.share > 0.0).collect();
    let reverse = reverse(model, &chosen, &core, settings, observer);
    let betas = intervals(&chosen, reverse, &core);
    let schedules: Vec<Vec<f64>> = chosen.iter().map(|r| schedule(&r.pilot, betas)).collect();
    if reverse.is_some() {
        chain_steps += (REVERSE_CHAINS * REVERSE_BETAS) as u64;
    }
    let mut tallies: Vec<Tally> = chosen.iter().map(|_| Tally::default()).collect();
    let mut rounds = 0;
    let mut result: Option<(Summary, Vec<Summary>)> = None;
    let mut stopped_early = false;
    loop {
        let round_begin = Instant::now();
        let growth = growth_of(rounds);
        for ((ready, schedule), tally) in chosen.iter().zip(&schedules).zip(&mut tallies) {
            // As many chains for every family; those that are resampled in fewer, larger islands.
            let factor = ready.annealer.chains_factor();
            let (islands, chains) =
                (ISLANDS / factor, ISLAND_CHAINS * factor * growth * (betas / BETAS));
            let places = places(tally, islands, chains, settings.seed, Purpose::Anneal);
            if run_islands(&*ready.annealer, schedule, places, &core, tally, observer).is_none() {
                stopped_early = true;
                break;
            }
            chain_steps += (islands * chains * betas) as u64;
        }
        if stopped_early {
            break;
        }
        rounds += 1;
        let parts: Vec<Summary> = tallies
            .iter()
            .zip(&chosen)
            .map(|(tally, ready)| tally.summary(&core, ready.core_share))
            .collect();
        let shares = chosen.iter().map(|r| r.report.share);
        let summary = combine(&shares.zip(parts.iter().copied()).collect::<Vec<_>>());
        result = Some((summary, parts));
        let elapsed = begin.elapsed().as_secs_f64();
        report(observer, settings, rounds, elapsed, &summary);
        let enough = match settings.rounds {
            Some(wanted) => rounds >= wanted,
            None => {
                let larger = growth_of(rounds) as f64 / growth as f64;
                let next = round_begin.elapsed().as_secs_f64() * larger;
                let bracket = Bracket {
                    forward: summary.log_z,
                    reverse: reverse.map(|reverse| reverse.log_z),
                    log_core: core.log_z,
                    chains: summary.chains,
                };
                let known = summary.relative_error <= settings.target_error
                    && summary.is_settled(settings.target_error.max(LARGEST_WEIGHTS_ERROR))
                    && !bracket.is_too_wide();
                known || elapsed + next > settings.max_seconds
            }
        };
        if enough {
            break;
        }
    }
    let (summary, parts) = result.ok_or_else(stopped)?;
    let mut families: Vec<FamilyReport> = ready.iter().map(|r| r.report).collect();
    for (family, part) in families.iter_mut().filter(|f| f.share > 0.0).zip(&parts) {
        family.log_z = Some(part.log_z);
        family.std_error = Some(part.relative_error);
        family.weights = Some((part.log_weights, part.weights_error));
    }
    let has_core = core.states() > 0;
    Ok(Sampled {
        visible: model.visible(),
        hidden: model.hidden(),
        // What is known exactly is known better than what was sampled.
        log_z: summary.log_z.max(core.log_z),
        std_error: summary.relative_error,
        interval: interval(&summary, &parts, core.log_z),
        log_core: has_core.then_some(core.log_z),
        weights_error: summary.weights_error,
        target_error: settings.target_error,
        log_sampled_core: has_core.then_some(summary.log_core),
        core_states: core.states(),
        families,
        ess: summary.ess,
        max_weight_share: summary.largest_share,
        rounds,
        chains: summary.chains,
        betas,
        chain_steps,
        log_reverse: reverse.map(|reverse| reverse.log_z),
        reverse_error: reverse.map(|reverse| reverse.relative_error),
        stopped: stopped_early,
    })
}

/// Intervals of the main run, from what trials and the way back have found.
fn intervals(chosen: &[&Ready], reverse: Option<Reverse>, core: &Core) -> usize {
    let trials = chosen.iter().map(|ready| ready.report.trial_log_z);
    let bracket = Bracket {
        forward: trials.fold(f64::NEG_INFINITY, f64::max),
        reverse: reverse.map(|reverse| reverse.log_z),
        log_core: core.log_z,
        chains: 0,
    };
    let gibbs_alone = chosen.iter().all(|ready| ready.pilot.gibbs_alone);
    // A trial that happens to be high makes a core look smaller than it is (Markov's inequality).
    let no_core = core.log_z < bracket.forward + SMALL_CORE.ln();
    if gibbs_alone && no_core && bracket.is_too_wide() { MANY_BETAS } else { BETAS }
}

/// Chains of a round in units of the first: the second is equal, the third doubles what there is, later
/// ones add a quarter of it, so that little of the time is left over.
fn growth_of(round: usize) -> usize {
    let (mut total, mut growth) = (0_usize, 1);
    for k in 0..=round {
        growth = if k < 3 { total.max(1) } else { total.div_ceil(4) };
        total += growth;
    }
    growth
}

/// The family with the largest share, from the core back to its start.
fn reverse(
    model: &Rbm,
    chosen: &[&Ready],
    core: &Core,
    settings: &Auto,
    observer: &dyn Observer,
) -> Option<Reverse> {
    let main = chosen.iter().max_by(|a, b| a.report.share.total_cmp(&b.report.share))?;
    let mut random = Random::stream(settings.seed, Purpose::Reverse, 0);
    let states = core.draw(REVERSE_CHAINS, model.visible().min(model.hidden()), &mut random);
    if states.is_empty() {
        return None;
    }
    let betas = schedule(&main.pilot, REVERSE_BETAS);
    main.annealer.reverse(&betas, &states, settings.seed, observer)
}

/// Progress towards the end, whichever comes first: the rounds, the error or the time.
fn report(observer: &dyn Observer, settings: &Auto, rounds: usize, elapsed: f64, now: &Summary) {
    let part = match settings.rounds {
        Some(wanted) => rounds as f64 / wanted as f64,
        None => {
            let target = settings.target_error;
            let by_weights = target.max(LARGEST_WEIGHTS_ERROR) / now.weights_error;
            let by_error = (target / now.relative_error).min(by_weights).powi(2);
            by_error.max(elapsed / settings.max_seconds)
        }
    };
    observer.progress(Progress {
        phase: Phase::Round,
        done: (1000.0 * part.clamp(0.0, 1.0)) as u64,
        total: 1000,
        log_z: Some(now.log_z),
        beta: None,
    });
}
