//! The examples of a mini-batch and their chains: what the kernels of learning read and write.

use crate::aligned::Aligned;
use crate::learning::layers::{LANES, Layers};
use crate::random::Purpose;
use crate::stream::Stream;
use std::ops::Range;

/// The visible units of an example that are not zero, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example<'a> {
    pub units: &'a [u32],
    /// The value of each of them, from 0 to 1; none where all are one.
    pub values: &'a [f32],
}

impl<'a> Example<'a> {
    /// Those among some units.
    pub(crate) fn part(self, units: Range<usize>) -> Self {
        let inside = |unit: Option<&u32>| unit.is_none_or(|unit| units.contains(&(*unit as usize)));
        if inside(self.units.first()) && inside(self.units.last()) {
            return self;
        }
        let at = |end: usize| self.units.partition_point(|&unit| (unit as usize) < end);
        let range = at(units.start)..at(units.end);
        let values = if self.values.is_empty() { &[] } else { &self.values[range.clone()] };
        Self { units: &self.units[range], values }
    }
}

/// All values are one.
pub(crate) fn are_ones(data: &[Example<'_>]) -> bool {
    data.iter().all(|example| example.values.is_empty())
}

/// The chain of one example of a mini-batch, and what both say about the hidden layer.
pub struct Chain {
    pub(crate) stream: Stream,
    /// Hidden units that are on, drawn given the example.
    pub(crate) on: Vec<u32>,
    /// Hidden units of the chain; with persistent CD they stay from batch to batch, `None` before.
    pub state: Option<Vec<u32>>,
    /// The same as bits, if they are at hand.
    pub(crate) state_bits: Vec<u16>,
    /// Where the chain ends, on the visible side: the units that are on, and all units as bits.
    pub end: Vec<u32>,
    pub(crate) end_bits: Vec<u16>,
    /// The probabilities of the hidden units, given the example and given the end of the chain.
    pub(crate) given_data: Aligned<f32>,
    pub(crate) given_end: Aligned<f32>,
    /// Inputs and probabilities of the visible units.
    pub(crate) visible: Aligned<f32>,
    /// Squared error of the first reconstruction, summed over the units, if it was measured.
    pub error: f64,
}

impl Chain {
    pub fn new(layers: &Layers) -> Self {
        let (visible, hidden) = (layers.visible.weights.width(), layers.hidden.weights.width());
        Self {
            stream: Stream::new(0, Purpose::Learning, 0),
            on: vec![],
            state: None,
            state_bits: vec![],
            end: vec![],
            end_bits: vec![0; layers.visible.weights.columns().div_ceil(LANES)],
            given_data: Aligned::zeroed(hidden),
            given_end: Aligned::zeroed(hidden),
            visible: Aligned::zeroed(visible),
            error: 0.0,
        }
    }

    /// Writes the state into words of 64 units.
    pub(crate) fn write_state<'a>(&self, words: impl Iterator<Item = &'a mut u64>) {
        if self.state_bits.is_empty() {
            let on = self.state.as_deref().unwrap_or_default();
            let mut rest = on.iter().peekable();
            for (k, word) in words.enumerate() {
                *word = 0;
                while let Some(unit) = rest.next_if(|&&unit| unit as usize / 64 == k) {
                    *word |= 1 << (unit % 64);
                }
            }
        } else {
            for (word, parts) in words.zip(self.state_bits.chunks(4)) {
                *word =
                    (0..).zip(parts).fold(0, |word, (k, &part)| word | u64::from(part) << (16 * k));
            }
        }
    }

    /// Gives it the random stream of this seed and index.
    pub fn seed(&mut self, seed: u64, index: u64) {
        self.stream = Stream::new(seed, Purpose::Learning, index);
    }
}
