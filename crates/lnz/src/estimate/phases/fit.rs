//! Starts that are fitted to phases: short runs, refits, and phases that turn out to be one.

use super::cells::{Group, Product, cell, masked};
use super::cluster::connected;
use super::sampler::{Ends, ISLAND, Sampler, State, drawn, effective};
use super::schedule;
use crate::Result;
use crate::math::{log_mean_exp, log_sum_exp};
use lnz_kernels::random::Random;
use ndarray::{Array1, Axis};
use std::collections::BTreeMap;

/// Rounds of runs and refits at least and at most; they end when the groups stay as they are.
const LEAST_ROUNDS: usize = 3;
const MOST_ROUNDS: usize = 7;
/// Intervals of a short run, in the first rounds and later.
const BETAS: [usize; 2] = [256, 512];
/// Islands of all groups together in a round.
const ISLANDS: usize = 4;
/// Groups at most, and the share of Z below which one is left to its neighbours.
const MOST_GROUPS: usize = 24;
const LEAST_SHARE: f64 = 1e-4;
/// Two groups are one if each sees the other in at least this part of the right proportion.
const SEEN: f64 = 0.3;
/// A product that holds less of its group than this is not needed.
const LEAST_PART: f64 = 1e-3;
/// One product serves a group of several if it misses less than this part of what they see.
const MISSED: f64 = 0.02;
/// States that a product is fitted to, after sweeps with this window for their means.
const DRAWN: usize = 256;
const SWEEPS: usize = 50;
const WINDOW: usize = 25;

/// A short run of a group, and where its chains ended.
struct Pilot {
    ends: Ends,
    cells: Vec<(usize, usize)>,
}

impl Pilot {
    fn run(sampler: &Sampler<'_>, groups: &[Group], start: usize, betas: &[f64]) -> Result<Self> {
        let islands = (ISLANDS / groups.len()).max(1);
        let ends = sampler.anneal(&groups[start].start(), betas, islands, true)?;
        let cells = ends.states.iter().map(|state| cell(groups, state)).collect();
        Ok(Self { ends, cells })
    }

    /// log of the mean weight in some cells.
    fn log_mass(&self, keep: impl Fn((usize, usize)) -> bool) -> f64 {
        log_mean_exp(&masked(&self.ends.samples, &self.cells, keep))
    }
}

/// Groups with fitted starts, and the last short runs as states with log weights.
type Fitted = (Vec<Group>, Vec<(f64, State)>);

/// Fits starts to phases with the given means.
pub(super) fn fit(
    sampler: &Sampler<'_>,
    phases: &[Array1<f64>],
    random: &mut Random,
) -> Result<Fitted> {
    let alone = |means: &Array1<f64>| {
        Ok(Group { products: vec![Product::fitted(means, 1.0)?], share: 1.0, error: 1.0 })
    };
    let mut groups = phases.iter().map(alone).collect::<Result<Vec<Group>>>()?;
    for round in 1.. {
        let betas = schedule(BETAS[usize::from(round >= LEAST_ROUNDS)]);
        let pilots = (0..groups.len())
            .map(|k| Pilot::run(sampler, &groups, k, &betas))
            .collect::<Result<Vec<Pilot>>>()?;
        let next = refitted(sampler, &groups, &pilots, &betas, random)?;
        let settled = next.len() == groups.len() && round >= LEAST_ROUNDS;
        groups = next;
        if settled || round == MOST_ROUNDS {
            return Ok((groups, pooled(pilots)));
        }
    }
    Ok((groups, vec![]))
}

/// All end states; every run counts as one estimate of Z, however many chains it has.
fn pooled(pilots: Vec<Pilot>) -> Vec<(f64, State)> {
    let mut pool = Vec::new();
    for Pilot { ends, .. } in pilots {
        let size = (ends.samples.len() as f64).ln();
        pool.extend(ends.samples.into_iter().map(|sample| sample - size).zip(ends.states));
    }
    pool
}

/// What the pilots make of the groups: some are too small, some are one, and all are fitted anew.
fn refitted(
    sampler: &Sampler<'_>,
    groups: &[Group],
    pilots: &[Pilot],
    betas: &[f64],
    random: &mut Random,
) -> Result<Vec<Group>> {
    let homes: Vec<f64> = (0..groups.len()).map(|k| pilots[k].log_mass(|c| c.0 == k)).collect();
    let kept = worth_keeping(pilots, &homes);
    let log_all = log_sum_exp(&kept.iter().map(|&k| homes[k]).collect::<Vec<_>>());
    let sees = |a: usize, b: usize| {
        let seen = (pilots[a].log_mass(|c| c.0 == b) - pilots[a].ends.log_z()).exp();
        let right = 1.0 / (1.0 + (homes[a] - homes[b]).exp());
        seen > SEEN * right
    };
    let labels = connected(kept.len(), |a, b| sees(kept[a], kept[b]) && sees(kept[b], kept[a]));
    let mut merged: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, label) in kept.iter().zip(labels) {
        merged.entry(label).or_default().push(*k);
    }
    let mut next = Vec::new();
    for members in merged.values() {
        let log_home = log_sum_exp(&members.iter().map(|&k| homes[k]).collect::<Vec<_>>());
        let whole = Whole { sampler, groups, pilots, members, log_home };
        let errors = members.iter().map(|&k| {
            let weights = masked(&pilots[k].ends.samples, &pilots[k].cells, |c| c.0 == k);
            1.0 / effective(&weights).max(1.0).sqrt()
        });
        next.push(Group {
            error: errors.fold(0.0, f64::max),
            share: (log_home - log_all).exp(),
            products: whole.products(betas, random)?,
        });
    }
    Ok(next)
}

