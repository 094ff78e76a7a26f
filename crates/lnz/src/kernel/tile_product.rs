//! The sums of one tile of outputs, by tables or by rows of weights.

use super::bits::Bits;
use super::fixed::{Fixed, Layer, Tile};
use super::product::{ENTRIES, Method, Scratch, TABLES};
use super::simd::Simd;
use std::ops::Range;

/// Bytes of a table for each row of a tile.
const TABLE: usize = ENTRIES * 64;

/// The sums of one tile for all chains, in place, so that they are at hand when they are used: `start`,
/// and then `finish` for every chain.
pub(super) struct TileProduct<'a, T: Fixed> {
    method: Method,
    weights: &'a [T],
    pub(super) inputs: usize,
    pub(super) rows: usize,
    pub(super) bits: &'a Bits,
}

impl<'a, T: Fixed> TileProduct<'a, T> {
    pub(super) fn new(method: Method, layer: &'a Layer<T>, tile: &Tile, bits: &'a Bits) -> Self {
        assert!(bits.words.len() == layer.inputs.div_ceil(64) * bits.chains);
        let width = tile.rows * T::PER_ROW;
        let weights = &layer.weights[tile.offset..tile.offset + layer.inputs * width];
        Self { method, weights, inputs: layer.inputs, rows: tile.rows, bits }
    }

    /// Tables: the sums of all words of the states but the last one, whose tables are built.
    ///
    /// # Safety
    /// See [`Simd`]. `scratch` is prepared for the method; `sums` is the tile's part of the buffer: a
    /// tile's width for each chain. It holds the previous sums when the method is delta.
    #[inline(always)]
    pub(super) unsafe fn start<S: Simd>(
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
                    1 => product.first_words::<S, 1>(scratch, sums),
                    _ => product.first_words::<S, 2>(scratch, sums),
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
    pub(super) unsafe fn finish<S: Simd>(
        &self,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        assert!(chains.end * self.rows * T::PER_ROW <= sums.len());
        if self.inputs == 0 {
            return; // The sums stay zero.
        }
        let last = self.words() - 1;
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
    unsafe fn first_words<S: Simd, const R: usize>(&self, scratch: &mut Scratch, sums: &mut [T]) {
        let words = self.words();
        for word in 0..words {
            // SAFETY: by the caller.
            unsafe {
                self.build_tables::<S, R>(word, scratch);
                if word + 1 < words {
                    self.look_up::<S, R>(word, scratch, sums, 0..self.bits.chains);
                }
            }
        }
    }

    /// The tables of a word.
    ///
    /// # Safety
    /// See `start`; R is the number of rows.
    #[inline(always)]
    pub(super) unsafe fn build_tables<S: Simd, const R: usize>(
        &self,
        word: usize,
        scratch: &mut Scratch,
    ) {
        let weights = self.weights.as_ptr().cast::<u8>();
        let table = scratch.table.as_mut_ptr().cast::<u8>();
        for group in 0..2 * self.pairs(word) {
            let first = (64 * word + 4 * group).min(self.inputs);
            // SAFETY: each group has up to four rows of weights below `inputs`; 16 tables fit.
            unsafe {
                let (from, to) = (weights.add(first * R * 64), table.add(group * TABLE * R));
                build_table::<S, T, R>(from, (self.inputs - first).min(4), to);
            }
        }
    }

    /// Words of a state.
    pub(super) fn words(&self) -> usize {
        self.inputs.div_ceil(64)
    }

    /// Pairs of tables, of four inputs each, for a word.
    pub(super) fn pairs(&self, word: usize) -> usize {
        (self.inputs - 64 * word).min(64).div_ceil(8)
    }

    /// Adds the entries of a word, whose tables are built, to the sums of the words before.
    ///
    /// # Safety
    /// See `finish`.
    #[inline(always)]
    pub(super) unsafe fn look_up<S: Simd, const R: usize>(
        &self,
        word: usize,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        let pairs = self.pairs(word);
        let table = scratch.table.as_ptr().cast::<u8>();
        let entries = &scratch.entries[word * self.bits.chains..][chains.clone()];
        for (chain, entries) in chains.zip(entries) {
            // SAFETY: entries and sums lie within their buffers.
            unsafe {
                let sum = sums.as_mut_ptr().cast::<u8>().add(chain * R * 64);
                let mut total = [S::zero_row(); R];
                if word > 0 {
                    for r in 0..R {
                        total[r] = S::load_row(sum.add(r * 64));
                    }
                }
                if pairs == TABLES / 2 {
                    for pair in 0..TABLES / 2 {
                        total = add_pair::<S, T, R>(total, table, pair, entries);
                    }
                } else {
                    // Unrolled as well, because the end is a constant.
                    for pair in 0..TABLES / 2 {
                        if pair == pairs {
                            break;
                        }
                        total = add_pair::<S, T, R>(total, table, pair, entries);
                    }
                }
                for r in 0..R {
                    S::store_row(sum.add(r * 64), total[r]);
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

/// Adds the entries of a chain in two neighbouring tables.
///
/// # Safety
/// See [`TileProduct::start`]; `pair` is below 8 and its tables are built.
#[inline(always)]
pub(super) unsafe fn add_pair<S: Simd, T: Fixed, const R: usize>(
    mut total: [S::Row; R],
    table: *const u8,
    pair: usize,
    [even, odd]: &[u64; 2],
) -> [S::Row; R] {
    // SAFETY: byte `pair` of eight; a byte is a multiple of 16, so that entries lie within the tables.
    unsafe {
        // One is loaded and one shifted: all of a kind would keep the same ports busy.
        let first = *std::ptr::from_ref(even).cast::<u8>().add(pair);
        let second = (odd >> (8 * pair)) as u8;
        let tables = table.add(2 * pair * TABLE * R);
        let first = tables.add(usize::from(first) * (R * 64 / 16));
        let second = tables.add(TABLE * R + usize::from(second) * (R * 64 / 16));
        for r in 0..R {
            total[r] = T::add::<S>(total[r], S::load_row(first.add(r * 64)));
        }
        for r in 0..R {
            total[r] = T::add::<S>(total[r], S::load_row(second.add(r * 64)));
        }
    }
    total
}

/// The 16 sums of up to four rows of weights.
///
/// # Safety
/// See [`Simd`]; `weights` is valid for `rows` rows and `table` for 16 entries of R rows each.
#[inline(always)]
unsafe fn build_table<S: Simd, T: Fixed, const R: usize>(
    weights: *const u8,
    rows: usize,
    table: *mut u8,
) {
    for r in 0..R {
        // SAFETY: within the rows of weights and the 16 entries.
        unsafe {
            let mut entries = [S::zero_row(); ENTRIES];
            for row in 0..4 {
                let weight = if row < rows {
                    S::load_row(weights.add((row * R + r) * 64))
                } else {
                    S::zero_row()
                };
                for entry in 0..1 << row {
                    entries[entry + (1 << row)] = T::add::<S>(entries[entry], weight);
                }
            }
            for (entry, sum) in entries.into_iter().enumerate() {
                S::store_row(table.add((entry * R + r) * 64), sum);
            }
        }
    }
}
