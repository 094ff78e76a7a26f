//! The sum of the weights of units that are on, for a block of chains and one tile of outputs.
//!
//! Three ways, with the same integer result:
//! - tables: the inputs are taken five at a time, or four where the chains are few; the 32 or 16 sums that
//!   they can give are tabulated, and a chain adds one entry for all of them ("four Russians");
//! - skip: a chain adds the weights of its units that are on;
//! - delta: a chain adds the weights of units that went on since its last sum, and subtracts those of
//!   units that went off.

use crate::aligned::Aligned;
use crate::annealing::fixed::{Fixed, Layer, Tile};
use crate::annealing::tile_product::TileProduct;
use crate::bits::Bits;
use crate::simd::Simd;

/// One of the three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Tables,
    Skip,
    Delta,
}

/// A table look-up serves five inputs and reads the near cache; a row of weights serves one and is
/// read from further away. So tables are worth it when more than this share of the inputs is on (or
/// has changed). Measured: docs/decisions.md, "products".
const TABLES_ABOVE: f64 = 0.11;
/// Building the tables costs a block as much as looking up would cost so many chains.
const CHAINS_PER_BUILD: f64 = 40.0;
/// A change is dearer than a unit that is on: its sum is read first.
const DELTA_COST: f64 = 1.15;

impl Method {
    /// The cheapest way to the sums of `bits`; `before` is the state whose sums are already there.
    pub(crate) fn cheapest(bits: &Bits, before: Option<&Bits>, inputs: usize) -> Self {
        let on = bits.count() as f64;
        let changed = before.map_or(f64::INFINITY, |b| DELTA_COST * bits.count_different(b) as f64);
        let look_ups = inputs as f64 * (bits.chains as f64 + CHAINS_PER_BUILD);
        if on.min(changed) > TABLES_ABOVE * look_ups {
            Method::Tables
        } else if on <= changed {
            Method::Skip
        } else {
            Method::Delta
        }
    }
}

/// Buffers of a product, kept from step to step.
pub(crate) struct Scratch {
    /// The tables of a pass, of entries of two rows.
    pub(crate) table: Aligned<u64>,
    /// For each pass and chain a byte per table, lower bytes first: 8 times the entry.
    pub(crate) entries: Vec<u64>,
    /// Units to add and then to subtract, chain after chain.
    pub(crate) units: Vec<u32>,
    /// Where the units of each chain start, and where those to subtract start.
    pub(crate) start: Vec<u32>,
    pub(crate) subtract: Vec<u32>,
}

/// Tables of a pass over the chains: with two rows they take 32 KiB of the nearest cache.
pub(crate) const TABLES: usize = 8;
/// Room for the entries of a table.
pub(crate) const ENTRIES: usize = 32;

