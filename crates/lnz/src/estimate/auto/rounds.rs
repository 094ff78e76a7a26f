//! The main run: fresh chains, in rounds, until the error is small or the time is over.

use super::backward::{Backward, Level, WayBack};
use super::effort::{BETAS, CHAINS, FLIP_ISLANDS, ISLAND, NEGLIGIBLE};
use super::family::Family;
use super::prepare::{Layers, Prepared, prepare};
use super::sampler::part_of_effort;
use super::schedule::schedule;
use super::tally::{Shares, Summary, Tally, alone};
use super::trial::chains_from_starts;
use super::{Auto, FamilyReport, FoundPhase, Sampled};
use crate::check::{Measured, large_error, uneven_weights, unreached_mass};
use crate::estimate::anneal::seconds_per_step;
use crate::estimate::decided::decided;
use crate::math::hypot;
use crate::observer::{Observer, Phase, Progress};
use crate::{Rbm, Result};
use lnz_kernels::GROUP;
use std::time::Instant;

/// Chain-steps of the first round: twice those of a trial.
const ROUND: usize = 2 * CHAINS * BETAS;

/// Work until the start of the whole is fitted, in chain-steps: with it there is a result.
const LEAST_STEPS: f64 = 6e5;

/// The least time that a result takes.
pub(super) fn least_seconds(model: &Rbm) -> f64 {
    let steps = LEAST_STEPS / part_of_effort(model) as f64;
    let threads = rayon::current_num_threads() as f64;
    steps * seconds_per_step(model) / threads
}

/// Samples log Z of a model with hidden units.
pub(super) fn sample(model: &Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Sampled> {
    let begin = Instant::now();
    let layers = Layers::of(model)?;
    let prepared = prepare(&layers, settings, observer)?;
    let mut run = MainRun::new(prepared, settings);
    let stopped = loop {
        let round_begin = Instant::now();
        match run.next_round() {
            Ok(()) => {}
            // A crew keeps what was done, and the run goes on another time.
            Err(error) if !observer.cancelled() || observer.crew().is_some() => return Err(error),
            Err(_) if run.rounds > 0 => break true,
            Err(_) => {
                run.fall_back_on_the_trial();
                break true;
            }
        }
        let elapsed = begin.elapsed().as_secs_f64();
        let found = run.found();
        let interval = found.interval(run.prepared.core.log_z, 0.0);
        report(observer, settings, run.rounds, elapsed, &found, interval);
        let round = round_begin.elapsed().as_secs_f64();
        let next = round * growth_after(run.rounds);
        let is_enough = || Ok(run.is_enough(&found, elapsed + next));
        let enough = match observer.crew() {
            Some(_) => decided(observer, &run.decision(), is_enough)?,
            None => is_enough()?,
        };
        if enough {
            break false;
        }
    };
    let back = if stopped { None } else { run.back() };
    // A limit of time is no one's wish to stop.
    let stopped = stopped && observer.seconds_left().is_none_or(|left| left > 0.0);
    Ok(Sampled { stopped, ..run.result(model, back) })
}

/// Everything that is fixed before the first round, and the chains so far. Nothing is chosen from the
/// samples of the main run, except when to stop.
struct MainRun<'a> {
    prepared: Prepared<'a>,
    settings: &'a Auto,
    betas: usize,
    tally: Tally,
    rounds: usize,
}

impl<'a> MainRun<'a> {
    fn new(prepared: Prepared<'a>, settings: &'a Auto) -> Self {
        let (betas, tally) = match prepared.way {
            Family::Phases => {
                (prepared.trial.betas(), Tally::new(prepared.fitted.starts().len(), 1))
            }
            Family::Blocks => (BETAS, Tally::new(1, GROUP)),
            Family::Flips => (BETAS, Tally::new(1, ISLAND)),
        };
        Self { prepared, settings, betas, tally, rounds: 0 }
    }

