//! The depth-first walk over the states of one job.

use super::lanes::{Block, Simd, WIDTH};
use super::scaled::{Scaled, ScaledSum};
use super::{Enumeration, REGISTER_BITS, REGISTERS, Scratch};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};

/// Exponents of a steep factor `E_j` are cut at +-120: its mantissa lies within 2^+-32 (62 weights, a
/// bias and a half bit each), so that beyond the cut `1 + E_j` equals 1 or `E_j` to the last bit.
const STEEP_EXPONENT: f64 = 120.0;
/// Steep columns between splits: the product stays below 2 * 2^(6 * 153).
const STEEP_RUN: usize = 6;
/// How far a new reference exponent lies above the term that demanded it, to make that rare.
const HEADROOM: f64 = 64.0;
/// Terms enter the sum scaled by no less than 2^-900: negligible there, and never subnormal (slow).
const NEGLIGIBLE: f64 = -900.0;

/// [`walk`] with AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
pub(super) fn walk_avx512(
    simd: Avx512,
    e: &Enumeration,
    job: u64,
    scratch: &mut Scratch,
) -> Scaled {
    walk(simd, e, job, scratch)
}

/// [`walk`] with AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn walk_avx2(simd: Avx2, e: &Enumeration, job: u64, scratch: &mut Scratch) -> Scaled {
    walk(simd, e, job, scratch)
}

/// The sum over the states of one job.
///
/// The levels are a binary counter: step k sets the bit of its trailing zeros in a node whose lower
/// bits are clear, which is the one made when the next higher bit was set.
#[inline(always)]
pub(super) fn walk<S: Simd>(simd: S, e: &Enumeration, job: u64, scratch: &mut Scratch) -> Scaled {
    let blocks = e.root.len();
    let Scratch { nodes, biases } = scratch;
    let root = e.levels;
    biases[root] = Scaled::ONE;
    let mut start = e.root.clone();
    for k in (0..e.job_bits).filter(|k| job >> k & 1 == 1).map(|k| e.levels + k) {
        apply(e, k, &start.clone(), &mut start);
        biases[root] = biases[root].times(e.biases[k]);
    }
    nodes[root * blocks..].copy_from_slice(&start);

    let mut sum = LaneSums::default();
    for step in 0..1u64 << e.levels {
        let slot_of = |bits: u64| if bits == 0 { root } else { bits.trailing_zeros() as usize };
        let slot = slot_of(step);
        if step > 0 {
            let from = slot_of(step & (step - 1));
            let (lower, upper) = nodes.split_at_mut(from * blocks);
            apply(e, slot, &upper[..blocks], &mut lower[slot * blocks..][..blocks]);
            biases[slot] = biases[from].times(e.biases[slot]);
        }
        let node = &nodes[slot * blocks..][..blocks];
        for part in 0..WIDTH / S::LANES {
            leaf(simd, e, node, biases[slot], part, &mut sum);
        }
    }
    sum.total()
}

/// Sets bit `LEAF_BITS + k` of a node.
#[inline(always)]
fn apply(e: &Enumeration, k: usize, from: &[Block], to: &mut [Block]) {
    let products = e.columns.smooth_blocks() + e.columns.steep_blocks();
    let row = &e.rows[k];
    for (to, (from, row)) in to.iter_mut().zip(from.iter().zip(row)).take(products) {
        *to = Block(std::array::from_fn(|i| from.0[i] * row.0[i]));
    }
    for (to, (from, row)) in to.iter_mut().zip(from.iter().zip(row)).skip(products) {
        *to = Block(std::array::from_fn(|i| from.0[i] + row.0[i]));
    }
}

/// Adds the 64 states below a node.
#[inline(always)]
fn leaf<S: Simd>(
    simd: S,
    e: &Enumeration,
    node: &[Block],
    bias: Scaled,
    part: usize,
    sum: &mut LaneSums,
) {
    let mut product = [simd.splat(1.0); REGISTERS];
    let mut exponent = [simd.splat(0.0); REGISTERS];
    multiply_smooth(simd, e, node, part, &mut product, &mut exponent);
    if !e.columns.steep.is_empty() {
        multiply_steep(simd, e, node, part, &mut product, &mut exponent);
    }

    let (bias_mantissa, bias_exponent) = (simd.splat(bias.mantissa), simd.splat(bias.exponent));
    let mut lanes = sum.load(simd, part);
    for r in 0..REGISTERS {
        let mantissa = simd.mul(bias_mantissa, simd.load(&e.leaf.bias_mantissas[r], part));
        let bias = simd.add(bias_exponent, simd.load(&e.leaf.bias_exponents[r], part));
        lanes.add(simd, simd.mul(product[r], mantissa), simd.add(exponent[r], bias));
    }
    sum.store(simd, lanes, part);
}

/// Multiplies `1 + E_j` of the smooth columns into the states.
#[inline(always)]
fn multiply_smooth<S: Simd>(
    simd: S,
    e: &Enumeration,
    node: &[Block],
    part: usize,
    product: &mut [S::V; REGISTERS],
    exponent: &mut [S::V; REGISTERS],
) {
    let inputs = &Block::flatten(node)[..e.columns.smooth.len()];
    let mut begin = 0;
    for &end in &e.columns.run_ends {
        let columns = inputs[begin..end].iter().zip(&e.leaf.smooth_lanes[begin..end]);
        for ((&input, lanes), bits) in columns.zip(&e.leaf.smooth_registers[begin..end]) {
            let x = products(simd, simd.mul(simd.splat(input), simd.load(lanes, part)), *bits);
            for r in 0..REGISTERS {
                product[r] = simd.mul_add(product[r], x[r], product[r]);
            }
        }
        split(simd, product, exponent);
        begin = end;
    }
}

