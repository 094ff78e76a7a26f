//! Tables over the states of some units, and the step that sums a unit out.

use crate::Observer;
use crate::math::{exp, ln_1p};
use rayon::prelude::*;

/// Bits of the index within a block: 2048 entries of the result and twice as many of a source stay
/// in the first cache.
const BLOCK_BITS: usize = 11;

/// Runs of a source that are shorter than this many bits are not worth a loop of their own.
const SHORTEST_RUN_BITS: usize = 3;

/// Entries that one thread computes before it asks whether to stop.
const TASK_ENTRIES: usize = 1 << 15;

/// A step with fewer entries is not shared out.
const SHARED_ENTRIES: usize = 1 << 14;

/// A step with so many units in its scope makes a table; with fewer, it changes a bias or a number.
pub(super) fn is_table(width: usize) -> bool {
    width >= 2
}

/// Memory of the table of a step.
pub(super) fn table_bytes(width: usize) -> f64 {
    if is_table(width) { 8.0 * (width as f64).exp2() } else { 0.0 }
}

/// How numbers multiply and add.
pub(super) trait Scale {
    /// The factor that changes nothing.
    const ONE: f64;
    fn times(a: f64, b: f64) -> f64;
    fn plus(a: f64, b: f64) -> f64;
}

/// Numbers as they are.
pub(super) struct Linear;

impl Scale for Linear {
    const ONE: f64 = 1.0;

    #[inline(always)]
    fn times(a: f64, b: f64) -> f64 {
        a * b
    }

    #[inline(always)]
    fn plus(a: f64, b: f64) -> f64 {
        a + b
    }
}

/// Their logarithms.
pub(super) struct Logarithmic;

impl Scale for Logarithmic {
    const ONE: f64 = 0.0;

    #[inline(always)]
    fn times(a: f64, b: f64) -> f64 {
        a + b
    }

    #[inline(always)]
    fn plus(a: f64, b: f64) -> f64 {
        a.max(b) + ln_1p(exp(-(a - b).abs()))
    }
}

/// What depends on the units one by one: a number times a factor for each unit that is on.
pub(super) struct UnitFactors {
    /// Part of the number; the rest is in `low`.
    number: f64,
    /// For each state of the units within a block.
    low: Vec<f64>,
    /// For each unit above.
    high: Vec<f64>,
}

impl UnitFactors {
    /// From the number, as a product of two, and one factor for each unit of the scope.
    pub(super) fn new<S: Scale>(number: [f64; 2], factors: &[f64]) -> Self {
        let (inside, above) = factors.split_at(factors.len().min(BLOCK_BITS));
        let mut low = Vec::with_capacity(1 << inside.len());
        low.push(number[0]);
        for &factor in inside {
            for k in 0..low.len() {
                low.push(S::times(low[k], factor));
            }
        }
        Self { number: number[1], low, high: above.to_vec() }
    }

    /// The rest of the number and the factors of the units above the block.
    fn outside<S: Scale>(&self, block: usize) -> f64 {
        let on = self.high.iter().enumerate().filter(|(k, _)| block >> k & 1 == 1);
        on.fold(self.number, |product, (_, &factor)| S::times(product, factor))
    }
}

/// A table that the eliminated unit is part of, as bit 0, seen from the index of the result.
pub(super) struct Source<'a> {
    values: &'a [f64],
    /// Units of the source within a block of the result.
    low_units: usize,
    /// Of these, so many are the first units of the result.
    run_bits: usize,
    /// Index into a block of the source, for each run of the result in a block; empty where the
    /// blocks agree.
    runs: Vec<u32>,
    /// For units above, their bit in the number of the block.
    high: Vec<usize>,
}

/// How many first units of the result are also those of a source.
pub(super) fn shared_run(scope: &[u32], source_scope: &[u32]) -> usize {
    let low = scope.len().min(BLOCK_BITS);
    scope[..low].iter().zip(&source_scope[1..]).take_while(|(a, b)| a == b).count()
}

/// The source can be read in step with the result.
pub(super) fn is_in_step(scope: &[u32], source_scope: &[u32]) -> bool {
    shared_run(scope, source_scope) == scope.len().min(BLOCK_BITS)
}

impl<'a> Source<'a> {
    /// `scope` is that of the result; the source's begins with the eliminated unit. Both rise.
    pub(super) fn new(values: &'a [f64], scope: &[u32], source_scope: &[u32]) -> Self {
        let block_bits = scope.len().min(BLOCK_BITS);
        // Short runs are read entry by entry.
        let run_bits = match shared_run(scope, source_scope) {
            short if short < SHORTEST_RUN_BITS.min(block_bits) => 0,
            long => long,
        };
        // All other units of the source are in the scope of the result.
        let mut places = Vec::with_capacity(source_scope.len());
        let mut place = 0;
        for unit in &source_scope[1..] {
            while scope[place] != *unit {
                place += 1;
            }
            places.push(place);
        }
        let low_units = places.iter().filter(|&&place| place < block_bits).count();
        let mut runs = Vec::new();
        if run_bits < block_bits {
            runs.reserve(1 << (block_bits - run_bits));
            runs.push(0);
            let mut next = run_bits;
            for bit in run_bits..block_bits {
                let step = match places.get(next) {
                    Some(&place) if place == bit => {
                        next += 1;
                        1u32 << (next - 1)
                    }
                    _ => 0,
                };
                for k in 0..runs.len() {
                    runs.push(runs[k] | step);
                }
            }
        }
        let high = places[low_units..].iter().map(|place| place - block_bits).collect();
        Self { values, low_units, run_bits, runs, high }
    }

