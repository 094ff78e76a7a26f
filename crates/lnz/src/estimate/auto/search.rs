//! First states for the search: cheap guesses of many kinds, on both layers.
//!
//! No guess finds every phase. What uniform annealing, sampled means and ascents on one layer miss, the
//! signs of singular vectors or the other layer find.

use super::cells::{EPSILON, Product, cell};
use super::cluster;
use super::crossover::{Exchanges, log_weight};
use super::effort::{ASCENTS, BETAS, EVALUATIONS, ISLAND, PASSES, SWEEPS, TRIED, WINDOW};
use super::modes::ascend;
use super::sampler::{Guess, Pool, Run, Sampler, State};
use super::strong::{alone_in, strong_parts};
use crate::math::ln;
use crate::observer::Alone;
use crate::{Observer, Rbm, Result, Start};
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{FreeEnergy, Position};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Rounds of subspace iteration: signs need no digits.
const ITERATIONS: usize = 12;
/// Rounds of exchanging groups.
const CROSSINGS: usize = 2;

/// What a search has found.
pub(super) struct Found {
    /// First states of all kinds after sweeps of the model.
    guesses: Vec<Guess>,
    /// The means of each phase.
    pub(super) means: Vec<Array1<f64>>,
    /// What its phases differ in.
    pub(super) exchanges: Exchanges,
    /// The ends of short annealing runs with their log weights; each run is one estimate of Z.
    pub(super) pool: Pool,
}

impl Found {
    /// Adds more states, and returns the means of their phases.
    pub(super) fn add(
        &mut self,
        sampler: &Sampler<'_>,
        more: Vec<State>,
    ) -> Result<Vec<Array1<f64>>> {
        if more.is_empty() {
            return Ok(vec![]);
        }
        let guesses = more.into_iter().map(|state| ("way back", state)).collect();
        let more = Relaxed::of(sampler, guesses)?;
        let phases = more.phases();
        self.guesses.extend(more.guesses);
        Ok(phases)
    }

    /// For every cell the kinds of first states that lead there.
    pub(super) fn by_cell(&self, products: &[Product]) -> Vec<Vec<&'static str>> {
        let mut kinds = vec![BTreeSet::new(); products.len()];
        for (kind, state) in &self.guesses {
            kinds[cell(products, state)].insert(*kind);
        }
        kinds.into_iter().map(|kinds| kinds.into_iter().collect()).collect()
    }

    /// For every cell the states that were found in it.
    pub(super) fn members(&self, products: &[Product]) -> Vec<Vec<State>> {
        let mut members = vec![vec![]; products.len()];
        for (_, state) in &self.guesses {
            members[cell(products, state)].push(state.clone());
        }
        members
    }
}

