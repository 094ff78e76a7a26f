//! Contrastive divergence: the Gibbs chains of some examples of a mini-batch.
//!
//! Data and sampled states are mostly zeros, so every product is a sum of the rows of the units that
//! are on. Examples go through each step together, so that they share the weights in the cache.

use crate::aligned::Aligned;
use crate::annealing::elementwise::exp2;
use crate::learning::dense::DenseSums;
use crate::learning::layers::{LANES, Layers, PANEL, Side};
use crate::learning::lists::{Factored, List};
use crate::learning::row_sums::sum_rows;
use crate::random::Purpose;
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::stream::Stream;
use std::f32::consts::LOG2_E;
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
fn are_ones(data: &[Example<'_>]) -> bool {
    data.iter().all(|example| example.values.is_empty())
}

/// The error of the reconstruction is measured for the first example of a mini-batch and every so many:
/// fewer where the chains are persistent, because it takes a product of its own then.
pub fn measure_every(persistent: bool) -> usize {
    if persistent { 64 } else { 16 }
}

/// The chain of one example of a mini-batch, and what both say about the hidden layer.
pub struct Chain {
    stream: Stream,
    /// Hidden units that are on, drawn given the example.
    on: Vec<u32>,
    /// Hidden units of the chain; with persistent CD they stay from batch to batch, `None` before.
    pub state: Option<Vec<u32>>,
    /// The same as bits, if they are at hand.
    state_bits: Vec<u16>,
    /// Where the chain ends, on the visible side: the units that are on, and all units as bits.
    pub end: Vec<u32>,
    pub(crate) end_bits: Vec<u16>,
    /// The probabilities of the hidden units, given the example and given the end of the chain.
    pub(crate) given_data: Aligned<f32>,
    pub(crate) given_end: Aligned<f32>,
    /// Inputs and probabilities of the visible units.
    visible: Aligned<f32>,
    /// Squared error of the first reconstruction, summed over the units, if it was measured.
    pub error: f64,
}

impl Chain {
    pub fn new(layers: &Layers) -> Self {
        let (visible, hidden) = (layers.visible.weights.width(), layers.hidden.weights.width());
        Self {
            stream: Stream::new(0, Purpose::Contrast, 0),
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
        self.stream = Stream::new(seed, Purpose::Contrast, index);
    }
}

/// Some examples, each with its chain.
pub struct Contrast<'a> {
    pub layers: &'a Layers,
    pub data: &'a [Example<'a>],
    pub chains: &'a mut [Chain],
    /// Steps of the Gibbs chains, at least one.
    pub steps: usize,
    /// Chains go on from where they were, rather than from the examples.
    pub persistent: bool,
    /// The number of the first one in its mini-batch.
    pub first: usize,
    /// What the states of persistent chains give the visible units, if that is known.
    pub dense: Option<&'a DenseSums>,
}

impl Contrast<'_> {
    pub fn run_on(self, level: Level) {
        assert_eq!(self.data.len(), self.chains.len());
        dispatch(level, self);
    }
}

impl Kernel for Contrast<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Contrast { layers, data, chains, persistent, .. } = self;
        let (visible, hidden) = (&layers.visible, &layers.hidden);
        let every = measure_every(persistent);
        let measured = |k: usize| (self.first + k).is_multiple_of(every);
        // SAFETY: the features by `dispatch`; buffers of whole vectors.
        unsafe {
            let outs = chains.iter_mut().map(|chain| &mut chain.given_data[..]);
            match are_ones(data) {
                true => sum_examples::<S, &[u32]>(hidden, data, outs),
                false => sum_examples::<S, Factored<'_>>(hidden, data, outs),
            }
            for chain in &mut *chains {
                let units = hidden.weights.columns();
                sample::<S>(
                    &mut chain.given_data,
                    units,
                    &mut chain.stream,
                    &mut chain.on,
                    &mut [],
                );
            }
            // The first step of a chain from the data is the reconstruction; another chain has none.
            if persistent {
                let some = chains.iter_mut().enumerate().filter(|(k, _)| measured(*k));
                let sums = some.map(|(_, chain)| (&chain.on[..], &mut chain.visible[..]));
                sum_rows::<S, _>(visible, &mut sums.collect::<Vec<_>>());
                for k in (0..chains.len()).filter(|k| measured(*k)) {
                    probabilities::<S>(&mut chains[k].visible);
                    chains[k].error = squared_error::<S>(&chains[k].visible, data[k]);
                }
            }
            for Chain { state, on, .. } in &mut *chains {
                match state {
                    Some(state) if !persistent => std::mem::swap(state, on),
                    _ => _ = state.get_or_insert_with(|| on.clone()),
                }
            }
            for step in 1..=self.steps {
                match self.dense {
                    Some(dense) if step == 1 => {
                        for (k, chain) in (self.first..).zip(&mut *chains) {
                            add_bias::<S>(&visible.bias, dense.of(k), &mut chain.visible);
                        }
                    }
                    _ => {
                        let states = chains.iter_mut().map(|chain| {
                            (chain.state.as_deref().unwrap_or_default(), &mut chain.visible[..])
                        });
                        sum_rows::<S, _>(visible, &mut states.collect::<Vec<_>>());
                    }
                }
                for (k, chain) in chains.iter_mut().enumerate() {
                    let Chain { visible: inputs, stream, end, end_bits, error, .. } = chain;
                    let units = visible.weights.columns();
                    if step == 1 && !persistent && measured(k) {
                        sample::<S>(inputs, units, stream, end, end_bits);
                        *error = squared_error::<S>(inputs, data[k]);
                    } else {
                        draw::<S>(inputs, units, stream, end, end_bits);
                    }
                }
                let ends =
                    chains.iter_mut().map(|chain| (&chain.end[..], &mut chain.given_end[..]));
                sum_rows::<S, _>(hidden, &mut ends.collect::<Vec<_>>());
                // The gradient takes probabilities; a chain that goes on needs a state as well.
                for Chain { given_end, state, state_bits, stream, .. } in &mut *chains {
                    match state {
                        Some(state) if persistent || step < self.steps => {
                            let units = hidden.weights.columns();
                            state_bits.resize(units.div_ceil(LANES), 0);
                            sample::<S>(given_end, units, stream, state, state_bits);
                        }
                        _ => probabilities::<S>(given_end),
                    }
                }
            }
        }
    }
}