    /// Fresh chains for every start.
    fn next_round(&mut self) -> Result<()> {
        let growth = growth_of(self.rounds);
        let Prepared { sampler, flips, blocks, core, fitted, trial, way, .. } = &self.prepared;
        match (way, blocks) {
            (Family::Blocks, Some(trial)) => {
                let (chains, betas) = (growth * ROUND / self.betas, schedule(self.betas));
                self.tally.chains[0].extend(trial.blocks.chains(sampler, chains, &betas, core)?);
            }
            (Family::Flips, _) => {
                let more = flips.marked_islands(self.betas, growth * FLIP_ISLANDS, core)?;
                self.tally.chains[0].extend(more);
            }
            _ => {
                let betas = schedule(self.betas);
                let chains = sampler.fewer(growth * ROUND / self.betas) as f64;
                let groups = |part: &f64| (part * chains / GROUP as f64).ceil() as usize;
                let counts = trial.design.chains.iter().map(|part| groups(part).max(1) * GROUP);
                let counts: Vec<usize> = counts.collect();
                let found = chains_from_starts(sampler, fitted, core, &counts, &betas)?;
                for (chains, more) in self.tally.chains.iter_mut().zip(found) {
                    chains.extend(more);
                }
            }
        }
        self.rounds += 1;
        Ok(())
    }

    /// There was no time for a round: the chains of the trial are all there is.
    fn fall_back_on_the_trial(&mut self) {
        self.prepared.way = Family::Phases;
        self.prepared.with_core = self.prepared.trial.with_core;
        self.tally = self.prepared.trial.tally.clone();
        self.betas = BETAS;
    }

    /// What the decision whether to go on after this round is known by.
    fn decision(&self) -> String {
        format!("enough-{}-{}", self.prepared.sampler.short_hash(), self.rounds)
    }

    fn found(&self) -> Summary {
        let Prepared { core, trial, way, with_core, .. } = &self.prepared;
        match way {
            Family::Phases => self.tally.summary(&trial.design.shares, core, *with_core),
            _ => self.tally.summary(&alone(), core, *with_core),
        }
    }

    /// The rounds wanted are done; or the error is small, or the next round would end too late.
    fn is_enough(&self, now: &Summary, seconds_after_next: f64) -> bool {
        match self.settings.rounds {
            Some(wanted) => self.rounds >= wanted,
            None => self.is_known(now) || seconds_after_next > self.settings.max_seconds,
        }
    }

    /// The error is as small as wanted, and can be believed.
    fn is_known(&self, now: &Summary) -> bool {
        let core = now.known_sum(self.prepared.core.log_z);
        let settled = match self.prepared.with_core {
            // A core may hide how badly the rest is known.
            true => large_error(now.weights.error, self.settings.target_error).is_none(),
            false => now.ess >= NEGLIGIBLE * now.chains as f64,
        };
        now.error <= self.settings.target_error && settled && !core.is_missed()
    }

    /// What the way back says of this run.
    fn back(&self) -> Option<Backward> {
        let Prepared { trial, blocks, back, way, .. } = &self.prepared;
        let judged = |back: &WayBack, level: Level, shares: &Shares| {
            let numbers: Vec<usize> = self.tally.chains.iter().map(Vec::len).collect();
            back.judge(level, &self.tally.log_weights(shares), &numbers)
        };
        match way {
            Family::Phases => Some(judged(back, trial.level(), &trial.design.shares)),
            Family::Blocks => blocks.as_ref().map(|b| judged(&b.back, b.level, &alone())),
            Family::Flips => None,
        }
    }

    fn result(&self, model: &Rbm, back: Option<Backward>) -> Sampled {
        let Prepared { core, with_core, .. } = &self.prepared;
        let now = self.found();
        let has_core = core.states() > 0;
        let at_most = back.map_or(0.0, |back| back.unreached_at_most());
        let mut interval = now.interval(core.log_z, at_most);
        if let Some(back) = back.filter(|_| !with_core) {
            interval[1] = interval[1].max(back.log_z + 2.0 * now.error);
        }
        // Where much is not reached, or few chains count, nobody knows how much more there is: both ways
        // together bracket log Z.
        let much_is_missed = |back: &Backward| {
            unreached_mass(now.log_z, back.unreached, back.unreached_error).is_some()
        };
        let few = uneven_weights(now.ess, now.largest_share, now.chains, now.units);
        if let Some(back) = back.filter(|back| few.is_some() || much_is_missed(back)) {
            interval[1] = interval[1].max(back.mean_work);
        }
        // An unbiased run that finds more is seldom wrong.
        for other in self.others(&now) {
            interval[1] = interval[1].max(other);
        }
        // What is warned of is an error, too.
        let unreached = back.filter(much_is_missed).map_or(0.0, |back| back.unreached);
        let known = now.known_sum(core.log_z);
        let of_core = if known.is_missed() { known.shortfall() } else { 0.0 };
        Sampled {
            visible: model.visible(),
            hidden: model.hidden(),
            log_z: now.log_z.max(core.log_z),
            std_error: hypot(now.error, hypot(unreached, of_core)),
            interval,
            log_core: has_core.then_some(core.log_z),
            core_used: *with_core,
            weights_error: now.weights.error,
            target_error: self.settings.target_error,
            log_sampled_core: has_core.then_some(now.log_known),
            core_states: core.states(),
            families: self.families(&now),
            phases: self.phases(),
            blocks: self.blocks(),
            starts: self.prepared.fitted.means_of(model),
            ess: now.ess,
            max_weight_share: now.largest_share,
            rounds: self.rounds,
            chains: now.chains,
            independent: now.units,
            betas: self.betas,
            chain_steps: self.prepared.chain_steps(),
            log_weights: match self.prepared.way {
                Family::Phases => self.tally.log_weights(&self.prepared.trial.design.shares),
                _ => self.tally.log_weights(&alone()),
            },
            log_reverse: back.map(|back| back.log_z),
            unreached: back.map(|back| back.unreached),
            unreached_error: back.map(|back| back.unreached_error),
            stopped: false,
        }
    }

