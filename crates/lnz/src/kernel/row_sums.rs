//! Sums of rows of a matrix.
//!
//! They are taken for many lists of rows at once, panel by panel: a panel stays in the cache while
//! all lists pass over it.

use super::layers::{LANES, PANEL, Side};
use super::simd::Simd;

/// A row in a sum, with its factor.
pub(crate) trait Term: Copy {
    fn row(self) -> u32;
    /// `sum + factor * vector`, rounded once.
    ///
    /// # Safety
    /// See [`Simd`].
    unsafe fn add<S: Simd>(self, vector: S::F, sum: S::F) -> S::F;
}

/// A unit that is on.
impl Term for u32 {
    #[inline(always)]
    fn row(self) -> u32 {
        self
    }

    #[inline(always)]
    unsafe fn add<S: Simd>(self, vector: S::F, sum: S::F) -> S::F {
        // SAFETY: by the caller.
        unsafe { S::add(sum, vector) }
    }
}

/// A row that is taken away.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(crate) struct Minus(pub(crate) u32);

impl Term for Minus {
    #[inline(always)]
    fn row(self) -> u32 {
        self.0
    }

    #[inline(always)]
    unsafe fn add<S: Simd>(self, vector: S::F, sum: S::F) -> S::F {
        // SAFETY: by the caller.
        unsafe { S::sub(sum, vector) }
    }
}

/// A unit with a value between 0 and 1; in a gradient, an example with that factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Active {
    pub(crate) unit: u32,
    pub(crate) value: f32,
}

impl Term for Active {
    #[inline(always)]
    fn row(self) -> u32 {
        self.unit
    }

    #[inline(always)]
    unsafe fn add<S: Simd>(self, vector: S::F, sum: S::F) -> S::F {
        // SAFETY: by the caller.
        unsafe { S::mul_add(S::splat(self.value), vector, sum) }
    }
}

