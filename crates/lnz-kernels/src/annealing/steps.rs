//! The steps of a block: sums of weights, flips, sampled units and weight increments, tile by tile.

use crate::annealing::block::{Block, Units, WORK_OF_A_UNIT};
use crate::annealing::draw::{Draw, DrawnTile, HiddenDraw, VisibleDraw};
use crate::annealing::elementwise::HiddenStep;
use crate::annealing::fixed::{Fixed, Layer};
use crate::annealing::flips::{Linear, SummedOut, flip_groups};
use crate::annealing::product::{Method, Scratch};
use crate::annealing::tile_product::{TileProduct, sum_tile, sum_tiles};
use crate::bits::Bits;
use crate::simd::{Kernel, Simd, dispatch};
use crate::stop::Stop;
use crate::stream::Stream;
use std::f32::consts::LOG2_E;

impl<T: Fixed> Block<'_, T> {
    /// The hidden inputs of every chain, then h ~ sigma(next a); adds the increment of log w from
    /// `beta` to `next` to `log_weights`. Visible units are flipped before, at `beta`.
    pub fn hidden_step(&mut self, beta: f64, next: f64, log_weights: &mut [f64]) {
        dispatch(self.level, HiddenKernel { block: self, beta, next, log_weights });
        for (log_weight, linear) in log_weights.iter_mut().zip(&self.linear) {
            *log_weight += (next - beta) * linear;
        }
    }

    /// The visible inputs of every chain, then x ~ sigma((1 - beta) B + beta (b + W h)). Hidden units
    /// are flipped before.
    pub fn visible_step(&mut self, beta: f64) {
        self.path.exponents(beta, &mut self.exponent_bias);
        dispatch(self.level, VisibleKernel { block: self, beta });
    }
}

/// Hidden inputs, flips of visible units at `beta`, the increment of log w, and h ~ sigma(next a).
struct HiddenKernel<'b, 'a, T: Fixed> {
    block: &'b mut Block<'a, T>,
    beta: f64,
    next: f64,
    log_weights: &'b mut [f64],
}

impl<T: Fixed> Kernel for HiddenKernel<'_, '_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { block, beta, next, log_weights } = self;
        let (model, path) = (block.model, block.path);
        let layer = &model.to_hidden;
        let chains = block.chains;
        let known = block.hidden.sums.of.as_ref();
        let method = block.method(&block.visible.bits, known, layer.inputs);
        block.scratch.prepare(simd, method, layer.inputs, &block.visible.bits, known);
        if block.flips.visible > 0 {
            let values = &mut block.hidden.sums.values;
            let (bits, scratch) = (&block.visible.bits, &mut block.scratch);
            sum_tiles(simd, method, layer, bits, scratch, values, &mut block.stop);
            let minus_beta = -(beta as f32) * LOG2_E;
            let exponent_bias: Vec<f32> =
                block.hidden_bias.iter().map(|c| minus_beta * c).collect();
            let log_odds: Vec<f64> = (0..layer.inputs).map(|i| path.log_odds(beta, i)).collect();
            let (scale, flips) = (minus_beta * model.step, block.flips.visible);
            let mut out = SummedOut { layer, sums: values, chains, scale, flips };
            let linear = Linear { log_odds: &log_odds, exponent_bias: &exponent_bias };
            let (bits, randoms) = (&mut block.visible.bits, &mut block.randoms);
            if !flip_groups(simd, &mut out, linear, bits, randoms, &mut block.stop) {
                return;
            }
        }
        let product = (block.flips.visible == 0).then_some((method, &block.visible.bits));
        let constants = HiddenStep { step: model.step, beta, next };
        let mut draw = HiddenDraw { constants, bias: &block.hidden_bias, log_weights };
        let (scratch, streams) = (&mut block.scratch, &mut block.streams);
        let (units, stop) = (&mut block.hidden, &mut block.stop);
        draw_layer(simd, &mut draw, (layer, product), scratch, streams, units, stop);
        if block.flips.visible > 0 {
            block.refresh_linear();
        }
        block.hidden.sums.belong_to(&block.visible.bits);
    }
}