/// Multiplies `1 + E_j` of the steep columns into the states.
#[inline(always)]
fn multiply_steep<S: Simd>(
    simd: S,
    e: &Enumeration,
    node: &[Block],
    part: usize,
    product: &mut [S::V; REGISTERS],
    exponent: &mut [S::V; REGISTERS],
) {
    let (_, steep) = node.split_at(e.columns.smooth_blocks());
    let (mantissas, exponents) = steep.split_at(e.columns.steep_blocks());
    let inputs = Block::flatten(mantissas).iter().zip(Block::flatten(exponents));
    let (cut, minus_cut) = (simd.splat(STEEP_EXPONENT), simd.splat(-STEEP_EXPONENT));
    for (j, (column, (&m, &k))) in e.leaf.steep.iter().zip(inputs).enumerate() {
        let m = simd.mul(simd.splat(m), simd.load(&column.lane_mantissas, part));
        let k = simd.add(simd.splat(k), simd.load(&column.lane_exponents, part));
        let m = products(simd, m, column.registers.map(|f| f.mantissa));
        let k = sums(simd, k, column.registers.map(|f| f.exponent));
        for r in 0..REGISTERS {
            let kept = simd.min(k[r], cut);
            exponent[r] = simd.add(exponent[r], simd.sub(k[r], kept));
            let x = simd.scale(m[r], simd.max(kept, minus_cut));
            product[r] = simd.mul_add(product[r], x, product[r]);
        }
        if j % STEEP_RUN == STEEP_RUN - 1 {
            split(simd, product, exponent);
        }
    }
    split(simd, product, exponent);
}

/// x times the factors of the register bits that are set in r, for every r.
#[inline(always)]
fn products<S: Simd>(simd: S, x: S::V, bits: [f64; REGISTER_BITS]) -> [S::V; REGISTERS] {
    let (f, g, h) = (simd.splat(bits[0]), simd.splat(bits[1]), simd.splat(bits[2]));
    let (x1, x2) = (simd.mul(x, f), simd.mul(x, g));
    let x3 = simd.mul(x1, g);
    [x, x1, x2, x3, simd.mul(x, h), simd.mul(x1, h), simd.mul(x2, h), simd.mul(x3, h)]
}

/// x plus the terms of the register bits that are set in r, for every r.
#[inline(always)]
fn sums<S: Simd>(simd: S, x: S::V, bits: [f64; REGISTER_BITS]) -> [S::V; REGISTERS] {
    let (f, g, h) = (simd.splat(bits[0]), simd.splat(bits[1]), simd.splat(bits[2]));
    let (x1, x2) = (simd.add(x, f), simd.add(x, g));
    let x3 = simd.add(x1, g);
    [x, x1, x2, x3, simd.add(x, h), simd.add(x1, h), simd.add(x2, h), simd.add(x3, h)]
}

/// Moves the powers of two of the products into the exponents.
#[inline(always)]
fn split<S: Simd>(simd: S, product: &mut [S::V; REGISTERS], exponent: &mut [S::V; REGISTERS]) {
    for r in 0..REGISTERS {
        exponent[r] = simd.add(exponent[r], simd.exponent(product[r]));
        product[r] = simd.mantissa(product[r]);
    }
}

/// A sum for each lane, of terms relative to 2^reference.
struct LaneSums {
    sums: Block,
    references: Block,
}

/// Some lanes of [`LaneSums`] in registers.
struct Lanes<V> {
    sum: V,
    reference: V,
}

impl LaneSums {
    #[inline(always)]
    fn load<S: Simd>(&self, simd: S, part: usize) -> Lanes<S::V> {
        Lanes { sum: simd.load(&self.sums, part), reference: simd.load(&self.references, part) }
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, simd: S, lanes: Lanes<S::V>, part: usize) {
        simd.store(lanes.sum, &mut self.sums, part);
        simd.store(lanes.reference, &mut self.references, part);
    }

    /// The sum over the lanes, normalised because the references depend on the lanes in a register.
    fn total(&self) -> Scaled {
        let mut total = ScaledSum::default();
        for (&mantissa, &exponent) in self.sums.0.iter().zip(&self.references.0) {
            total.add(Scaled { mantissa, exponent });
        }
        total.total().normalized()
    }
}

impl Default for LaneSums {
    fn default() -> Self {
        Self { sums: Block::splat(0.0), references: Block::splat(f64::NEG_INFINITY) }
    }
}

impl<V: Copy> Lanes<V> {
    #[inline(always)]
    fn add<S: Simd<V = V>>(&mut self, simd: S, mantissa: V, exponent: V) {
        let negligible = simd.splat(NEGLIGIBLE);
        if simd.any_greater(exponent, self.reference) {
            let raised = simd.max(self.reference, simd.add(exponent, simd.splat(HEADROOM)));
            let change = simd.max(simd.sub(self.reference, raised), negligible);
            self.sum = simd.scale(self.sum, change);
            self.reference = raised;
        }
        let relative = simd.max(simd.sub(exponent, self.reference), negligible);
        self.sum = simd.add(self.sum, simd.scale(mantissa, relative));
    }
}
