//! A block of chains on one thread: states, sums and random streams, moved step by step.

use super::aligned::Aligned;
use super::elementwise::{HiddenStep, sample_hidden, sample_visible};
use super::fixed::{Fixed, FixedModel, Layer};
use super::flips::{SummedOut, flip_units};
use super::path::Path;
use super::product::{Bits, Method, Scratch, sum_tile};
use super::simd::{Kernel, Level, Simd, dispatch};
use super::stream::Stream;
use crate::math::softplus;
use crate::random::{Purpose, Random};
use ndarray::Array1;
use std::f32::consts::LOG2_E;
use std::ops::Range;

/// Chains that share a random stream. Blocks are whole groups, so that the random numbers of a chain
/// do not depend on how chains are shared out to threads.
pub(crate) const GROUP: usize = 16;

/// Chains in a block at most: enough to spread the cost of its tables, few enough for the cache.
const LARGEST_BLOCK: usize = 1024;

/// How `chains` chains are shared out to threads: for each block its first group and its chains.
///
/// A whole number of blocks per thread. How groups are shared out does not change a bit of a result.
pub(crate) fn share_out(chains: usize) -> Vec<(usize, usize)> {
    let groups = chains.div_ceil(GROUP);
    let threads = rayon::current_num_threads();
    let blocks = threads * (groups * GROUP).div_ceil(threads * LARGEST_BLOCK);
    let groups_per_block = groups.div_ceil(blocks);
    (0..groups)
        .step_by(groups_per_block)
        .map(|group| (group, (chains - group * GROUP).min(groups_per_block * GROUP)))
        .collect()
}

/// Where a block stands in a run: which chains, and which random numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The first chain is chain `group * GROUP` of the run.
    pub(crate) group: usize,
    pub(crate) chains: usize,
    pub(crate) seed: u64,
    pub(crate) purpose: Purpose,
}

/// Single-unit flips after each Gibbs step, with the other layer summed out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flips {
    /// Of visible units, before the hidden step; only on a path with one start.
    pub(crate) visible: usize,
    /// Of hidden units, before the visible step.
    pub(crate) hidden: usize,
}

/// Some chains of a run along one path.
pub(crate) struct Block<'a, T: Fixed> {
    model: &'a FixedModel<T>,
    path: &'a Path,
    flips: Flips,
    level: Level,
    chains: usize,
    streams: Vec<Stream>,
    /// For choices that are made one by one: a stream for each group.
    randoms: Vec<Random>,
    visible: Units<T>,
    hidden: Units<T>,
    /// The linear part of the path, (b - B).x or b.x, of each chain.
    linear: Vec<f64>,
    /// The component of the start that each chain belongs to now, and the sums B_z.x.
    component: Vec<usize>,
    probes: Option<Sums<i32>>,
    hidden_bias: Aligned<f32>,
    exponent_bias: Vec<Aligned<f32>>,
    scratch: Scratch,
    #[cfg(test)]
    pub(super) forced: Option<Method>,
}

/// One layer of a block: its states and the sums of weights that its units receive.
struct Units<T: Fixed> {
    bits: Bits,
    sums: Sums<T>,
}

/// Sums of weights, tile after tile, chain after chain.
struct Sums<T: Fixed> {
    values: Aligned<T>,
    /// The states of the other layer that they belong to; none when they belong to no known state.
    of: Option<Bits>,
}

impl<T: Fixed> Sums<T> {
    fn new(layer: &Layer<T>, chains: usize) -> Self {
        Self { values: Aligned::zeroed(layer.lanes() * chains), of: None }
    }

    fn are_of(&mut self, bits: &Bits) {
        match &mut self.of {
            Some(known) => known.words.copy_from_slice(&bits.words),
            none => *none = Some(bits.clone()),
        }
    }
}

impl<'a, T: Fixed> Block<'a, T> {
    /// Chains with all units off.
    pub(crate) fn new(
        model: &'a FixedModel<T>,
        path: &'a Path,
        flips: Flips,
        level: Level,
        place: Place,
    ) -> Self {
        let Place { group, chains, seed, purpose } = place;
        let groups = group as u64..(group + chains.div_ceil(GROUP)) as u64;
        let padded = model.visible_bias.len().next_multiple_of(64);
        Self {
            model,
            path,
            flips,
            level,
            chains,
            streams: groups.clone().map(|k| Stream::new(seed, purpose, k)).collect(),
            // The same seed as the stream's, whose state is filled from the next numbers.
            randoms: groups
                .map(|k| Random::stream(seed ^ purpose as u64, Purpose::OneByOne, k))
                .collect(),
            visible: Units {
                bits: Bits::zeros(model.visible_bias.len(), chains),
                sums: Sums::new(&model.to_visible, chains),
            },
            hidden: Units {
                bits: Bits::zeros(model.hidden_bias.len(), chains),
                sums: Sums::new(&model.to_hidden, chains),
            },
            linear: vec![0.0; chains],
            component: vec![0; chains],
            probes: path.mixture.as_ref().map(|mixture| Sums::new(&mixture.probes, chains)),
            hidden_bias: model.padded_hidden_bias(),
            exponent_bias: vec![Aligned::zeroed(padded); path.components()],
            scratch: Scratch::new(),
            #[cfg(test)]
            forced: None,
        }
    }

