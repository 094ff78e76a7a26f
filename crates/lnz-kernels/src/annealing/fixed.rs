//! Fixed-point weights, cut into tiles of output units.

use crate::Parameters;
use crate::aligned::{Aligned, Plain};
use crate::simd::Simd;
use ndarray::{ArrayView1, ArrayView2, s};
use rayon::prelude::*;

/// A number whose rows are added up: `i16`, `i32` or `f32`.
pub trait Summed: Plain + Send + Sync {
    /// Numbers in a row of 64 bytes.
    const PER_ROW: usize;

    fn add<S: Simd>(simd: S, a: S::Row, b: S::Row) -> S::Row;
}

/// The integer that holds a weight: `i16` or `i32`.
pub trait Fixed: Summed {
    /// Largest sum of weights that may occur.
    const LARGEST: f64;

    fn from_rounded(value: f64) -> Self;
    fn to_f32(self) -> f32;

    /// Sixteen integers as float32.
    fn load<S: Simd>(simd: S, from: &[Self; 16]) -> S::F;
    fn sub<S: Simd>(simd: S, a: S::Row, b: S::Row) -> S::Row;
}

macro_rules! summed {
    ($number:ty, $per_row:expr, $add:ident) => {
        impl Summed for $number {
            const PER_ROW: usize = $per_row;
            #[inline(always)]
            fn add<S: Simd>(simd: S, a: S::Row, b: S::Row) -> S::Row {
                simd.$add(a, b)
            }
        }
    };
}
summed!(i16, 32, add_i16);
summed!(i32, 16, add_i32);
summed!(f32, 16, add_f32);

macro_rules! fixed {
    ($integer:ty, $largest:expr, $load:ident, $sub:ident) => {
        impl Fixed for $integer {
            const LARGEST: f64 = $largest;
            fn from_rounded(value: f64) -> Self {
                rounded(value) as Self
            }
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn load<S: Simd>(simd: S, from: &[Self; 16]) -> S::F {
                simd.$load(from)
            }
            #[inline(always)]
            fn sub<S: Simd>(simd: S, a: S::Row, b: S::Row) -> S::Row {
                simd.$sub(a, b)
            }
        }
    };
}
fixed!(i16, 32_767.0, load_i16, sub_i16);
// Sums of at most 2^30: their conversion to f32 cannot overflow, and differences fit too.
fixed!(i32, 1_073_741_824.0, load_i32, sub_i32);

/// Rounds half away from zero, as `f64::round` does, in a way that vectors can; up to 2^31.
#[inline(always)]
fn rounded(value: f64) -> i32 {
    // The float64 before 1/2: with 1/2 itself, what is just below it would be rounded up.
    const HALF: f64 = 0.499_999_999_999_999_94;
    (value + HALF.copysign(value)) as i32
}

/// A group of output units that are summed together: one or two rows of 64 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile {
    /// Index of its first unit.
    pub(crate) first: usize,
    /// How many of its lanes are units of the model.
    pub(crate) units: usize,
    /// Rows of 64 bytes: 1 or 2.
    pub(crate) rows: usize,
    /// Where its weights start: `inputs` times `rows` rows.
    pub(crate) offset: usize,
}

/// The weights from `inputs` units to `outputs` units, tile after tile, input after input.
pub(crate) struct Layer<T: Fixed> {
    pub(crate) inputs: usize,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) weights: Aligned<T>,
}

impl<T: Fixed> Layer<T> {
    pub(crate) fn new(weights: ArrayView2<'_, f64>, step: f64) -> Self {
        let (inputs, outputs) = weights.dim();
        let mut tiles = Vec::new();
        let (mut first, mut offset) = (0, 0);
        while first < outputs {
            let left = outputs - first;
            let rows = if left > T::PER_ROW { 2 } else { 1 };
            let units = left.min(rows * T::PER_ROW);
            tiles.push(Tile { first, units, rows, offset });
            first += units;
            offset += inputs * rows * T::PER_ROW;
        }
        let mut layer = Self { inputs, tiles, weights: Aligned::zeroed(offset) };
        // Only the last tile may have one row.
        let largest = (inputs * 2 * T::PER_ROW).max(1);
        let parts = layer.weights.par_chunks_mut(largest).zip(&layer.tiles);
        parts.for_each(|(part, tile)| {
            let columns = tile.first..tile.first + tile.units;
            let rows = part.chunks_exact_mut(tile.rows * T::PER_ROW);
            for (row, weights) in rows.zip(weights.slice(s![.., columns]).rows()) {
                for (value, weight) in row.iter_mut().zip(weights) {
                    *value = T::from_rounded(weight / step);
                }
            }
        });
        layer
    }

    /// Width of all tiles together.
    pub(crate) fn lanes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.rows * T::PER_ROW).sum()
    }
}

/// A model on a grid: weights are multiples of `step`.
pub struct FixedModel<T: Fixed> {
    pub(crate) step: f32,
    /// From visible to hidden units, and back.
    pub(crate) to_hidden: Layer<T>,
    pub(crate) to_visible: Layer<T>,
    pub(crate) visible_bias: Vec<f32>,
    pub(crate) hidden_bias: Vec<f32>,
}