/// Inputs of a table. Building one of five is worth its while for this many chains.
pub(crate) fn inputs_of_table(chains: usize) -> usize {
    if chains >= 256 { 5 } else { 4 }
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            table: Aligned::zeroed(TABLES * ENTRIES * 2 * 8),
            entries: Vec::new(),
            units: Vec::new(),
            start: Vec::new(),
            subtract: Vec::new(),
        }
    }

    /// Prepares what `method` needs.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    pub(crate) unsafe fn prepare<S: Simd>(
        &mut self,
        method: Method,
        bits: &Bits,
        before: Option<&Bits>,
    ) {
        let words = &bits.words[..];
        match (method, before) {
            (Method::Tables, _) => {
                let chains = bits.chains;
                match inputs_of_table(chains) {
                    4 => self.find_entries::<4>(chains, words),
                    _ => self.find_entries::<5>(chains, words),
                }
            }
            // SAFETY: by the caller.
            (Method::Delta, Some(before)) => unsafe {
                self.list::<S>(bits.chains, words, &before.words)
            },
            // SAFETY: by the caller.
            _ => unsafe { self.list::<S>(bits.chains, words, &[]) },
        }
    }

    /// The entries of all passes, in tables of N inputs.
    #[inline(always)]
    fn find_entries<const N: usize>(&mut self, chains: usize, words: &[u64]) {
        let (inputs, in_a_pass) = (64 * words.len() / chains, TABLES * N);
        self.entries.resize(inputs.div_ceil(in_a_pass) * chains, 0);
        for (pass, entries) in self.entries.chunks_exact_mut(chains).enumerate() {
            let (word, shift) = (in_a_pass * pass / 64, in_a_pass * pass % 64);
            let now = &words[word * chains..][..chains];
            let next = &words[((word + 1) * chains).min(words.len())..];
            if shift + in_a_pass > 64 && !next.is_empty() {
                for k in 0..chains {
                    entries[k] = spread::<N>(now[k] >> shift | next[k] << (64 - shift));
                }
            } else {
                for k in 0..chains {
                    entries[k] = spread::<N>(now[k] >> shift);
                }
            }
        }
    }

    /// Lists the units of `words` that are not in `before`, and those of `before` that are not in
    /// `words`; no words before are zeros.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    unsafe fn list<S: Simd>(&mut self, chains: usize, words: &[u64], before: &[u64]) {
        self.units.clear();
        self.start.clear();
        self.subtract.clear();
        // 64 units per word of a chain, and 64 more of room.
        let most = 64 * (2 * words.len() / chains + 1);
        for chain in 0..chains {
            let mut count = self.units.len();
            self.start.push(count as u32);
            self.units.reserve(most);
            // SAFETY: there is room, and `count` units are written.
            unsafe {
                for (word, k) in (chain..words.len()).step_by(chains).enumerate() {
                    let on = words[k] & !before.get(k).unwrap_or(&0);
                    let to = self.units.as_mut_ptr().add(count);
                    count += S::positions(on, 64 * word as u32, to);
                }
                self.subtract.push(count as u32);
                for (word, k) in (chain..before.len()).step_by(chains).enumerate() {
                    let off = before[k] & !words[k];
                    let to = self.units.as_mut_ptr().add(count);
                    count += S::positions(off, 64 * word as u32, to);
                }
                self.units.set_len(count);
            }
        }
        self.start.push(self.units.len() as u32);
    }
}

/// Eight times N bits, one after the other, as bytes: 8 times their values.
#[inline(always)]
fn spread<const N: usize>(bits: u64) -> u64 {
    let low = |bits: usize| (1 << bits) - 1;
    let halves = bits & low(4 * N) | (bits & low(4 * N) << (4 * N)) << (32 - 4 * N);
    let twice = low(2 * N) | low(2 * N) << 32;
    let quarters = halves & twice | (halves & twice << (2 * N)) << (16 - 2 * N);
    let four_times = low(N) * 0x1_0001_0001_0001;
    let eighths = quarters & four_times | (quarters & four_times << N) << (8 - N);
    (eighths << 3).to_le()
}

/// The sums of one tile for all chains of `bits`.
///
/// # Safety
/// See [`TileProduct::start`].
#[inline(always)]
pub(crate) unsafe fn sum_tile<S: Simd, T: Fixed>(
    method: Method,
    layer: &Layer<T>,
    tile: &Tile,
    bits: &Bits,
    scratch: &mut Scratch,
    sums: &mut [T],
) {
    // SAFETY: by the caller.
    unsafe {
        let product = TileProduct::start::<S>(method, layer, tile, bits, scratch, sums);
        product.finish::<S>(scratch, sums, 0..bits.chains);
    }
}

/// The sums of all tiles, one after the other in `sums`.
///
/// # Safety
/// See [`TileProduct::start`].
#[inline(always)]
pub(crate) unsafe fn sum_tiles<S: Simd, T: Fixed>(
    method: Method,
    layer: &Layer<T>,
    bits: &Bits,
    scratch: &mut Scratch,
    sums: &mut [T],
) {
    let mut rest = sums;
    for tile in &layer.tiles {
        let (now, later) = rest.split_at_mut(tile.rows * T::PER_ROW * bits.chains);
        // SAFETY: by the caller.
        unsafe { sum_tile::<S, T>(method, layer, tile, bits, scratch, now) };
        rest = later;
    }
}