    /// The visible states.
    pub(crate) fn visible(&self) -> &Bits {
        &self.visible.bits
    }

    #[cfg(test)]
    pub(super) fn hidden(&self) -> &Bits {
        &self.hidden.bits
    }

    /// The visible state of a chain.
    pub(crate) fn state(&self, chain: usize) -> Array1<f64> {
        let units = self.model.visible_bias.len();
        (0..units).map(|i| f64::from(self.visible.bits.get(chain, i))).collect()
    }

    /// Draws the visible state of every chain from the start distribution.
    pub(crate) fn draw_start(&mut self) {
        for (group, random) in groups(self.chains).zip(&mut self.randoms) {
            for chain in group {
                for (i, on) in self.path.draw(random).into_iter().enumerate() {
                    self.visible.bits.set(chain, i, on);
                }
            }
        }
        self.refresh_linear();
    }

    /// Sets the visible state of every chain by asking for each unit.
    pub(crate) fn set_states(&mut self, mut on: impl FnMut(usize, usize) -> bool) {
        for chain in 0..self.chains {
            for i in 0..self.model.visible_bias.len() {
                self.visible.bits.set(chain, i, on(chain, i));
            }
        }
        self.refresh_linear();
    }

    /// The linear part of every chain, added up in the order of the kernel: lanes of 16, halved, tile
    /// by tile.
    fn refresh_linear(&mut self) {
        for (chain, linear) in self.linear.iter_mut().enumerate() {
            *linear = 0.0;
            for tile in &self.model.to_visible.tiles {
                let mut lanes = [0f32; 16];
                for lane in 0..tile.units {
                    if self.visible.bits.get(chain, tile.first + lane) {
                        lanes[lane % 16] += self.path.difference[tile.first + lane];
                    }
                }
                for half in [8, 4, 2, 1] {
                    for k in 0..half {
                        lanes[k] += lanes[k + half];
                    }
                }
                *linear += f64::from(lanes[0]);
            }
        }
    }

    /// The hidden inputs of every chain, then h ~ sigma(next a); adds the increment of log w from
    /// `beta` to `next` to `log_weights`. Visible units are flipped before, at `beta`.
    pub(crate) fn hidden_step(&mut self, beta: f64, next: f64, log_weights: &mut [f64]) {
        if self.path.mixture.is_some() {
            dispatch(self.level, MixtureKernel { block: self, beta, next, log_weights });
        }
        dispatch(self.level, HiddenKernel { block: self, beta, next, log_weights });
        for (log_weight, linear) in log_weights.iter_mut().zip(&self.linear) {
            *log_weight += (next - beta) * linear;
        }
    }

    /// The visible inputs of every chain, then x ~ sigma((1 - beta) B + beta (b + W h)). Hidden units
    /// are flipped before.
    pub(crate) fn visible_step(&mut self, beta: f64) {
        self.path.exponents(beta, &mut self.exponent_bias);
        dispatch(self.level, VisibleKernel { block: self, beta });
    }

    /// Chain k becomes a copy of chain `ancestors[k]`.
    pub(crate) fn resample(&mut self, ancestors: &[usize]) {
        self.visible.bits = self.visible.bits.rearranged(ancestors);
        self.hidden.bits = self.hidden.bits.rearranged(ancestors);
        self.linear = ancestors.iter().map(|&k| self.linear[k]).collect();
        self.component = ancestors.iter().map(|&k| self.component[k]).collect();
        self.hidden.sums.of = None;
        self.visible.sums.of = None;
        if let Some(probes) = &mut self.probes {
            probes.of = None;
        }
    }

    /// The part of log p~_1(x) that the path has at its end, as the kernels see it: the linear part
    /// and sum_j softplus(a_j), to be exchanged for the real model's.
    ///
    /// Right after a `hidden_step`, whose sums it uses.
    pub(crate) fn log_end(&self, chain: usize) -> f64 {
        let mut total = self.linear[chain];
        let mut lanes = 0;
        for tile in &self.model.to_hidden.tiles {
            let width = tile.rows * T::PER_ROW;
            let from = lanes * self.chains + chain * width;
            for lane in 0..tile.units {
                let sum = self.hidden.sums.values[from + lane].to_f32();
                let a = sum.mul_add(self.model.step, self.hidden_bias[tile.first + lane]);
                total += softplus(f64::from(a));
            }
            lanes += width;
        }
        total
    }

