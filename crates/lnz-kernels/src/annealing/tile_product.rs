//! The sums of one tile of outputs, by tables or by rows of weights.

use crate::aligned::{rows, rows_mut};
use crate::annealing::fixed::{Fixed, Layer, Summed, Tile};
use crate::annealing::product::{Method, Scratch};
use crate::annealing::tables::{TABLES, inputs_of_table};
use crate::bits::Bits;
use crate::simd::{Kernel, RowBytes, Simd};
use crate::stop::Stop;
use std::marker::PhantomData;
use std::ops::Range;

/// The sums of one tile for all chains, in place, so that they are at hand when they are used: `start`,
/// and then `finish` for every chain.
pub(crate) struct TileProduct<'a, T: Summed> {
    method: Method,
    weights: &'a [RowBytes],
    inputs: usize,
    /// Rows of each input: 1 or 2.
    pub(crate) rows: usize,
    pub(crate) bits: &'a Bits,
    of: PhantomData<T>,
}

impl<'a, T: Fixed> TileProduct<'a, T> {
    pub(crate) fn new(method: Method, layer: &'a Layer<T>, tile: &Tile, bits: &'a Bits) -> Self {
        let width = tile.rows * T::PER_ROW;
        let weights = &layer.weights[tile.offset..tile.offset + layer.inputs * width];
        Self::of_rows(method, weights, layer.inputs, tile.rows, bits)
    }

    /// Tables: the sums of all passes but the last one, whose tables are built.
    ///
    /// `scratch` is prepared for the method; `sums` is the tile's part of the buffer: a tile's width for
    /// each chain. It holds the previous sums when the method is delta.
    #[inline(always)]
    pub(crate) fn start<S: Simd>(
        simd: S,
        method: Method,
        layer: &'a Layer<T>,
        tile: &Tile,
        bits: &'a Bits,
        scratch: &mut Scratch,
        sums: &mut [T],
    ) -> Self {
        assert!(sums.len() == bits.chains * tile.rows * T::PER_ROW);
        let product = Self::new(method, layer, tile, bits);
        if method == Method::Tables {
            match tile.rows {
                1 => product.first_passes::<S, 1>(simd, scratch, sums),
                _ => product.first_passes::<S, 2>(simd, scratch, sums),
            }
        }
        product
    }

    /// The sums of some chains, with the same buffers as for `start`.
    #[inline(always)]
    pub(crate) fn finish<S: Simd>(
        &self,
        simd: S,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        if self.inputs == 0 {
            return; // The sums stay zero.
        }
        let last = self.passes() - 1;
        match (self.method, self.rows) {
            (Method::Tables, 1) => self.look_up::<S, 1>(simd, last, scratch, sums, chains),
            (Method::Tables, _) => self.look_up::<S, 2>(simd, last, scratch, sums, chains),
            (_, 1) => simd.call(AddRows::<T, 1> { product: self, scratch, sums, chains }),
            (_, _) => simd.call(AddRows::<T, 2> { product: self, scratch, sums, chains }),
        }
    }

    #[inline(always)]
    fn first_passes<S: Simd, const R: usize>(
        &self,
        simd: S,
        scratch: &mut Scratch,
        sums: &mut [T],
    ) {
        let passes = self.passes();
        for pass in 0..passes {
            self.build_tables::<S, R>(simd, pass, scratch);
            if pass + 1 < passes {
                self.look_up::<S, R>(simd, pass, scratch, sums, 0..self.bits.chains);
            }
        }
    }
}

/// What looking up takes, also where the weights are not integers.
impl<'a, T: Summed> TileProduct<'a, T> {
    /// By tables, of weights of two rows for each input.
    pub(crate) fn by_tables(weights: &'a [T], inputs: usize, bits: &'a Bits) -> Self {
        Self::of_rows(Method::Tables, &weights[..inputs * 2 * T::PER_ROW], inputs, 2, bits)
    }

    fn of_rows(
        method: Method,
        weights: &'a [T],
        inputs: usize,
        rows_of_input: usize,
        bits: &'a Bits,
    ) -> Self {
        assert!(bits.words.len() == inputs.div_ceil(64) * bits.chains);
        let weights = rows(weights);
        assert!(weights.len() == inputs * rows_of_input);
        Self { method, weights, inputs, rows: rows_of_input, bits, of: PhantomData }
    }

    /// The tables of a pass; R is the number of rows.
    #[inline(always)]
    pub(crate) fn build_tables<S: Simd, const R: usize>(
        &self,
        simd: S,
        pass: usize,
        scratch: &mut Scratch,
    ) {
        simd.call(BuildTables::<T, R> { product: self, pass, scratch });
    }

    /// Passes over the chains.
    pub(crate) fn passes(&self) -> usize {
        self.inputs.div_ceil(self.inputs_of_pass())
    }

    /// Passes with eight full tables.
    pub(crate) fn full_passes(&self) -> usize {
        self.inputs / self.inputs_of_pass()
    }

    fn inputs_of_pass(&self) -> usize {
        TABLES * inputs_of_table(self.bits.chains)
    }

    /// Tables of a pass.
    pub(crate) fn tables(&self, pass: usize) -> usize {
        let rest = self.inputs - pass * self.inputs_of_pass();
        rest.div_ceil(inputs_of_table(self.bits.chains)).min(TABLES)
    }

    /// Adds the entries of a pass, whose tables are built, to the sums of the passes before.
    #[inline(always)]
    pub(crate) fn look_up<S: Simd, const R: usize>(
        &self,
        simd: S,
        pass: usize,
        scratch: &Scratch,
        sums: &mut [T],
        chains: Range<usize>,
    ) {
        simd.call(LookUp::<T, R> { product: self, pass, scratch, sums, chains });
    }
}

