//! Which examples of a mini-batch have a visible unit on: the lists of the chains, turned around.

use super::contrast::Chain;
use super::layers::LANES;
use super::row_sums::{Active, Minus};
use super::simd::{Kernel, Level, Simd, dispatch};

/// For each of some visible units, the examples in which it is on: example k of n with the value that
/// the unit has in it, and n + k where the chain of example k ends with the unit on.
#[derive(Default)]
pub(crate) struct Occurrences {
    /// Where the examples of each unit start, in the data and among the ends; one more at the end.
    starts: [Vec<u32>; 2],
    /// Longer than needed: buffers stay from batch to batch.
    data: Vec<Active>,
    ends: Vec<Minus>,
    /// Of the values of each unit in the data.
    sums: Vec<f32>,
    /// All examples and ends are below it.
    rows: usize,
}

impl Occurrences {
    /// Of units `first`, ..., `first + count - 1`, where `first` is a multiple of 16; all lists are in
    /// the order of their units.
    pub(crate) fn find(
        &mut self,
        level: Level,
        (first, count): (usize, usize),
        data: &[&[Active]],
        chains: &[Chain],
    ) {
        assert!(data.len() == chains.len() && first.is_multiple_of(LANES));
        let part = |list: &&[Active]| {
            let at = |unit: usize| list.partition_point(|active| (active.unit as usize) < unit);
            at(first)..at(first + count)
        };
        let data: Vec<&[Active]> = data.iter().map(|list| &list[part(list)]).collect();
        self.rows = data.len() + chains.len();
        self.find_data(first, count, &data);
        dispatch(level, FindEnds { occurrences: self, first, count, chains });
    }

    fn find_data(&mut self, first: usize, count: usize, data: &[&[Active]]) {
        // Two places further on, so that filling in moves each start to where the next one begins.
        let starts = &mut self.starts[0];
        starts.clear();
        starts.resize(count + 2, 0);
        self.sums.clear();
        self.sums.resize(count, 0.0);
        for list in data {
            for active in *list {
                let k = active.unit as usize - first;
                starts[k + 2] += 1;
                self.sums[k] += active.value;
            }
        }
        for k in 2..count + 2 {
            starts[k] += starts[k - 1];
        }
        let total = starts[count + 1] as usize;
        if self.data.len() < total {
            self.data.resize(total, Active { unit: 0, value: 0.0 });
        }
        let next = &mut starts[1..];
        for (n, list) in data.iter().enumerate() {
            for active in *list {
                let place = &mut next[active.unit as usize - first];
                self.data[*place as usize] = Active { unit: n as u32, ..*active };
                *place += 1;
            }
        }
        starts.truncate(count + 1);
    }

    /// Number of units.
    pub(super) fn len(&self) -> usize {
        self.starts[0].len() - 1
    }

    /// All examples and ends are below this: `find` numbers them so.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The examples that have unit k, counted from the first, on.
    pub(super) fn data(&self, k: usize) -> &[Active] {
        let starts = &self.starts[0];
        &self.data[starts[k] as usize..starts[k + 1] as usize]
    }

    /// The ends that do.
    pub(super) fn ends(&self, k: usize) -> &[Minus] {
        let starts = &self.starts[1];
        &self.ends[starts[k] as usize..starts[k + 1] as usize]
    }

    /// The gradient of the biases of the units, times the number of examples.
    pub(crate) fn sums(&self) -> impl Iterator<Item = f32> {
        self.sums.iter().enumerate().map(|(k, &in_data)| match self.ends(k).len() {
            // Whole numbers: one step is as exact as many.
            ends if in_data == in_data.trunc() => in_data - ends as f32,
            ends => (0..ends).fold(in_data, |sum, _| sum - 1.0),
        })
    }
}

struct FindEnds<'a> {
    occurrences: &'a mut Occurrences,
    first: usize,
    count: usize,
    chains: &'a [Chain],
}

impl Kernel for FindEnds<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Self { occurrences, first, count, chains } = self;
        let (starts, ends) = (&mut occurrences.starts[1], &mut occurrences.ends);
        // Room for all of them, and for a whole vector where the last one goes.
        let room = chains.iter().map(|chain| chain.end.len()).sum::<usize>() + LANES;
        if ends.len() < room {
            ends.resize(room, Minus(0));
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
                for (k, bits) in bits.as_chunks::<LANES>().0.iter().enumerate() {
                    assert!(found + LANES <= ends.len());
                    let row = (chains.len() + k * LANES) as u32;
                    // SAFETY: room for a vector; `Minus` is a u32; the features by `dispatch`.
                    unsafe {
                        let on = S::have_bit(bits.as_ptr(), (unit % LANES) as u32);
                        found += S::store_indices(ends.as_mut_ptr().add(found).cast(), on, row);
                    }
                }
                starts.push(found as u32);
            }
        }
    }
}