    fn method(&self, from: &Bits, before: Option<&Bits>, inputs: usize) -> Method {
        #[cfg(test)]
        if let Some(forced) = self.forced {
            return if before.is_none() && forced == Method::Delta { Method::Skip } else { forced };
        }
        Method::cheapest(from, before, inputs)
    }
}

/// The chains of each group.
pub(super) fn groups(chains: usize) -> impl Iterator<Item = Range<usize>> {
    (0..chains).step_by(GROUP).map(move |first| first..(first + GROUP).min(chains))
}

/// Writes the units of a tile: the first tile of a word also clears the rest of it.
#[inline(always)]
fn put(words: &mut [u64], chain: usize, first: usize, units: usize, bits: u64) {
    let bits = bits & (!0 >> (64 - units));
    if first.is_multiple_of(64) {
        words[chain] = bits;
    } else {
        words[chain] |= bits << (first % 64);
    }
}

/// Weighs the mixture of starts and draws the component of each chain.
struct MixtureKernel<'b, 'a, T: Fixed> {
    block: &'b mut Block<'a, T>,
    beta: f64,
    next: f64,
    log_weights: &'b mut [f64],
}

impl<T: Fixed> Kernel for MixtureKernel<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Self { block, beta, next, log_weights } = self;
        let (Some(mixture), Some(mut sums)) = (&block.path.mixture, block.probes.take()) else {
            return;
        };
        let layer = &mixture.probes;
        let method = block.method(&block.visible.bits, sums.of.as_ref(), layer.inputs);
        block.scratch.prepare(method, &block.visible.bits, sums.of.as_ref());
        // At most MOST_COMPONENTS outputs: one tile.
        for tile in &layer.tiles {
            let width = tile.rows * i32::PER_ROW;
            // SAFETY: the features are the caller's duty.
            unsafe {
                let (bits, scratch) = (&block.visible.bits, &mut block.scratch);
                sum_tile::<S, i32>(method, layer, tile, bits, scratch, &mut sums.values);
            }
            for (group, random) in groups(block.chains).zip(&mut block.randoms) {
                for chain in group {
                    let sums = &sums.values[chain * width..chain * width + tile.units];
                    let (gain, z) = mixture.weigh(sums, beta, next, random.uniform());
                    log_weights[chain] += gain;
                    block.component[chain] = z;
                }
            }
        }
        sums.are_of(&block.visible.bits);
        block.probes = Some(sums);
    }
}

struct HiddenKernel<'b, 'a, T: Fixed> {
    block: &'b mut Block<'a, T>,
    beta: f64,
    next: f64,
    log_weights: &'b mut [f64],
}

impl<T: Fixed> Kernel for HiddenKernel<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Self { block, beta, next, log_weights } = self;
        let (model, path) = (block.model, block.path);
        let layer = &model.to_hidden;
        let chains = block.chains;
        let known = block.hidden.sums.of.as_ref();
        let method = block.method(&block.visible.bits, known, layer.inputs);
        block.scratch.prepare(method, &block.visible.bits, known);
        let constants = HiddenStep { step: model.step, beta, next };
        let Units { bits: hidden, sums: Sums { values, .. } } = &mut block.hidden;
        if block.flips.visible > 0 {
            let mut lanes = 0;
            for tile in &layer.tiles {
                let width = tile.rows * T::PER_ROW;
                let sums = &mut values[lanes * chains..(lanes + width) * chains];
                // SAFETY: the features are the caller's duty.
                unsafe {
                    let (bits, scratch) = (&block.visible.bits, &mut block.scratch);
                    sum_tile::<S, T>(method, layer, tile, bits, scratch, sums);
                }
                lanes += width;
            }
            let minus_beta = -(beta as f32) * LOG2_E;
            let exponent_bias: Vec<f32> =
                block.hidden_bias.iter().map(|c| minus_beta * c).collect();
            let log_odds: Vec<f64> = (0..layer.inputs).map(|i| path.log_odds(beta, i)).collect();
            let mut out = SummedOut { layer, sums: values, chains, scale: minus_beta * model.step };
            for (group, random) in groups(chains).zip(&mut block.randoms) {
                for chain in group {
                    // SAFETY: the features are the caller's duty; the bias is padded.
                    unsafe {
                        flip_units::<S, T>(
                            &mut out,
                            chain,
                            &mut block.visible.bits,
                            &log_odds,
                            &exponent_bias,
                            block.flips.visible,
                            random,
                        );
                    }
                }
            }
        }
        let mut lanes = 0;
        for tile in &layer.tiles {
            let width = tile.rows * T::PER_ROW;
            let sums = &mut values[lanes * chains..(lanes + width) * chains];
            let word = tile.first / 64 * chains;
            let states = &mut hidden.words[word..word + chains];
            let bias = &block.hidden_bias[tile.first..][..tile.units.next_multiple_of(16)];
            // SAFETY: the features are the caller's duty; sums and bias reach to the padded units.
            unsafe {
                if block.flips.visible == 0 {
                    let (bits, scratch) = (&block.visible.bits, &mut block.scratch);
                    sum_tile::<S, T>(method, layer, tile, bits, scratch, sums);
                }
                for (group, stream) in groups(chains).zip(&mut block.streams) {
                    let mut random = stream.load::<S>();
                    for chain in group {
                        let sums = sums[chain * width..].as_ptr();
                        let sampled = sample_hidden::<S, T>(
                            &constants,
                            tile.units,
                            sums,
                            bias.as_ptr(),
                            &mut random,
                        );
                        put(states, chain, tile.first, tile.units, sampled.bits);
                        log_weights[chain] += sampled.sum;
                    }
                    stream.store::<S>(random);
                }
            }
            lanes += width;
        }
        if block.flips.visible > 0 {
            block.refresh_linear();
        }
        block.hidden.sums.are_of(&block.visible.bits);
    }
}