    /// The part of the source that a block of the result needs.
    fn block(&self, block: usize) -> &'a [f64] {
        let bits = self.high.iter().enumerate();
        let outside = bits.fold(0, |index, (k, &bit)| index | (block >> bit & 1) << k);
        let size = 2 << self.low_units;
        &self.values[outside * size..][..size]
    }
}

/// One step: `sum over the unit's two states of (unit factors x all sources)`.
pub(super) struct Step<'a> {
    /// Where the unit is off, and where it is on.
    pub(super) factors: [UnitFactors; 2],
    pub(super) sources: Vec<Source<'a>>,
}

impl Step<'_> {
    /// Fills the table and returns its largest entry; None if the observer asks to stop.
    ///
    /// Every entry is computed on its own, so threads cannot change a bit.
    pub(super) fn fill<S: Scale>(&self, table: &mut [f64], observer: &dyn Observer) -> Option<f64> {
        if table.len() < SHARED_ENTRIES {
            return Some(self.fill_blocks::<S>(table, 0, &mut Vec::new()));
        }
        table
            .par_chunks_mut(TASK_ENTRIES)
            .enumerate()
            .map_init(Vec::new, |scratch, (task, part)| {
                let first = task * (TASK_ENTRIES >> BLOCK_BITS);
                (!observer.cancelled()).then(|| self.fill_blocks::<S>(part, first, scratch))
            })
            .try_reduce(|| f64::NEG_INFINITY, |a, b| Some(a.max(b)))
    }

    fn fill_blocks<S: Scale>(&self, part: &mut [f64], first: usize, on: &mut Vec<f64>) -> f64 {
        on.resize(part.len().min(1 << BLOCK_BITS), 0.0);
        let mut largest = f64::NEG_INFINITY;
        for (k, block) in part.chunks_mut(1 << BLOCK_BITS).enumerate() {
            self.fill_block::<S>(block, first + k, on);
            largest = largest.max(largest_of(block));
        }
        largest
    }

    fn fill_block<S: Scale>(&self, off: &mut [f64], block: usize, on: &mut [f64]) {
        let [off_low, on_low] = [&self.factors[0].low[..off.len()], &self.factors[1].low[..]];
        let off_number = self.factors[0].outside::<S>(block);
        let on_number = self.factors[1].outside::<S>(block);
        if let [Source { runs, .. }] = &self.sources[..]
            && runs.is_empty()
        {
            // The usual case of a wide table, in one go.
            let pairs = self.sources[0].block(block).chunks_exact(2);
            for (((entry, pair), a), b) in off.iter_mut().zip(pairs).zip(off_low).zip(on_low) {
                let is_off = S::times(S::times(*a, off_number), pair[0]);
                let is_on = S::times(S::times(*b, on_number), pair[1]);
                *entry = S::plus(is_off, is_on);
            }
            return;
        }
        for (((off, on), a), b) in off.iter_mut().zip(on.iter_mut()).zip(off_low).zip(on_low) {
            *off = S::times(*a, off_number);
            *on = S::times(*b, on_number);
        }
        for source in &self.sources {
            multiply::<S>(off, on, source, block);
        }
        for (off, on) in off.iter_mut().zip(on.iter()) {
            *off = S::plus(*off, *on);
        }
    }
}

/// Multiplies both states of a block by a source.
fn multiply<S: Scale>(off: &mut [f64], on: &mut [f64], source: &Source<'_>, block: usize) {
    let values = source.block(block);
    let run = |off: &mut [f64], on: &mut [f64], values: &[f64]| {
        for ((off, on), pair) in off.iter_mut().zip(on).zip(values.chunks_exact(2)) {
            *off = S::times(*off, pair[0]);
            *on = S::times(*on, pair[1]);
        }
    };
    if source.runs.is_empty() {
        return run(off, on, values);
    }
    if source.run_bits == 0 {
        for ((off, on), &place) in off.iter_mut().zip(on).zip(&source.runs) {
            let pair = &values[2 * place as usize..][..2];
            *off = S::times(*off, pair[0]);
            *on = S::times(*on, pair[1]);
        }
        return;
    }
    let length = 1 << source.run_bits;
    let both = off.chunks_exact_mut(length).zip(on.chunks_exact_mut(length));
    for ((off, on), &begin) in both.zip(&source.runs) {
        let begin = 2 * begin as usize;
        run(off, on, &values[begin..begin + 2 * length]);
    }
}

/// The largest entry; eight at a time, which the compiler turns into vectors.
fn largest_of(values: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 8];
    let eights = values.chunks_exact(8);
    let rest = eights.remainder();
    for eight in eights {
        for (lane, &value) in lanes.iter_mut().zip(eight) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max)
}
