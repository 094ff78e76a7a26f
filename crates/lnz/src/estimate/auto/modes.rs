//! Local maxima of the log marginal F(x), by many greedy ascents.

use super::effort::{ASCENTS, EVALUATIONS, PASSES, TRIED};
use crate::observer::Observer;
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{FreeEnergy, Position};
use rayon::prelude::*;
use std::collections::HashSet;

/// A flip must gain more than rounding could.
const LEAST_GAIN: f64 = 1e-9;

/// The distinct local maxima found, highest first.
///
/// Half of the ascents start from random states of all densities, half from one of the best modes
/// so far with some units flipped. `others` are further first states. Once the observer asks to stop,
/// ascents end where they are.
pub(super) fn find_modes(
    free_energy: &FreeEnergy,
    others: Vec<Vec<bool>>,
    seed: u64,
    observer: &dyn Observer,
) -> Vec<Position> {
    let n = free_energy.units();
    let most = (EVALUATIONS / free_energy.others().max(1) as f64) as usize;
    // Half of the work at once, at most.
    let together = (most / (2 * PASSES * n.max(1))).clamp(2, ASCENTS);
    let ascend = |x, random: &mut Random| ascend(free_energy, x, random, observer);
    let mut modes = Modes::default();
    for (batch, states) in others.chunks(together).enumerate() {
        modes.add(states.par_iter().enumerate().map(|(k, x)| {
            let stream = (1 << 40) + (batch * together + k) as u64;
            ascend(x.clone(), &mut Random::stream(seed, Purpose::Modes, stream))
        }));
        if modes.evaluations > most / 2 {
            break;
        }
    }
    for batch in 0..TRIED * ASCENTS / together {
        let best: Vec<Vec<bool>> = modes.best(TRIED / 2).map(|mode| mode.x.clone()).collect();
        modes.add((0..together).into_par_iter().map(|k| {
            let mut random = Random::stream(seed, Purpose::Modes, (batch * together + k) as u64);
            // First random states and later kicks; both in a search that ends early.
            let first = match (batch % 2, best.len()) {
                (0, _) | (_, 0) => first_state(n, batch / 2 * together + k, &mut random),
                _ => kicked(best[random.below(best.len())].clone(), &mut random),
            };
            ascend(first, &mut random)
        }));
        if modes.evaluations > most {
            break;
        }
    }
    modes.sorted
}

/// Some units of a mode flipped.
fn kicked(mut x: Vec<bool>, random: &mut Random) -> Vec<bool> {
    let n = x.len();
    for _ in 0..2 + random.below((n / 4).max(3) - 1) {
        let i = random.below(n);
        x[i] = !x[i];
    }
    x
}

/// All off, all on, then random states of densities that differ from start to start.
fn first_state(n: usize, k: usize, random: &mut Random) -> Vec<bool> {
    let density = match k {
        0 => 0.0,
        1 => 1.0,
        _ => random.uniform(),
    };
    (0..n).map(|_| random.happens(density)).collect()
}

/// Flips units that gain, in random order, until none does; and the flips that were evaluated.
pub(super) fn ascend(
    free_energy: &FreeEnergy,
    x: Vec<bool>,
    random: &mut Random,
    observer: &dyn Observer,
) -> (Position, usize) {
    let n = free_energy.units();
    let mut evaluations = 0;
    let mut position = free_energy.position(x);
    let mut since_gain = 0;
    // Each flip gains, so this ends; the limit guards against rounding at enormous weights.
    for _ in 0..200 {
        if observer.cancelled() {
            break;
        }
        for i in random.permutation(n) {
            evaluations += 1;
            let (height, marginal) = free_energy.flipped(&position, i);
            if height > position.height() + LEAST_GAIN {
                free_energy.flip(&mut position, i, marginal);
                since_gain = 0;
            } else {
                since_gain += 1;
            }
            if since_gain >= n {
                return (position, evaluations);
            }
        }
    }
    (position, evaluations)
}

/// Distinct modes, highest first.
#[derive(Default)]
struct Modes {
    seen: HashSet<Vec<bool>>,
    sorted: Vec<Position>,
    /// Flips that were evaluated.
    evaluations: usize,
}

impl Modes {
    fn add(&mut self, found: impl ParallelIterator<Item = (Position, usize)>) {
        let found: Vec<(Position, usize)> = found.collect();
        for (mode, evaluations) in found {
            self.evaluations += evaluations;
            if self.seen.insert(mode.x.clone()) {
                self.sorted.push(mode);
            }
        }
        // Stable, so that equal modes keep the order of the search.
        self.sorted.sort_by(|a, b| b.height().total_cmp(&a.height()));
    }

    fn best(&self, count: usize) -> impl Iterator<Item = &Position> {
        self.sorted.iter().take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gwgm;

    #[test]
    fn the_highest_state_of_hard_models_is_found() {
        for seed in 0..20 {
            let model = Gwgm { visible: 12, hidden: 60, ..Gwgm::HARDEST }.generate(seed).unwrap();
            let free_energy = FreeEnergy::new(&model);
            let best = (0..1 << 12)
                .map(|state| {
                    free_energy.position((0..12).map(|i| state >> i & 1 == 1).collect()).height()
                })
                .fold(f64::NEG_INFINITY, f64::max);
            let modes = find_modes(&free_energy, vec![], 1, &());
            assert!((modes[0].height() - best).abs() < 1e-9 * best.abs());
            assert!(modes.windows(2).all(|pair| pair[0].height() >= pair[1].height()));
        }
    }

    #[test]
    fn one_unit_has_a_mode() {
        let model = Gwgm { visible: 1, hidden: 1, ..Gwgm::HARDEST }.generate(0).unwrap();
        assert!(!find_modes(&FreeEnergy::new(&model), vec![], 0, &()).is_empty());
    }
}
