//! Contrastive divergence: the step of the weights at the end of a mini-batch.
//!
//! The gradient of the weights of a visible unit is a sum over the examples in which it is on, of
//! their rows of hidden probabilities.

use crate::aligned::Aligned;
use crate::learning::chain::Chain;
use crate::learning::layers::{LANES, Matrix, PANEL};
use crate::learning::lists::{Factored, List};
use crate::learning::occurrences::Occurrences;
use crate::learning::panel::{
    Wide, load, numbers_at, numbers_at_mut, store, sum, sum_even_odd, sum_lists, sum_two_even_odd,
};
use crate::learning::row_sums::first_with_two_sums;
use crate::simd::{Kernel, Level, Simd, dispatch};
use std::ops::Range;

/// How far a mini-batch moves the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The learning rate.
    pub rate: f32,
    /// One over the size of the mini-batch.
    pub scale: f32,
    pub momentum: f32,
    pub decay: f32,
}

impl Move {
    /// Moves biases, which do not decay; the gradients are sums over the examples.
    pub fn learn_biases(
        &self,
        level: Level,
        biases: &mut [f32],
        velocity: &mut [f32],
        gradients: impl Iterator<Item = f32>,
    ) {
        let gradients: Vec<f32> = gradients.take(biases.len()).collect();
        dispatch(level, LearnBiases { step: *self, biases, velocity, gradients: &gradients });
    }
}

struct LearnBiases<'a> {
    step: Move,
    biases: &'a mut [f32],
    velocity: &'a mut [f32],
    gradients: &'a [f32],
}

impl Kernel for LearnBiases<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Move { rate, scale, momentum, .. } = self.step;
        let biases = self.biases.iter_mut().zip(self.velocity).zip(self.gradients);
        for ((bias, velocity), gradient) in biases {
            *velocity = momentum.mul_add(*velocity, gradient * scale);
            *bias = rate.mul_add(*velocity, *bias);
        }
    }
}

/// One panel of hidden probabilities: given each example, then given the end of each chain with a minus.
pub struct HiddenPanel {
    /// Which one.
    number: usize,
    rows: Aligned<f32>,
    /// The columns of this panel have two sums.
    has_two_sums: bool,
    /// The sum of all rows: the gradient of the hidden biases, times the number of examples.
    pub sum: [f32; PANEL],
}

impl HiddenPanel {
    pub fn of(level: Level, chains: &[Chain], number: usize, hidden: usize) -> Self {
        let rows = Aligned::zeroed(2 * chains.len() * PANEL);
        let has_two_sums = number * PANEL >= first_with_two_sums(hidden);
        let mut panel = Self { number, rows, has_two_sums, sum: [0.0; PANEL] };
        dispatch(level, FillPanel { panel: &mut panel, chains });
        panel
    }
}

struct FillPanel<'a> {
    panel: &'a mut HiddenPanel,
    chains: &'a [Chain],
}

impl Kernel for FillPanel<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let HiddenPanel { number, rows, has_two_sums, sum: out } = self.panel;
        let first = *number * PANEL;
        let (of_data, of_ends) = rows.as_chunks_mut::<PANEL>().0.split_at_mut(self.chains.len());
        for (chain, (of_data, of_end)) in self.chains.iter().zip(of_data.iter_mut().zip(of_ends)) {
            store(simd, of_data, load(simd, numbers_at(&chain.given_data, first)));
            let [a, b] = load(simd, numbers_at(&chain.given_end, first));
            let minus = simd.splat(-1.0);
            store(simd, of_end, [simd.mul(a, minus), simd.mul(b, minus)]);
        }
        let (rows, _) = rows.as_chunks();
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        let zero = [simd.splat(0.0); 2];
        // SAFETY: all are rows.
        let total = unsafe {
            match *has_two_sums {
                true => sum(simd, sum_even_odd::<S, &[u32]>(simd, rows, &all, [zero; 2])),
                false => sum_lists::<S, &[u32], 1, 1>(simd, &[rows], [&all], [[zero]])[0][0],
            }
        };
        store(simd, out, total);
    }
}

