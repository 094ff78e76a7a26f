//! Which summed units can be multiplied in plain float64, by rigorous bounds on their input.

use super::LANE_BITS;
use super::lanes::{Block, WIDTH};
use super::scaled::Scaled;
use crate::math::{exp, softplus};
use ndarray::{ArrayView1, ArrayView2};

/// e^x and products of it stay normal numbers while |x| is below this (float64 ends at 708.4).
const SAFE: f64 = 700.0;

/// The summed units, sorted by how their factors must be represented.
///
/// `a_j(x)` lies in `[c_j + sum of negative W_ij, c_j + sum of positive W_ij]`, and every partial sum on
/// the way to a state is `a_j` of another state. So where this interval and the single steps fit into
/// +-700, `E_j` never leaves the normal numbers, whatever the order of the products.
pub(super) struct Columns {
    /// Units whose `E_j` is a float64 throughout.
    pub(super) smooth: Vec<usize>,
    /// Ends of runs of smooth units whose product of `1 + E_j` cannot overflow.
    pub(super) run_ends: Vec<usize>,
    /// All others; their `E_j` is kept as mantissa and exponent.
    pub(super) steep: Vec<usize>,
}

impl Columns {
    pub(super) fn of(weights: ArrayView2<'_, f64>, bias: ArrayView1<'_, f64>) -> Self {
        let (mut smooth, mut run_ends, mut steep) = (Vec::new(), Vec::new(), Vec::new());
        let mut log_product = 0.0;
        for (j, (column, &bias)) in weights.columns().into_iter().zip(bias).enumerate() {
            let low = bias + column.iter().map(|w| w.min(0.0)).sum::<f64>();
            let high = bias + column.iter().map(|w| w.max(0.0)).sum::<f64>();
            // The lanes apply the first bits in one step, the walk all others one by one.
            let lanes: f64 = column.iter().take(LANE_BITS).map(|w| w.abs()).sum();
            let step = column.iter().fold(lanes, |step, w| step.max(w.abs()));
            if low < -SAFE || high > SAFE || step > SAFE {
                steep.push(j);
                continue;
            }
            if log_product + softplus(high) > SAFE {
                run_ends.push(smooth.len());
                log_product = 0.0;
            }
            log_product += softplus(high);
            smooth.push(j);
        }
        run_ends.push(smooth.len());
        Self { smooth, run_ends, steep }
    }

    /// Blocks of the smooth units in a node; before its steep mantissas.
    pub(super) fn smooth_blocks(&self) -> usize {
        self.smooth.len().div_ceil(WIDTH)
    }

    /// Blocks of steep mantissas in a node, and of the exponents that follow.
    pub(super) fn steep_blocks(&self) -> usize {
        self.steep.len().div_ceil(WIDTH)
    }

    /// Blocks of a node.
    pub(super) fn node_blocks(&self) -> usize {
        self.smooth_blocks() + 2 * self.steep_blocks()
    }

    /// e^values as a node: smooth numbers, steep mantissas, steep exponents, each padded to blocks.
    pub(super) fn node(&self, values: ArrayView1<'_, f64>) -> Vec<Block> {
        let smooth = blocks(1.0, self.smooth.iter().map(|&j| exp(values[j])));
        let steep = || self.steep.iter().map(|&j| Scaled::exp(values[j]));
        let mantissas = blocks(1.0, steep().map(|e| e.mantissa));
        let exponents = blocks(0.0, steep().map(|e| e.exponent));
        [smooth, mantissas, exponents].concat()
    }

    /// Cost of a state in units of one smooth column, as measured (AVX2 and AVX-512 agree to 5%).
    pub(super) fn work_per_state(&self) -> f64 {
        let runs = self.run_ends.len();
        6.0 + self.smooth.len() as f64 + 1.5 * runs as f64 + 4.0 * self.steep.len() as f64
    }
}

fn blocks(padding: f64, values: impl ExactSizeIterator<Item = f64>) -> Vec<Block> {
    let mut blocks = vec![Block::splat(padding); values.len().div_ceil(WIDTH)];
    values.enumerate().for_each(|(j, value)| blocks[j / WIDTH].0[j % WIDTH] = value);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn only_bounded_columns_are_smooth() {
        let weights = array![[1.0, 300.0, 500.0, 1e6, 0.0], [-1.0, -300.0, 300.0, 1.0, 0.0]];
        let columns = Columns::of(weights.view(), array![0.0, 350.0, 0.0, 0.0, -1e4].view());
        assert_eq!((columns.smooth, columns.steep), (vec![0, 1], vec![2, 3, 4]));
        // Each product alone stays below e^700, the first two together do not.
        let columns = Columns::of(array![[400.0, 350.0, 2.0]].view(), array![0.0, 0.0, 0.0].view());
        assert_eq!(columns.run_ends, [1, 3]);
    }
}
