//! The steps of a block: sums of weights, flips, sampled units and weight increments, tile by tile.

use super::block::{Block, Sums, Units, groups};
use super::elementwise::{HiddenStep, sample_hidden, sample_visible};
use super::fixed::Fixed;
use super::flips::{SummedOut, flip_units};
use super::product::{sum_tile, sum_tiles};
use super::simd::{Kernel, Simd};
use std::f32::consts::LOG2_E;

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
pub(super) struct MixtureKernel<'b, 'a, T: Fixed> {
    pub(super) block: &'b mut Block<'a, T>,
    pub(super) beta: f64,
    pub(super) next: f64,
    pub(super) log_weights: &'b mut [f64],
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

/// Hidden inputs, flips of visible units at `beta`, the increment of log w, and h ~ sigma(next a).
pub(super) struct HiddenKernel<'b, 'a, T: Fixed> {
    pub(super) block: &'b mut Block<'a, T>,
    pub(super) beta: f64,
    pub(super) next: f64,
    pub(super) log_weights: &'b mut [f64],
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
            // SAFETY: the features are the caller's duty.
            unsafe {
                let (bits, scratch) = (&block.visible.bits, &mut block.scratch);
                sum_tiles::<S, T>(method, layer, bits, scratch, values);
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

/// Visible inputs, flips of hidden units, and x ~ sigma((1 - beta) B + beta (b + W h)).
pub(super) struct VisibleKernel<'b, 'a, T: Fixed> {
    pub(super) block: &'b mut Block<'a, T>,
    pub(super) beta: f64,
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
            // SAFETY: the features are the caller's duty.
            unsafe {
                let (bits, scratch) = (&block.hidden.bits, &mut block.scratch);
                sum_tiles::<S, T>(method, layer, bits, scratch, values);
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
