//! The main run: fresh islands, in rounds that double the chains until the error is small.

use super::prepare::{ISLAND_CHAINS, Prepared, Ready, places, prepare, run_islands, stopped};
use super::tally::{Summary, Tally, combine, interval};
use super::{Auto, FamilyReport, Sampled};
use crate::observer::{Observer, Phase, Progress};
use crate::random::Purpose;
use crate::{Rbm, Result};
use std::time::Instant;

/// Islands of a family in each round.
const ISLANDS: usize = 8;
/// Intervals of the schedules.
const BETAS: usize = 1024;

/// Samples log Z of a model with hidden units.
pub(super) fn sample(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Sampled> {
    let begin = Instant::now();
    let Prepared { core, ready, mut chain_steps } = prepare(model, settings, observer)?;
    // Nothing below is chosen from the samples of the main run, except when to stop.
    let chosen: Vec<&Ready> = ready.iter().filter(|r| r.report.share > 0.0).collect();
    let schedules: Vec<Vec<f64>> =
        chosen.iter().map(|r| super::family::schedule(&r.pilot, BETAS)).collect();
    let mut tallies: Vec<Tally> = chosen.iter().map(|_| Tally::default()).collect();
    let mut rounds = 0;
    let mut result: Option<(Summary, Vec<Summary>, usize)> = None;
    let mut stopped_early = false;
    loop {
        let round_begin = Instant::now();
        // The first two rounds are equal, then each doubles what there is.
        let growth = 1 << (rounds.max(1) - 1);
        for ((ready, betas), tally) in chosen.iter().zip(&schedules).zip(&mut tallies) {
            let chains = ISLAND_CHAINS * ready.annealer.chains_factor() * growth;
            let first = tally.next_island();
            let places = places(first, ISLANDS, chains, settings.seed, Purpose::Anneal);
            if run_islands(&*ready.annealer, betas, places, &core, tally, observer).is_none() {
                stopped_early = true;
                break;
            }
            chain_steps += (ISLANDS * chains * BETAS) as u64;
        }
        if stopped_early {
            break;
        }
        rounds += 1;
        let parts: Vec<Summary> = tallies.iter().map(|tally| tally.summary(&core)).collect();
        let shares = chosen.iter().map(|r| r.report.share);
        let summary = combine(&shares.zip(parts.iter().copied()).collect::<Vec<_>>());
        let islands = tallies.iter().map(Tally::next_island).sum();
        result = Some((summary, parts, islands));
        let elapsed = begin.elapsed().as_secs_f64();
        report(observer, settings, rounds, elapsed, &summary);
        let enough = match settings.rounds {
            Some(wanted) => rounds >= wanted,
            None => {
                // The next round takes as long as all before it.
                let next =
                    round_begin.elapsed().as_secs_f64() * if rounds == 1 { 1.0 } else { 2.0 };
                summary.relative_error <= settings.target_error
                    || elapsed + next > settings.max_seconds
            }
        };
        if enough {
            break;
        }
    }
    let (summary, parts, islands) = result.ok_or_else(stopped)?;
    let mut families: Vec<FamilyReport> = ready.iter().map(|r| r.report).collect();
    for (family, part) in families.iter_mut().filter(|f| f.share > 0.0).zip(&parts) {
        family.log_z = Some(part.log_z);
        family.std_error = Some(part.relative_error);
    }
    let has_core = core.states() > 0;
    Ok(Sampled {
        visible: model.visible(),
        hidden: model.hidden(),
        log_z: summary.log_z,
        std_error: summary.relative_error,
        interval: interval(&summary, &parts, islands, core.log_z),
        log_core: has_core.then_some(core.log_z),
        log_sampled_core: has_core.then_some(summary.log_core),
        core_states: core.states(),
        families,
        ess: summary.ess,
        max_weight_share: summary.largest_share,
        rounds,
        chains: summary.chains,
        betas: BETAS,
        chain_steps,
        stopped: stopped_early,
    })
}

/// Progress towards the end, whichever comes first: the rounds, the error or the time.
fn report(observer: &dyn Observer, settings: &Auto, rounds: usize, elapsed: f64, now: &Summary) {
    let part = match settings.rounds {
        Some(wanted) => rounds as f64 / wanted as f64,
        None => {
            let by_error = (settings.target_error / now.relative_error).powi(2);
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
