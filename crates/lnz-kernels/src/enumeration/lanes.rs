//! Vectors of float64 behind one trait: portable code, AVX2 with FMA, AVX-512.
//!
//! Every operation acts on each lane alone and rounds as IEEE 754 demands, so the implementations
//! give the same bits however many lanes they hold.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// Numbers in a [`Block`].
pub(super) const WIDTH: usize = 8;

/// Eight numbers in one cache line: one AVX-512 register, two of AVX2, four of NEON.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Block(pub(super) [f64; WIDTH]);

impl Block {
    pub(super) const fn splat(value: f64) -> Self {
        Self([value; WIDTH])
    }

    /// The numbers of several blocks in a row.
    #[inline(always)]
    pub(super) fn flatten(blocks: &[Block]) -> &[f64] {
        // SAFETY: `Block` is `repr(C)` around `[f64; 8]` and its alignment equals its size, so that
        // n blocks are 8 n consecutive, initialised numbers; the lifetime is that of `blocks`.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * WIDTH) }
    }
}

/// The operations of one instruction set; a value of the type proves that the machine has it.
pub(super) trait Simd: Copy {
    /// A vector.
    type V: Copy;
    /// Numbers in a vector; a divisor of [`WIDTH`].
    const LANES: usize;

    fn splat(self, value: f64) -> Self::V;
    /// Numbers `part * LANES ..` of the block.
    fn load(self, block: &Block, part: usize) -> Self::V;
    fn store(self, v: Self::V, block: &mut Block, part: usize);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b + c, rounded once.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// The m in [1, 2) of v = m 2^k, for normal positive v.
    fn mantissa(self, v: Self::V) -> Self::V;
    /// The k of v = m 2^k, for normal positive v.
    fn exponent(self, v: Self::V) -> Self::V;
    /// v 2^k, for whole numbers k in -1022 ..= 1023.
    fn scale(self, v: Self::V, k: Self::V) -> Self::V;
    /// Whether a > b in any lane.
    fn any_greater(self, a: Self::V, b: Self::V) -> bool;
}

/// Adding this to a whole number k in -1022 ..= 1023 leaves k + 1023 in the lowest bits: the exponent
/// field of 2^k, 52 places too low.
const TO_EXPONENT_FIELD: f64 = 6_755_399_441_055_744.0 + 1023.0;
const MANTISSA_BITS: u64 = (1 << 52) - 1;
