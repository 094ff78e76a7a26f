//! How each family is made: its start, its layer, its moves.

use super::annealer::Annealer;
use super::family::{Anneals, Family};
use crate::math::log_sum_exp;
use crate::{Rbm, Start};
use lnz_kernels::{Flips, GridModel, Landscape, Position};
use ndarray::Array1;

/// Modes in the mixture.
const COMPONENTS: usize = 16;
/// Largest |B| of a component.
const LARGEST_BIAS: f64 = 3.0;
/// Shares of the components: by weight, equal, and of the uniform component.
const SHARES: [f64; 3] = [0.5, 0.35, 0.15];
/// Flips per step at most: each costs as much as many units of a Gibbs step.
const MOST_FLIPS: usize = 6;

/// The modes family; `large` has the larger layer visible, `landscape` is of the smaller one.
pub(super) fn modes_family(
    large: &Rbm,
    landscape: &Landscape,
    modes: &[Position],
) -> Option<Box<dyn Anneals>> {
    let best = &modes[..modes.len().min(COMPONENTS)];
    let heights: Vec<f64> = best.iter().map(Position::height).collect();
    let log_total = log_sum_exp(&heights);
    let mut biases: Vec<Array1<f64>> = best
        .iter()
        .map(|m| landscape.inputs(m).mapv(|a| a.clamp(-LARGEST_BIAS, LARGEST_BIAS)))
        .collect();
    let mut shares: Vec<f64> = heights
        .iter()
        .map(|h| SHARES[0] * (h - log_total).exp() + SHARES[1] / best.len() as f64)
        .collect();
    biases.push(Array1::zeros(large.visible()));
    shares.push(SHARES[2]);
    let log_start = large.hidden() as f64 * std::f64::consts::LN_2 - (biases.len() as f64).ln();
    let hidden = large.hidden().div_ceil(10).min(MOST_FLIPS);
    annealer(Recipe {
        family: Family::Modes,
        model: large,
        start: None,
        mixture: Some((biases, shares)),
        log_start,
        flips: Flips { visible: 0, hidden },
        resamples: false,
        small_is_hidden: true,
    })
}

/// The means family (or its mean-field twin), from a start distribution of the visible layer.
pub(super) fn means_family(
    family: Family,
    model: &Rbm,
    start: &Start,
    small_is_hidden: bool,
) -> Option<Box<dyn Anneals>> {
    let start = start.as_float32();
    annealer(Recipe {
        family,
        model,
        log_start: start.log_z0(model.hidden()),
        start: Some(start.bias().clone()),
        mixture: None,
        flips: Flips::default(),
        resamples: false,
        small_is_hidden,
    })
}

/// The flips family; `small` has the smaller layer visible.
pub(super) fn flips_family(small: &Rbm) -> Option<Box<dyn Anneals>> {
    let start = Start::uniform(small.visible());
    let visible = small.visible().div_ceil(10).clamp(2, MOST_FLIPS);
    annealer(Recipe {
        family: Family::Flips,
        model: small,
        log_start: start.log_z0(small.hidden()),
        start: Some(start.bias().clone()),
        mixture: None,
        flips: Flips { visible, hidden: 0 },
        resamples: true,
        small_is_hidden: false,
    })
}

/// What an annealer is made of.
pub(super) struct Recipe<'a> {
    pub(super) family: Family,
    pub(super) model: &'a Rbm,
    pub(super) start: Option<Array1<f64>>,
    pub(super) mixture: Option<(Vec<Array1<f64>>, Vec<f64>)>,
    pub(super) log_start: f64,
    pub(super) flips: Flips,
    pub(super) resamples: bool,
    pub(super) small_is_hidden: bool,
}

/// On 16 bits where they are fine enough, else on 32; `None` beyond the range of float32.
fn annealer(recipe: Recipe<'_>) -> Option<Box<dyn Anneals>> {
    let grid = GridModel::on_16_bits(recipe.model).or_else(|| GridModel::on_32_bits(recipe.model));
    Some(Box::new(Annealer::new(recipe, grid?)))
}