/// Moves some rows of one panel of the weights, or of two, and their transposed copy.
pub struct LearnRows<'a, 'b> {
    pub step: Move,
    pub occurrences: &'a Occurrences,
    pub panels: &'a [HiddenPanel],
    /// Of each panel, a row for each unit, padded to whole squares.
    pub weights: &'a mut [&'b mut [f32]],
    pub velocity: &'a mut [&'b mut [f32]],
    /// The units are columns here: panels of such a length.
    pub mirrored: &'a mut [f32],
    pub panel_len: usize,
}

impl LearnRows<'_, '_> {
    pub fn run_on(self, level: Level) {
        dispatch(level, self);
    }
}

impl Kernel for LearnRows<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let len = self.occurrences.len().next_multiple_of(LANES) * PANEL;
        assert!(self.weights.iter().chain(&*self.velocity).all(|rows| rows.len() == len));
        assert!(
            self.weights.len() == self.panels.len() && self.velocity.len() == self.panels.len()
        );
        assert!(self.panel_len.is_multiple_of(LANES * PANEL));
        assert!(self.mirrored.len() >= self.occurrences.len().div_ceil(PANEL) * self.panel_len);
        // The sums rely on this.
        let below = self.occurrences.below() * PANEL;
        assert!(self.panels.iter().all(|panel| below <= panel.rows.len()));
        match self.occurrences.are_ones() {
            true => self.move_rows::<S, &[u32]>(simd),
            false => self.move_rows::<S, Factored<'_>>(simd),
        }
    }
}

impl<'a> LearnRows<'a, '_> {
    #[inline(always)]
    fn move_rows<S: Simd, L: List<'a>>(mut self, simd: S) {
        let count = self.occurrences.len();
        for first in (0..count).step_by(LANES) {
            let units = first..(first + LANES).min(count);
            match self.panels {
                // Panels whose columns have one sum come in pairs: their number is even.
                [a, b] if !a.has_two_sums && !b.has_two_sums => {
                    self.move_pair::<S, L>(simd, [a, b], units)
                }
                panels => {
                    for (p, panel) in panels.iter().enumerate() {
                        assert!(panel.has_two_sums);
                        self.move_with_two_sums::<S, L>(simd, p, panel, units.clone());
                    }
                }
            }
            self.mirror(simd, first);
        }
    }

    /// Up to sixteen units, where columns have two sums.
    #[inline(always)]
    fn move_with_two_sums<S: Simd, L: List<'a>>(
        &mut self,
        simd: S,
        p: usize,
        panel: &HiddenPanel,
        units: Range<usize>,
    ) {
        let occurrences = self.occurrences;
        let zero = [simd.splat(0.0); 2];
        for k in units.clone().step_by(2) {
            // Where the last ones are fewer, the first ones come again.
            let list = |k: usize| occurrences.list(k % occurrences.len());
            let lists: [L; 2] = [list(k), list(k + 1)];
            // SAFETY: all occurrences are rows of the panel, as `run` has checked.
            let sums =
                unsafe { sum_two_even_odd(simd, panel.rows.as_chunks().0, lists, [[zero; 2]; 2]) };
            for n in 0..(units.end - k).min(2) {
                self.move_row(simd, p, k + n, sum(simd, sums[n]));
            }
        }
    }

    /// Up to sixteen units and two panels, where they have one.
    #[inline(always)]
    fn move_pair<S: Simd, L: List<'a>>(
        &mut self,
        simd: S,
        panels: [&HiddenPanel; 2],
        units: Range<usize>,
    ) {
        let (occurrences, rows) = (self.occurrences, panels.map(|panel| panel.rows.as_chunks().0));
        let zero = [[[simd.splat(0.0); 2]; 2]; 4];
        for k in units.clone().step_by(4) {
            // Not `map`, which would not be inlined.
            let list = |k: usize| occurrences.list(k % occurrences.len());
            let lists: [L; 4] = [list(k), list(k + 1), list(k + 2), list(k + 3)];
            // SAFETY: as above, for both panels.
            let sums = unsafe { sum_lists::<S, L, 2, 4>(simd, &rows, lists, zero) };
            for n in 0..(units.end - k).min(4) {
                for p in 0..2 {
                    self.move_row(simd, p, k + n, sums[n][p]);
                }
            }
        }
    }

    /// Transposes sixteen rows from `first` on.
    #[inline(always)]
    fn mirror<S: Simd>(&mut self, simd: S, first: usize) {
        let to = &mut self.mirrored[first / PANEL * self.panel_len..][..self.panel_len];
        for (panel, weights) in self.panels.iter().zip(&*self.weights) {
            for half in 0..PANEL / LANES {
                let from = &weights[first * PANEL + half * LANES..];
                let row = panel.number * PANEL + half * LANES;
                if row * PANEL < to.len() {
                    transpose_square(simd, from, &mut to[row * PANEL + first % PANEL..])
                }
            }
        }
    }

    #[inline(always)]
    fn move_row<S: Simd>(&mut self, simd: S, p: usize, k: usize, gradient: Wide<S>) {
        let (rate, scale) = (simd.splat(self.step.rate), simd.splat(self.step.scale));
        let (momentum, decay) = (simd.splat(self.step.momentum), simd.splat(self.step.decay));
        let weights = numbers_at_mut(self.weights[p], k * PANEL);
        let velocity = numbers_at_mut(self.velocity[p], k * PANEL);
        let (old, mut kept) = (load(simd, weights), [simd.splat(0.0); 2]);
        if self.step.momentum != 0.0 {
            kept = load(simd, velocity);
        }
        let mut new = old;
        for v in 0..2 {
            let uphill = simd.neg_mul_add(decay, old[v], simd.mul(gradient[v], scale));
            kept[v] = simd.mul_add(momentum, kept[v], uphill);
            new[v] = simd.mul_add(rate, kept[v], old[v]);
        }
        store(simd, weights, new);
        if self.step.momentum != 0.0 {
            store(simd, velocity, kept);
        }
    }
}

