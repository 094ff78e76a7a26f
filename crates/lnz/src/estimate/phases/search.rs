//! First states for the search: cheap guesses of many kinds, on both layers.
//!
//! No guess finds every phase. What uniform annealing, sampled means and ascents on one layer miss, the
//! signs of singular vectors or the other layer find.

use super::sampler::{Mixture, Sampler, State};
use crate::math::sigmoid;
use crate::{Observer, Rbm, Result, Start};
use lnz_kernels::FreeEnergy;
use lnz_kernels::random::Random;
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// Ascents from states of rising density.
const ASCENTS: usize = 32;
/// Times that an ascent goes through all units at most.
const PASSES: usize = 6;
/// Singular vectors and columns of W whose signs are tried, each with both signs.
const VECTORS: usize = 16;
/// Rounds of subspace iteration: signs need no digits.
const ITERATIONS: usize = 12;
/// Intervals of the short runs, and sweeps for the means that they start from.
const SHORT: usize = 128;
const SWEEPS: usize = 60;
/// Cut-off of those means.
const EPSILON: f64 = 0.05;

/// A first state and the kind of guess it is.
pub(super) type Guess = (&'static str, State);

/// Guesses of the visible layer of `sampler`; `swapped` has the layers exchanged.
pub(super) fn guesses(
    sampler: &Sampler<'_>,
    swapped: &Sampler<'_>,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Vec<Guess>> {
    let mut all = of_layer(sampler, random, observer)?;
    for (kind, state) in of_layer(swapped, random, observer)? {
        all.push((kind, other_layer(swapped.model, &state, random)));
    }
    Ok(all)
}

fn of_layer(
    sampler: &Sampler<'_>,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Vec<Guess>> {
    let (model, n) = (sampler.model, sampler.model.visible());
    let mut found: Vec<Guess> = Vec::new();
    let annealed = |kind: &'static str, start: Start, found: &mut Vec<Guess>| -> Result<()> {
        let start: Mixture = vec![(start, 1.0)];
        let ends = sampler.anneal(&start, &even(SHORT), 1, true)?;
        found.extend(ends.states.into_iter().map(|state| (kind, state)));
        Ok(())
    };
    annealed("uniform", Start::uniform(n), &mut found)?;
    let coins: Vec<State> =
        (0..ASCENTS).map(|_| (0..n).map(|_| random.happens(0.5)).collect()).collect();
    let field = &model.visible_bias() + &model.weights().sum_axis(Axis(1));
    let mean_field = vec![field.iter().map(|&f| f > 0.0).collect(); ASCENTS];
    for (kind, first) in [("random states", coins), ("mean field", mean_field)] {
        let (_, means) = sampler.sweep(&first, SWEEPS, SWEEPS / 2)?;
        let means = means.sum_axis(Axis(0)).mapv(f64::from) / means.nrows() as f64;
        annealed(kind, Start::from_means(means.view(), EPSILON)?, &mut found)?;
    }
    let free_energy = FreeEnergy::new(model);
    for k in 0..ASCENTS {
        let density = k as f64 / (ASCENTS - 1) as f64;
        let first: State = (0..n).map(|_| random.happens(density)).collect();
        found.push(("ascent", ascended(&free_energy, first, random, observer)));
    }
    let vectors = [("singular vector", singular(model, random)), ("column", columns(model))];
    for (kind, vectors) in vectors {
        for vector in vectors.columns() {
            found.extend([1.0, -1.0].map(|sign| (kind, signs(vector, sign))));
        }
    }
    Ok(found)
}

/// `n` intervals of equal length.
fn even(n: usize) -> Vec<f64> {
    (0..=n).map(|k| k as f64 / n as f64).collect()
}

fn signs(vector: ArrayView1<'_, f64>, sign: f64) -> State {
    vector.iter().map(|v| sign * v > 0.0).collect()
}

/// Draws the hidden layer given the visible one.
fn other_layer(model: &Rbm, state: &State, random: &mut Random) -> State {
    let x: Array1<f64> = state.iter().map(|&on| f64::from(on)).collect();
    model.hidden_input(x.view()).iter().map(|&a| random.happens(sigmoid(a))).collect()
}

/// The columns of W with the largest norms.
fn columns(model: &Rbm) -> Array2<f64> {
    let weights = model.weights();
    let norms: Vec<f64> = weights.columns().into_iter().map(|c| c.dot(&c)).collect();
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    order.truncate(VECTORS);
    weights.select(Axis(1), &order)
}

/// The left singular vectors of W with the largest singular values, by subspace iteration.
fn singular(model: &Rbm, random: &mut Random) -> Array2<f64> {
    let weights = model.weights();
    let count = VECTORS.min(weights.nrows()).min(weights.ncols());
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

/// Flips units that gain, a few times through all of them.
fn ascended(
    free_energy: &FreeEnergy,
    first: State,
    random: &mut Random,
    observer: &dyn Observer,
) -> State {
    let mut position = free_energy.position(first);
    for _ in 0..PASSES {
        let mut moved = false;
        for i in random.permutation(free_energy.units()) {
            let (height, marginal) = free_energy.flipped(&position, i);
            if height > position.height() {
                free_energy.flip(&mut position, i, marginal);
                moved = true;
            }
        }
        if !moved || observer.cancelled() {
            break;
        }
    }
    position.x
}
