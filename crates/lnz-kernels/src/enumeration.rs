//! The sum over all states of one layer, the other layer summed analytically.
//!
//! With n enumerated units x (bias b) and m summed units (bias c),
//! `Z = sum_x e^(b.x) prod_j (1 + E_j(x))` with `E_j = e^(c_j + sum_i x_i W_ij)`.
//! A depth-first walk over the bits of x turns the exponentials into products: setting bit i multiplies
//! E by row i of e^W. Each node of the walk is the root of 64 states (a *leaf*), which cost two
//! instructions per unit and eight states: `X = E G`, `P = P X + P`.
//!
//! | bits of x | place |
//! |---|---|
//! | 0..3 | lane of a vector |
//! | 3..6 | register |
//! | 6..6+levels | depth of the walk |
//! | the rest | job: one piece of work for one thread |

mod columns;
mod lanes;
mod scaled;
#[cfg(test)]
mod tests;
mod walk;

use crate::math::exp;
use crate::simd::{Level, Portable};
use columns::Columns;
use lanes::{Block, WIDTH};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, s};
pub use scaled::{Scaled, ScaledSum};
use std::sync::OnceLock;
use std::time::Instant;

/// The largest layer that can be enumerated at all: 2^62 states take millennia.
pub const MAX_UNITS: usize = 62;

/// Bits of the state within a leaf.
const LEAF_BITS: usize = 6;
const LANE_BITS: usize = 3;
const REGISTER_BITS: usize = LEAF_BITS - LANE_BITS;
const REGISTERS: usize = 1 << REGISTER_BITS;

/// Work of a job, as states times units: well under a millisecond with vectors, so that cancelling is
/// prompt, and long enough to hide the cost of its start.
const JOB_WORK: usize = 1 << 22;

/// A layer prepared for enumeration: factors instead of weights, and the split into jobs.
///
/// The split depends on the shape of the model alone, never on the machine.
pub struct Enumeration {
    /// Bits decided within a job, above the leaf.
    levels: usize,
    /// Bits that select the job.
    job_bits: usize,
    columns: Columns,
    /// The node of state 0.
    root: Vec<Block>,
    /// What setting bit `LEAF_BITS + k` does to a node, for every k.
    rows: Vec<Vec<Block>>,
    /// e^b of the same bits.
    biases: Vec<Scaled>,
    leaf: Leaf,
    level: Level,
}

/// Factors of the bits within a leaf.
struct Leaf {
    /// For each smooth column, the factor of every lane.
    smooth_lanes: Vec<Block>,
    /// For each smooth column, the factors of the register bits.
    smooth_registers: Vec<[f64; REGISTER_BITS]>,
    steep: Vec<SteepLeaf>,
    /// e^(b.x) of the bits within the leaf; its mantissa is 0 where a bit has no unit.
    bias_mantissas: [Block; REGISTERS],
    bias_exponents: [Block; REGISTERS],
}

/// Factors of the bits within a leaf for one steep column.
struct SteepLeaf {
    lane_mantissas: Block,
    lane_exponents: Block,
    registers: [Scaled; REGISTER_BITS],
}

/// Memory of a walk, reused from job to job.
pub struct Scratch {
    nodes: Vec<Block>,
    biases: Vec<Scaled>,
}

impl Enumeration {
    /// Prepares the sum over the states of the units that are the rows of `weights`.
    ///
    /// There must be at least one row and at most [`MAX_UNITS`].
    pub fn new(
        weights: ArrayView2<'_, f64>,
        row_bias: ArrayView1<'_, f64>,
        column_bias: ArrayView1<'_, f64>,
    ) -> Self {
        let (units, summed) = weights.dim();
        assert!((1..=MAX_UNITS).contains(&units), "{units} units to enumerate");
        let columns = Columns::of(weights, column_bias);
        let above_leaf = units.saturating_sub(LEAF_BITS);
        let job_size = (JOB_WORK / (summed + WIDTH)).max(1).ilog2() as usize;
        let levels = job_size.saturating_sub(LEAF_BITS).min(above_leaf);
        let rows = weights.rows().into_iter().skip(LEAF_BITS).map(|row| columns.node(row));
        Self {
            levels,
            job_bits: above_leaf - levels,
            root: columns.node(column_bias),
            rows: rows.collect(),
            biases: row_bias.iter().skip(LEAF_BITS).map(|&b| Scaled::exp(b)).collect(),
            leaf: Leaf::new(weights, row_bias, &columns),
            columns,
            level: Level::detect(),
        }
    }

