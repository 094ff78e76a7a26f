//! A trial from every fitted start, and what follows from it for the main run.

use super::backward::{Level, WayBack};
use super::core::{Core, pack};
use super::design::Design;
use super::effort::{BETAS, CHAINS, ISLAND, LEAST_SHARE};
use super::fit::{Fitted, Whole};
use super::marks::{CoreLayer, Marks};
use super::promise::Promise;
use super::sampler::{Ends, Pool, Run, Sampler, State};
use super::schedule::schedule;
use super::tally::{Chain, Summary, Tally};
use crate::Result;
use crate::check::Measured;
use crate::math::{exp, hypot, ln, log2};
use lnz_kernels::random::Random;

/// Times as many intervals as in the trial, at most.
const MOST_BETAS: f64 = 16.0;

/// A short run from every start, and what follows from it for the main run.
pub(super) struct Trial {
    /// Its chains.
    pub(super) tally: Tally,
    pub(super) design: Design,
    /// Where its chains ended, with their log weights.
    pub(super) pool: Pool,
    pub(super) summary: Summary,
    /// The core takes part.
    pub(super) with_core: bool,
}

impl Trial {
    /// What the way back is held against.
    pub(super) fn level(&self) -> Level {
        Level { log_z: self.summary.weights.log_z, variance: self.design.variance }
    }

    /// What it has found, with the error that log-normal weights have whose logarithm varies as much: few chains seldom
    /// meet the rare weights that the main run will meet.
    pub(super) fn with_rare_weights(&self) -> Measured {
        let Measured { log_z, error } = self.summary.weights;
        Measured { log_z, error: error.max(self.error_of_log_normal()) }
    }

    fn error_of_log_normal(&self) -> f64 {
        error_of_log_normal(self.design.variance, self.summary.chains as f64).min(1.0)
    }

    /// What the main run would make of it, with the schedule that is best for it.
    pub(super) fn promise(&self, back: &WayBack) -> Promise {
        let (unreached, _) = back.unreached(self.level(), &self.design.chains);
        let Measured { log_z, error } = self.summary.weights;
        let times = self.times_as_many_betas();
        let chains = Promise::CHAIN_STEPS as f64 / (times * BETAS as f64);
        let of_log_normal = error_of_log_normal(self.design.variance / times, chains);
        let after_more = error * of_log_normal / self.error_of_log_normal().max(f64::MIN_POSITIVE);
        Promise {
            found: Measured { log_z, error: hypot(error, unreached) },
            error: hypot(after_more, unreached),
        }
    }

    /// Intervals of the schedule of the main run.
    pub(super) fn betas(&self) -> usize {
        BETAS * self.times_as_many_betas() as usize
    }

    /// By how much longer the schedule of the main run should be.
    ///
    /// The variance of log w falls as 1 / betas, so that the error for the same work is least where the variance is 1 if
    /// log w is normal; its upper tail is heavier, and a half is safer at a tenth of the price.
    fn times_as_many_betas(&self) -> f64 {
        let times = (2.0 * self.design.variance).clamp(1.0, MOST_BETAS);
        log2(times).round().exp2()
    }

    pub(super) fn run(sampler: &Sampler<'_>, fitted: &Fitted, core: &Core) -> Result<Self> {
        let starts = fitted.starts();
        let betas = schedule(BETAS);
        let all = sampler.fewer(CHAINS) * if starts.len() > 1 { 2 } else { 1 };
        let count = (all / starts.len()).max(ISLAND / 2);
        let mut tally = Tally::new(starts.len(), 1);
        let mut states = Vec::new();
        let found = from_starts(sampler, fitted, core, &vec![count; starts.len()], &betas)?;
        for (k, (chains, ends)) in found.into_iter().enumerate() {
            tally.chains[k] = chains;
            states.push(ends);
        }
        Ok(Self::of(tally, states, fitted.phases.len(), core))
    }

    /// The last run that the start of the whole was fitted to, where there is no time for more.
    pub(super) fn of_whole(
        whole: &Whole,
        (sampler, core): (&Sampler<'_>, &Core),
        random: &mut Random,
    ) -> Self {
        let size = ln(whole.ends().len() as f64);
        let mut is_known = |state: &State| {
            core.states() > 0 && core.contains(&pack(&sampler.other_layer(state, random)))
        };
        let chain = |(weight, state): &(f64, State)| Chain {
            sample: weight + size,
            cell: 0,
            known: is_known(state),
        };
        let chains = whole.ends().iter().map(chain).collect();
        let states = whole.ends().iter().map(|(_, state)| state.clone()).collect();
        Self::of(Tally { chains: vec![chains], island: ISLAND }, vec![states], 1, core)
    }

    /// From chains of all starts, and the states in which they ended.
    fn of(tally: Tally, states: Vec<Vec<State>>, cells: usize, core: &Core) -> Self {
        let design = Design::from_trial(&tally, cells);
        let log_weight = |k: usize, chain: &Chain| {
            chain.sample + ln(design.shares[k][chain.cell]) - ln(tally.chains[k].len() as f64)
        };
        let pool = states.into_iter().enumerate().flat_map(|(k, states)| {
            let log_weights: Vec<f64> = tally.chains[k].iter().map(|c| log_weight(k, c)).collect();
            log_weights.into_iter().zip(states)
        });
        let pool: Pool = pool.filter(|(w, _)| *w > f64::NEG_INFINITY).collect();
        let by = |with: bool| tally.summary(&design.shares, core, with);
        // Most of Z is better known exactly; a part of it where that makes the error smaller.
        let share = exp(core.log_z - by(false).log_z);
        let with_core = share > 0.5 || (share > LEAST_SHARE && by(true).error < by(false).error);
        let summary = by(with_core);
        Self { tally, design, pool, summary, with_core }
    }
}

/// Weights whose logarithm is normal with some variance.
fn error_of_log_normal(variance: f64, chains: f64) -> f64 {
    ((exp(variance.max(f64::EPSILON)) - 1.0) / chains).sqrt()
}

/// For each fitted start so many chains, and the states in which they ended.
fn from_starts(
    sampler: &Sampler<'_>,
    fitted: &Fitted,
    core: &Core,
    counts: &[usize],
    betas: &[f64],
) -> Result<Vec<(Vec<Chain>, Vec<State>)>> {
    let (runs, marks) = (runs(fitted, core, counts, betas), marks(fitted, core));
    let chains = |ends: Ends| (marks.chains(&ends), ends.states);
    Ok(sampler.anneal_all(&runs)?.into_iter().map(chains).collect())
}

/// The same without states, which a crew then need not send.
pub(super) fn chains_from_starts(
    sampler: &Sampler<'_>,
    fitted: &Fitted,
    core: &Core,
    counts: &[usize],
    betas: &[f64],
) -> Result<Vec<Vec<Chain>>> {
    sampler.marked_all(&runs(fitted, core, counts, betas), &marks(fitted, core))
}

fn runs<'a>(fitted: &'a Fitted, core: &Core, counts: &[usize], betas: &'a [f64]) -> Vec<Run<'a>> {
    let others = core.states() > 0;
    let starts = fitted.starts().into_iter().map(|product| &product.start).zip(counts);
    starts.map(|(start, &chains)| Run { start, betas, chains, resampled: None, others }).collect()
}

fn marks<'a>(fitted: &'a Fitted, core: &'a Core) -> Marks<'a> {
    Marks { phases: &fitted.phases, core, layer: CoreLayer::Other }
}