/// Relaxed first states of all kinds and of both layers, and the phases among them; `swapped` has the
/// layers exchanged, and `modes` are states of its layer. `hints` are means of the visible layer of the
/// model, whichever that is, and where they come from.
pub(super) fn search(
    sampler: &Sampler<'_>,
    swapped: &Sampler<'_>,
    modes: &[Position],
    hints: &[(&'static str, &Array1<f64>)],
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Found> {
    let (mut first, pool) = of_both_layers(sampler, swapped, hints, random, observer)?;
    let highest = modes.iter().take(ASCENTS);
    first.extend(highest.map(|mode| ("mode", swapped.other_layer(&mode.x, random))));
    let mut found = Relaxed::of(sampler, first)?;
    let of_parts = of_parts(sampler, &found, random, observer)?;
    if !of_parts.is_empty() {
        found.extend(Relaxed::of(sampler, of_parts)?);
    }
    let mut means = found.phases();
    let mut exchanges = Exchanges::default();
    for _ in 0..CROSSINGS {
        exchanges = Exchanges::of(sampler.large, &found.after, &found.log_weights);
        let children = exchanges.first_states();
        if children.len() < 2 {
            break;
        }
        found.extend(Relaxed::of(sampler, children)?);
        let known = means.len();
        means = found.phases();
        if means.len() <= known {
            break;
        }
    }
    Ok(Found { guesses: found.guesses, means, exchanges, pool })
}

fn of_both_layers(
    sampler: &Sampler<'_>,
    swapped: &Sampler<'_>,
    hints: &[(&'static str, &Array1<f64>)],
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<(Vec<Guess>, Pool)> {
    let (mut first, mut pool) = of_layer(sampler, hints, random, observer)?;
    let (others, other_pool) = of_layer(swapped, hints, random, observer)?;
    for (kind, state) in others {
        first.push((kind, swapped.other_layer(&state, random)));
    }
    for (weight, state) in other_pool {
        pool.push((weight, swapped.other_layer(&state, random)));
    }
    Ok((first, pool))
}

/// The phases of each strongly coupled part, found in it alone; the rest as in the heaviest phase.
fn of_parts(
    sampler: &Sampler<'_>,
    found: &Relaxed,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Vec<Guess>> {
    let weights = &found.log_weights;
    let heaviest = (0..weights.len()).fold(0, |a, b| if weights[b] > weights[a] { b } else { a });
    let base = found.after.row(heaviest).mapv(f64::from);
    let observer = &Alone(observer);
    let mut guesses = Vec::new();
    for part in strong_parts(sampler.large) {
        let model = alone_in(sampler.large, &part, base.view())?;
        let turned = model.transposed()?;
        let alone = sampler.of_part([&model, &turned], random.bits(), observer)?;
        let (first, _) = of_both_layers(&alone, &alone.swapped()?, &[], random, observer)?;
        for means in Relaxed::of(&alone, first)?.phases() {
            let mut state: State = base.iter().map(|&m| m > 0.5).collect();
            part.visible.iter().zip(&means).for_each(|(&unit, &m)| state[unit] = m > 0.5);
            guesses.push(("part of the model", state));
        }
    }
    Ok(guesses)
}

/// States after sweeps of the model, and the means of each chain in two windows.
struct Relaxed {
    guesses: Vec<Guess>,
    before: Array2<f32>,
    after: Array2<f32>,
    /// About how much their phases weigh.
    log_weights: Vec<f64>,
}

impl Relaxed {
    fn of(sampler: &Sampler<'_>, guesses: Vec<Guess>) -> Result<Self> {
        let (kinds, states): (Vec<_>, Vec<State>) = guesses.into_iter().unzip();
        let (states, before) = sampler.sweep(&states, 2 * SWEEPS, 2 * WINDOW)?;
        let (states, after) = sampler.sweep(&states, 2 * SWEEPS, 2 * WINDOW)?;
        let log_weight = |k: usize| log_weight(sampler.large, &after.row(k).mapv(f64::from));
        let log_weights = (0..states.len()).into_par_iter().map(log_weight).collect();
        Ok(Self { guesses: kinds.into_iter().zip(states).collect(), before, after, log_weights })
    }

    fn extend(&mut self, more: Self) {
        self.guesses.extend(more.guesses);
        self.log_weights.extend(more.log_weights);
        let joined = |a: &Array2<f32>, b: &Array2<f32>| {
            let rows = a.rows().into_iter().chain(b.rows()).flatten().copied().collect();
            let shape = (a.nrows() + b.nrows(), a.ncols());
            Array2::from_shape_vec(shape, rows).unwrap_or_else(|_| a.clone())
        };
        self.before = joined(&self.before, &more.before);
        self.after = joined(&self.after, &more.after);
    }

    fn phases(&self) -> Vec<Array1<f64>> {
        cluster::phases(&self.before, &self.after, &self.log_weights)
    }
}

/// Guesses of the annealed layer of a sampler, and the ends of its short runs.
fn of_layer(
    sampler: &Sampler<'_>,
    hints: &[(&'static str, &Array1<f64>)],
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<(Vec<Guess>, Pool)> {
    let (model, n) = (sampler.large, sampler.large.visible());
    let mut found: Vec<Guess> = Vec::new();
    let mut pool = Vec::new();
    let mut annealed = |kind: &'static str, start: Start, found: &mut Vec<Guess>| -> Result<()> {
        let (betas, chains, resampled) = (even(BETAS / 8), ISLAND, Some(ISLAND));
        let ends = sampler.anneal(&Run {
            start: &start,
            betas: &betas,
            chains,
            resampled,
            others: false,
        })?;
        let size = ln(chains as f64);
        pool.extend(ends.samples.iter().map(|s| s - size).zip(ends.states.iter().cloned()));
        found.extend(ends.states.into_iter().map(|state| (kind, state)));
        Ok(())
    };
    annealed("uniform", Start::uniform(n), &mut found)?;
    for (kind, means) in hints.iter().filter(|(_, means)| means.len() == n) {
        annealed(kind, Start::from_means(means.view(), EPSILON)?, &mut found)?;
    }
    let coins: Vec<State> =
        (0..ASCENTS).map(|_| (0..n).map(|_| random.happens(0.5)).collect()).collect();
    let field = &model.visible_bias() + &model.weights().sum_axis(Axis(1));
    let mean_field = vec![field.iter().map(|&f| f > 0.0).collect(); ASCENTS];
    for (kind, first) in [("random states", coins), ("mean field", mean_field)] {
        let (_, means) = sampler.sweep(&first, SWEEPS, WINDOW)?;
        let means = means.sum_axis(Axis(0)).mapv(f64::from) / means.nrows() as f64;
        annealed(kind, Start::from_means(means.view(), EPSILON)?, &mut found)?;
    }
    let free_energy = FreeEnergy::new(model);
    let work = (PASSES * n * model.hidden().max(1)) as f64;
    let ascents = ((EVALUATIONS / 2.0 / work) as usize).clamp(2, ASCENTS);
    let seed = random.bits();
    let ascent = |k: usize| {
        let mut random = Random::stream(seed, Purpose::Modes, k as u64);
        let density = k as f64 / (ascents - 1) as f64;
        let first: State = (0..n).map(|_| random.happens(density)).collect();
        ("ascent", ascend(&free_energy, first, &mut random, observer).0.x)
    };
    found.extend((0..ascents).into_par_iter().map(ascent).collect::<Vec<Guess>>());
    let vectors = [("singular vector", singular(model, random)), ("column", columns(model))];
    for (kind, vectors) in vectors {
        for vector in vectors.columns() {
            found.extend([1.0, -1.0].map(|sign| (kind, signs(vector, sign))));
        }
    }
    Ok((found, pool))
}

/// `n` intervals of equal length.
fn even(n: usize) -> Vec<f64> {
    (0..=n).map(|k| k as f64 / n as f64).collect()
}

fn signs(vector: ArrayView1<'_, f64>, sign: f64) -> State {
    vector.iter().map(|v| sign * v > 0.0).collect()
}

/// The columns of W with the largest norms.
fn columns(model: &Rbm) -> Array2<f64> {
    let weights = model.weights();
    let norms: Vec<f64> = weights.columns().into_iter().map(|c| c.dot(&c)).collect();
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    order.truncate(TRIED);
    weights.select(Axis(1), &order)
}

/// The left singular vectors of W with the largest singular values, by subspace iteration.
fn singular(model: &Rbm, random: &mut Random) -> Array2<f64> {
    let weights = model.weights();
    let count = TRIED.min(weights.nrows()).min(weights.ncols());
    let mut right = Array2::from_shape_simple_fn((weights.ncols(), count), || random.normal());
    let mut left = Array2::zeros((weights.nrows(), count));
    for _ in 0..ITERATIONS {
        left = orthonormal(weights.dot(&right));
        right = orthonormal(weights.t().dot(&left));
    }
    left
}

/// Gram and Schmidt, in the order of the columns.
fn orthonormal(mut vectors: Array2<f64>) -> Array2<f64> {
    for k in 0..vectors.ncols() {
        let mut vector = vectors.column(k).to_owned();
        for j in 0..k {
            let before = vectors.column(j);
            let along = before.dot(&vector);
            vector.scaled_add(-along, &before);
        }
        let norm = vector.dot(&vector).sqrt().max(f64::MIN_POSITIVE);
        vectors.column_mut(k).assign(&(vector / norm));
    }
    vectors
}
