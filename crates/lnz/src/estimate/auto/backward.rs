//! The way back: from states of the model to the starts, with the schedule of the main run.
//!
//! A state x of the model is led back to start k with probability A_kc of its cell c. The weight of that
//! path is what a chain from k that had ended in x would have: with W = w A_kc n / n_k, both directions
//! are samples of one work distribution (Crooks). Where the way back finds W far above Z, chains of the
//! main run end far too seldom: that mass is not reached.

use super::cells::cells;
use super::core::{Core, pack};
use super::effort::{BETAS, NEGLIGIBLE, STATES, SWEEPS};
use super::fit::Fitted;
use super::sampler::{Pool, Sampler, Source, State, drawn};
use super::tally::Shares;
use crate::Result;
use crate::estimate::bennett::acceptance_ratio;
use crate::math::{ln, log_sum_exp};
use lnz_kernels::random::Random;

/// Work on the way back is normal about log Z + s^2 / 2, if that on the way there is about log Z - s^2 / 2
/// with variance s^2. Beyond this many s a state is not reached, and never within so many nats.
const FAR: f64 = 3.0;

/// Where the way back leads.
pub(super) struct Route<'a> {
    pub(super) sampler: &'a Sampler<'a>,
    pub(super) fitted: &'a Fitted,
    pub(super) shares: &'a Shares,
    /// States that count with their exact sum.
    pub(super) known: Option<&'a Core>,
}

/// The paths from states of each source back to the starts.
#[derive(Default)]
pub(super) struct WayBack {
    pub(super) betas: Vec<f64>,
    sources: Vec<Paths>,
}

/// What the way there has found in a trial, which the way back is held against: nothing then follows from the
/// samples of the main run.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub(super) log_z: f64,
    /// Of log w with the intervals of a trial.
    pub(super) variance: f64,
}

struct Paths {
    paths: Vec<Led>,
    share: f64,
    error: f64,
}

/// A state that was led back to a start.
pub(super) struct Led {
    pub(super) state: State,
    pub(super) start: usize,
    /// log(w A_kc) of its path.
    pub(super) weight: f64,
    /// It counts with the exact sum, so that it need not be reached.
    pub(super) known: bool,
}

/// What the way back has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Backward {
    /// Bennett's acceptance ratio of both directions.
    pub(super) log_z: f64,
    /// The mass that the chains of the main run do not reach, relative to Z, and its error.
    pub(super) unreached: f64,
    pub(super) unreached_error: f64,
    /// The mean work of the paths from the states that know of it: not below log Z for states of the model.
    pub(super) mean_work: f64,
}

impl Backward {
    /// The most that is probably not reached, relative to Z, if anything is known not to be.
    pub(super) fn unreached_at_most(&self) -> f64 {
        if self.unreached > 0.0 { self.unreached + 2.0 * self.unreached_error } else { 0.0 }
    }
}

impl Route<'_> {
    pub(super) fn lead_back(
        &self,
        sources: &[Source<'_>],
        betas: Vec<f64>,
        random: &mut Random,
    ) -> Result<WayBack> {
        WayBack::of(sources, betas, |pool, betas| self.paths(pool, betas, random))
    }

    fn paths(&self, pool: &Pool, betas: &[f64], random: &mut Random) -> Result<Vec<Led>> {
        let Self { sampler, fitted, shares, known } = self;
        let states = states_of(pool, sampler, random)?;
        let homes = cells(&fitted.phases, &states);
        let starts = fitted.starts();
        let mut of_start: Vec<(usize, Vec<usize>)> =
            (0..starts.len()).map(|k| (k, vec![])).collect();
        for (i, &cell) in homes.iter().enumerate() {
            let mut left = random.uniform();
            let taker = (0..starts.len()).find(|&k| {
                left -= shares[k][cell];
                left < 0.0
            });
            of_start[taker.unwrap_or(cell)].1.push(i);
        }
        of_start.retain(|members| !members.1.is_empty());
        let route = |(start, members): &(usize, Vec<usize>)| {
            let from: Vec<State> = members.iter().map(|&i| states[i].clone()).collect();
            (&starts[*start].start, from)
        };
        let routes: Vec<_> = of_start.iter().map(route).collect();
        let samples = sampler.reverse_all(&routes, betas)?;
        let mut paths = Vec::new();
        for (((start, members), (_, from)), samples) in of_start.iter().zip(routes).zip(samples) {
            let start = *start;
            for ((state, sample), &i) in from.into_iter().zip(samples).zip(members) {
                let other = |random: &mut Random| pack(&sampler.other_layer(&state, random));
                let known = known.is_some_and(|core| core.contains(&other(random)));
                let weight = sample + ln(shares[start][homes[i]]);
                paths.push(Led { state, start, weight, known });
            }
        }
        Ok(paths)
    }
}

/// States of a pool, drawn by weight.
pub(super) fn states_of(
    pool: &Pool,
    sampler: &Sampler<'_>,
    random: &mut Random,
) -> Result<Vec<State>> {
    let log_weights: Vec<f64> = pool.iter().map(|(weight, _)| *weight).collect();
    if log_sum_exp(&log_weights) == f64::NEG_INFINITY {
        return Ok(vec![]);
    }
    let chosen = drawn(&log_weights, sampler.fewer(STATES), random);
    let first: Vec<State> = chosen.into_iter().map(|i| pool[i].1.clone()).collect();
    // What was drawn twice goes apart.
    Ok(sampler.sweep(&first, SWEEPS, 0)?.0)
}