    /// What other ways have found, where that is more than the errors allow.
    fn others(&self, now: &Summary) -> Vec<f64> {
        let trials = self.prepared.trials().into_iter();
        let others = trials.filter(|family| family.share == 0.0).map(|family| family.trial());
        let above = |other: &Measured| {
            now.weights.disagrees_with(*other) && other.log_z > now.weights.log_z
        };
        others.filter(above).map(|other| other.log_z + 2.0 * other.error).collect()
    }

    /// The trials of both ways, and the main run of the one that was chosen.
    fn families(&self, now: &Summary) -> Vec<FamilyReport> {
        let mut families = self.prepared.trials();
        for family in families.iter_mut().filter(|f| f.share > 0.0) {
            family.log_z = Some(now.log_z);
            family.std_error = Some(now.error);
            family.weights = Some((now.weights.log_z, now.weights.error));
        }
        families
    }

    /// The blocks whose combinations the sum goes over.
    fn blocks(&self) -> Vec<Vec<f64>> {
        let Prepared { blocks, way, .. } = &self.prepared;
        let used = blocks.as_ref().filter(|_| *way == Family::Blocks);
        used.map(|trial| trial.blocks.shares()).unwrap_or_default()
    }

    /// The phases, the largest first.
    fn phases(&self) -> Vec<FoundPhase> {
        let Prepared { fitted, trial, found, way, .. } = &self.prepared;
        let design = &trial.design;
        if *way != Family::Phases {
            return vec![];
        }
        let of_cells = self.tally.cells(&design.shares, design.cells.len());
        let found_by = found.by_cell(&fitted.phases);
        let phase = |(c, found_by): (usize, Vec<&'static str>)| FoundPhase {
            share: of_cells[c].0,
            relative_error: of_cells[c].1,
            found_by,
        };
        let mut phases: Vec<FoundPhase> = found_by.into_iter().enumerate().map(phase).collect();
        phases.sort_by(|a, b| b.share.total_cmp(&a.share));
        phases
    }
}

/// Chains of a round in units of the first: each adds at least a quarter of what there is, so that there are few
/// chances to stop, and little of the time is left over.
fn growth_of(round: usize) -> usize {
    let (mut total, mut growth) = (0_usize, 1);
    for _ in 0..=round {
        growth = total.div_ceil(4).max(1);
        total += growth;
    }
    growth
}

/// The size of the next round as a multiple of the last one, after this many rounds.
fn growth_after(rounds: usize) -> f64 {
    growth_of(rounds) as f64 / growth_of(rounds - 1) as f64
}

/// Progress towards the end, whichever comes first: the rounds, the error or the time.
fn report(
    observer: &dyn Observer,
    settings: &Auto,
    rounds: usize,
    elapsed: f64,
    now: &Summary,
    interval: [f64; 2],
) {
    let part = match settings.rounds {
        Some(wanted) => rounds as f64 / wanted as f64,
        None => {
            let by_error = (settings.target_error / now.error).powi(2);
            by_error.max(elapsed / settings.max_seconds)
        }
    };
    observer.progress(Progress {
        log_z: Some(now.log_z),
        interval: Some(interval),
        ..Progress::new(Phase::Round, (1000.0 * part.clamp(0.0, 1.0)) as u64, 1000)
    });
}
