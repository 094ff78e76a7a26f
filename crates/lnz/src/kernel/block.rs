//! A block of chains on one thread: states, sums and random streams, moved step by step.

use super::aligned::Aligned;
use super::elementwise::{HiddenStep, sample_hidden, sample_visible};
use super::fixed::{Fixed, FixedModel, Layer};
use super::product::{Bits, Method, Scratch, sum_tile};
use super::simd::{Kernel, Level, Simd, dispatch};
use super::stream::Stream;
use crate::math::{sigmoid, softplus};
use crate::random::{Purpose, Random};
use ndarray::{Array1, ArrayView1};
use std::f32::consts::LOG2_E;
use std::ops::Range;

/// Chains that share a random stream. Blocks are whole groups, so that the random numbers of a chain
/// do not depend on how chains are shared out to threads.
pub(crate) const GROUP: usize = 16;

/// Chains in a block at most: enough to spread the cost of its tables, few enough for the cache.
const LARGEST_BLOCK: usize = 1024;

/// The linear part of the path from `exp(B.x)` to the model, in float32 and padded.
pub(crate) struct PathBias {
    start: Vec<f32>,
    model: Vec<f32>,
    /// b - B.
    difference: Aligned<f32>,
}

impl PathBias {
    pub(crate) fn new<T: Fixed>(model: &FixedModel<T>, start: ArrayView1<'_, f64>) -> Self {
        let start: Vec<f32> = start.iter().map(|&b| b as f32).collect();
        let mut difference = Aligned::zeroed(start.len().next_multiple_of(64));
        for i in 0..start.len() {
            difference[i] = model.visible_bias[i] - start[i];
        }
        Self { start, model: model.visible_bias.clone(), difference }
    }

    /// -log2(e) ((1 - beta) B + beta b), padded.
    fn exponent(&self, beta: f64, padded: &mut [f32]) {
        for (value, (start, model)) in padded.iter_mut().zip(self.start.iter().zip(&self.model)) {
            let bias = (1.0 - beta) * f64::from(*start) + beta * f64::from(*model);
            *value = (-bias * std::f64::consts::LOG2_E) as f32;
        }
    }
}

/// Chains `first * GROUP ..` of a run.
pub(crate) struct Block<'a, T: Fixed> {
    model: &'a FixedModel<T>,
    level: Level,
    chains: usize,
    streams: Vec<Stream>,
    visible: Units<T>,
    hidden: Units<T>,
    /// (b - B).x of each chain, as the path sees it.
    linear: Vec<f64>,
    hidden_bias: Aligned<f32>,
    exponent_bias: Aligned<f32>,
    scratch: Scratch,
    #[cfg(test)]
    pub(super) forced: Option<Method>,
}

/// One layer of a block: its states and the sums of weights that its units receive.
struct Units<T: Fixed> {
    bits: Bits,
    /// Tile after tile, chain after chain.
    sums: Aligned<T>,
    /// The states of the other layer that the sums belong to; none before the first step.
    sums_of: Option<Bits>,
}

impl<T: Fixed> Units<T> {
    fn new(layer: &Layer<T>, chains: usize) -> Self {
        Self {
            bits: Bits::zeros(layer.outputs, chains),
            sums: Aligned::zeroed(layer.lanes() * chains),
            sums_of: None,
        }
    }

    /// Remembers that the sums are those of `bits`.
    fn sums_are_of(&mut self, bits: &Bits) {
        match &mut self.sums_of {
            Some(known) => known.words.copy_from_slice(&bits.words),
            none => *none = Some(bits.clone()),
        }
    }
}