/// Inputs are the bias and sums that come panel by panel.
///
/// # Safety
/// See [`Simd`]; all of whole panels and as wide.
#[inline(always)]
unsafe fn add_bias<'a, S: Simd>(
    bias: &[f32],
    sums: impl Iterator<Item = &'a [f32]>,
    inputs: &mut [f32],
) {
    let panels = bias.chunks_exact(PANEL).zip(sums).zip(inputs.chunks_exact_mut(PANEL));
    for ((bias, sums), inputs) in panels {
        for k in [0, LANES] {
            // SAFETY: by the caller.
            unsafe {
                let sum = S::add(S::load(bias[k..].as_ptr()), S::load(sums[k..].as_ptr()));
                S::store(inputs[k..].as_mut_ptr(), sum);
            }
        }
    }
}

/// The hidden inputs of some examples.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn sum_examples<'a, S: Simd, L: List<'a>>(
    hidden: &Side,
    data: &[Example<'a>],
    outs: impl Iterator<Item = &'a mut [f32]>,
) {
    let lists = data.iter().map(|example| L::new(example.units, example.values));
    // SAFETY: by the caller.
    unsafe { sum_rows::<S, L>(hidden, &mut lists.zip(outs).collect::<Vec<_>>()) }
}

/// Inputs become probabilities.
///
/// # Safety
/// See [`Simd`]; whole vectors.
#[inline(always)]
unsafe fn probabilities<S: Simd>(values: &mut [f32]) {
    for vector in values.as_chunks_mut::<LANES>().0 {
        // SAFETY: by the caller.
        unsafe { S::store(vector.as_mut_ptr(), sigmoid::<S>(S::load(vector.as_ptr()))) }
    }
}

/// Inputs become probabilities, and `on` the units that are drawn with them, also as bits.
///
/// # Safety
/// See [`Simd`]; whole vectors.
#[inline(always)]
unsafe fn sample<S: Simd>(
    values: &mut [f32],
    units: usize,
    stream: &mut Stream,
    on: &mut Vec<u32>,
    bits: &mut [u16],
) {
    let (drawn, padding) = values.split_at_mut(units.next_multiple_of(LANES));
    on.clear();
    on.reserve(drawn.len() + LANES);
    // SAFETY: there is room for a vector after each of them.
    unsafe {
        let (mut random, to, mut count) = (stream.load::<S>(), on.as_mut_ptr(), 0);
        for (v, vector) in drawn.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let p = sigmoid::<S>(S::load(vector.as_ptr()));
            S::store(vector.as_mut_ptr(), p);
            let chosen = S::less(random.uniforms(), p);
            count += S::store_indices(to.add(count), chosen, (LANES * v) as u32);
            if let Some(place) = bits.get_mut(v) {
                *place = S::bits(chosen) as u16;
            }
        }
        on.set_len(count);
        stream.store(random);
        probabilities::<S>(padding);
    }
}

