//! The units of a tile for all chains of a block, drawn from their sums.

use super::aligned::Aligned;
use super::block::{GROUP, groups};
use super::elementwise::{HiddenStep, Sampled, sample_hidden, sample_visible, softplus_increment};
use super::fixed::{Fixed, Tile};
use super::product::Scratch;
use super::simd::Simd;
use super::stream::{Lanes, Stream};
use super::tile_product::TileProduct;

/// How the units of a layer are drawn.
pub(super) trait Draw<T: Fixed> {
    /// One chain and a tile of V vectors.
    ///
    /// # Safety
    /// See [`Simd`]; `sums` is valid for 16 V values.
    unsafe fn draw<S: Simd, const V: usize>(
        &mut self,
        tile: &Tile,
        chain: usize,
        sums: *const T,
        random: &mut Lanes<S>,
    ) -> Sampled<S>;

    /// What the sums over a tile are added to, chain by chain.
    fn totals(&mut self) -> &mut [f64];
}

/// h ~ sigma(next a), and the increment of log w.
pub(super) struct HiddenDraw<'a> {
    pub(super) constants: HiddenStep,
    /// Padded to whole tiles.
    pub(super) bias: &'a Aligned<f32>,
    pub(super) log_weights: &'a mut [f64],
}

impl<T: Fixed> Draw<T> for HiddenDraw<'_> {
    #[inline(always)]
    unsafe fn draw<S: Simd, const V: usize>(
        &mut self,
        tile: &Tile,
        chain: usize,
        sums: *const T,
        random: &mut Lanes<S>,
    ) -> Sampled<S> {
        let bias = self.bias[tile.first..][..16 * V].as_ptr();
        // SAFETY: by the caller; the bias was just cut to size.
        unsafe {
            let (mut sampled, too_large) =
                sample_hidden::<S, T, V>(&self.constants, sums, bias, random);
            if too_large {
                self.log_weights[chain] +=
                    softplus_increment::<S, T>(&self.constants, tile.units, sums, bias);
                sampled.sum = S::splat(0.0);
            }
            sampled
        }
    }

    #[inline(always)]
    fn totals(&mut self) -> &mut [f64] {
        self.log_weights
    }
}

/// x ~ sigma((1 - beta) B + beta (b + W h)), and the linear part of the path.
pub(super) struct VisibleDraw<'a> {
    /// -log2(e) beta times the step of the grid.
    pub(super) scale: f32,
    /// -log2(e) ((1 - beta) B + beta b) for each component of the start, padded to whole tiles.
    pub(super) exponent_bias: &'a [Aligned<f32>],
    /// The component that each chain belongs to.
    pub(super) component: &'a [usize],
    /// b - B or b, padded to whole tiles.
    pub(super) difference: &'a Aligned<f32>,
    pub(super) linear: &'a mut [f64],
}

impl<T: Fixed> Draw<T> for VisibleDraw<'_> {
    #[inline(always)]
    unsafe fn draw<S: Simd, const V: usize>(
        &mut self,
        tile: &Tile,
        chain: usize,
        sums: *const T,
        random: &mut Lanes<S>,
    ) -> Sampled<S> {
        let exponent = &self.exponent_bias[self.component[chain]][tile.first..][..16 * V];
        let difference = &self.difference[tile.first..][..16 * V];
        let (exponent, difference) = (exponent.as_ptr(), difference.as_ptr());
        // SAFETY: by the caller; both vectors were just cut to size.
        unsafe { sample_visible::<S, T, V>(self.scale, sums, exponent, difference, random) }
    }

    #[inline(always)]
    fn totals(&mut self) -> &mut [f64] {
        self.linear
    }
}

/// Draws the units of `tile` for every chain into `states`, the chains' words that hold the tile. The
/// sums are there already, or `product` and its buffers finish those of a group right before.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(super) unsafe fn draw_tile<S: Simd, T: Fixed>(
    draw: &mut impl Draw<T>,
    tile: &Tile,
    product: Option<(&TileProduct<'_, T>, &Scratch)>,
    sums: &mut [T],
    streams: &mut [Stream],
    states: &mut [u64],
) {
    // SAFETY: by the caller; a tile has at most four vectors.
    unsafe {
        match tile.units.div_ceil(16) {
            1 => draw_vectors::<S, T, 1>(draw, tile, product, sums, streams, states),
            2 => draw_vectors::<S, T, 2>(draw, tile, product, sums, streams, states),
            3 => draw_vectors::<S, T, 3>(draw, tile, product, sums, streams, states),
            _ => draw_vectors::<S, T, 4>(draw, tile, product, sums, streams, states),
        }
    }
}

/// # Safety
/// See [`draw_tile`].
#[inline(always)]
unsafe fn draw_vectors<S: Simd, T: Fixed, const V: usize>(
    draw: &mut impl Draw<T>,
    tile: &Tile,
    product: Option<(&TileProduct<'_, T>, &Scratch)>,
    sums: &mut [T],
    streams: &mut [Stream],
    states: &mut [u64],
) {
    let width = tile.rows * T::PER_ROW;
    assert!(16 * V <= width && sums.len() == states.len() * width);
    for (group, stream) in groups(states.len()).zip(streams) {
        // SAFETY: the features are the caller's duty; the sums were just checked.
        unsafe {
            if let Some((product, scratch)) = product {
                product.finish::<S>(scratch, sums, group.clone());
            }
            let mut random = stream.load::<S>();
            let mut totals = [S::splat(0.0); GROUP];
            for (total, chain) in totals.iter_mut().zip(group.clone()) {
                let sums = sums.as_ptr().add(chain * width);
                let sampled = draw.draw::<S, V>(tile, chain, sums, &mut random);
                put(&mut states[chain], tile, sampled.bits);
                *total = sampled.sum;
            }
            stream.store::<S>(random);
            let totals = S::sums(&totals);
            let sums = &mut draw.totals()[group];
            if let Ok(sums) = <&mut [f64; GROUP]>::try_from(&mut *sums) {
                for k in 0..GROUP {
                    sums[k] += f64::from(totals[k]);
                }
            } else {
                for (sum, total) in sums.iter_mut().zip(totals) {
                    *sum += f64::from(total);
                }
            }
        }
    }
}

/// Writes the units of a tile: the first tile of a word also clears the rest of it.
#[inline(always)]
fn put(word: &mut u64, tile: &Tile, bits: u64) {
    let bits = bits & (!0 >> (64 - tile.units));
    if tile.first.is_multiple_of(64) {
        *word = bits;
    } else {
        *word |= bits << (tile.first % 64);
    }
}
