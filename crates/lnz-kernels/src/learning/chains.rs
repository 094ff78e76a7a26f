//! Contrastive divergence: the Gibbs chains of some examples of a mini-batch.
//!
//! Data and sampled states are mostly zeros, so every product is a sum of the rows of the units that
//! are on. Examples go through each step together, so that they share the weights in the cache.

use crate::learning::chain::{Chain, Example, are_ones};
use crate::learning::dense::DenseSums;
use crate::learning::layers::{LANES, Layers, PANEL};
use crate::learning::lists::Factored;
use crate::learning::row_sums::{sum_examples, sum_rows};
use crate::learning::sampling::{draw, probabilities, sample};
use crate::simd::{Kernel, Level, Simd, dispatch};

/// How many examples share one measurement of the error of the reconstruction, which the first of them
/// gets. Persistent chains are measured less often, because it takes a product of its own then.
pub fn measure_every(persistent: bool) -> usize {
    if persistent { 64 } else { 16 }
}

/// Some examples, each with its chain.
pub struct RunChains<'a> {
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

impl RunChains<'_> {
    pub fn run_on(self, level: Level) {
        assert_eq!(self.data.len(), self.chains.len());
        dispatch(level, self);
    }
}

impl Kernel for RunChains<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let RunChains { layers, data, chains, persistent, .. } = self;
        let (visible, hidden) = (&layers.visible, &layers.hidden);
        let every = measure_every(persistent);
        let measured = |k: usize| (self.first + k).is_multiple_of(every);
        let outs = chains.iter_mut().map(|chain| &mut chain.given_data[..]);
        match are_ones(data) {
            true => sum_examples::<S, &[u32]>(simd, hidden, data, outs),
            false => sum_examples::<S, Factored<'_>>(simd, hidden, data, outs),
        }
        for chain in &mut *chains {
            let units = hidden.weights.columns();
            sample(simd, &mut chain.given_data, units, &mut chain.stream, &mut chain.on, &mut []);
        }
        // The first step of a chain from the data is the reconstruction; another chain has none.
        if persistent {
            let some = chains.iter_mut().enumerate().filter(|(k, _)| measured(*k));
            let sums = some.map(|(_, chain)| (&chain.on[..], &mut chain.visible[..]));
            sum_rows(simd, visible, &mut sums.collect::<Vec<_>>());
            for k in (0..chains.len()).filter(|k| measured(*k)) {
                probabilities(simd, &mut chains[k].visible);
                chains[k].error = squared_error(simd, &chains[k].visible, data[k]);
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
                        add_bias(simd, &visible.bias, dense.of(k), &mut chain.visible);
                    }
                }
                _ => {
                    let states = chains.iter_mut().map(|chain| {
                        (chain.state.as_deref().unwrap_or_default(), &mut chain.visible[..])
                    });
                    sum_rows(simd, visible, &mut states.collect::<Vec<_>>());
                }
            }
            for (k, chain) in chains.iter_mut().enumerate() {
                let Chain { visible: inputs, stream, end, end_bits, error, .. } = chain;
                let units = visible.weights.columns();
                if step == 1 && !persistent && measured(k) {
                    sample(simd, inputs, units, stream, end, end_bits);
                    *error = squared_error(simd, inputs, data[k]);
                } else {
                    draw(simd, inputs, units, stream, end, end_bits);
                }
            }
            let ends = chains.iter_mut().map(|chain| (&chain.end[..], &mut chain.given_end[..]));
            sum_rows(simd, hidden, &mut ends.collect::<Vec<_>>());
            // The gradient takes probabilities; a chain that goes on needs a state as well.
            for Chain { given_end, state, state_bits, stream, .. } in &mut *chains {
                match state {
                    Some(state) if persistent || step < self.steps => {
                        let units = hidden.weights.columns();
                        state_bits.resize(units.div_ceil(LANES), 0);
                        sample(simd, given_end, units, stream, state, state_bits);
                    }
                    _ => probabilities(simd, given_end),
                }
            }
        }
    }
}

/// Inputs are the bias and sums that come panel by panel.
#[inline(always)]
fn add_bias<'a, S: Simd>(
    simd: S,
    bias: &[f32],
    sums: impl Iterator<Item = &'a [f32]>,
    inputs: &mut [f32],
) {
    let panels = bias.chunks_exact(PANEL).zip(sums).zip(inputs.chunks_exact_mut(PANEL));
    for ((bias, sums), inputs) in panels {
        let (bias, sums) = (bias.as_chunks().0, sums.as_chunks().0);
        for (k, input) in inputs.as_chunks_mut().0.iter_mut().enumerate() {
            simd.store(input, simd.add(simd.load(&bias[k]), simd.load(&sums[k])));
        }
    }
}

/// sum_i (x_i - p_i)^2, where x is zero unless it is listed.
#[inline(always)]
fn squared_error<S: Simd>(simd: S, p: &[f32], x: Example<'_>) -> f64 {
    let mut sums = [simd.splat(0.0); 2];
    for pair in p.as_chunks::<PANEL>().0 {
        for (sum, vector) in sums.iter_mut().zip(pair.as_chunks::<LANES>().0) {
            let p = simd.load(vector);
            *sum = simd.mul_add(p, p, *sum);
        }
    }
    let squares = simd.sum_f64(simd.add(sums[0], sums[1]));
    let mut sums = [0.0; 4];
    // Four sums, which need not wait for each other.
    for (k, &unit) in x.units.iter().enumerate() {
        let value = x.values.get(k).unwrap_or(&1.0);
        sums[k % 4] += f64::from(*value) * f64::from(value - 2.0 * p[unit as usize]);
    }
    squares + sums.iter().sum::<f64>()
}
