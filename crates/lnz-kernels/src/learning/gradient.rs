//! Contrastive divergence: the step of the weights at the end of a mini-batch.
//!
//! The gradient of the weights of a visible unit is a sum over the examples in which it is on, of
//! their rows of hidden probabilities.

use crate::aligned::Aligned;
use crate::learning::chains::Chain;
use crate::learning::layers::{LANES, Matrix, PANEL};
use crate::learning::lists::{Factored, List};
use crate::learning::occurrences::Occurrences;
use crate::learning::row_sums::{
    Wide, first_apart, load, store, sum, sum_apart, sum_lists, sum_two_apart,
};
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
    unsafe fn run<S: Simd>(self) {
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
    apart: bool,
    /// The sum of all rows: the gradient of the hidden biases, times the number of examples.
    pub sum: [f32; PANEL],
}

impl HiddenPanel {
    pub fn of(level: Level, chains: &[Chain], number: usize, hidden: usize) -> Self {
        let rows = Aligned::zeroed(2 * chains.len() * PANEL);
        let apart = number * PANEL >= first_apart(hidden);
        let mut panel = Self { number, rows, apart, sum: [0.0; PANEL] };
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
    unsafe fn run<S: Simd>(self) {
        let HiddenPanel { number, rows, apart, sum: out } = self.panel;
        let first = *number * PANEL;
        let (of_data, of_ends) = rows.as_chunks_mut::<PANEL>().0.split_at_mut(self.chains.len());
        for (chain, (of_data, of_end)) in self.chains.iter().zip(of_data.iter_mut().zip(of_ends)) {
            let (given_data, given_end) = (&chain.given_data[first..], &chain.given_end[first..]);
            // SAFETY: slices of a panel's width; the features by `dispatch`.
            unsafe {
                store::<S>(of_data.as_mut_ptr(), load::<S>(given_data[..PANEL].as_ptr()));
                let ([a, b], minus) = (load::<S>(given_end[..PANEL].as_ptr()), S::splat(-1.0));
                store::<S>(of_end.as_mut_ptr(), [S::mul(a, minus), S::mul(b, minus)]);
            }
        }
        let all: Vec<u32> = (0..(rows.len() / PANEL) as u32).collect();
        // SAFETY: all are rows; the features by `dispatch`.
        unsafe {
            let zero = [S::splat(0.0); 2];
            let total = match *apart {
                true => sum::<S>(sum_apart::<S, &[u32]>(rows, &all, [zero; 2])),
                false => sum_lists::<S, &[u32], 1, 1>(&[rows], [&all], [[zero]])[0][0],
            };
            store::<S>(out.as_mut_ptr(), total);
        }
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
        let len = self.occurrences.len().next_multiple_of(LANES) * PANEL;
        assert!(self.weights.iter().chain(&*self.velocity).all(|rows| rows.len() == len));
        assert!(
            self.weights.len() == self.panels.len() && self.velocity.len() == self.panels.len()
        );
        assert!(self.panel_len.is_multiple_of(LANES * PANEL));
        assert!(self.mirrored.len() >= self.occurrences.len().div_ceil(PANEL) * self.panel_len);
        let below = self.occurrences.below() * PANEL;
        assert!(self.panels.iter().all(|panel| below <= panel.rows.len()));
        dispatch(level, self);
    }
}

impl Kernel for LearnRows<'_, '_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the features by `dispatch`.
        unsafe {
            match self.occurrences.are_ones() {
                true => self.move_rows::<S, &[u32]>(),
                false => self.move_rows::<S, Factored<'_>>(),
            }
        }
    }
}

