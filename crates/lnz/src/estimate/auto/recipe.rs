//! How each family is made: its start, its layer, its moves.

use super::family::Family;
use crate::math::log_sum_exp;
use crate::path::Path;
use crate::{Rbm, Start};
use lnz_kernels::{Flips, FreeEnergy, Position};
use ndarray::Array1;
use std::borrow::Cow;

/// Modes in the mixture.
const COMPONENTS: usize = 16;
/// Largest |B| of a component.
const LARGEST_BIAS: f64 = 3.0;
/// Shares of the components: by weight, equal, and of the uniform component.
const SHARES: [f64; 3] = [0.5, 0.35, 0.15];
/// Flips per step at most: each costs as much as many units of a Gibbs step.
const MOST_FLIPS: usize = 6;

/// The modes family; `large` has the larger layer visible, `free_energy` is of the smaller one.
pub(super) fn modes_family(large: &Rbm, free_energy: &FreeEnergy, modes: &[Position]) -> Recipe {
    let best = &modes[..modes.len().min(COMPONENTS)];
    let heights: Vec<f64> = best.iter().map(Position::height).collect();
    let log_total = log_sum_exp(&heights);
    let mut biases: Vec<Array1<f64>> = best
        .iter()
        .map(|m| free_energy.inputs(m).mapv(|a| a.clamp(-LARGEST_BIAS, LARGEST_BIAS)))
        .collect();
    let mut shares: Vec<f64> = heights
        .iter()
        .map(|h| SHARES[0] * (h - log_total).exp() + SHARES[1] / best.len() as f64)
        .collect();
    biases.push(Array1::zeros(large.visible()));
    shares.push(SHARES[2]);
    let hidden = large.hidden().div_ceil(10).min(MOST_FLIPS);
    Recipe {
        family: Family::Modes,
        path: Path::from_mixture(Cow::Owned(large.clone()), biases, &shares),
        flips: Flips { visible: 0, hidden },
        resamples: false,
        small_is_hidden: true,
    }
}

/// The means family (or its mean-field twin), from a start distribution of the visible layer.
pub(super) fn means_family(
    family: Family,
    model: &Rbm,
    start: &Start,
    small_is_hidden: bool,
) -> Recipe {
    Recipe {
        family,
        path: Path::new(Cow::Owned(model.clone()), start),
        flips: Flips::default(),
        resamples: false,
        small_is_hidden,
    }
}

/// The flips family; `small` has the smaller layer visible.
pub(super) fn flips_family(small: &Rbm) -> Recipe {
    let start = Start::uniform(small.visible());
    let visible = small.visible().div_ceil(10).clamp(2, MOST_FLIPS);
    Recipe {
        family: Family::Flips,
        path: Path::new(Cow::Owned(small.clone()), &start),
        flips: Flips { visible, hidden: 0 },
        resamples: true,
        small_is_hidden: false,
    }
}

/// What an annealer is made of.
pub(super) struct Recipe {
    pub(super) family: Family,
    pub(super) path: Path<'static>,
    pub(super) flips: Flips,
    pub(super) resamples: bool,
    pub(super) small_is_hidden: bool,
}
