//! What is done between the operations of a draw: the look-ups of the next tile.
//!
//! Drawing a unit is a long chain of operations that wait for each other, and look-ups wait for loads.
//! In turns, a few of each, they share the ports of a core better than one after the other.

use crate::annealing::fixed::Fixed;
use crate::annealing::product::{Scratch, TABLES};
use crate::annealing::tile_product::{TileProduct, add_entry};
use crate::simd::Simd;

/// Work that is done between the stages of a draw.
pub(crate) trait Interleave<S: Simd> {
    /// Whether a draw takes all vectors of a tile together, operation by operation.
    const SIDE_BY_SIDE: bool;

    /// The part of the work that follows stage `stage` of `stages`, which computed `values`.
    ///
    /// # Safety
    /// See [`Simd`].
    unsafe fn after<const K: usize>(
        &mut self,
        stage: usize,
        stages: usize,
        values: [&mut [S::F]; K],
    );
}

/// No work.
impl<S: Simd> Interleave<S> for () {
    const SIDE_BY_SIDE: bool = false;

    #[inline(always)]
    unsafe fn after<const K: usize>(&mut self, _: usize, _: usize, _: [&mut [S::F]; K]) {}
}

/// The look-ups of one pass: those of N chains during each draw.
pub(crate) struct LookUps<S: Simd, T: Fixed, const R: usize, const N: usize> {
    table: *const u8,
    tables: usize,
    /// Of the first of the N chains.
    entries: *const u64,
    sums: *mut T,
    /// The sums of the passes before, and how far apart those of two chains are: 0 if there are none.
    before: *const u8,
    stride: usize,
    /// The sums of the chain that is being looked up.
    total: [S::Row; R],
}

/// The sums of no passes.
#[repr(align(64))]
struct Zeros([u8; 128]);
static ZEROS: Zeros = Zeros([0; 128]);

impl<S: Simd, T: Fixed, const R: usize, const N: usize> LookUps<S, T, R, N> {
    /// # Safety
    /// See [`TileProduct::look_up`]: the tables of the pass are built. N chains for each draw exist. A
    /// pass that is not full is looked up with N = 1 only.
    #[inline(always)]
    pub(crate) unsafe fn new(
        product: &TileProduct<'_, T>,
        pass: usize,
        scratch: &Scratch,
        sums: &mut [T],
    ) -> Self {
        let sums = sums.as_mut_ptr();
        let (before, stride) =
            if pass == 0 { (ZEROS.0.as_ptr(), 0) } else { (sums.cast_const().cast(), R * 64) };
        Self {
            table: scratch.table.as_ptr().cast(),
            tables: product.tables(pass),
            entries: scratch.entries[pass * product.bits.chains..].as_ptr(),
            sums,
            before,
            stride,
            // SAFETY: by the caller.
            total: [unsafe { S::zero_row() }; R],
        }
    }

    /// Table k for one of the N chains.
    ///
    /// # Safety
    /// See `new`.
    #[inline(always)]
    unsafe fn look_up(&mut self, chain: usize, k: usize) {
        // SAFETY: entries and sums lie within their buffers.
        unsafe {
            if k == 0 {
                for r in 0..R {
                    self.total[r] = S::load_row(self.before.add(chain * self.stride + r * 64));
                }
            }
            if N > 1 || k < self.tables {
                let entries = &*self.entries.add(chain);
                self.total = add_entry::<S, T, R>(self.total, self.table, k, entries);
            }
            if k == TABLES - 1 {
                for r in 0..R {
                    let sum = self.sums.cast::<u8>().add((chain * R + r) * 64);
                    S::store_row(sum, self.total[r]);
                }
            }
        }
    }
}

impl<S: Simd, T: Fixed, const R: usize, const N: usize> Interleave<S> for LookUps<S, T, R, N> {
    const SIDE_BY_SIDE: bool = true;

    #[inline(always)]
    unsafe fn after<const K: usize>(
        &mut self,
        stage: usize,
        stages: usize,
        values: [&mut [S::F]; K],
    ) {
        // SAFETY: by the caller; `new` was told that there are N chains.
        unsafe {
            // Else the compiler would move most of the look-ups before the draw, or after it.
            for values in values {
                for value in values {
                    *value = S::pin(*value);
                }
            }
            let first = N * TABLES * stage / stages;
            let end = N * TABLES * (stage + 1) / stages;
            for k in first..end {
                self.look_up(k / TABLES, k % TABLES);
            }
            if first < end {
                for r in 0..R {
                    self.total[r] = S::pin_row(self.total[r]);
                }
            }
            if stage + 1 == stages {
                self.entries = self.entries.add(N);
                self.sums = self.sums.cast::<u8>().add(N * R * 64).cast();
                self.before = self.before.add(N * self.stride);
            }
        }
    }
}