/// Asks for a list that will be needed soon: examples lie anywhere in memory.
pub(crate) fn prefetch(list: &[Active]) {
    #[cfg(target_arch = "x86_64")]
    for line in list.chunks(64 / size_of::<Active>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint only, which every x86-64 processor takes.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = list;
}

/// Columns from here on have two sums, of every other row each.
///
/// Which columns do is a matter of the model alone, so that results do not change with the panels.
pub(crate) fn first_apart(columns: usize) -> usize {
    columns.div_ceil(LANES) / 8 * 8 * LANES
}

/// `out = bias + sum of the listed rows of weights`, for each list.
///
/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(super) unsafe fn sum_rows<S: Simd, T: Term>(side: &Side, sums: &mut [(&[T], &mut [f32])]) {
    let Side { bias, weights: rows } = side;
    let width = rows.width();
    assert_eq!(bias.len(), width);
    for (terms, out) in &mut *sums {
        assert!(out.len() == width && are_rows(terms, rows.rows()));
    }
    let (apart, panel_len) = (first_apart(rows.columns()) / PANEL, rows.panel_len());
    let panels = rows.panels().chunks_exact(panel_len).enumerate();
    // SAFETY: all terms are rows of a panel, all of bias and out are as wide as the matrix.
    unsafe {
        // Few rows: lists are short and four panels fit into the nearest cache, so take them at once.
        let short = if rows.rows() <= SHORT { apart / 4 * 4 } else { 0 };
        for four in 0..short / 4 {
            let (panels, from) = (&rows.panels()[4 * four * panel_len..], 4 * four * PANEL);
            for (terms, out) in &mut *sums {
                sum_four_panels::<S, T>(panels, panel_len, terms, &bias[from..], &mut out[from..]);
            }
        }
        for (p, panel) in panels.skip(short) {
            let (start, zero) = (load::<S>(bias[p * PANEL..].as_ptr()), [S::splat(0.0); 2]);
            if p >= apart {
                for (terms, out) in &mut *sums {
                    let sums = sum_apart::<S, T>(panel, terms, [start, zero]);
                    store::<S>(out[p * PANEL..].as_mut_ptr(), sum::<S>(sums));
                }
                continue;
            }
            for pair in sums.chunks_mut(2) {
                if let [(a, out_a), (b, out_b)] = pair {
                    let [a, b] = sum_two::<S, T>(panel, [a, b], [start, start]);
                    store::<S>(out_a[p * PANEL..].as_mut_ptr(), a);
                    store::<S>(out_b[p * PANEL..].as_mut_ptr(), b);
                } else if let [(terms, out)] = pair {
                    let [sum, _] = sum_two::<S, T>(panel, [terms, &[]], [start, start]);
                    store::<S>(out[p * PANEL..].as_mut_ptr(), sum);
                }
            }
        }
    }
}

/// A matrix of at most so many rows is short.
const SHORT: usize = 64;

/// One list over four panels, in its order.
///
/// # Safety
/// See [`Simd`]; all terms are rows, there are four panels, and `bias` and `out` are as wide.
#[inline(always)]
unsafe fn sum_four_panels<S: Simd, T: Term>(
    panels: &[f32],
    panel_len: usize,
    terms: &[T],
    bias: &[f32],
    out: &mut [f32],
) {
    // SAFETY: by the caller.
    unsafe {
        let mut sums = [[S::splat(0.0); 2]; 4];
        for k in 0..4 {
            sums[k] = load::<S>(bias.as_ptr().add(k * PANEL));
        }
        for &term in terms {
            let row = panels.as_ptr().add(term.row() as usize * PANEL);
            for k in 0..4 {
                let row = load::<S>(row.add(k * panel_len));
                sums[k] = [term.add::<S>(row[0], sums[k][0]), term.add::<S>(row[1], sums[k][1])];
            }
        }
        for k in 0..4 {
            store::<S>(out.as_mut_ptr().add(k * PANEL), sums[k]);
        }
    }
}

/// All terms are among the first `count` rows.
#[inline(always)]
pub(super) fn are_rows<T: Term>(terms: &[T], count: usize) -> bool {
    let largest = terms.iter().fold(0, |largest, term| term.row().max(largest));
    terms.is_empty() || (largest as usize) < count
}

/// The vectors of one row of a panel.
pub(super) type Wide<S> = [<S as Simd>::F; 2];

/// # Safety
/// See [`Simd`]; the pointer is to a row of a panel, as below.
#[inline(always)]
pub(super) unsafe fn load<S: Simd>(from: *const f32) -> Wide<S> {
    // SAFETY: by the caller.
    unsafe { [S::load(from), S::load(from.add(LANES))] }
}

/// # Safety
/// As for `load`.
#[inline(always)]
pub(super) unsafe fn store<S: Simd>(to: *mut f32, values: Wide<S>) {
    // SAFETY: by the caller.
    unsafe {
        S::store(to, values[0]);
        S::store(to.add(LANES), values[1]);
    }
}

/// # Safety
/// See [`Simd`]; the term is a row of the panel, as below.
#[inline(always)]
unsafe fn add<S: Simd, T: Term>(panel: &[f32], term: T, sum: Wide<S>) -> Wide<S> {
    // SAFETY: by the caller.
    unsafe {
        let row = load::<S>(panel.as_ptr().add(term.row() as usize * PANEL));
        [term.add::<S>(row[0], sum[0]), term.add::<S>(row[1], sum[1])]
    }
}

/// Two lists side by side, each in its order: neither waits for the sums of the other.
///
/// # Safety
/// As for `add`.
#[inline(always)]
pub(super) unsafe fn sum_two<S: Simd, T: Term>(
    panel: &[f32],
    [a, b]: [&[T]; 2],
    [mut sum_a, mut sum_b]: [Wide<S>; 2],
) -> [Wide<S>; 2] {
    let both = a.len().min(b.len());
    // SAFETY: by the caller.
    unsafe {
        for (&a, &b) in a[..both].iter().zip(&b[..both]) {
            sum_a = add::<S, T>(panel, a, sum_a);
            sum_b = add::<S, T>(panel, b, sum_b);
        }
        for &a in &a[both..] {
            sum_a = add::<S, T>(panel, a, sum_a);
        }
        for &b in &b[both..] {
            sum_b = add::<S, T>(panel, b, sum_b);
        }
    }
    [sum_a, sum_b]
}

/// One list in two sums, of every other row each; the next row would go to the first of them.
///
/// # Safety
/// As for `add`.
#[inline(always)]
pub(super) unsafe fn sum_apart<S: Simd, T: Term>(
    panel: &[f32],
    terms: &[T],
    [mut this, mut other]: [Wide<S>; 2],
) -> [Wide<S>; 2] {
    // SAFETY: by the caller.
    unsafe {
        let (pairs, last) = terms.as_chunks::<2>();
        for &[a, b] in pairs {
            this = add::<S, T>(panel, a, this);
            other = add::<S, T>(panel, b, other);
        }
        match last {
            [term] => [other, add::<S, T>(panel, *term, this)],
            _ => [this, other],
        }
    }
}

/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(super) unsafe fn sum<S: Simd>([a, b]: [Wide<S>; 2]) -> Wide<S> {
    // SAFETY: by the caller.
    unsafe { [S::add(a[0], b[0]), S::add(a[1], b[1])] }
}
