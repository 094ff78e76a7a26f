//! The units of a tile for all chains of a block, drawn from their sums.

use crate::aligned::Aligned;
use crate::annealing::block::{GROUP, groups};
use crate::annealing::elementwise::{
    HiddenStep, Sampled, sample_hidden, sample_visible, softplus_increment,
};
use crate::annealing::fixed::{Fixed, Tile};
use crate::annealing::interleave::{Interleave, LookUps};
use crate::annealing::product::Scratch;
use crate::annealing::tile_product::TileProduct;
use crate::simd::Simd;
use crate::stream::{Lanes, Stream};
use std::ops::Range;

/// How the units of a layer are drawn.
pub(crate) trait Draw<T: Fixed> {
    /// One chain and a tile of V vectors.
    ///
    /// # Safety
    /// See [`Simd`]; `sums` is valid for 16 V values.
    unsafe fn draw<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        tile: &Tile,
        chain: usize,
        sums: *const T,
        random: &mut Lanes<S>,
        beside: &mut B,
    ) -> Sampled<S>;

    /// What the sums over a tile are added to, chain by chain.
    fn totals(&mut self) -> &mut [f64];
}

/// h ~ sigma(next a), and the increment of log w.
pub(crate) struct HiddenDraw<'a> {
    pub(crate) constants: HiddenStep,
    /// Padded to whole tiles.
    pub(crate) bias: &'a Aligned<f32>,
    pub(crate) log_weights: &'a mut [f64],
}

impl<T: Fixed> Draw<T> for HiddenDraw<'_> {
    #[inline(always)]
    unsafe fn draw<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        tile: &Tile,
        chain: usize,
        sums: *const T,
        random: &mut Lanes<S>,
        beside: &mut B,
    ) -> Sampled<S> {
        let bias = self.bias[tile.first..][..16 * V].as_ptr();
        // SAFETY: by the caller; the bias was just cut to size.
        unsafe {
            let (mut sampled, too_large) =
                sample_hidden::<S, T, B, V>(&self.constants, sums, bias, random, beside);
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
pub(crate) struct VisibleDraw<'a> {
    /// -log2(e) beta times the step of the grid.
    pub(crate) scale: f32,
    /// -log2(e) ((1 - beta) B + beta b) for each component of the start, padded to whole tiles.
    pub(crate) exponent_bias: &'a [Aligned<f32>],
    /// The component that each chain belongs to.
    pub(crate) component: &'a [usize],
    /// b - B or b, padded to whole tiles.
    pub(crate) difference: &'a Aligned<f32>,
    pub(crate) linear: &'a mut [f64],
}

impl<T: Fixed> Draw<T> for VisibleDraw<'_> {
    #[inline(always)]
    unsafe fn draw<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        tile: &Tile,
        chain: usize,
        sums: *const T,
        random: &mut Lanes<S>,
        beside: &mut B,
    ) -> Sampled<S> {
        let exponent = &self.exponent_bias[self.component[chain]][tile.first..][..16 * V];
        let difference = &self.difference[tile.first..][..16 * V];
        let (exponent, difference) = (exponent.as_ptr(), difference.as_ptr());
        // SAFETY: by the caller; both vectors were just cut to size.
        unsafe {
            let scale = self.scale;
            sample_visible::<S, T, B, V>(scale, sums, exponent, difference, random, beside)
        }
    }

    #[inline(always)]
    fn totals(&mut self) -> &mut [f64] {
        self.linear
    }
}

/// A tile of a layer, whose units are drawn for every chain.
pub(crate) struct DrawnTile<'a, T: Fixed> {
    pub(crate) tile: &'a Tile,
    /// A tile's width for each chain.
    pub(crate) sums: &'a mut [T],
    /// One for each group of chains.
    pub(crate) streams: &'a mut [Stream],
    /// The chains' words that hold the tile.
    pub(crate) states: &'a mut [u64],
}