/// The groups with a share that counts, the largest first.
fn worth_keeping(pilots: &[Pilot], homes: &[f64]) -> Vec<usize> {
    let totals: Vec<f64> = pilots.iter().map(|pilot| pilot.ends.log_z()).collect();
    let highest = totals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut kept: Vec<usize> =
        (0..homes.len()).filter(|&k| homes[k] > highest + LEAST_SHARE.ln()).collect();
    if kept.is_empty() {
        kept = (0..homes.len()).filter(|&k| totals[k] >= highest).collect();
    }
    kept.sort_by(|&a, &b| homes[b].total_cmp(&homes[a]));
    kept.truncate(MOST_GROUPS);
    kept
}

/// Groups that have become one.
struct Whole<'a> {
    sampler: &'a Sampler<'a>,
    groups: &'a [Group],
    pilots: &'a [Pilot],
    members: &'a [usize],
    log_home: f64,
}

impl Whole<'_> {
    /// The products of the whole: one for each of its phases that counts, or one for all if that sees
    /// what they see.
    fn products(&self, betas: &[f64], random: &mut Random) -> Result<Vec<Product>> {
        let phases: Vec<(usize, usize)> = self
            .members
            .iter()
            .flat_map(|&k| (0..self.groups[k].products.len()).map(move |p| (k, p)))
            .collect();
        let mut parts: Vec<((usize, usize), f64)> = Vec::new();
        for &phase in &phases {
            let log_mass = log_sum_exp(&self.weights(|c| c == phase));
            let part = (log_mass - self.log_home).exp();
            if phases.len() == 1 || part > LEAST_PART {
                parts.push((phase, part));
            }
        }
        let whole = self.product(|c| self.members.contains(&c.0), 1.0, random)?;
        if parts.len() <= 1 || self.misses(&whole, &parts, betas)? < MISSED {
            return Ok(vec![whole]);
        }
        parts.iter().map(|&(phase, part)| self.product(|c| c == phase, part, random)).collect()
    }

    /// The weights of all members' chains in some cells; each run counts as one estimate.
    fn weights(&self, keep: impl Fn((usize, usize)) -> bool + Copy) -> Vec<f64> {
        let of_run = |&k: &usize| {
            let Pilot { ends, cells } = &self.pilots[k];
            let size = (ends.samples.len() as f64).ln() + (self.members.len() as f64).ln();
            masked(&ends.samples, cells, keep).into_iter().map(move |sample| sample - size)
        };
        self.members.iter().flat_map(of_run).collect()
    }

    /// A product fitted to what ended in some cells.
    fn product(
        &self,
        keep: impl Fn((usize, usize)) -> bool + Copy,
        weight: f64,
        random: &mut Random,
    ) -> Result<Product> {
        let states: Vec<&State> =
            self.members.iter().flat_map(|&k| &self.pilots[k].ends.states).collect();
        let count = (DRAWN / self.groups.len()).max(ISLAND);
        let chosen = drawn(&self.weights(keep), count, random);
        let first: Vec<State> = chosen.into_iter().map(|k| states[k].clone()).collect();
        let (_, means) = self.sampler.sweep(&first, SWEEPS, WINDOW)?;
        let means = means.sum_axis(Axis(0)).mapv(f64::from) / means.nrows() as f64;
        Product::fitted(&means, weight)
    }

    /// The part of what is known in the cells that a run from one product does not see.
    fn misses(&self, one: &Product, parts: &[((usize, usize), f64)], betas: &[f64]) -> Result<f64> {
        let islands = (ISLANDS / self.groups.len()).max(1);
        let ends = self.sampler.anneal(&vec![(one.start.clone(), 1.0)], betas, islands, true)?;
        let cells = ends.states.iter().map(|state| cell(self.groups, state)).collect();
        let run = Pilot { ends, cells };
        let missed = |&(phase, part): &((usize, usize), f64)| {
            let seen = (run.log_mass(|c| c == phase) - self.log_home).exp();
            (part - seen).max(0.0)
        };
        let known: f64 = parts.iter().map(|(_, part)| part).sum();
        Ok(parts.iter().map(missed).sum::<f64>() / known)
    }
}
