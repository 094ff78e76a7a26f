//! Contrastive divergence: the step of the weights at the end of a mini-batch.
//!
//! The gradient of the weights of a visible unit is a sum over the examples in which it is on, of
//! their rows of hidden probabilities.

use super::aligned::Aligned;
use super::contrast::Chain;
use super::layers::{LANES, PANEL};
use super::occurrences::Occurrences;
use super::row_sums::{
    Factored, List, Wide, first_apart, load, store, sum, sum_lists, sum_two_apart,
};
use super::simd::{Kernel, Level, Simd, dispatch};

/// How far a mini-batch moves the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Move {
    /// The learning rate.
    pub(crate) rate: f32,
    /// One over the size of the mini-batch.
    pub(crate) scale: f32,
    pub(crate) momentum: f32,
    pub(crate) decay: f32,
}

impl Move {
    /// The same for one number: a bias, which does not decay.
    pub(crate) fn apply(&self, value: &mut f32, velocity: &mut f32, gradient: f32) {
        *velocity = self.momentum.mul_add(*velocity, gradient * self.scale);
        *value = self.rate.mul_add(*velocity, *value);
    }
}

/// One panel of hidden probabilities: given each example, then given the end of each chain with a minus.
pub(crate) struct HiddenPanel {
    rows: Aligned<f32>,
    /// The columns of this panel have two sums.
    apart: bool,
}

impl HiddenPanel {
    pub(crate) fn of(chains: &[Chain], panel: usize, hidden: usize) -> Self {
        let columns = panel * PANEL..(panel + 1) * PANEL;
        let mut rows = Aligned::zeroed(2 * chains.len() * PANEL);
        let given_data = chains.iter().map(|chain| &chain.given_data[columns.clone()]);
        let given_end = chains.iter().map(|chain| &chain.given_end[columns.clone()]);
        let (of_data, of_ends) = rows.as_chunks_mut::<PANEL>().0.split_at_mut(chains.len());
        of_data.iter_mut().zip(given_data).for_each(|(to, from)| to.copy_from_slice(from));
        of_ends.iter_mut().zip(given_end).for_each(|(to, from)| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = -from);
        });
        Self { rows, apart: columns.start >= first_apart(hidden) }
    }
}

/// Moves some rows of one panel of the weights.
pub(crate) struct LearnRows<'a> {
    pub(crate) step: Move,
    pub(crate) occurrences: &'a Occurrences,
    pub(crate) hidden: &'a HiddenPanel,
    pub(crate) weights: &'a mut [f32],
    pub(crate) velocity: &'a mut [f32],
}

impl LearnRows<'_> {
    pub(crate) fn run_on(self, level: Level) {
        let len = self.occurrences.len() * PANEL;
        assert!(self.weights.len() == len && self.velocity.len() == len);
        let rows = self.hidden.rows.len() / PANEL;
        assert!(self.occurrences.below() <= rows);
        dispatch(level, self);
    }
}

impl Kernel for LearnRows<'_> {
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