impl WayBack {
    /// The paths from the sources that matter; `paths` leads states of a pool back.
    pub(super) fn of(
        sources: &[Source<'_>],
        betas: Vec<f64>,
        mut paths: impl FnMut(&Pool, &[f64]) -> Result<Vec<Led>>,
    ) -> Result<Self> {
        let mut lead = |source: &Source<'_>| {
            let paths = match source.share > NEGLIGIBLE {
                true => paths(source.pool, &betas)?,
                false => vec![],
            };
            Ok(Paths { paths, share: source.share, error: source.error })
        };
        let sources = sources.iter().map(&mut lead).collect::<Result<_>>()?;
        Ok(Self { betas, sources })
    }

    /// Paths from more sources, along the same schedule.
    pub(super) fn extend(&mut self, more: Self) {
        self.sources.extend(more.sources);
    }

    /// The states that are not reached, if they have mass that is worth a fit.
    pub(super) fn missed(&self, level: Level, parts: &[f64]) -> Vec<State> {
        let highest = level.log_z + self.excess(level);
        let log_parts = log_parts(parts);
        let missed = |source: &Paths| -> Vec<State> {
            let missed: Vec<&Led> = source.missed(highest, &log_parts).collect();
            let mass = source.share * missed.len() as f64 / source.paths.len().max(1) as f64;
            match mass > NEGLIGIBLE {
                true => missed.into_iter().map(|led| led.state.clone()).collect(),
                false => vec![],
            }
        };
        self.sources.iter().flat_map(missed).collect()
    }

    /// How far above log Z the work of a path may be.
    fn excess(&self, level: Level) -> f64 {
        // The variance of log w falls as 1 / betas.
        let variance = level.variance * BETAS as f64 / self.betas.len() as f64;
        (variance / 2.0 + FAR * variance.sqrt()).max(FAR)
    }

    /// The mass that is not reached, relative to Z, and its error: the most that a source knows of. `parts`
    /// of the chains belong to each start.
    pub(super) fn unreached(&self, level: Level, parts: &[f64]) -> (f64, f64) {
        let (mass, error, _) = self.worst(level, parts);
        (mass, error)
    }

    /// What is not reached, its error, and the source that knows of it.
    fn worst(&self, level: Level, parts: &[f64]) -> (f64, f64, Option<&Paths>) {
        let highest = level.log_z + self.excess(level);
        let log_parts = log_parts(parts);
        let unreached = self.sources.iter().map(|source| {
            let missed = source.missed(highest, &log_parts).count();
            let (part, error) = unreached(missed, source.paths.len(), source.error);
            (source.share * part, source.share * error, Some(source))
        });
        unreached.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    }

    /// Holds the way back against the way there: `forward` are the W of the main run, `numbers` the chains
    /// of its starts.
    pub(super) fn judge(&self, level: Level, forward: &[f64], numbers: &[usize]) -> Backward {
        let total: usize = numbers.iter().sum();
        let parts: Vec<f64> = numbers.iter().map(|&n| n as f64 / total as f64).collect();
        let (unreached, unreached_error, worst) = self.worst(level, &parts);
        let log_parts = log_parts(&parts);
        let works = |source: Option<&Paths>| -> Vec<f64> {
            let paths = source.iter().flat_map(|source| &source.paths);
            paths.map(|led| led.weight - log_parts[led.start]).collect()
        };
        let log_z = acceptance_ratio(forward, &works(self.sources.first()));
        let works = works(worst);
        let mean_work = works.iter().sum::<f64>() / works.len() as f64;
        Backward { log_z, unreached, unreached_error, mean_work }
    }
}

/// log n_k / n.
fn log_parts(parts: &[f64]) -> Vec<f64> {
    parts.iter().map(|&part| ln(part)).collect()
}

impl Paths {
    /// Paths with a work beyond `highest`.
    fn missed<'a>(&'a self, highest: f64, log_parts: &'a [f64]) -> impl Iterator<Item = &'a Led> {
        self.paths
            .iter()
            .filter(move |led| !led.known && led.weight - log_parts[led.start] > highest)
    }
}

/// The part of the states that is not reached, and its error: no less than that of one state. States by
/// weight are as many as the relative error of their sum says, however many were drawn.
fn unreached(missed: usize, states: usize, error: f64) -> (f64, f64) {
    let n = states.max(1) as f64;
    let part = missed as f64 / n;
    let effective = n.min(1.0 / (error * error)).max(1.0);
    (part, (part * (1.0 - part) / effective).sqrt().max(1.0 / n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_are_reached_too_seldom_count_by_how_many_are_independent() {
        assert_eq!(unreached(32, 128, 0.01), (0.25, (0.25f64 * 0.75 / 128.0).sqrt()));
        assert_eq!(unreached(32, 128, 0.5), (0.25, (0.25f64 * 0.75 / 4.0).sqrt()));
        assert_eq!(unreached(0, 128, 0.5), (0.0, 1.0 / 128.0));
    }
}