struct BuildTables<'a, 'p, T: Summed, const R: usize> {
    product: &'a TileProduct<'p, T>,
    pass: usize,
    scratch: &'a mut Scratch,
}

impl<T: Summed, const R: usize> Kernel for BuildTables<'_, '_, T, R> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { product, pass, scratch } = self;
        let most = inputs_of_table(product.bits.chains);
        for k in 0..product.tables(pass) {
            let first = most * (TABLES * pass + k);
            let inputs = (product.inputs - first).min(most);
            let weights = &product.weights[first * R..][..inputs * R];
            match most {
                4 => scratch.tables.build::<S, T, R, 4>(simd, k, weights),
                _ => scratch.tables.build::<S, T, R, 5>(simd, k, weights),
            }
        }
    }
}

struct LookUp<'a, 'p, T: Summed, const R: usize> {
    product: &'a TileProduct<'p, T>,
    pass: usize,
    scratch: &'a Scratch,
    sums: &'a mut [T],
    chains: Range<usize>,
}

impl<T: Summed, const R: usize> Kernel for LookUp<'_, '_, T, R> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        // A constant number of tables, so that the loop over them is unrolled.
        match self.product.tables(self.pass) {
            0 => self.add::<S, 0>(simd),
            1 => self.add::<S, 1>(simd),
            2 => self.add::<S, 2>(simd),
            3 => self.add::<S, 3>(simd),
            4 => self.add::<S, 4>(simd),
            5 => self.add::<S, 5>(simd),
            6 => self.add::<S, 6>(simd),
            7 => self.add::<S, 7>(simd),
            _ => self.add::<S, TABLES>(simd),
        }
    }
}

impl<T: Summed, const R: usize> LookUp<'_, '_, T, R> {
    #[inline(always)]
    fn add<S: Simd, const N: usize>(self, simd: S) {
        let Self { product, pass, scratch, sums, chains } = self;
        let tables = &*scratch.tables;
        let entries = &scratch.entries[pass * product.bits.chains..][chains.clone()];
        let sums = &mut rows_mut(sums).as_chunks_mut::<R>().0[chains];
        for (sum, entries) in sums.iter_mut().zip(entries) {
            let mut total = [simd.zero_row(); R];
            if pass > 0 {
                for r in 0..R {
                    total[r] = simd.load_row(&sum[r]);
                }
            }
            for k in 0..N {
                total = tables.add_entry::<S, T, R>(simd, total, k, entries);
            }
            for r in 0..R {
                simd.store_row(&mut sum[r], total[r]);
            }
        }
    }
}

/// Adds and subtracts the listed rows of weights.
struct AddRows<'a, 'p, T: Fixed, const R: usize> {
    product: &'a TileProduct<'p, T>,
    scratch: &'a Scratch,
    sums: &'a mut [T],
    chains: Range<usize>,
}

impl<T: Fixed, const R: usize> Kernel for AddRows<'_, '_, T, R> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { product, scratch, sums, chains } = self;
        let (weights, _) = product.weights.as_chunks::<R>();
        assert!(scratch.below() <= weights.len());
        let sums = &mut rows_mut(sums).as_chunks_mut::<R>().0[chains.clone()];
        for ((add, subtract), sum) in scratch.units(chains).zip(sums) {
            // Many chains do not move where the path is steep.
            if product.method == Method::Delta && add.is_empty() && subtract.is_empty() {
                continue;
            }
            let mut total = [simd.zero_row(); R];
            if product.method == Method::Delta {
                for r in 0..R {
                    total[r] = simd.load_row(&sum[r]);
                }
            }
            for &unit in add {
                // SAFETY: units are below `scratch.below()`.
                let weights = unsafe { weights.get_unchecked(unit as usize) };
                for r in 0..R {
                    total[r] = T::add(simd, total[r], simd.load_row(&weights[r]));
                }
            }
            for &unit in subtract {
                // SAFETY: as above.
                let weights = unsafe { weights.get_unchecked(unit as usize) };
                for r in 0..R {
                    total[r] = T::sub(simd, total[r], simd.load_row(&weights[r]));
                }
            }
            for r in 0..R {
                simd.store_row(&mut sum[r], total[r]);
            }
        }
    }
}

/// The sums of one tile for all chains of `bits`; see [`TileProduct::start`].
#[inline(always)]
pub(crate) fn sum_tile<S: Simd, T: Fixed>(
    simd: S,
    method: Method,
    layer: &Layer<T>,
    tile: &Tile,
    bits: &Bits,
    scratch: &mut Scratch,
    sums: &mut [T],
) {
    let product = TileProduct::start(simd, method, layer, tile, bits, scratch, sums);
    product.finish(simd, scratch, sums, 0..bits.chains);
}

/// The sums of all tiles, one after the other in `sums`.
#[inline(always)]
pub(crate) fn sum_tiles<S: Simd, T: Fixed>(
    simd: S,
    method: Method,
    layer: &Layer<T>,
    bits: &Bits,
    scratch: &mut Scratch,
    sums: &mut [T],
    stop: &mut Stop<'_>,
) {
    let mut rest = sums;
    for tile in &layer.tiles {
        if stop.before(bits.chains * layer.inputs) {
            return;
        }
        let (now, later) = rest.split_at_mut(tile.rows * T::PER_ROW * bits.chains);
        sum_tile(simd, method, layer, tile, bits, scratch, now);
        rest = later;
    }
}
