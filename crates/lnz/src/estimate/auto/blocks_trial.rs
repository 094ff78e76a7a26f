//! A trial from combinations of blocks, and the way back to them.

use super::backward::{Led, Level, WayBack, states_of};
use super::blocks::{Blocks, Combination};
use super::core::Core;
use super::design::log_variance;
use super::effort::{BETAS, CHAINS};
use super::promise::Promise;
use super::sampler::{Pool, Sampler, Source, State};
use super::schedule::schedule;
use super::tally::{Summary, Tally, alone};
use crate::math::exp;
use crate::{Result, Start};
use lnz_kernels::GROUP;
use lnz_kernels::random::Random;

/// A trial from combinations, from which the parts of the main run follow, and the way back.
pub(super) struct BlocksTrial {
    pub(super) blocks: Blocks,
    pub(super) summary: Summary,
    pub(super) level: Level,
    pub(super) back: WayBack,
    /// Where its chains ended, with their log weights.
    pool: Pool,
}

impl BlocksTrial {
    /// Runs it, and leads states that this and other trials have found back to their combinations.
    pub(super) fn run(
        mut blocks: Blocks,
        sampler: &Sampler<'_>,
        core: &Core,
        others: &[(&Pool, Summary)],
    ) -> Result<Self> {
        let betas = schedule(BETAS);
        let trips = blocks.trips(sampler, 2 * CHAINS, &betas, false, core.states() > 0)?;
        let mut tally = Tally::new(1, GROUP);
        tally.chains[0] = trips.iter().flat_map(|trip| blocks.count(trip, core)).collect();
        let summary = tally.summary(&alone(), core, false);
        let mut samples: Vec<f64> = tally.chains[0].iter().map(|chain| chain.sample).collect();
        let states = trips.iter().flat_map(|trip| trip.ends.states.iter().cloned());
        let pool: Pool = samples.iter().copied().zip(states).collect();
        samples.retain(|sample| *sample > f64::NEG_INFINITY);
        let level = Level { log_z: summary.weights.log_z, variance: log_variance(samples) };
        blocks.learn(&trips);
        let mut sources = vec![(&pool, summary)];
        sources.extend_from_slice(others);
        let source = |(pool, found): (_, Summary)| {
            let share = exp(found.weights.log_z - level.log_z).min(1.0);
            Source { pool, share, error: found.weights.error }
        };
        let sources: Vec<Source<'_>> = sources.into_iter().map(source).collect();
        let mut random = sampler.random();
        let back = WayBack::of(&sources, betas, |pool, betas| {
            blocks.lead_back(sampler, pool, betas, &mut random)
        })?;
        Ok(Self { blocks, summary, level, back, pool })
    }

    /// Its states, for the way back of chains that find `log_z`.
    pub(super) fn source(&self, log_z: f64) -> Source<'_> {
        let found = self.summary.weights;
        let share = exp(found.log_z - log_z).min(1.0);
        Source { pool: &self.pool, share, error: found.error }
    }

    /// What the main run would make of it.
    pub(super) fn promise(&self) -> Promise {
        let (unreached, _) = self.back.unreached(self.level, &[1.0]);
        Promise::of(self.summary.weights, (self.summary.chains * BETAS) as f64, unreached)
    }
}

impl Blocks {
    /// From states of a pool, each back to the start of the combination in whose cell it is.
    fn lead_back(
        &self,
        sampler: &Sampler<'_>,
        pool: &Pool,
        betas: &[f64],
        random: &mut Random,
    ) -> Result<Vec<Led>> {
        let states = states_of(pool, sampler, random)?;
        let homes: Vec<Combination> = states.iter().map(|state| self.home(state)).collect();
        let starts: Vec<Start> = homes.iter().map(|z| self.start(z)).collect::<Result<_>>()?;
        let routes: Vec<(&Start, Vec<State>)> =
            starts.iter().zip(&states).map(|(start, state)| (start, vec![state.clone()])).collect();
        let samples = sampler.reverse_all(&routes, betas)?.concat();
        let led = |((state, z), sample): ((State, &Combination), f64)| Led {
            state,
            start: 0,
            weight: sample - self.log_part(z),
            known: false,
        };
        Ok(states.into_iter().zip(&homes).zip(samples).map(led).collect())
    }
}
