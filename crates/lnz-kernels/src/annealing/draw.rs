//! The units of a tile for all chains of a block, drawn from their sums.

use crate::aligned::Aligned;
use crate::annealing::elementwise::{
    HiddenStep, Sampled, sample_hidden, sample_visible, softplus_increment,
};
use crate::annealing::fixed::{Fixed, Tile};
use crate::annealing::groups::{GROUP, groups};
use crate::annealing::interleave::{Interleave, LookUps};
use crate::annealing::product::Scratch;
use crate::annealing::tile_product::TileProduct;
use crate::simd::{Kernel, Simd};
use crate::stream::{Lanes, Stream};
use std::ops::Range;

/// How the units of a layer are drawn.
pub(crate) trait Draw<T: Fixed> {
    /// One chain and a tile of V vectors, no more than its units take.
    fn draw<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        simd: S,
        tile: &Tile,
        chain: usize,
        sums: &[[T; 16]; V],
        random: &mut Lanes<S>,
        interleave: &mut B,
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
    fn draw<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        simd: S,
        tile: &Tile,
        chain: usize,
        sums: &[[T; 16]; V],
        random: &mut Lanes<S>,
        interleave: &mut B,
    ) -> Sampled<S> {
        let bias = vectors(&self.bias[tile.first..]);
        let (mut sampled, too_large) =
            sample_hidden(simd, &self.constants, sums, bias, random, interleave);
        if too_large {
            self.log_weights[chain] += softplus_increment(simd, &self.constants, sums, bias);
            sampled.sum = simd.splat(0.0);
        }
        sampled
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
    /// -log2(e) ((1 - beta) B + beta b), padded to whole tiles.
    pub(crate) exponent_bias: &'a Aligned<f32>,
    /// b - B, padded to whole tiles.
    pub(crate) difference: &'a Aligned<f32>,
    pub(crate) linear: &'a mut [f64],
}

impl<T: Fixed> Draw<T> for VisibleDraw<'_> {
    #[inline(always)]
    fn draw<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        simd: S,
        tile: &Tile,
        _chain: usize,
        sums: &[[T; 16]; V],
        random: &mut Lanes<S>,
        interleave: &mut B,
    ) -> Sampled<S> {
        let exponent = vectors(&self.exponent_bias[tile.first..]);
        let difference = vectors(&self.difference[tile.first..]);
        let scale = self.scale;
        sample_visible(simd, scale, sums, exponent, difference, random, interleave)
    }

    #[inline(always)]
    fn totals(&mut self) -> &mut [f64] {
        self.linear
    }
}