/// How well a grid of 2^16 or 2^32 points holds the weights of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution {
    /// Distance between neighbouring values.
    pub step: f64,
    /// Predicted standard deviation that rounding adds to log w. The rounding errors of the weights
    /// between units that are on (half of each layer) add up like independent numbers; where weights are
    /// equal they are not, and what they add up to in rows and columns counts as well.
    pub noise: f64,
}

/// 16-bit weights are too coarse when the prediction exceeds this. Where it is 0.35, on a trained model
/// of 784 x 500 units, rounding spreads log w by 0.09: fewer than half of the units are on.
const MOST_NOISE: f64 = 0.5;

/// Sums of weights and biases beyond this are left to float64: float32 ends at 3e38.
const MOST_INPUT: f64 = 1e30;

impl Resolution {
    /// Rounding hardly adds to the spread of log w.
    pub fn is_fine(&self) -> bool {
        self.noise <= MOST_NOISE
    }

    /// The finest grid on which no sum of weights into a unit can overflow; `None` if such a sum or a
    /// bias comes near the limit of float32, so that inputs could become infinite.
    pub fn of<'m, T: Fixed>(model: impl Into<Parameters<'m>>) -> Option<Self> {
        let model = model.into();
        let weights = model.weights;
        // The sums of positive and of negative weights, of each row and of each column.
        let mut columns = vec![[0.0, 0.0]; weights.ncols()];
        let mut largest = 0f64;
        for weights in weights.rows() {
            let mut row = [0.0, 0.0];
            for (&w, column) in weights.iter().zip(&mut columns) {
                let signed = [w.max(0.0), (-w).max(0.0)];
                for k in 0..2 {
                    row[k] += signed[k];
                    column[k] += signed[k];
                }
            }
            largest = largest.max(row[0]).max(row[1]);
        }
        let largest = columns.into_iter().flatten().fold(largest, f64::max);
        let biases = model.visible_bias.into_iter().chain(model.hidden_bias);
        if biases.fold(largest, |most, b| most.max(b.abs())) > MOST_INPUT {
            return None;
        }
        // Rounding moves a sum of n weights by at most n / 2 steps.
        let room = T::LARGEST - weights.nrows().max(weights.ncols()) as f64 / 2.0;
        if room < 1.0 {
            return None;
        }
        // The step must be a float32, rounded up.
        let step = if largest == 0.0 { 1.0f32 } else { (largest / room) as f32 };
        let step = f64::from(step.next_up().max(f32::MIN_POSITIVE));
        let on = weights.len() as f64 / 4.0;
        let noise = (step * (on / 12.0).sqrt()).max(coherent_noise(weights, step));
        Some(Self { step, noise })
    }
}

/// What rounding errors d_ij add to log w if they do not cancel: for independent units, each on with
/// probability 1/2, the variance of `sum x_i h_j d_ij` is a sixteenth of the squares of the sums of rows
/// and columns, besides that of the single errors.
fn coherent_noise(weights: ArrayView2<'_, f64>, step: f64) -> f64 {
    let mut columns = vec![0.0; weights.ncols()];
    let mut squares = 0.0;
    for weights in weights.rows() {
        let mut row = 0.0;
        for (w, column) in weights.iter().zip(&mut columns) {
            let error = f64::from(rounded(w / step)) * step - w;
            row += error;
            *column += error;
        }
        squares += row * row;
    }
    squares += columns.iter().map(|column| column * column).sum::<f64>();
    (squares / 16.0).sqrt()
}

impl<T: Fixed> FixedModel<T> {
    pub fn new<'m>(model: impl Into<Parameters<'m>>, resolution: Resolution) -> Self {
        let model = model.into();
        let as_f32 = |values: ArrayView1<'_, f64>| values.iter().map(|&v| v as f32).collect();
        Self {
            step: resolution.step as f32,
            to_hidden: Layer::new(model.weights, resolution.step),
            to_visible: Layer::new(model.weights.t(), resolution.step),
            visible_bias: as_f32(model.visible_bias),
            hidden_bias: as_f32(model.hidden_bias),
        }
    }

    /// c, padded to whole tiles.
    pub(crate) fn padded_hidden_bias(&self) -> Aligned<f32> {
        let mut padded = Aligned::zeroed(self.hidden_bias.len().next_multiple_of(64));
        padded[..self.hidden_bias.len()].copy_from_slice(&self.hidden_bias);
        padded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        let halves = (0..100).map(|k| f64::from(k) / 2.0);
        let around = halves.flat_map(|half| [half.next_down(), half, half.next_up()]);
        let large = [f64::from(i16::MAX), 32_766.5, 1_073_741_823.5, 1_073_741_824.0, 1e-310];
        for value in around.chain(large) {
            for value in [value, -value] {
                assert_eq!(f64::from(rounded(value)), value.round(), "{value:e}");
            }
        }
    }
}