impl<'a, T: Fixed> Block<'a, T> {
    /// `chains` chains with all units off, the first of which is chain `group * GROUP` of the run.
    pub(crate) fn new(
        model: &'a FixedModel<T>,
        level: Level,
        group: usize,
        chains: usize,
        seed: u64,
        purpose: Purpose,
    ) -> Self {
        let streams = (0..chains.div_ceil(GROUP))
            .map(|k| Stream::new(seed, purpose, (group + k) as u64))
            .collect();
        Self {
            model,
            level,
            chains,
            streams,
            visible: Units::new(&model.to_visible, chains),
            hidden: Units::new(&model.to_hidden, chains),
            linear: vec![0.0; chains],
            hidden_bias: model.padded_hidden_bias(),
            exponent_bias: Aligned::zeroed(model.visible_bias.len().next_multiple_of(64)),
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
    pub(super) fn hidden_bits(&self) -> &Bits {
        &self.hidden.bits
    }

    /// The visible state of a chain.
    pub(crate) fn state(&self, chain: usize) -> Array1<f64> {
        let units = self.model.visible_bias.len();
        (0..units).map(|i| f64::from(self.visible.bits.get(chain, i))).collect()
    }

    /// Sets the visible state of every chain by asking for each unit.
    pub(crate) fn set_states(&mut self, path: &PathBias, mut on: impl FnMut(usize, usize) -> bool) {
        let tiles = &self.model.to_visible.tiles;
        for chain in 0..self.chains {
            self.linear[chain] = 0.0;
            for i in 0..self.model.visible_bias.len() {
                self.visible.bits.set(chain, i, on(chain, i));
            }
            // The same order of additions as in the kernel: lanes of 16, halved, tile by tile.
            for tile in tiles {
                let mut lanes = [0f32; 16];
                for lane in 0..tile.units {
                    let kept = if self.visible.bits.get(chain, tile.first + lane) {
                        path.difference[tile.first + lane]
                    } else {
                        0.0
                    };
                    lanes[lane % 16] += kept;
                }
                for half in [8, 4, 2, 1] {
                    for k in 0..half {
                        lanes[k] += lanes[k + half];
                    }
                }
                self.linear[chain] += f64::from(lanes[0]);
            }
        }
    }

    /// Draws x ~ sigma(B) for every chain, in float64.
    pub(crate) fn draw_start(
        &mut self,
        path: &PathBias,
        start: ArrayView1<'_, f64>,
        group: usize,
        seed: u64,
    ) {
        let probabilities: Vec<f64> = start.iter().map(|&b| sigmoid(b)).collect();
        let mut randoms: Vec<Random> = (0..self.streams.len())
            .map(|k| Random::stream(seed, Purpose::FirstState, (group + k) as u64))
            .collect();
        self.set_states(path, |chain, i| randoms[chain / GROUP].happens(probabilities[i]));
    }

    /// The hidden inputs of every chain, then h ~ sigma(next a); adds the increment of log w from
    /// `beta` to `next` to `log_weights`.
    pub(crate) fn hidden_step(&mut self, beta: f64, next: f64, log_weights: &mut [f64]) {
        for (log_weight, linear) in log_weights.iter_mut().zip(&self.linear) {
            *log_weight += (next - beta) * linear;
        }
        dispatch(self.level, HiddenKernel { block: self, beta, next, log_weights });
    }

    /// The visible inputs of every chain, then x ~ sigma((1 - beta) B + beta (b + W h)).
    pub(crate) fn visible_step(&mut self, path: &PathBias, beta: f64) {
        path.exponent(beta, &mut self.exponent_bias);
        dispatch(self.level, VisibleKernel { block: self, path, beta });
    }

    /// The part of log p~_1(x) that the path has at its end, as the kernels see it: (b - B).x +
    /// sum_j softplus(a_j), to be exchanged for the real model's.
    ///
    /// Right after a `hidden_step`, whose sums it uses.
    pub(crate) fn log_end(&self, chain: usize) -> f64 {
        let mut total = self.linear[chain];
        let mut lanes = 0;
        for tile in &self.model.to_hidden.tiles {
            let width = tile.rows * T::PER_ROW;
            let from = lanes * self.chains + chain * width;
            for lane in 0..tile.units {
                let sum = self.hidden.sums[from + lane].to_f32();
                let a = sum.mul_add(self.model.step, self.hidden_bias[tile.first + lane]);
                total += softplus(f64::from(a));
            }
            lanes += width;
        }
        total
    }

    fn method(&self, from: &Units<T>, to: &Units<T>, inputs: usize) -> Method {
        let before = to.sums_of.as_ref();
        #[cfg(test)]
        if let Some(forced) = self.forced {
            return if before.is_none() && forced == Method::Delta { Method::Skip } else { forced };
        }
        Method::cheapest(&from.bits, before, inputs)
    }
}

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

/// The chains of each group.
pub(super) fn groups(chains: usize) -> impl Iterator<Item = Range<usize>> {
    (0..chains).step_by(GROUP).map(move |first| first..(first + GROUP).min(chains))
}

/// Writes the units of a tile: the first tile of a word also clears the rest of it.
#[inline(always)]
fn put(words: &mut [u64], chain: usize, first: usize, units: usize, bits: u64) {
    let bits = bits & (!0 >> (64 - units));
    if first % 64 == 0 {
        words[chain] = bits;
    } else {
        words[chain] |= bits << (first % 64);
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
        let layer = &block.model.to_hidden;
        let method = block.method(&block.visible, &block.hidden, layer.inputs);
        block.scratch.prepare(method, &block.visible.bits, block.hidden.sums_of.as_ref());
        let constants = HiddenStep { step: block.model.step, beta, next };
        let chains = block.chains;
        let mut lanes = 0;
        for tile in &layer.tiles {
            let width = tile.rows * T::PER_ROW;
            let sums = &mut block.hidden.sums[lanes * chains..(lanes + width) * chains];
            let (bits, scratch) = (&block.visible.bits, &mut block.scratch);
            let word = tile.first / 64 * chains;
            let states = &mut block.hidden.bits.words[word..word + chains];
            let bias = &block.hidden_bias[tile.first..][..tile.units.next_multiple_of(16)];
            // SAFETY: the features are the caller's duty; sums and bias reach to the tile's width.
            unsafe {
                sum_tile::<S, T>(method, layer, tile, bits, scratch, sums);
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
        block.hidden.sums_are_of(&block.visible.bits);
    }
}

struct VisibleKernel<'b, 'a, T: Fixed> {
    block: &'b mut Block<'a, T>,
    path: &'b PathBias,
    beta: f64,
}

impl<T: Fixed> Kernel for VisibleKernel<'_, '_, T> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Self { block, path, beta } = self;
        let layer = &block.model.to_visible;
        let method = block.method(&block.hidden, &block.visible, layer.inputs);
        block.scratch.prepare(method, &block.hidden.bits, block.visible.sums_of.as_ref());
        block.linear.fill(0.0);
        let scale = -(beta as f32) * LOG2_E * block.model.step;
        let chains = block.chains;
        let mut lanes = 0;
        for tile in &layer.tiles {
            let width = tile.rows * T::PER_ROW;
            let sums = &mut block.visible.sums[lanes * chains..(lanes + width) * chains];
            let (bits, scratch) = (&block.hidden.bits, &mut block.scratch);
            let word = tile.first / 64 * chains;
            let states = &mut block.visible.bits.words[word..word + chains];
            let padded = tile.units.next_multiple_of(16);
            let exponent_bias = &block.exponent_bias[tile.first..][..padded];
            let difference = &path.difference[tile.first..][..padded];
            // SAFETY: the features are the caller's duty; all slices reach to the padded units.
            unsafe {
                sum_tile::<S, T>(method, layer, tile, bits, scratch, sums);
                for (group, stream) in groups(chains).zip(&mut block.streams) {
                    let mut random = stream.load::<S>();
                    for chain in group {
                        let sums = sums[chain * width..].as_ptr();
                        let sampled = sample_visible::<S, T>(
                            scale,
                            tile.units,
                            sums,
                            exponent_bias.as_ptr(),
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
        block.visible.sums_are_of(&block.hidden.bits);
    }
}
