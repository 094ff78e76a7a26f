//! Which examples of a mini-batch have a visible unit on: the lists of the chains, turned around.

use crate::learning::chain::{Chain, Example};
use crate::learning::layers::LANES;
use crate::learning::lists::List;
use crate::simd::{Kernel, Level, Simd, dispatch};

/// For each of some visible units the examples in which it is on: the number k of each of n examples
/// with the value that the unit has in it, and then n + k where the chain of example k ends with the
/// unit on.
#[derive(Default)]
pub struct Occurrences {
    /// Longer than needed: buffers stay from batch to batch.
    rows: Vec<u32>,
    /// The values; none where all are one.
    factors: Vec<f32>,
    /// Where the rows of each unit start; one more at the end.
    starts: Vec<u32>,
    /// Of each unit, how many examples have it on and the sum of its values, unless all are one.
    counts: Vec<u32>,
    sums: Vec<f32>,
    /// All rows are below it.
    below: usize,
}

impl Occurrences {
    /// Of units `first`, ..., `first + count - 1`, where `first` is a multiple of 16; all lists are in
    /// the order of their units.
    pub fn find(
        &mut self,
        level: Level,
        (first, count): (usize, usize),
        data: &[Example<'_>],
        chains: &[Chain],
    ) {
        assert!(data.len() == chains.len() && first.is_multiple_of(LANES));
        let data: Vec<Example<'_>> =
            data.iter().map(|example| example.part(first..first + count)).collect();
        let ones = data.iter().all(|example| example.values.is_empty());
        self.below = data.len() + chains.len();
        self.counts.clear();
        self.counts.resize(count, 0);
        for example in &data {
            example.units.iter().for_each(|&unit| self.counts[unit as usize - first] += 1);
        }
        dispatch(level, FindEnds { occurrences: self, first, count, chains });
        // Each moves to where the next one goes.
        let mut next = self.starts.clone();
        let rows = &mut self.rows[..];
        self.factors.clear();
        if ones {
            for (n, example) in data.iter().enumerate() {
                for &unit in example.units {
                    let place = &mut next[unit as usize - first];
                    rows[*place as usize] = n as u32;
                    *place += 1;
                }
            }
            return;
        }
        self.factors.resize(rows.len(), 1.0);
        self.sums.clear();
        self.sums.resize(count, 0.0);
        for (n, example) in data.iter().enumerate() {
            for (&unit, &value) in example.units.iter().zip(example.values) {
                let k = unit as usize - first;
                rows[next[k] as usize] = n as u32;
                self.factors[next[k] as usize] = value;
                self.sums[k] += value;
                next[k] += 1;
            }
        }
    }

    /// Number of units.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// All rows are below this: `find` numbers them so.
    pub(crate) fn below(&self) -> usize {
        self.below
    }

    /// All factors are one.
    pub(crate) fn are_ones(&self) -> bool {
        self.factors.is_empty()
    }

    /// The rows of unit k, counted from the first.
    #[inline(always)]
    pub(crate) fn list<'a, L: List<'a>>(&'a self, k: usize) -> L {
        let range = self.starts[k] as usize..self.starts[k + 1] as usize;
        let factors = if self.are_ones() { &[][..] } else { &self.factors[range.clone()] };
        L::new(&self.rows[range], factors)
    }

    /// The gradient of the biases of the units, times the number of examples.
    pub fn sums(&self) -> impl Iterator<Item = f32> {
        self.counts.iter().enumerate().map(|(k, &count)| {
            let ends = self.starts[k + 1] - self.starts[k] - count;
            match self.are_ones() {
                // Whole numbers: one step is as exact as many.
                true => count as f32 - ends as f32,
                false => (0..ends).fold(self.sums[k], |sum, _| sum - 1.0),
            }
        })
    }
}

/// Lists the ends, with room before those of each unit for its examples, and finds the starts.
struct FindEnds<'a> {
    occurrences: &'a mut Occurrences,
    first: usize,
    count: usize,
    chains: &'a [Chain],
}

impl Kernel for FindEnds<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { occurrences, first, count, chains } = self;
        let Occurrences { rows, starts, counts, .. } = occurrences;
        // Room for all of them, and for a whole vector where the last one goes.
        let ends = chains.iter().map(|chain| chain.end.len()).sum::<usize>();
        let room = counts.iter().sum::<u32>() as usize + ends + LANES;
        if rows.len() < room {
            rows.resize(room, 0);
        }
        starts.clear();
        starts.push(0);
        let mut found = 0;
        // Sixteen units of all chains.
        let mut bits = vec![0; chains.len().next_multiple_of(LANES)];
        for units in (first..first + count).step_by(LANES) {
            for (bits, chain) in bits.iter_mut().zip(chains) {
                *bits = chain.end_bits[units / LANES];
            }
            for unit in units..(units + LANES).min(first + count) {
                found += counts[unit - first] as usize;
                for (k, bits) in bits.as_chunks::<LANES>().0.iter().enumerate() {
                    let row = (chains.len() + k * LANES) as u32;
                    let on = simd.have_bit(bits, (unit % LANES) as u32);
                    let place: &mut [u32] = &mut rows[found..found + LANES];
                    // SAFETY: room for a vector.
                    found += unsafe { simd.store_indices(place.as_mut_ptr(), on, row) };
                }
                starts.push(found as u32);
            }
        }
    }
}
