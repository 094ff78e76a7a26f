//! The sums of one tile of outputs, by tables or by rows of weights.

use crate::annealing::fixed::{Fixed, Layer, Summed, Tile};
use crate::annealing::product::{ENTRIES, Method, Scratch, TABLES, inputs_of_table};
use crate::bits::Bits;
use crate::simd::Simd;
use std::ops::Range;

/// Bytes between the rows of a table: room for five inputs.
const TABLE: usize = ENTRIES * 64;

/// The sums of one tile for all chains, in place, so that they are at hand when they are used: `start`,
/// and then `finish` for every chain.
pub(crate) struct TileProduct<'a, T: Summed> {
    method: Method,
    weights: &'a [T],
    pub(crate) inputs: usize,
    pub(crate) rows: usize,
    pub(crate) bits: &'a Bits,
}

impl<'a, T: Fixed> TileProduct<'a, T> {
    pub(crate) fn new(method: Method, layer: &'a Layer<T>, tile: &Tile, bits: &'a Bits) -> Self {
        assert!(bits.words.len() == layer.inputs.div_ceil(64) * bits.chains);
        let width = tile.rows * T::PER_ROW;
        let weights = &layer.weights[tile.offset..tile.offset + layer.inputs * width];
        Self { method, weights, inputs: layer.inputs, rows: tile.rows, bits }
    }

    /// Tables: the sums of all passes but the last one, whose tables are built.
    ///
    /// # Safety
    /// See [`Simd`]. `scratch` is prepared for the method; `sums` is the tile's part of the buffer: a
    /// tile's width for each chain. It holds the previous sums when the method is delta.
    #[inline(always)]
    pub(crate) unsafe fn start<S: Simd>(
        method: Method,
        layer: &'a Layer<T>,
        tile: &Tile,
        bits: &'a Bits,
        scratch: &mut Scratch,
        sums: &mut [T],
    ) -> Self {
        assert!(sums.len() == bits.chains * tile.rows * T::PER_ROW);
        let product = Self::new(method, layer, tile, bits);
        if method == Method::Tables {
            // SAFETY: the sizes were just checked.
            unsafe {
                match tile.rows {
                    1 => product.first_passes::<S, 1>(scratch, sums),
                    _ => product.first_passes::<S, 2>(scratch, sums),
                }
            }
        }
        product
    }

    /// The sums of some chains.
    ///
    /// # Safety
    /// As for `start`, with the same buffers.
    #[inline(always)]
    pub(crate) unsafe fn finish<S: Simd>(
        &self,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        assert!(chains.end * self.rows * T::PER_ROW <= sums.len());
        if self.inputs == 0 {
            return; // The sums stay zero.
        }
        let last = self.passes() - 1;
        // SAFETY: the sizes were checked; `scratch` holds units below the number of inputs.
        unsafe {
            match (self.method, self.rows) {
                (Method::Tables, 1) => self.look_up::<S, 1>(last, scratch, sums, chains),
                (Method::Tables, _) => self.look_up::<S, 2>(last, scratch, sums, chains),
                (_, 1) => self.add_rows::<S, 1>(scratch, sums, chains),
                (_, _) => self.add_rows::<S, 2>(scratch, sums, chains),
            }
        }
    }

    /// # Safety
    /// See `start`.
    #[inline(always)]
    unsafe fn first_passes<S: Simd, const R: usize>(&self, scratch: &mut Scratch, sums: &mut [T]) {
        let passes = self.passes();
        for pass in 0..passes {
            // SAFETY: by the caller.
            unsafe {
                self.build_tables::<S, R>(pass, scratch);
                if pass + 1 < passes {
                    self.look_up::<S, R>(pass, scratch, sums, 0..self.bits.chains);
                }
            }
        }
    }

    /// Adds and subtracts the listed rows of weights.
    ///
    /// # Safety
    /// See `finish`.
    #[inline(always)]
    unsafe fn add_rows<S: Simd, const R: usize>(
        &self,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        let weights = self.weights.as_ptr().cast::<u8>();
        let sums = sums.as_mut_ptr().cast::<u8>();
        for chain in chains {
            let (start, subtract, end) = (
                scratch.start[chain] as usize,
                scratch.subtract[chain] as usize,
                scratch.start[chain + 1] as usize,
            );
            // SAFETY: units are below `inputs`, chains below the number of sums.
            unsafe {
                let sum = sums.add(chain * R * 64);
                let mut total = [S::zero_row(); R];
                if self.method == Method::Delta {
                    for r in 0..R {
                        total[r] = S::load_row(sum.add(r * 64));
                    }
                }
                for &unit in &scratch.units[start..subtract] {
                    for r in 0..R {
                        let row = S::load_row(weights.add((unit as usize * R + r) * 64));
                        total[r] = T::add::<S>(total[r], row);
                    }
                }
                for &unit in &scratch.units[subtract..end] {
                    for r in 0..R {
                        let row = S::load_row(weights.add((unit as usize * R + r) * 64));
                        total[r] = T::sub::<S>(total[r], row);
                    }
                }
                for r in 0..R {
                    S::store_row(sum.add(r * 64), total[r]);
                }
            }
        }
    }
}