impl<'a> LearnRows<'a, '_> {
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    unsafe fn move_rows<S: Simd, L: List<'a>>(mut self) {
        let count = self.occurrences.len();
        for first in (0..count).step_by(LANES) {
            let units = first..(first + LANES).min(count);
            // SAFETY: by the caller.
            unsafe {
                match self.panels {
                    // Panels whose columns have one sum come in pairs: their number is even.
                    [a, b] if !a.apart && !b.apart => self.move_pair::<S, L>([a, b], units),
                    panels => {
                        for (p, panel) in panels.iter().enumerate() {
                            assert!(panel.apart);
                            self.move_apart::<S, L>(p, panel, units.clone());
                        }
                    }
                }
                self.mirror::<S>(first);
            }
        }
    }

    /// Up to sixteen units, where columns have two sums.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    unsafe fn move_apart<S: Simd, L: List<'a>>(
        &mut self,
        p: usize,
        panel: &HiddenPanel,
        units: Range<usize>,
    ) {
        let occurrences = self.occurrences;
        // SAFETY: all occurrences are rows of the panel (`run_on`); the features by the caller.
        unsafe {
            let zero = [S::splat(0.0); 2];
            for k in units.clone().step_by(2) {
                // Where the last ones are fewer, the first ones come again.
                let list = |k: usize| occurrences.list(k % occurrences.len());
                let lists: [L; 2] = [list(k), list(k + 1)];
                let sums = sum_two_apart::<S, L>(&panel.rows, lists, [[zero; 2]; 2]);
                for n in 0..(units.end - k).min(2) {
                    self.move_row::<S>(p, k + n, sum::<S>(sums[n]));
                }
            }
        }
    }

    /// Up to sixteen units and two panels, where they have one.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    unsafe fn move_pair<S: Simd, L: List<'a>>(
        &mut self,
        panels: [&HiddenPanel; 2],
        units: Range<usize>,
    ) {
        let (occurrences, rows) = (self.occurrences, panels.map(|panel| &panel.rows[..]));
        // SAFETY: as above.
        unsafe {
            let zero = [[[S::splat(0.0); 2]; 2]; 4];
            for k in units.clone().step_by(4) {
                // Not `map`, which would not be inlined.
                let list = |k: usize| occurrences.list(k % occurrences.len());
                let lists: [L; 4] = [list(k), list(k + 1), list(k + 2), list(k + 3)];
                let sums = sum_lists::<S, L, 2, 4>(&rows, lists, zero);
                for n in 0..(units.end - k).min(4) {
                    for p in 0..2 {
                        self.move_row::<S>(p, k + n, sums[n][p]);
                    }
                }
            }
        }
    }

    /// Transposes sixteen rows from `first` on.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    unsafe fn mirror<S: Simd>(&mut self, first: usize) {
        let to = &mut self.mirrored[first / PANEL * self.panel_len..][..self.panel_len];
        for (panel, weights) in self.panels.iter().zip(&*self.weights) {
            for half in 0..PANEL / LANES {
                let from = &weights[first * PANEL + half * LANES..];
                let row = panel.number * PANEL + half * LANES;
                if row * PANEL < to.len() {
                    // SAFETY: by the caller.
                    unsafe { transpose_square::<S>(from, &mut to[row * PANEL + first % PANEL..]) }
                }
            }
        }
    }

    /// # Safety
    /// See [`Simd`]; there are more than k rows and more than p panels.
    #[inline(always)]
    unsafe fn move_row<S: Simd>(&mut self, p: usize, k: usize, gradient: Wide<S>) {
        // SAFETY: by the caller, and both slices have a row for each k (`run_on`).
        unsafe {
            let (rate, scale) = (S::splat(self.step.rate), S::splat(self.step.scale));
            let (momentum, decay) = (S::splat(self.step.momentum), S::splat(self.step.decay));
            let weights = self.weights[p].as_mut_ptr().add(k * PANEL);
            let velocity = self.velocity[p].as_mut_ptr().add(k * PANEL);
            let (old, mut kept) = (load::<S>(weights), [S::splat(0.0); 2]);
            if self.step.momentum != 0.0 {
                kept = load::<S>(velocity);
            }
            let mut new = old;
            for v in 0..2 {
                let uphill = S::neg_mul_add(decay, old[v], S::mul(gradient[v], scale));
                kept[v] = S::mul_add(momentum, kept[v], uphill);
                new[v] = S::mul_add(rate, kept[v], old[v]);
            }
            store::<S>(weights, new);
            if self.step.momentum != 0.0 {
                store::<S>(velocity, kept);
            }
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
    unsafe fn run<S: Simd>(self) {
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
                // SAFETY: the features by `dispatch`.
                unsafe { transpose_square::<S>(&from[square..], place) }
            }
        }
    }
}

/// Transposes sixteen rows of sixteen numbers, each a panel's width after the one before.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn transpose_square<S: Simd>(from: &[f32], to: &mut [f32]) {
    assert!(from.len().min(to.len()) >= (LANES - 1) * PANEL + LANES);
    // SAFETY: both have 16 rows of a panel.
    unsafe {
        let mut rows = [S::splat(0.0); LANES];
        for (k, row) in rows.iter_mut().enumerate() {
            *row = S::load(from.as_ptr().add(k * PANEL));
        }
        let rows = S::transpose(rows);
        for (k, row) in rows.into_iter().enumerate() {
            S::store(to.as_mut_ptr().add(k * PANEL), row);
        }
    }
}
