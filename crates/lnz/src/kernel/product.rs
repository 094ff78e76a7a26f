//! The sum of the weights of units that are on, for a block of chains and one tile of outputs.
//!
//! Three ways, with the same integer result:
//! - tables: the inputs are taken four at a time; the 16 sums each four can give are tabulated, and a
//!   chain adds one entry per four inputs ("four Russians");
//! - skip: a chain adds the weights of its units that are on;
//! - delta: a chain adds the weights of units that went on since its last sum, and subtracts those of
//!   units that went off.

use super::aligned::Aligned;
use super::fixed::{Fixed, Layer, Tile};
use super::simd::Simd;

/// States of one layer for a block of chains: bit `i % 64` of word `i / 64` of each chain, all chains
/// of a word side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(super) words: Vec<u64>,
    pub(super) chains: usize,
}

impl Bits {
    pub(super) fn zeros(units: usize, chains: usize) -> Self {
        Self { words: vec![0; units.div_ceil(64) * chains], chains }
    }

    pub(super) fn get(&self, chain: usize, unit: usize) -> bool {
        self.words[unit / 64 * self.chains + chain] >> (unit % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, chain: usize, unit: usize, on: bool) {
        let word = &mut self.words[unit / 64 * self.chains + chain];
        *word = *word & !(1 << (unit % 64)) | u64::from(on) << (unit % 64);
    }

    pub(super) fn copy_chain(&mut self, chain: usize, other: &Self) {
        for k in (chain..self.words.len()).step_by(self.chains) {
            self.words[k] = other.words[k];
        }
    }

    /// Chain k is chain `order[k]` of these.
    pub(super) fn rearranged(&self, order: &[usize]) -> Self {
        let words = self.words.chunks(self.chains);
        Self { words: words.flat_map(|w| order.iter().map(|&k| w[k])).collect(), ..*self }
    }

    /// The words of a chain.
    pub(crate) fn packed(&self, chain: usize) -> Vec<u64> {
        self.words.iter().skip(chain).step_by(self.chains).copied().collect()
    }

    /// How many chains have each unit on.
    pub(crate) fn counts(&self, units: usize) -> Vec<u64> {
        (0..units).map(|i| (0..self.chains).map(|c| u64::from(self.get(c, i))).sum()).collect()
    }

    fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    fn count_different(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }
}

/// One of the three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Tables,
    Skip,
    Delta,
}

/// A table look-up serves four inputs and reads the near cache; a row of weights serves one and is
/// read from further away. So tables are worth it when more than this share of the inputs is on (or
/// has changed). Measured: docs/decisions.md, "products".
const TABLES_ABOVE: f64 = 0.125;
/// Building the tables costs a block as much as looking up would cost so many chains.
const CHAINS_PER_BUILD: f64 = 16.0;
/// A change is dearer than a unit that is on: its sum is read first.
const DELTA_COST: f64 = 1.15;

impl Method {
    /// The cheapest way to the sums of `bits`; `before` is the state whose sums are already there.
    pub(super) fn cheapest(bits: &Bits, before: Option<&Bits>, inputs: usize) -> Self {
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
pub(super) struct Scratch {
    /// 16 tables of 16 entries of two rows.
    table: Aligned<u64>,
    /// Units to add and then to subtract, chain after chain.
    units: Vec<u32>,
    /// Where the units of each chain start, and where those to subtract start.
    start: Vec<u32>,
    subtract: Vec<u32>,
}

const TABLES: usize = 16;
const ENTRIES: usize = 16;

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            table: Aligned::zeroed(TABLES * ENTRIES * 2 * 8),
            units: Vec::new(),
            start: Vec::new(),
            subtract: Vec::new(),
        }
    }

    /// Prepares the lists that `method` needs.
    pub(super) fn prepare(&mut self, method: Method, bits: &Bits, before: Option<&Bits>) {
        match (method, before) {
            (Method::Tables, _) => {}
            (Method::Delta, Some(before)) => {
                self.list(bits.chains, bits.words.len(), |k| {
                    (bits.words[k] & !before.words[k], before.words[k] & !bits.words[k])
                });
            }
            _ => self.list(bits.chains, bits.words.len(), |k| (bits.words[k], 0)),
        }
    }

    fn list(&mut self, chains: usize, words: usize, masks: impl Fn(usize) -> (u64, u64)) {
        self.units.clear();
        self.start.clear();
        self.subtract.clear();
        for chain in 0..chains {
            self.start.push(self.units.len() as u32);
            for k in (chain..words).step_by(chains) {
                push_units(&mut self.units, k / chains, masks(k).0);
            }
            self.subtract.push(self.units.len() as u32);
            for k in (chain..words).step_by(chains) {
                push_units(&mut self.units, k / chains, masks(k).1);
            }
        }
        self.start.push(self.units.len() as u32);
    }
}

#[inline]
fn push_units(units: &mut Vec<u32>, word: usize, mut mask: u64) {
    while mask != 0 {
        units.push((word * 64) as u32 + mask.trailing_zeros());
        mask &= mask - 1;
    }
}