struct VisibleKernel<'b, 'a, T: Fixed> {
    block: &'b mut Block<'a, T>,
    beta: f64,
}

impl<T: Fixed> Kernel for VisibleKernel<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Self { block, beta } = self;
        let (model, path) = (block.model, block.path);
        let layer = &model.to_visible;
        let chains = block.chains;
        let known = block.visible.sums.of.as_ref();
        let method = block.method(&block.hidden.bits, known, layer.inputs);
        block.scratch.prepare(method, &block.hidden.bits, known);
        block.linear.fill(0.0);
        let scale = -(beta as f32) * LOG2_E * model.step;
        let Units { bits: visible, sums: Sums { values, .. } } = &mut block.visible;
        if block.flips.hidden > 0 {
            let mut lanes = 0;
            for tile in &layer.tiles {
                let width = tile.rows * T::PER_ROW;
                let sums = &mut values[lanes * chains..(lanes + width) * chains];
                // SAFETY: the features are the caller's duty.
                unsafe {
                    let (bits, scratch) = (&block.hidden.bits, &mut block.scratch);
                    sum_tile::<S, T>(method, layer, tile, bits, scratch, sums);
                }
                lanes += width;
            }
            let log_odds: Vec<f64> =
                model.hidden_bias.iter().map(|&c| beta * f64::from(c)).collect();
            let mut out = SummedOut { layer, sums: values, chains, scale };
            for (group, random) in groups(chains).zip(&mut block.randoms) {
                for chain in group {
                    // SAFETY: the features are the caller's duty; the bias is padded.
                    unsafe {
                        flip_units::<S, T>(
                            &mut out,
                            chain,
                            &mut block.hidden.bits,
                            &log_odds,
                            &block.exponent_bias[block.component[chain]],
                            block.flips.hidden,
                            random,
                        );
                    }
                }
            }
        }
        let mut lanes = 0;
        for tile in &layer.tiles {
            let width = tile.rows * T::PER_ROW;
            let sums = &mut values[lanes * chains..(lanes + width) * chains];
            let word = tile.first / 64 * chains;
            let states = &mut visible.words[word..word + chains];
            let padded = tile.first..tile.first + tile.units.next_multiple_of(16);
            let difference = &path.difference[padded.clone()];
            // SAFETY: the features are the caller's duty; all slices reach to the padded units.
            unsafe {
                if block.flips.hidden == 0 {
                    let (bits, scratch) = (&block.hidden.bits, &mut block.scratch);
                    sum_tile::<S, T>(method, layer, tile, bits, scratch, sums);
                }
                for (group, stream) in groups(chains).zip(&mut block.streams) {
                    let mut random = stream.load::<S>();
                    for chain in group {
                        let sums = sums[chain * width..].as_ptr();
                        let exponent = &block.exponent_bias[block.component[chain]][padded.clone()];
                        let sampled = sample_visible::<S, T>(
                            scale,
                            tile.units,
                            sums,
                            exponent.as_ptr(),
                            difference.as_ptr(),
                            &mut random,
                        );
                        put(states, chain, tile.first, tile.units, sampled.bits);
                        block.linear[chain] += sampled.sum;
                    }
                    stream.store::<S>(random);
                }
            }
            lanes += width;
        }
        block.visible.sums.are_of(&block.hidden.bits);
    }
}