impl<'a> LearnRows<'a> {
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    unsafe fn move_rows<S: Simd, L: List<'a>>(mut self) {
        let (rows, occurrences) = (&self.hidden.rows, self.occurrences);
        let count = occurrences.len();
        // SAFETY: all occurrences are rows of the panel (`run_on`); the features by the caller.
        unsafe {
            let zero = [S::splat(0.0); 2];
            if self.hidden.apart {
                for k in (0..count).step_by(2) {
                    // The last one of an odd number is paired with the first.
                    let next = (k + 1) % count;
                    let lists: [L; 2] = [k, next].map(|unit| occurrences.list(unit));
                    let [a, b] = sum_two_apart::<S, L>(rows, lists, [[zero; 2]; 2]);
                    self.move_row::<S>(k, sum::<S>(a));
                    if next > k {
                        self.move_row::<S>(next, sum::<S>(b));
                    }
                }
                return;
            }
            for k in (0..count).step_by(4) {
                // Where the last four are fewer, the first ones come again.
                let units = [k, k + 1, k + 2, k + 3].map(|unit| unit % count);
                let lists: [L; 4] = units.map(|unit| occurrences.list(unit));
                let sums = sum_lists::<S, L, 1, 4>(&[rows], lists, [[zero]; 4]);
                for n in 0..(count - k).min(4) {
                    self.move_row::<S>(k + n, sums[n][0]);
                }
            }
        }
    }

    /// # Safety
    /// See [`Simd`]; there are more than k rows.
    #[inline(always)]
    unsafe fn move_row<S: Simd>(&mut self, k: usize, gradient: Wide<S>) {
        // SAFETY: by the caller, and both slices have a row for each k (`run_on`).
        unsafe {
            let (rate, scale) = (S::splat(self.step.rate), S::splat(self.step.scale));
            let (momentum, decay) = (S::splat(self.step.momentum), S::splat(self.step.decay));
            let weights = self.weights.as_mut_ptr().add(k * PANEL);
            let velocity = self.velocity.as_mut_ptr().add(k * PANEL);
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

/// The gradient of the hidden biases, times the number of examples.
pub(crate) fn sum_of_contrasts(chains: &[Chain], hidden: usize) -> Vec<f32> {
    let width = hidden.next_multiple_of(PANEL);
    let apart = first_apart(hidden);
    let (mut even, mut odd) = (vec![0.0f32; width], vec![0.0f32; width]);
    let given_data = chains.iter().map(|chain| (&chain.given_data, 1.0));
    let given_end = chains.iter().map(|chain| (&chain.given_end, -1.0));
    for (k, (row, sign)) in given_data.chain(given_end).enumerate() {
        add(&mut even[..apart], &row[..apart], sign);
        let after = if k % 2 == 0 { &mut even } else { &mut odd };
        add(&mut after[apart..], &row[apart..], sign);
    }
    add(&mut even, &odd, 1.0);
    even
}

fn add(sums: &mut [f32], values: &[f32], sign: f32) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += sign * value);
}

/// Writes panel `panel` of the transpose of some rows of a matrix, which are given panel by panel.
pub(crate) fn transpose_panel<R: AsRef<[f32]>>(
    level: Level,
    from: &[R],
    panel: usize,
    to: &mut [f32],
) {
    let height = from.first().map_or(0, |rows| rows.as_ref().len()) / PANEL;
    assert!(from.iter().all(|rows| rows.as_ref().len() == height * PANEL));
    assert!(panel * PANEL < height && height.is_multiple_of(LANES));
    assert!(to.len() <= from.len() * PANEL * PANEL && to.len().is_multiple_of(LANES * PANEL));
    dispatch(level, TransposePanel { from, height, panel, to });
}

struct TransposePanel<'a, R> {
    from: &'a [R],
    height: usize,
    panel: usize,
    to: &'a mut [f32],
}

impl<R: AsRef<[f32]>> Kernel for TransposePanel<'_, R> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let columns = self.to.len() / PANEL;
        for half in 0..2 {
            let first_row = self.panel * PANEL + half * LANES;
            if first_row >= self.height {
                continue;
            }
            for column in (0..columns).step_by(LANES) {
                let rows = self.from[column / PANEL].as_ref();
                let square = &rows[first_row * PANEL + column % PANEL..];
                let place = &mut self.to[column * PANEL + half * LANES..];
                assert!(square.len().min(place.len()) >= (LANES - 1) * PANEL + LANES);
                // SAFETY: both have 16 rows of a panel; the features by `dispatch`.
                unsafe {
                    let mut rows = [S::splat(0.0); LANES];
                    for (k, row) in rows.iter_mut().enumerate() {
                        *row = S::load(square.as_ptr().add(k * PANEL));
                    }
                    let rows = S::transpose(rows);
                    for (k, row) in rows.into_iter().enumerate() {
                        S::store(place.as_mut_ptr().add(k * PANEL), row);
                    }
                }
            }
        }
    }
}
