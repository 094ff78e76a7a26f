//! Interleaves the table look-ups of the next tile with the arithmetic of this one.
//!
//! Drawing a unit is a long chain of operations that wait for each other, and look-ups wait for loads.
//! In turns, a few of each, they share the ports of a core better than one after the other.

use crate::annealing::fixed::Fixed;
use crate::annealing::product::Scratch;
use crate::annealing::tables::{TABLES, Tables};
use crate::annealing::tile_product::TileProduct;
use crate::simd::{RowBytes, Simd};
use std::marker::PhantomData;

/// Work that is done between the stages of a draw.
pub(crate) trait Interleave<S: Simd> {
    /// Whether a draw takes all vectors of a tile together, operation by operation.
    const SIDE_BY_SIDE: bool;

    /// The part of the work that follows stage `stage` of `stages`, which computed `values`.
    fn after<const K: usize>(&mut self, stage: usize, stages: usize, values: [&mut [S::F]; K]);
}

/// No work.
impl<S: Simd> Interleave<S> for () {
    const SIDE_BY_SIDE: bool = false;

    #[inline(always)]
    fn after<const K: usize>(&mut self, _: usize, _: usize, _: [&mut [S::F]; K]) {}
}

/// The look-ups of one pass: those of N chains during each draw.
///
/// Pointers instead of slices: the registers that lengths would take are needed for the draw.
pub(crate) struct LookUps<'a, S: Simd, T: Fixed, const R: usize, const N: usize> {
    simd: S,
    tables: &'a Tables,
    /// Tables of the pass.
    count: usize,
    /// Of the first of the N chains.
    entries: *const u64,
    sums: *mut RowBytes,
    /// The sums of the passes before, and how many rows apart those of two chains are: 0 if there are none.
    before: *const RowBytes,
    stride: usize,
    /// The sums of the chain that is being looked up.
    total: [S::Row; R],
    of: PhantomData<(&'a [u64], &'a mut [T])>,
}

/// The sums of no passes.
#[repr(align(64))]
struct Zeros([RowBytes; 2]);
static ZEROS: Zeros = Zeros([[0; 64]; 2]);

impl<'a, S: Simd, T: Fixed, const R: usize, const N: usize> LookUps<'a, S, T, R, N> {
    /// The tables of the pass are built. A pass that is not full is looked up with N = 1 only.
    ///
    /// # Safety
    /// For at most as many draws as there are N chains: the last stage of a draw goes on to the next N.
    #[inline(always)]
    pub(crate) unsafe fn new(
        simd: S,
        product: &TileProduct<'_, T>,
        pass: usize,
        scratch: &'a Scratch,
        sums: &'a mut [T],
    ) -> Self {
        const { assert!(R <= 2) };
        let chains = product.bits.chains;
        assert!(sums.len() == chains * R * T::PER_ROW);
        let sums = sums.as_mut_ptr().cast::<RowBytes>();
        let (before, stride) =
            if pass == 0 { (ZEROS.0.as_ptr(), 0) } else { (sums.cast_const(), R) };
        Self {
            simd,
            tables: &scratch.tables,
            count: product.tables(pass),
            entries: scratch.entries[pass * chains..][..chains].as_ptr(),
            sums,
            before,
            stride,
            total: [simd.zero_row(); R],
            of: PhantomData,
        }
    }

    /// Table k for one of the N chains.
    #[inline(always)]
    fn look_up(&mut self, chain: usize, k: usize) {
        // SAFETY: `new` was promised N more chains, which have entries and R rows of sums.
        unsafe {
            if k == 0 {
                for r in 0..R {
                    let before = self.before.add(chain * self.stride + r);
                    self.total[r] = self.simd.load_row_at(before);
                }
            }
            if N > 1 || k < self.count {
                let entries = &*self.entries.add(chain);
                self.total = self.tables.add_entry::<S, T, R>(self.simd, self.total, k, entries);
            }
            if k == TABLES - 1 {
                for r in 0..R {
                    self.simd.store_row_at(self.sums.add(chain * R + r), self.total[r]);
                }
            }
        }
    }
}

impl<S: Simd, T: Fixed, const R: usize, const N: usize> Interleave<S> for LookUps<'_, S, T, R, N> {
    const SIDE_BY_SIDE: bool = true;

    #[inline(always)]
    fn after<const K: usize>(&mut self, stage: usize, stages: usize, values: [&mut [S::F]; K]) {
        // Else the compiler would move most of the look-ups before the draw, or after it.
        for values in values {
            for value in values {
                *value = self.simd.pin(*value);
            }
        }
        let first = N * TABLES * stage / stages;
        let end = N * TABLES * (stage + 1) / stages;
        for k in first..end {
            self.look_up(k / TABLES, k % TABLES);
        }
        if first < end {
            for r in 0..R {
                self.total[r] = self.simd.pin_row(self.total[r]);
            }
        }
        if stage + 1 == stages {
            // SAFETY: these N chains exist, so that the pointers end at most right after the last one.
            unsafe {
                self.entries = self.entries.add(N);
                self.sums = self.sums.add(N * R);
                self.before = self.before.add(N * self.stride);
            }
        }
    }
}