/// Visible inputs, flips of hidden units, and x ~ sigma((1 - beta) B + beta (b + W h)).
struct VisibleKernel<'b, 'a, T: Fixed> {
    block: &'b mut Block<'a, T>,
    beta: f64,
}

impl<T: Fixed> Kernel for VisibleKernel<'_, '_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { block, beta } = self;
        let (model, path) = (block.model, block.path);
        let layer = &model.to_visible;
        let chains = block.chains;
        let known = block.visible.sums.of.as_ref();
        let method = block.method(&block.hidden.bits, known, layer.inputs);
        block.scratch.prepare(simd, method, layer.inputs, &block.hidden.bits, known);
        block.linear.fill(0.0);
        let scale = -(beta as f32) * LOG2_E * model.step;
        if block.flips.hidden > 0 {
            let values = &mut block.visible.sums.values;
            let (bits, scratch) = (&block.hidden.bits, &mut block.scratch);
            sum_tiles(simd, method, layer, bits, scratch, values, &mut block.stop);
            let log_odds: Vec<f64> =
                model.hidden_bias.iter().map(|&c| beta * f64::from(c)).collect();
            let flips = block.flips.hidden;
            let mut out = SummedOut { layer, sums: values, chains, scale, flips };
            let linear = Linear { log_odds: &log_odds, exponent_bias: &block.exponent_bias };
            let (bits, randoms) = (&mut block.hidden.bits, &mut block.randoms);
            if !flip_groups(simd, &mut out, linear, bits, randoms, &mut block.stop) {
                return;
            }
        }
        let product = (block.flips.hidden == 0).then_some((method, &block.hidden.bits));
        let mut draw = VisibleDraw {
            scale,
            exponent_bias: &block.exponent_bias,
            difference: &path.difference,
            linear: &mut block.linear,
        };
        let (scratch, streams) = (&mut block.scratch, &mut block.streams);
        let (units, stop) = (&mut block.visible, &mut block.stop);
        draw_layer(simd, &mut draw, (layer, product), scratch, streams, units, stop);
        block.visible.sums.belong_to(&block.hidden.bits);
    }
}

/// Draws the units of a layer, tile by tile. The sums are there already, or they are computed here from
/// the bits of the other layer: right before a tile is drawn, or while the tile before it is. Ends in
/// the middle once it is told to stop.
#[inline(always)]
fn draw_layer<S: Simd, T: Fixed>(
    simd: S,
    draw: &mut impl Draw<T>,
    (layer, product): (&Layer<T>, Option<(Method, &Bits)>),
    scratch: &mut Scratch,
    streams: &mut [Stream],
    units: &mut Units<T>,
    stop: &mut Stop<'_>,
) {
    let chains = units.bits.chains;
    let mut rest = &mut units.sums.values[..];
    let mut summed = product.is_none();
    for (k, tile) in layer.tiles.iter().enumerate() {
        if stop.before(chains * (layer.inputs + 4 * WORK_OF_A_UNIT)) {
            return;
        }
        let (sums, later) = rest.split_at_mut(tile.rows * T::PER_ROW * chains);
        let states = &mut units.bits.words[tile.first / 64 * chains..][..chains];
        let mut drawn = DrawnTile { tile, sums, streams: &mut *streams, states };
        match (product, layer.tiles.get(k + 1)) {
            (Some((Method::Tables, bits)), Some(next)) if S::MANY_REGISTERS => {
                if !summed {
                    sum_tile(simd, Method::Tables, layer, tile, bits, scratch, drawn.sums);
                }
                let sums = &mut later[..next.rows * T::PER_ROW * chains];
                let next = TileProduct::new(Method::Tables, layer, next, bits);
                drawn.draw_interleaved(simd, draw, &next, scratch, sums);
                summed = true;
            }
            _ => {
                let product = product.filter(|_| !summed).map(|(method, bits)| {
                    TileProduct::start(simd, method, layer, tile, bits, scratch, drawn.sums)
                });
                drawn.draw(simd, draw, product.as_ref().map(|product| (product, &*scratch)));
            }
        }
        rest = later;
    }
}