impl<T: Fixed> DrawnTile<'_, T> {
    /// The sums are there already, or `product` and its buffers finish those of a group right before.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    pub(crate) unsafe fn draw<S: Simd>(
        &mut self,
        draw: &mut impl Draw<T>,
        product: Option<(&TileProduct<'_, T>, &Scratch)>,
    ) {
        // SAFETY: by the caller; a tile has at most four vectors.
        unsafe {
            match self.tile.units.div_ceil(16) {
                1 => self.draw_vectors::<S, 1>(draw, product),
                2 => self.draw_vectors::<S, 2>(draw, product),
                3 => self.draw_vectors::<S, 3>(draw, product),
                _ => self.draw_vectors::<S, 4>(draw, product),
            }
        }
    }

    /// # Safety
    /// See `draw`.
    #[inline(always)]
    unsafe fn draw_vectors<S: Simd, const V: usize>(
        &mut self,
        draw: &mut impl Draw<T>,
        product: Option<(&TileProduct<'_, T>, &Scratch)>,
    ) {
        self.check(V);
        for (k, group) in groups(self.states.len()).enumerate() {
            // SAFETY: by the caller; the sums were just checked.
            unsafe {
                if let Some((product, scratch)) = product {
                    product.finish::<S>(scratch, self.sums, group.clone());
                }
                self.draw_group::<S, (), V>(draw, k, group, &mut ());
            }
        }
    }

    /// The sums of a full tile are there already. Those of the next tile, by tables, are computed in
    /// between, into `sums`.
    ///
    /// # Safety
    /// See [`TileProduct::start`].
    #[inline(always)]
    pub(crate) unsafe fn draw_beside<S: Simd>(
        &mut self,
        draw: &mut impl Draw<T>,
        next: &TileProduct<'_, T>,
        scratch: &mut Scratch,
        sums: &mut [T],
    ) {
        // With few groups, a share of them that does not come out even would be a large one.
        let most = match self.streams.len() {
            ..7 => 3,
            7..30 => 7,
            _ => 10,
        };
        // SAFETY: by the caller; N is at most the number of full passes, or one.
        unsafe {
            match (next.rows, next.full_passes().min(most)) {
                (1, _) => self.with_look_ups::<S, 1, 1>(draw, next, scratch, sums),
                (_, ..3) => self.with_look_ups::<S, 2, 1>(draw, next, scratch, sums),
                (_, ..7) => self.with_look_ups::<S, 2, 3>(draw, next, scratch, sums),
                (_, ..10) => self.with_look_ups::<S, 2, 7>(draw, next, scratch, sums),
                (_, _) => self.with_look_ups::<S, 2, 10>(draw, next, scratch, sums),
            }
        }
    }

    /// Looks up N chains during each draw: the N-th part of the groups is drawn beside each of the first N
    /// passes, and what does not come out even without company.
    ///
    /// # Safety
    /// See `draw_beside`.
    #[inline(always)]
    unsafe fn with_look_ups<S: Simd, const R: usize, const N: usize>(
        &mut self,
        draw: &mut impl Draw<T>,
        next: &TileProduct<'_, T>,
        scratch: &mut Scratch,
        sums: &mut [T],
    ) {
        self.check(2 * T::PER_ROW / 16);
        let chains = self.states.len();
        assert!(next.bits.chains == chains && sums.len() == chains * R * T::PER_ROW);
        let beside_a_pass = chains / (N * GROUP);
        let mut groups = groups(chains).enumerate();
        for pass in 0..next.passes() {
            // SAFETY: by the caller; N chains are looked up for each of at most `chains / N` draws.
            unsafe {
                next.build_tables::<S, R>(pass, scratch);
                let mut rest = 0..chains;
                if pass < N {
                    let mut beside = LookUps::<S, T, R, N>::new(next, pass, scratch, sums);
                    for (k, group) in groups.by_ref().take(beside_a_pass) {
                        self.draw_full_group::<S, _>(draw, k, group, &mut beside);
                    }
                    rest.start = beside_a_pass * GROUP * N;
                }
                next.look_up::<S, R>(pass, scratch, sums, rest);
            }
        }
        for (k, group) in groups {
            // SAFETY: by the caller.
            unsafe { self.draw_full_group::<S, _>(draw, k, group, &mut ()) };
        }
    }

    fn check(&self, vectors: usize) {
        let width = self.tile.rows * T::PER_ROW;
        assert!(16 * vectors <= width && self.sums.len() == self.states.len() * width);
    }

    /// # Safety
    /// See `draw_group`; the tile is full.
    #[inline(always)]
    unsafe fn draw_full_group<S: Simd, B: Interleave<S>>(
        &mut self,
        draw: &mut impl Draw<T>,
        k: usize,
        group: Range<usize>,
        beside: &mut B,
    ) {
        // SAFETY: by the caller.
        unsafe {
            match T::PER_ROW {
                32 => self.draw_group::<S, B, 4>(draw, k, group, beside),
                _ => self.draw_group::<S, B, 2>(draw, k, group, beside),
            }
        }
    }

    /// The k-th group of chains.
    ///
    /// # Safety
    /// See [`Simd`]; the tile has V vectors, and was checked.
    #[inline(always)]
    unsafe fn draw_group<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        draw: &mut impl Draw<T>,
        k: usize,
        group: Range<usize>,
        beside: &mut B,
    ) {
        let width = self.tile.rows * T::PER_ROW;
        // SAFETY: by the caller.
        unsafe {
            let mut random = self.streams[k].load::<S>();
            let mut totals = [S::splat(0.0); GROUP];
            for (total, chain) in totals.iter_mut().zip(group.clone()) {
                let sums = self.sums.as_ptr().add(chain * width);
                let sampled = draw.draw::<S, B, V>(self.tile, chain, sums, &mut random, beside);
                put(&mut self.states[chain], self.tile, sampled.bits);
                *total = sampled.sum;
            }
            self.streams[k].store::<S>(random);
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
