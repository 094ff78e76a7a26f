//! Contrastive divergence: the Gibbs chains of some examples of a mini-batch.
//!
//! Data and sampled states are mostly zeros, so every product is a sum of the rows of the units that
//! are on. Examples go through each step together, so that they share the weights in the cache.

use super::aligned::Aligned;
use super::elementwise::exp2;
use super::layers::{LANES, Layers};
use super::row_sums::{Active, sum_rows};
use super::simd::{Kernel, Level, Simd, dispatch};
use super::stream::Stream;
use crate::random::Purpose;
use std::f32::consts::LOG2_E;

/// The chain of one example of a mini-batch, and what both say about the hidden layer.
pub(crate) struct Chain {
    stream: Stream,
    /// Hidden units that are on, drawn given the example.
    on: Vec<u32>,
    /// Hidden units of the chain; with persistent CD they stay from batch to batch, `None` before.
    pub(crate) state: Option<Vec<u32>>,
    /// Where the chain ends, on the visible side: the units that are on, and all units as bits.
    pub(crate) end: Vec<u32>,
    pub(super) end_bits: Vec<u16>,
    /// The probabilities of the hidden units, given the example and given the end of the chain.
    pub(super) given_data: Aligned<f32>,
    pub(super) given_end: Aligned<f32>,
    /// Inputs and probabilities of the visible units.
    visible: Aligned<f32>,
    /// Squared error of the first reconstruction, summed over the units, if it was measured.
    pub(crate) error: f64,
}

impl Chain {
    pub(crate) fn new(layers: &Layers) -> Self {
        let (visible, hidden) = (layers.visible.weights.width(), layers.hidden.weights.width());
        Self {
            stream: Stream::new(0, Purpose::Contrast, 0),
            on: vec![],
            state: None,
            end: vec![],
            end_bits: vec![0; layers.visible.weights.columns().div_ceil(LANES)],
            given_data: Aligned::zeroed(hidden),
            given_end: Aligned::zeroed(hidden),
            visible: Aligned::zeroed(visible),
            error: 0.0,
        }
    }

    /// Gives it the random stream of this seed and index.
    pub(crate) fn seed(&mut self, seed: u64, index: u64) {
        self.stream = Stream::new(seed, Purpose::Contrast, index);
    }
}

/// Some examples, each with its chain.
pub(crate) struct Contrast<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) data: &'a [&'a [Active]],
    pub(crate) chains: &'a mut [Chain],
    /// Steps of the Gibbs chains, at least one.
    pub(crate) steps: usize,
    /// Chains go on from where they were, rather than from the examples.
    pub(crate) persistent: bool,
    /// The error is measured for the first chain and for every so many.
    pub(crate) measure_every: usize,
}

impl Contrast<'_> {
    pub(crate) fn run_on(self, level: Level) {
        assert_eq!(self.data.len(), self.chains.len());
        dispatch(level, self);
    }
}

impl Kernel for Contrast<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Contrast { layers, data, chains, persistent, .. } = self;
        let (visible, hidden) = (&layers.visible, &layers.hidden);
        let measured = |k: &usize| k.is_multiple_of(self.measure_every);
        // SAFETY: the features by `dispatch`; buffers of whole vectors.
        unsafe {
            let outs = chains.iter_mut().map(|chain| &mut chain.given_data[..]);
            let mut sums: Vec<_> = data.iter().copied().zip(outs).collect();
            sum_rows::<S, _>(hidden, &mut sums);
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
                let some = chains.iter_mut().step_by(self.measure_every);
                let mut sums: Vec<_> =
                    some.map(|chain| (&chain.on[..], &mut chain.visible[..])).collect();
                sum_rows::<S, _>(visible, &mut sums);
                for k in (0..chains.len()).filter(measured) {
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
                let states = chains.iter_mut().map(|chain| {
                    (chain.state.as_deref().unwrap_or_default(), &mut chain.visible[..])
                });
                sum_rows::<S, _>(visible, &mut states.collect::<Vec<_>>());
                for (k, chain) in chains.iter_mut().enumerate() {
                    let Chain { visible: inputs, stream, end, end_bits, error, .. } = chain;
                    sample::<S>(inputs, visible.weights.columns(), stream, end, end_bits);
                    if step == 1 && !persistent && measured(&k) {
                        *error = squared_error::<S>(inputs, data[k]);
                    }
                }
                let ends =
                    chains.iter_mut().map(|chain| (&chain.end[..], &mut chain.given_end[..]));
                sum_rows::<S, _>(hidden, &mut ends.collect::<Vec<_>>());
                // The gradient takes probabilities; a chain that goes on needs a state as well.
                for Chain { given_end, state, stream, .. } in &mut *chains {
                    match state {
                        Some(state) if persistent || step < self.steps => {
                            let units = hidden.weights.columns();
                            sample::<S>(given_end, units, stream, state, &mut []);
                        }
                        _ => probabilities::<S>(given_end),
                    }
                }
            }
        }
    }
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
        let (mut random, mut count) = (stream.load::<S>(), 0);
        for (v, vector) in drawn.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let p = sigmoid::<S>(S::load(vector.as_ptr()));
            S::store(vector.as_mut_ptr(), p);
            let chosen = S::less(random.uniforms(), p);
            count += S::store_indices(on.as_mut_ptr().add(count), chosen, (LANES * v) as u32);
            if let Some(place) = bits.get_mut(v) {
                *place = S::bits(chosen) as u16;
            }
        }
        on.set_len(count);
        stream.store(random);
        probabilities::<S>(padding);
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

/// sum_i (x_i - p_i)^2, where x is zero unless it is active.
///
/// # Safety
/// See [`Simd`]; whole panels.
#[inline(always)]
unsafe fn squared_error<S: Simd>(p: &[f32], x: &[Active]) -> f64 {
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
    let of_active = |x: &Active| f64::from(x.value) * f64::from(x.value - 2.0 * p[x.unit as usize]);
    // Four sums, which need not wait for each other.
    let (fours, rest) = x.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, x)| *sum += of_active(x));
    }
    squares + sums.iter().sum::<f64>() + rest.iter().map(of_active).sum::<f64>()
}

/// F(x) = b.x + sum_j softplus(a_j) of some examples.
pub(crate) fn log_marginals(level: Level, layers: &Layers, examples: &[&[Active]]) -> Vec<f64> {
    let mut out = vec![0.0; examples.len()];
    dispatch(level, LogMarginals { layers, examples, out: &mut out });
    out
}

struct LogMarginals<'a> {
    layers: &'a Layers,
    examples: &'a [&'a [Active]],
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
            let mut sums: Vec<_> = self.examples.iter().copied().zip(outs).collect();
            sum_rows::<S, _>(hidden, &mut sums);
            for ((example, inputs), out) in sums.iter().zip(self.out) {
                for active in *example {
                    *out += f64::from(bias[active.unit as usize]) * f64::from(active.value);
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
#[path = "tests_of_learning.rs"]
mod tests;
