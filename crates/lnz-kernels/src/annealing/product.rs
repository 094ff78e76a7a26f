//! The sum of the weights of units that are on, for a block of chains and one tile of outputs.
//!
//! Three ways, with the same integer result:
//! - tables: the inputs are taken five at a time, or four where the chains are few; the 32 or 16 sums that
//!   they can give are tabulated, and a chain adds one entry for all of them ("four Russians");
//! - skip: a chain adds the weights of its units that are on;
//! - delta: a chain adds the weights of units that went on since its last sum, and subtracts those of
//!   units that went off.

use crate::annealing::tables::{TABLES, Tables, entries_of, inputs_of_table};
use crate::bits::Bits;
use crate::simd::Simd;
use std::ops::Range;

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
/// Building the tables costs a block as much as this number of chains takes to look up.
pub const CHAINS_PER_BUILD: f64 = 40.0;
/// A change is dearer than a unit that is on: its sum is read first.
const DELTA_COST: f64 = 1.15;

impl Method {
    /// The cheapest way to the sums of `bits`; `before` is the state whose sums are already there.
    #[inline(always)]
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
    pub(crate) tables: Box<Tables>,
    /// For each pass and chain a byte per table, lower bytes first: 8 times the entry.
    pub(crate) entries: Vec<u64>,
    /// Units to add and then to subtract, chain after chain.
    units: Vec<u32>,
    /// Where the units of each chain start, and where those to subtract start.
    start: Vec<u32>,
    subtract: Vec<u32>,
    /// All units are below it.
    below: usize,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            tables: Tables::new(),
            entries: Vec::new(),
            units: Vec::new(),
            start: Vec::new(),
            subtract: Vec::new(),
            below: 0,
        }
    }

    /// Prepares what `method` needs for the states of a layer of `inputs` units.
    #[inline(always)]
    pub(crate) fn prepare<S: Simd>(
        &mut self,
        simd: S,
        method: Method,
        inputs: usize,
        bits: &Bits,
        before: Option<&Bits>,
    ) {
        match (method, before) {
            (Method::Tables, _) => match inputs_of_table(bits.chains) {
                4 => self.find_entries::<4>(bits.chains, &bits.words),
                _ => self.find_entries::<5>(bits.chains, &bits.words),
            },
            (Method::Delta, Some(before)) => self.list(simd, inputs, bits, &before.words),
            _ => self.list(simd, inputs, bits, &[]),
        }
    }

    /// All units in the lists are below this.
    #[inline(always)]
    pub(crate) fn below(&self) -> usize {
        self.below
    }

    /// The units that each of some chains adds, and those that it subtracts.
    #[inline(always)]
    pub(crate) fn units(&self, chains: Range<usize>) -> impl Iterator<Item = (&[u32], &[u32])> {
        let ends = &self.start[chains.start..=chains.end];
        let (units, subtract) = (&self.units[..], &self.subtract[chains]);
        ends.windows(2).zip(subtract).map(move |(ends, &subtract)| {
            let (start, subtract, end) = (ends[0] as usize, subtract as usize, ends[1] as usize);
            (&units[start..subtract], &units[subtract..end])
        })
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
                    entries[k] = entries_of::<N>(now[k] >> shift | next[k] << (64 - shift));
                }
            } else {
                for k in 0..chains {
                    entries[k] = entries_of::<N>(now[k] >> shift);
                }
            }
        }
    }

    /// Lists the units of `bits` that are not in `before`, and those of `before` that are not in
    /// `bits`; no words before are zeros.
    #[inline(always)]
    fn list<S: Simd>(&mut self, simd: S, inputs: usize, bits: &Bits, before: &[u64]) {
        let (words, chains) = (&bits.words[..], bits.chains);
        assert!(words.len() == inputs.div_ceil(64) * chains);
        assert!(before.is_empty() || before.len() == words.len());
        // Units beyond the last one are off: whoever reads the lists relies on it.
        assert!(are_off(words, inputs, chains) && are_off(before, inputs, chains));
        self.below = inputs;
        self.units.clear();
        self.start.clear();
        self.subtract.clear();
        // 64 units per word of a chain, and 64 more of room.
        let most = 64 * (2 * words.len() / chains + 1);
        for chain in 0..chains {
            let mut count = self.units.len();
            self.start.push(count as u32);
            self.units.reserve(most);
            // SAFETY: there is room for 64 units for each word of `words` and `before`, and `count` units
            // are written.
            unsafe {
                for (word, k) in (chain..words.len()).step_by(chains).enumerate() {
                    let on = words[k] & !before.get(k).unwrap_or(&0);
                    let to = self.units.as_mut_ptr().add(count);
                    count += simd.positions(on, 64 * word as u32, to);
                }
                self.subtract.push(count as u32);
                for (word, k) in (chain..before.len()).step_by(chains).enumerate() {
                    let off = before[k] & !words[k];
                    let to = self.units.as_mut_ptr().add(count);
                    count += simd.positions(off, 64 * word as u32, to);
                }
                self.units.set_len(count);
            }
        }
        self.start.push(self.units.len() as u32);
    }
}

/// No chain has a unit on that does not exist.
fn are_off(words: &[u64], inputs: usize, chains: usize) -> bool {
    let last = &words[words.len().saturating_sub(chains)..];
    inputs.is_multiple_of(64) || last.iter().all(|word| word >> (inputs % 64) == 0)
}