/// The sums of one tile for all chains of `bits`, in place: `sums` holds the previous ones when the
/// method is delta.
///
/// # Safety
/// See [`Simd`]. `scratch` is prepared for the method; `sums` is the tile's part of the buffer: a
/// tile's width for each chain.
#[inline(always)]
pub(super) unsafe fn sum_tile<S: Simd, T: Fixed>(
    method: Method,
    layer: &Layer<T>,
    tile: &Tile,
    bits: &Bits,
    scratch: &mut Scratch,
    sums: &mut [T],
) {
    let width = tile.rows * T::PER_ROW;
    assert!(sums.len() == bits.chains * width);
    assert!(bits.words.len() == layer.inputs.div_ceil(64) * bits.chains);
    let weights = &layer.weights[tile.offset..tile.offset + layer.inputs * width];
    // SAFETY: the sizes were just checked; `scratch` holds units below `layer.inputs`.
    unsafe {
        match (method, tile.rows) {
            (Method::Tables, 1) => tables::<S, T, 1>(weights, layer.inputs, bits, scratch, sums),
            (Method::Tables, _) => tables::<S, T, 2>(weights, layer.inputs, bits, scratch, sums),
            (_, 1) => rows::<S, T, 1>(weights, method == Method::Delta, bits.chains, scratch, sums),
            (_, _) => rows::<S, T, 2>(weights, method == Method::Delta, bits.chains, scratch, sums),
        }
    }
}

/// The sums of all tiles, one after the other in `sums`.
///
/// # Safety
/// See [`sum_tile`].
#[inline(always)]
pub(super) unsafe fn sum_tiles<S: Simd, T: Fixed>(
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

/// # Safety
/// See [`sum_tile`].
#[inline(always)]
unsafe fn tables<S: Simd, T: Fixed, const R: usize>(
    weights: &[T],
    inputs: usize,
    bits: &Bits,
    scratch: &mut Scratch,
    sums: &mut [T],
) {
    let weights = weights.as_ptr().cast::<u8>();
    let table = scratch.table.as_mut_ptr().cast::<u8>();
    let sums = sums.as_mut_ptr().cast::<u8>();
    let chains = bits.chains;
    for word in 0..inputs.div_ceil(64) {
        let first = word * 64;
        let groups = (inputs - first).min(64).div_ceil(4);
        // SAFETY: each group has up to four rows of weights below `inputs`; entries and sums lie
        // within their buffers.
        unsafe {
            for group in 0..groups {
                let rows = (inputs - first - 4 * group).min(4);
                let from = weights.add((first + 4 * group) * R * 64);
                build_table::<S, T, R>(from, rows, table.add(group * ENTRIES * R * 64));
            }
            let states = &bits.words[word * chains..(word + 1) * chains];
            for (chain, &state) in states.iter().enumerate() {
                let sum = sums.add(chain * R * 64);
                let mut total = [S::zero_row(); R];
                if word > 0 {
                    for r in 0..R {
                        total[r] = S::load_row(sum.add(r * 64));
                    }
                }
                if groups == TABLES {
                    for group in 0..TABLES {
                        total = add_entry::<S, T, R>(total, table, group, state);
                    }
                } else {
                    for group in 0..groups {
                        total = add_entry::<S, T, R>(total, table, group, state);
                    }
                }
                for r in 0..R {
                    S::store_row(sum.add(r * 64), total[r]);
                }
            }
        }
    }
}

/// # Safety
/// See [`sum_tile`]; `group` is below 16 and its table is built.
#[inline(always)]
unsafe fn add_entry<S: Simd, T: Fixed, const R: usize>(
    mut total: [S::Row; R],
    table: *const u8,
    group: usize,
    state: u64,
) -> [S::Row; R] {
    let entry = (state >> (4 * group)) as usize % ENTRIES;
    for r in 0..R {
        // SAFETY: the entry lies within the table.
        unsafe {
            let row = S::load_row(table.add(((group * ENTRIES + entry) * R + r) * 64));
            total[r] = T::add::<S>(total[r], row);
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
        // SAFETY: within the 16 entries; doubling from entry 0 writes each before it is read.
        unsafe {
            let at = |entry: usize| table.add((entry * R + r) * 64);
            S::store_row(at(0), S::zero_row());
            for row in 0..4 {
                let weight = if row < rows {
                    S::load_row(weights.add((row * R + r) * 64))
                } else {
                    S::zero_row()
                };
                for entry in 0..1 << row {
                    let sum = T::add::<S>(S::load_row(at(entry)), weight);
                    S::store_row(at(entry + (1 << row)), sum);
                }
            }
        }
    }
}

/// # Safety
/// See [`sum_tile`]; the listed units are below the number of inputs.
#[inline(always)]
unsafe fn rows<S: Simd, T: Fixed, const R: usize>(
    weights: &[T],
    keep: bool,
    chains: usize,
    scratch: &Scratch,
    sums: &mut [T],
) {
    let weights = weights.as_ptr().cast::<u8>();
    let sums = sums.as_mut_ptr().cast::<u8>();
    for chain in 0..chains {
        let (start, subtract, end) = (
            scratch.start[chain] as usize,
            scratch.subtract[chain] as usize,
            scratch.start[chain + 1] as usize,
        );
        // SAFETY: units are below `inputs`, chains below the number of sums.
        unsafe {
            let sum = sums.add(chain * R * 64);
            let mut total = [S::zero_row(); R];
            if keep {
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
