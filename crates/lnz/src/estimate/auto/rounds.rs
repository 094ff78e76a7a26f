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
    let prepared = prepare(model, settings, observer)?;
    let mut run = MainRun::new(model, &prepared, settings, observer);
    let mut latest = None;
    let stopped_early = loop {
        let round_begin = Instant::now();
        if run.next_round().is_none() {
            break true;
        }
        let found = run.found();
        let elapsed = begin.elapsed().as_secs_f64();
        report(observer, settings, run.rounds, elapsed, &found.all);
        let next = round_begin.elapsed().as_secs_f64() * growth_after(run.rounds);
        let enough = run.is_enough(&found.all, elapsed + next);
        latest = Some(found);
        if enough {
            break false;
        }
    };
    let found = latest.ok_or_else(stopped)?;
    Ok(Sampled { stopped: stopped_early, ..run.result(&found) })
}

/// Everything that is fixed before the first round, and the islands so far. Nothing is chosen from the
/// samples of the main run, except when to stop.
struct MainRun<'a> {
    model: &'a Rbm,
    prepared: &'a Prepared,
    settings: &'a Auto,
    observer: &'a dyn Observer,
    starts: Vec<ChosenStart<'a>>,
    betas: usize,
    reverse: Option<Reverse>,
    rounds: usize,
    chain_steps: u64,
}

/// A family that makes the main run.
struct ChosenStart<'a> {
    ready: &'a Ready,
    schedule: Vec<f64>,
    tally: Tally,
}

/// What the rounds so far have found: all families together, and each of them.
struct Found {
    all: Summary,
    each: Vec<Summary>,
}

impl<'a> MainRun<'a> {
    fn new(
        model: &'a Rbm,
        prepared: &'a Prepared,
        settings: &'a Auto,
        observer: &'a dyn Observer,
    ) -> Self {
        let Prepared { core, ready, chain_steps } = prepared;
        let chosen: Vec<&Ready> = ready.iter().filter(|r| r.report.share > 0.0).collect();
        let reverse = reverse(model, &chosen, core, settings, observer);
        let reverse_steps = reverse.map_or(0, |_| (REVERSE_CHAINS * REVERSE_BETAS) as u64);
        let betas = intervals(&chosen, reverse, core);
        let start = |ready: &'a Ready| ChosenStart {
            ready,
            schedule: schedule(&ready.pilot, betas),
            tally: Tally::default(),
        };
        Self {
            model,
            prepared,
            settings,
            observer,
            starts: chosen.into_iter().map(start).collect(),
            betas,
            reverse,
            rounds: 0,
            chain_steps: chain_steps + reverse_steps,
        }
    }

    /// Fresh islands for every family; `None` if the observer stopped one.
    fn next_round(&mut self) -> Option<()> {
        let growth = growth_of(self.rounds);
        for ChosenStart { ready, schedule, tally } in &mut self.starts {
            // As many chains for every family; those that are resampled in fewer, larger islands.
            let factor = ready.annealer.chains_factor();
            let (islands, chains) =
                (ISLANDS / factor, ISLAND_CHAINS * factor * growth * (self.betas / BETAS));
            let places = places(tally, islands, chains, self.settings.seed, Purpose::Anneal);
            let core = &self.prepared.core;
            run_islands(&ready.annealer, schedule, places, core, tally, self.observer)?;
            self.chain_steps += (islands * chains * self.betas) as u64;
        }
        self.rounds += 1;
        Some(())
    }

    fn found(&self) -> Found {
        let core = &self.prepared.core;
        let summary = |start: &ChosenStart<'_>| start.tally.summary(core, start.ready.core_share);
        let each: Vec<Summary> = self.starts.iter().map(summary).collect();
        let shares = self.starts.iter().map(|start| start.ready.report.share);
        Found { all: combine(&shares.zip(each.iter().copied()).collect::<Vec<_>>()), each }
    }

    /// The rounds wanted are done; or the error is small, or the next round would end too late.
    fn is_enough(&self, now: &Summary, seconds_after_next: f64) -> bool {
        match self.settings.rounds {
            Some(wanted) => self.rounds >= wanted,
            None => self.is_known(now) || seconds_after_next > self.settings.max_seconds,
        }
    }

    /// The error is as small as wanted, and there is no sign that it should not be believed.
    fn is_known(&self, now: &Summary) -> bool {
        let bracket = Bracket {
            forward: now.log_z,
            reverse: self.reverse.map(|reverse| reverse.log_z),
            log_core: self.prepared.core.log_z,
            chains: now.chains,
        };
        let target = self.settings.target_error;
        now.relative_error <= target
            && now.is_settled(target.max(LARGEST_WEIGHTS_ERROR))
            && !bracket.is_too_wide()
    }

    fn result(&self, found: &Found) -> Sampled {
        let (core, now) = (&self.prepared.core, &found.all);
        let has_core = core.states() > 0;
        Sampled {
            visible: self.model.visible(),
            hidden: self.model.hidden(),
            // What is known exactly is known better than what was sampled.
            log_z: now.log_z.max(core.log_z),
            std_error: now.relative_error,
            interval: interval(now, &found.each, core.log_z),
            log_core: has_core.then_some(core.log_z),
            weights_error: now.weights_error,
            target_error: self.settings.target_error,
            log_sampled_core: has_core.then_some(now.log_core),
            core_states: core.states(),
            families: self.families(&found.each),
            ess: now.ess,
            max_weight_share: now.largest_share,
            rounds: self.rounds,
            chains: now.chains,
            betas: self.betas,
            chain_steps: self.chain_steps,
            log_reverse: self.reverse.map(|reverse| reverse.log_z),
            reverse_error: self.reverse.map(|reverse| reverse.relative_error),
            stopped: false,
        }
    }

    /// The trials of all families, and the main run of those that made it.
    fn families(&self, each: &[Summary]) -> Vec<FamilyReport> {
        let mut families: Vec<FamilyReport> =
            self.prepared.ready.iter().map(|r| r.report).collect();
        for (family, main) in families.iter_mut().filter(|f| f.share > 0.0).zip(each) {
            family.log_z = Some(main.log_z);
            family.std_error = Some(main.relative_error);
            family.weights = Some((main.log_weights, main.weights_error));
        }
        families
    }
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

/// How many times as many chains the next round has, after so many.
fn growth_after(rounds: usize) -> f64 {
    growth_of(rounds) as f64 / growth_of(rounds - 1) as f64
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
