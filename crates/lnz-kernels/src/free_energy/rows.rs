//! The log marginal F(x) of many rows of data at once, in float64.
//!
//! As for a single state, plain loops compiled for each instruction set: every sum runs over the units in
//! their order, so that the bits depend neither on the instruction set nor on how rows are grouped.

use crate::Parameters;
use crate::free_energy::softplus::{NOTHING, sum_of_softplus};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::stop::{Stop, StopRule};
use ndarray::s;
use rayon::prelude::*;

/// F(x) = b.x + sum_j softplus(a_j(x)) + constant, for rows of values between 0 and 1.
pub struct Marginals {
    visible: usize,
    visible_bias: Vec<f64>,
    constant: f64,
    /// Hidden biases, padded to whole tiles with values whose softplus is zero.
    hidden_bias: Vec<f64>,
    /// Columns of W in tiles: `[tile][visible unit][TILE]`, padded with zeros.
    weights: Vec<f64>,
    level: Level,
}

/// Hidden units whose inputs are summed in registers. At 784 visible units a tile of weights takes
/// 200 KB, which the second-level cache holds while a group of rows passes over it.
const TILE: usize = 32;

/// Rows that pass over a tile together; also the piece of work of one thread.
pub const GROUP_OF_ROWS: usize = 32;

impl Marginals {
    pub fn new<'m>(model: impl Into<Parameters<'m>>) -> Self {
        let model = model.into();
        let (visible, hidden) = model.weights.dim();
        let width = hidden.next_multiple_of(TILE);
        let mut weights = vec![0.0; visible * width];
        weights.par_chunks_mut((visible * TILE).max(1)).enumerate().for_each(|(tile, part)| {
            let columns = tile * TILE..((tile + 1) * TILE).min(hidden);
            let rows = model.weights.slice(s![.., columns]);
            for (to, from) in part.chunks_exact_mut(TILE).zip(rows.rows()) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        });
        let mut hidden_bias = model.hidden_bias.to_vec();
        hidden_bias.resize(width, NOTHING);
        Self {
            visible,
            visible_bias: model.visible_bias.to_vec(),
            constant: model.constant,
            hidden_bias,
            weights,
            level: Level::detect(),
        }
    }

    /// F of each row; `rows` has them one after the other.
    pub fn of_rows(&self, rows: &[f64], out: &mut [f64]) {
        self.of_rows_until(Box::new(|| false), rows, out);
    }

    /// The same; false if the rule said stop before the end.
    pub fn of_rows_until(&self, rule: StopRule<'_>, rows: &[f64], out: &mut [f64]) -> bool {
        debug_assert_eq!(rows.len(), out.len() * self.visible);
        let mut stop = Stop::by(rule);
        dispatch(self.level, MarginalKernel { of: self, rows, out, stop: &mut stop });
        !stop.has_stopped()
    }
}

struct MarginalKernel<'a, 's> {
    of: &'a Marginals,
    rows: &'a [f64],
    out: &'a mut [f64],
    stop: &'a mut Stop<'s>,
}

impl Kernel for MarginalKernel<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let of = self.of;
        let width = of.hidden_bias.len();
        // Units that are off, most of them in sparse data, are left out once for all tiles.
        let active: Vec<Vec<(usize, f64)>> = self
            .rows
            .chunks_exact(of.visible)
            .map(|row| row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect())
            .collect();
        let mut inputs = vec![0.0; active.len() * width];
        let tiles = of.weights.chunks_exact(of.visible * TILE);
        for (tile, weights) in tiles.enumerate() {
            let columns = tile * TILE..(tile + 1) * TILE;
            if self.stop.before(active.iter().map(Vec::len).sum()) {
                return;
            }
            for (row, active) in active.iter().enumerate() {
                let mut sums = [0.0; TILE];
                sums.copy_from_slice(&of.hidden_bias[columns.clone()]);
                for &(i, x) in active {
                    let weights = &weights[i * TILE..(i + 1) * TILE];
                    for k in 0..TILE {
                        sums[k] += x * weights[k];
                    }
                }
                inputs[row * width..][columns.clone()].copy_from_slice(&sums);
            }
        }
        for (row, (active, out)) in active.iter().zip(self.out).enumerate() {
            let linear: f64 = active.iter().map(|&(i, x)| x * of.visible_bias[i]).sum();
            let inputs = &inputs[row * width..(row + 1) * width];
            *out = of.constant + linear + sum_of_softplus(inputs, inputs, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Random};
    use crate::test_model::Rbm;
    use ndarray::Array2;

    /// Zeros, ones and grey values.
    fn rows(count: usize, visible: usize) -> Array2<f64> {
        let mut random = Random::stream(2, Purpose::Model, 7);
        Array2::from_shape_simple_fn((count, visible), || match random.below(3) {
            0 => 0.0,
            1 => 1.0,
            _ => random.uniform(),
        })
    }

    fn shapes() -> [(usize, usize); 7] {
        [(1, 1), (4, 0), (7, 31), (20, 32), (20, 33), (65, 180), (784, 20)]
    }

    #[test]
    fn rows_have_the_log_marginal_of_their_readable_twin() {
        for (visible, hidden) in shapes() {
            let model = Rbm::hard(visible, hidden, 1).with_constant(-2.5);
            let rows = rows(5, visible);
            let mut found = [0.0; 5];
            Marginals::new(&model).of_rows(rows.as_slice().unwrap(), &mut found);
            // Terms of both signs up to the sum of absolute weights are rounded on the way.
            let size: f64 = model.weights().iter().map(|w| w.abs()).sum();
            for (row, found) in rows.rows().into_iter().zip(found) {
                let expected = model.log_marginal(row);
                let bound = f64::EPSILON * (visible + hidden) as f64 * (size + 10.0);
                assert!((found - expected).abs() <= bound, "{visible} x {hidden}: {found}");
            }
        }
    }

    #[test]
    fn neither_the_instruction_set_nor_the_group_changes_a_bit() {
        for (visible, hidden) in shapes() {
            let model = Rbm::hard(visible, hidden, 3);
            let rows = rows(9, visible);
            let rows = rows.as_slice().unwrap();
            let mut together = [0.0; 9];
            Marginals::new(&model).of_rows(rows, &mut together);
            for level in Level::available() {
                let marginals = Marginals { level, ..Marginals::new(&model) };
                for (row, &expected) in rows.chunks_exact(visible).zip(&together) {
                    let mut alone = [0.0];
                    marginals.of_rows(row, &mut alone);
                    assert_eq!(alone[0].to_bits(), expected.to_bits(), "{level:?}");
                }
            }
        }
    }
}