/// Whether to leave out versions that only differ in speed: those with the longest interleaved code take a
/// good part of the time to compile. The tests of this crate have all of them.
const FEW_VERSIONS: bool = cfg!(all(debug_assertions, not(test)));

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
    #[inline(always)]
    pub(crate) fn draw<S: Simd>(
        &mut self,
        simd: S,
        draw: &mut impl Draw<T>,
        product: Option<(&TileProduct<'_, T>, &Scratch)>,
    ) {
        match self.tile.units.div_ceil(16) {
            1 => self.draw_vectors::<S, 1>(simd, draw, product),
            2 => self.draw_vectors::<S, 2>(simd, draw, product),
            3 => self.draw_vectors::<S, 3>(simd, draw, product),
            _ => self.draw_vectors::<S, 4>(simd, draw, product),
        }
    }

    #[inline(always)]
    fn draw_vectors<S: Simd, const V: usize>(
        &mut self,
        simd: S,
        draw: &mut impl Draw<T>,
        product: Option<(&TileProduct<'_, T>, &Scratch)>,
    ) {
        self.check(V);
        let all = self.states.len();
        for first in (0..all).step_by(AT_A_TIME) {
            let chains = first..(first + AT_A_TIME).min(all);
            if let Some((product, scratch)) = product {
                product.finish(simd, scratch, self.sums, chains.clone());
            }
            simd.call(DrawGroups::<_, _, V> { tile: self, draw, chains });
        }
    }

    /// The sums of a full tile are there already. Those of the next tile, by tables, are computed in
    /// between, into `sums`.
    #[inline(always)]
    pub(crate) fn draw_interleaved<S: Simd>(
        &mut self,
        simd: S,
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
        let drawn = match (next.rows, next.full_passes().min(most)) {
            (1, _) => self.with_look_ups::<S, 1, 1>(simd, draw, next, scratch, sums),
            (_, ..3) => self.with_look_ups::<S, 2, 1>(simd, draw, next, scratch, sums),
            (_, most) if most < 7 || FEW_VERSIONS => {
                self.with_look_ups::<S, 2, 3>(simd, draw, next, scratch, sums)
            }
            (_, ..10) => self.with_look_ups::<S, 2, 7>(simd, draw, next, scratch, sums),
            (_, _) => self.with_look_ups::<S, 2, 10>(simd, draw, next, scratch, sums),
        };
        for (k, group) in groups(self.states.len()).enumerate().skip(drawn) {
            self.draw_full_group(simd, draw, k, group, &mut ());
        }
    }

    /// Looks up N chains during each draw: the N-th part of the groups is drawn during each of the first N
    /// passes. What does not come out even is looked up alone, or left to be drawn: returns how many
    /// groups are drawn.
    #[inline(always)]
    fn with_look_ups<S: Simd, const R: usize, const N: usize>(
        &mut self,
        simd: S,
        draw: &mut impl Draw<T>,
        next: &TileProduct<'_, T>,
        scratch: &mut Scratch,
        sums: &mut [T],
    ) -> usize {
        self.check(2 * T::PER_ROW / 16);
        let chains = self.states.len();
        assert!(next.bits.chains == chains && sums.len() == chains * R * T::PER_ROW);
        let during_a_pass = chains / (N * GROUP);
        let mut groups = groups(chains).enumerate();
        for pass in 0..next.passes() {
            next.build_tables::<S, R>(simd, pass, scratch);
            let mut rest = 0..chains;
            if pass < N {
                // SAFETY: a group has at most GROUP chains, so that there are at most `chains / N` draws.
                let mut look_ups =
                    unsafe { LookUps::<S, T, R, N>::new(simd, next, pass, scratch, sums) };
                for (k, group) in groups.by_ref().take(during_a_pass) {
                    self.draw_full_group::<S, _>(simd, draw, k, group, &mut look_ups);
                }
                rest.start = during_a_pass * GROUP * N;
            }
            next.look_up::<S, R>(simd, pass, scratch, sums, rest);
        }
        during_a_pass * N.min(next.passes())
    }

    fn check(&self, vectors: usize) {
        let width = self.tile.rows * T::PER_ROW;
        assert!(16 * vectors <= width && self.sums.len() == self.states.len() * width);
    }

    #[inline(always)]
    fn draw_full_group<S: Simd, B: Interleave<S>>(
        &mut self,
        simd: S,
        draw: &mut impl Draw<T>,
        k: usize,
        group: Range<usize>,
        interleave: &mut B,
    ) {
        match T::PER_ROW {
            32 => self.draw_group::<S, B, 4>(simd, draw, k, group, interleave),
            _ => self.draw_group::<S, B, 2>(simd, draw, k, group, interleave),
        }
    }

    /// The k-th group of chains.
    #[inline(always)]
    fn draw_group<S: Simd, B: Interleave<S>, const V: usize>(
        &mut self,
        simd: S,
        draw: &mut impl Draw<T>,
        k: usize,
        group: Range<usize>,
        interleave: &mut B,
    ) {
        let width = self.tile.rows * T::PER_ROW;
        let mut random = self.streams[k].load(simd);
        let mut totals = [simd.splat(0.0); GROUP];
        // Cut to the group first, so that nothing is checked chain by chain.
        let sums = self.sums[group.start * width..group.end * width].chunks_exact(width);
        let states = &mut self.states[group.clone()];
        let chains = group.clone().zip(states).zip(sums);
        for (total, ((chain, state), sums)) in totals.iter_mut().zip(chains) {
            let sums = vectors(sums);
            let sampled =
                draw.draw::<S, B, V>(simd, self.tile, chain, sums, &mut random, interleave);
            put(state, self.tile, sampled.bits);
            *total = sampled.sum;
        }
        self.streams[k].store(random);
        let totals = simd.sums(&totals);
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

/// Chains whose sums are finished and then drawn: few enough that the sums stay in the nearest cache.
const AT_A_TIME: usize = 4 * GROUP;

/// Draws some groups of chains. A kernel of its own: with calls in its loop, the compiler would load the
/// constants again for every chain.
struct DrawGroups<'b, 'a, T: Fixed, D: Draw<T>, const V: usize> {
    tile: &'b mut DrawnTile<'a, T>,
    draw: &'b mut D,
    chains: Range<usize>,
}

impl<T: Fixed, D: Draw<T>, const V: usize> Kernel for DrawGroups<'_, '_, T, D, V> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tile, draw, chains } = self;
        let first = chains.start;
        for group in groups(chains.len()) {
            let group = first + group.start..first + group.end;
            tile.draw_group::<S, (), V>(simd, draw, group.start / GROUP, group, &mut ());
        }
    }
}

/// The first V vectors.
#[inline(always)]
fn vectors<T, const V: usize>(values: &[T]) -> &[[T; 16]; V] {
    match values.as_chunks().0.first_chunk() {
        Some(vectors) => vectors,
        None => panic!("a tile has more vectors than there are numbers"),
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