/// The same units as `sample` draws, without their probabilities.
///
/// # Safety
/// See [`Simd`]; whole vectors.
#[inline(always)]
unsafe fn draw<S: Simd>(
    inputs: &[f32],
    units: usize,
    stream: &mut Stream,
    on: &mut Vec<u32>,
    bits: &mut [u16],
) {
    let inputs = &inputs[..units.next_multiple_of(LANES)];
    on.clear();
    on.reserve(inputs.len() + LANES);
    // SAFETY: there is room for a vector after each of them.
    unsafe {
        let (mut random, to, mut count) = (stream.load::<S>(), on.as_mut_ptr(), 0);
        let one = S::splat(1.0);
        let vectors = inputs.as_chunks::<LANES>().0.iter().zip(bits);
        for (v, (vector, bits)) in vectors.enumerate() {
            let e = exp2::<S>(S::mul(S::load(vector.as_ptr()), S::splat(-LOG2_E)));
            let chosen = less_than_reciprocal::<S>(random.uniforms(), S::add(one, e));
            count += S::store_indices(to.add(count), chosen, (LANES * v) as u32);
            *bits = S::bits(chosen) as u16;
        }
        on.set_len(count);
        stream.store(random);
    }
}

/// u < 1 / a in float32; nearly always without the division.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn less_than_reciprocal<S: Simd>(u: S::F, a: S::F) -> S::Mask {
    // It is the same as u a < 1 but for two roundings, which are much smaller than this.
    const UNSURE: f32 = 1.0 / 1_048_576.0;
    // SAFETY: arithmetic only.
    unsafe {
        let product = S::mul(u, a);
        let less = S::less(product, S::splat(1.0 - UNSURE));
        if S::bits(less) == S::bits(S::less(product, S::splat(1.0 + UNSURE))) {
            return less;
        }
        S::less(u, S::div(S::splat(1.0), a))
    }
}

/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn sigmoid<S: Simd>(a: S::F) -> S::F {
    // SAFETY: arithmetic only.
    unsafe {
        let one = S::splat(1.0);
        S::div(one, S::add(one, exp2::<S>(S::mul(a, S::splat(-LOG2_E)))))
    }
}

/// sum_i (x_i - p_i)^2, where x is zero unless it is listed.
///
/// # Safety
/// See [`Simd`]; whole panels.
#[inline(always)]
unsafe fn squared_error<S: Simd>(p: &[f32], x: Example<'_>) -> f64 {
    // SAFETY: by the caller.
    let squares = unsafe {
        let mut sums = [S::splat(0.0); 2];
        for pair in p.as_chunks::<{ 2 * LANES }>().0 {
            for (sum, vector) in sums.iter_mut().zip(pair.as_chunks::<LANES>().0) {
                let p = S::load(vector.as_ptr());
                *sum = S::mul_add(p, p, *sum);
            }
        }
        S::sum_f64(S::add(sums[0], sums[1]))
    };
    let mut sums = [0.0; 4];
    // Four sums, which need not wait for each other.
    for (k, &unit) in x.units.iter().enumerate() {
        let value = x.values.get(k).unwrap_or(&1.0);
        sums[k % 4] += f64::from(*value) * f64::from(value - 2.0 * p[unit as usize]);
    }
    squares + sums.iter().sum::<f64>()
}

/// F(x) = b.x + sum_j softplus(a_j) of some examples.
pub fn log_marginals(level: Level, layers: &Layers, examples: &[Example<'_>]) -> Vec<f64> {
    let mut out = vec![0.0; examples.len()];
    dispatch(level, LogMarginals { layers, examples, out: &mut out });
    out
}

struct LogMarginals<'a> {
    layers: &'a Layers,
    examples: &'a [Example<'a>],
    out: &'a mut [f64],
}

impl Kernel for LogMarginals<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let hidden = &self.layers.hidden;
        let width = hidden.weights.width();
        let mut inputs = Aligned::zeroed(width * self.examples.len());
        let bias = self.layers.visible.bias();
        // SAFETY: whole vectors; the features by `dispatch`.
        unsafe {
            let outs = inputs.chunks_exact_mut(width);
            match are_ones(self.examples) {
                true => sum_examples::<S, &[u32]>(hidden, self.examples, outs),
                false => sum_examples::<S, Factored<'_>>(hidden, self.examples, outs),
            }
            let inputs = inputs.chunks_exact(width);
            for ((example, inputs), out) in self.examples.iter().zip(inputs).zip(self.out) {
                for (k, &unit) in example.units.iter().enumerate() {
                    let value = example.values.get(k).unwrap_or(&1.0);
                    *out += f64::from(bias[unit as usize]) * f64::from(*value);
                }
                let (zero, one) = (S::splat(0.0), S::splat(1.0));
                // The factors lie in (1, 2]: 60 in each of 16 lanes do not overflow in f64.
                for part in inputs.chunks(60 * LANES) {
                    let mut product = one;
                    for vector in part.as_chunks::<LANES>().0 {
                        let a = S::load(vector.as_ptr());
                        let e = exp2::<S>(S::mul(S::abs(a), S::splat(-LOG2_E)));
                        product = S::mul_add(product, e, product);
                        *out += S::sum_f64(S::max(a, zero));
                    }
                    *out += S::product_f64(product).ln();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
