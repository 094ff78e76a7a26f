//! Tables of the sums that a few inputs can give: a chain adds one entry for all of them ("four Russians").

use crate::annealing::fixed::Summed;
use crate::simd::{RowBytes, Simd};

/// Tables of a pass over the chains: with two rows they take 32 KiB of the nearest cache.
pub(crate) const TABLES: usize = 8;

/// Room for the entries of a table: the sums of five inputs.
const ENTRIES: usize = 32;

/// Bytes between the rows of a table.
const TABLE: usize = ENTRIES * 64;

/// Inputs of a table. Building one of five is worth its while for this many chains.
pub(crate) fn inputs_of_table(chains: usize) -> usize {
    if chains >= 256 { 5 } else { 4 }
}

/// Eight times N bits, one after the other, as bytes: 8 times their values, lower bytes first.
#[inline(always)]
pub(crate) fn entries_of<const N: usize>(bits: u64) -> u64 {
    let low = |bits: usize| (1 << bits) - 1;
    let halves = bits & low(4 * N) | (bits & low(4 * N) << (4 * N)) << (32 - 4 * N);
    let twice = low(2 * N) | low(2 * N) << 32;
    let quarters = halves & twice | (halves & twice << (2 * N)) << (16 - 2 * N);
    let four_times = low(N) * 0x1_0001_0001_0001;
    let eighths = quarters & four_times | (quarters & four_times << N) << (8 - N);
    (eighths << 3).to_le()
}

/// The tables of a pass, of entries of one row or two: the first row of all entries, then the second.
///
/// There is room after the last entry, so that any byte is the number of eighths of some entry.
#[repr(C, align(64))]
pub(crate) struct Tables {
    bytes: [u8; TABLES * 2 * TABLE + 64],
}

impl Tables {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self { bytes: [0; TABLES * 2 * TABLE + 64] })
    }

    /// Table k: the 2^N sums of up to N inputs, each with R rows of weights.
    #[inline(always)]
    pub(crate) fn build<S: Simd, T: Summed, const R: usize, const N: usize>(
        &mut self,
        simd: S,
        k: usize,
        weights: &[RowBytes],
    ) {
        let (table, _) = self.bytes[k * TABLE * R..][..TABLE * R].as_chunks_mut::<64>();
        for r in 0..R {
            let mut entries = [simd.zero_row(); ENTRIES];
            for row in 0..N {
                let weight = match weights.get(row * R + r) {
                    Some(weight) => simd.load_row(weight),
                    None => simd.zero_row(),
                };
                for entry in 0..1 << row {
                    entries[entry + (1 << row)] = T::add(simd, entries[entry], weight);
                }
            }
            for (entry, sum) in entries.into_iter().take(1 << N).enumerate() {
                simd.store_row(&mut table[r * ENTRIES + entry], sum);
            }
        }
    }

    /// Adds the entry of a chain in table k, below 8.
    #[inline(always)]
    pub(crate) fn add_entry<S: Simd, T: Summed, const R: usize>(
        &self,
        simd: S,
        mut total: [S::Row; R],
        k: usize,
        entries: &u64,
    ) -> [S::Row; R] {
        const { assert!(R <= 2) };
        let k = k % TABLES;
        // Half are loaded and half shifted: all of a kind would keep the same ports busy.
        let entry = if k.is_multiple_of(2) {
            // SAFETY: byte k of eight.
            unsafe { *std::ptr::from_ref(entries).cast::<u8>().add(k) }
        } else {
            (u64::from_le(*entries) >> (8 * k)) as u8
        };
        for r in 0..R {
            let from = (k * R + r) * TABLE + usize::from(entry) * 8;
            // SAFETY: it ends at most 15 * TABLE + 255 * 8 + 64 bytes after the first, which is within.
            let row = unsafe { simd.load_row_at(self.bytes.as_ptr().add(from).cast()) };
            total[r] = T::add(simd, total[r], row);
        }
        total
    }
}