    /// Independent pieces of the sum; their results are added in order.
    pub fn jobs(&self) -> u64 {
        1 << self.job_bits
    }

    /// Memory for [`Enumeration::sum_of_job`].
    pub fn scratch(&self) -> Scratch {
        let slots = self.levels + 1;
        Scratch {
            nodes: vec![Block::splat(0.0); slots * self.columns.node_blocks()],
            biases: vec![Scaled::ONE; slots],
        }
    }

    /// The sum over the states of one job: the same bits on every machine.
    pub fn sum_of_job(&self, job: u64, scratch: &mut Scratch) -> Scaled {
        match self.level {
            Level::Portable => walk::walk(Portable, self, job, scratch),
            // SAFETY: an `Avx2` or `Avx512` exists only on machines that have these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(simd) => unsafe { walk::walk_avx2(simd, self, job, scratch) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(simd) => unsafe { walk::walk_avx512(simd, self, job, scratch) },
        }
    }
}

/// Cost of one state of the row units, in units that are about the same time for every model.
pub fn work_per_state(weights: ArrayView2<'_, f64>, column_bias: ArrayView1<'_, f64>) -> f64 {
    Columns::of(weights, column_bias).work_per_state()
}

impl Leaf {
    fn new(weights: ArrayView2<'_, f64>, row_bias: ArrayView1<'_, f64>, columns: &Columns) -> Self {
        let units = weights.nrows();
        let weight = |bit: usize, j: usize| if bit < units { weights[[bit, j]] } else { 0.0 };
        let lane_sum = |lane: usize, j: usize| -> f64 {
            (0..LANE_BITS).filter(|bit| lane >> bit & 1 == 1).map(|bit| weight(bit, j)).sum()
        };
        let block = |value: &dyn Fn(usize) -> f64| Block(std::array::from_fn(value));
        let registers = |j: usize| std::array::from_fn(|k| weight(LANE_BITS + k, j));
        let steep = |&j: &usize| {
            // Factor by factor: a sum of weights of 1e6 has lost digits that its exponential needs.
            let lanes: [Scaled; WIDTH] = std::array::from_fn(|lane| {
                (0..LANE_BITS)
                    .filter(|bit| lane >> bit & 1 == 1)
                    .fold(Scaled::ONE, |product, bit| product.times(Scaled::exp(weight(bit, j))))
            });
            SteepLeaf {
                lane_mantissas: block(&|lane| lanes[lane].mantissa),
                lane_exponents: block(&|lane| lanes[lane].exponent),
                registers: registers(j).map(Scaled::exp),
            }
        };
        let bias = |state: usize| {
            let set = (0..LEAF_BITS.min(units)).filter(|bit| state >> bit & 1 == 1);
            let value = set.fold(Scaled::ONE, |p, bit| p.times(Scaled::exp(row_bias[bit])));
            let exists = state >> LEAF_BITS.min(units) == 0;
            Scaled { mantissa: if exists { value.mantissa } else { 0.0 }, ..value }
        };
        let biases = |part: fn(Scaled) -> f64| {
            std::array::from_fn(|r| block(&|lane| part(bias(r * WIDTH + lane))))
        };
        Self {
            smooth_lanes: (columns.smooth.iter())
                .map(|&j| block(&|lane| exp(lane_sum(lane, j))))
                .collect(),
            smooth_registers: (columns.smooth.iter()).map(|&j| registers(j).map(exp)).collect(),
            steep: columns.steep.iter().map(steep).collect(),
            bias_mantissas: biases(|b| b.mantissa),
            bias_exponents: biases(|b| b.exponent),
        }
    }
}

/// Work per second on one thread of this machine, measured once.
pub fn measured_rate() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let weights = Array2::from_elem((12, 256), 0.01);
        let biases = Array1::zeros(256);
        let sum = Enumeration::new(weights.view(), biases.slice(s![..12]), biases.view());
        let mut scratch = sum.scratch();
        let mut seconds = || {
            let start = Instant::now();
            std::hint::black_box(sum.sum_of_job(0, &mut scratch));
            start.elapsed().as_secs_f64()
        };
        // The fastest of a few: the first ones wake the vector units, others may be interrupted.
        let fastest = (0..5).map(|_| seconds()).fold(f64::INFINITY, f64::min).max(1e-9);
        f64::from(1 << 12) * sum.columns.work_per_state() / fastest
    })
}