/// Writes panel `panel` of the transpose of a matrix.
pub fn transpose_panel(level: Level, from: &Matrix, panel: usize, to: &mut [f32]) {
    assert_eq!(to.len(), from.columns().next_multiple_of(LANES) * PANEL);
    assert!(panel * PANEL < from.rows());
    dispatch(level, TransposePanel { from, panel, to });
}

struct TransposePanel<'a> {
    from: &'a Matrix,
    panel: usize,
    to: &'a mut [f32],
}

impl Kernel for TransposePanel<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (from, height) = (self.from.panels(), self.from.panel_len() / PANEL);
        let columns = self.from.columns().next_multiple_of(LANES);
        for half in 0..PANEL / LANES {
            let first_row = self.panel * PANEL + half * LANES;
            if first_row >= height {
                continue;
            }
            for column in (0..columns).step_by(LANES) {
                let square = column / PANEL * height * PANEL + first_row * PANEL + column % PANEL;
                let place = &mut self.to[column * PANEL + half * LANES..];
                transpose_square(simd, &from[square..], place)
            }
        }
    }
}

/// Transposes sixteen rows of sixteen numbers, each a panel's width after the one before.
#[inline(always)]
fn transpose_square<S: Simd>(simd: S, from: &[f32], to: &mut [f32]) {
    assert!(from.len().min(to.len()) >= (LANES - 1) * PANEL + LANES);
    let mut rows = [simd.splat(0.0); LANES];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = simd.load(numbers_at(from, k * PANEL));
    }
    let rows = simd.transpose(rows);
    for (k, row) in rows.into_iter().enumerate() {
        simd.store(numbers_at_mut(to, k * PANEL), row);
    }
}