/// What looking up takes, also where the weights are not integers.
impl<'a, T: Summed> TileProduct<'a, T> {
    /// By tables, of weights of two rows for each input.
    pub(crate) fn by_tables(weights: &'a [T], inputs: usize, bits: &'a Bits) -> Self {
        assert!(bits.words.len() == inputs.div_ceil(64) * bits.chains);
        let weights = &weights[..inputs * 2 * T::PER_ROW];
        Self { method: Method::Tables, weights, inputs, rows: 2, bits }
    }

    /// The tables of a pass.
    ///
    /// # Safety
    /// See `start`; R is the number of rows.
    #[inline(always)]
    pub(crate) unsafe fn build_tables<S: Simd, const R: usize>(
        &self,
        pass: usize,
        scratch: &mut Scratch,
    ) {
        let weights = self.weights.as_ptr().cast::<u8>();
        let table = scratch.table.as_mut_ptr().cast::<u8>();
        let most = inputs_of_table(self.bits.chains);
        for k in 0..self.tables(pass) {
            let first = most * (TABLES * pass + k);
            let rows = (self.inputs - first).min(most);
            // SAFETY: each table has up to five rows of weights below `inputs`; eight tables fit.
            unsafe {
                let (from, to) = (weights.add(first * R * 64), table.add(k * TABLE * R));
                match most {
                    4 => build_table::<S, T, R, 4>(from, rows, to),
                    _ => build_table::<S, T, R, 5>(from, rows, to),
                }
            }
        }
    }

    /// Passes over the chains.
    pub(crate) fn passes(&self) -> usize {
        self.inputs.div_ceil(self.inputs_of_pass())
    }

    /// Passes with eight full tables.
    pub(crate) fn full_passes(&self) -> usize {
        self.inputs / self.inputs_of_pass()
    }

    fn inputs_of_pass(&self) -> usize {
        TABLES * inputs_of_table(self.bits.chains)
    }

    /// Tables of a pass.
    pub(crate) fn tables(&self, pass: usize) -> usize {
        let rest = self.inputs - pass * self.inputs_of_pass();
        rest.div_ceil(inputs_of_table(self.bits.chains)).min(TABLES)
    }

    /// Adds the entries of a pass, whose tables are built, to the sums of the passes before.
    ///
    /// # Safety
    /// See `finish`.
    #[inline(always)]
    pub(crate) unsafe fn look_up<S: Simd, const R: usize>(
        &self,
        pass: usize,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        let tables = self.tables(pass);
        let table = scratch.table.as_ptr().cast::<u8>();
        let entries = &scratch.entries[pass * self.bits.chains..][chains.clone()];
        for (chain, entries) in chains.zip(entries) {
            // SAFETY: entries and sums lie within their buffers.
            unsafe {
                let sum = sums.as_mut_ptr().cast::<u8>().add(chain * R * 64);
                let mut total = [S::zero_row(); R];
                if pass > 0 {
                    for r in 0..R {
                        total[r] = S::load_row(sum.add(r * 64));
                    }
                }
                if tables == TABLES {
                    for k in 0..TABLES {
                        total = add_entry::<S, T, R>(total, table, k, entries);
                    }
                } else {
                    // Unrolled as well, because the end is a constant.
                    for k in 0..TABLES {
                        if k == tables {
                            break;
                        }
                        total = add_entry::<S, T, R>(total, table, k, entries);
                    }
                }
                for r in 0..R {
                    S::store_row(sum.add(r * 64), total[r]);
                }
            }
        }
    }
}

/// Adds the entry of a chain in table k.
///
/// # Safety
/// See [`TileProduct::start`]; k is below 8 and its table is built.
#[inline(always)]
pub(crate) unsafe fn add_entry<S: Simd, T: Summed, const R: usize>(
    mut total: [S::Row; R],
    table: *const u8,
    k: usize,
    entries: &u64,
) -> [S::Row; R] {
    // SAFETY: byte k of eight; a byte is a multiple of 8, so that the entry lies within its table.
    unsafe {
        // Half are loaded and half shifted: all of a kind would keep the same ports busy.
        let entry = if k.is_multiple_of(2) {
            *std::ptr::from_ref(entries).cast::<u8>().add(k)
        } else {
            (u64::from_le(*entries) >> (8 * k)) as u8
        };
        let entry = table.add(k * TABLE * R + usize::from(entry) * 8);
        for r in 0..R {
            total[r] = T::add::<S>(total[r], S::load_row(entry.add(r * TABLE)));
        }
    }
    total
}

/// The 2^N sums of up to N rows of weights: the first row of all of them, then the second.
///
/// # Safety
/// See [`Simd`]; `weights` is valid for `rows` rows and `table` for 32 entries of R rows each.
#[inline(always)]
unsafe fn build_table<S: Simd, T: Summed, const R: usize, const N: usize>(
    weights: *const u8,
    rows: usize,
    table: *mut u8,
) {
    for r in 0..R {
        // SAFETY: within the rows of weights and the 16 entries.
        unsafe {
            let mut entries = [S::zero_row(); ENTRIES];
            for row in 0..N {
                let weight = if row < rows {
                    S::load_row(weights.add((row * R + r) * 64))
                } else {
                    S::zero_row()
                };
                for entry in 0..1 << row {
                    entries[entry + (1 << row)] = T::add::<S>(entries[entry], weight);
                }
            }
            for (entry, sum) in entries.into_iter().take(1 << N).enumerate() {
                S::store_row(table.add(r * TABLE + entry * 64), sum);
            }
        }
    }
}
