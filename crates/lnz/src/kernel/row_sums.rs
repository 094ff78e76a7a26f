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

/// `out = bias + sum of the listed rows of weights`, for each list; lists are in the order of rows.
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
        out.copy_from_slice(bias);
    }
    let (apart, panel_len) = (first_apart(rows.columns()) / PANEL, rows.panel_len());
    // SAFETY: all terms are rows of a panel, all of bias and out are as wide as the matrix.
    unsafe {
        // Few rows: lists are short and four panels fit into the nearest cache, so take them at once.
        let short = if rows.rows() <= SHORT { apart / 4 * 4 } else { 0 };
        for four in 0..short / 4 {
            let (panels, from) = (&rows.panels()[4 * four * panel_len..], 4 * four * PANEL);
            for (terms, out) in &mut *sums {
                sum_four_panels::<S, T>(panels, panel_len, terms, &mut out[from..]);
            }
        }
        let panels = rows.panels().chunks_exact(panel_len).enumerate();
        if short < apart {
            let parts = parts_by_row(sums, rows.rows());
            for (p, panel) in panels.clone().take(apart).skip(short) {
                for parts in parts.chunks(sums.len().max(1)) {
                    add_panel::<S, T>(panel, p * PANEL, sums, parts);
                }
            }
        }
        for (p, panel) in panels.skip(apart) {
            for pair in sums.chunks_mut(2) {
                add_panel_apart::<S, T>(panel, p * PANEL, pair);
            }
        }
    }
}

/// The lists in parts: first those terms of each that are among the first rows, and so on.
fn parts_by_row<'a, T: Term>(sums: &[(&'a [T], &mut [f32])], rows: usize) -> Vec<&'a [T]> {
    let blocks = rows.div_ceil(NEAR);
    let mut parts = Vec::with_capacity(sums.len() * blocks);
    let mut rest: Vec<&[T]> = sums.iter().map(|(terms, _)| *terms).collect();
    for k in 1..=blocks {
        let end = (rows * k / blocks) as u32;
        for rest in &mut rest {
            let (part, after) = rest.split_at(rest.partition_point(|term| term.row() < end));
            parts.push(part);
            *rest = after;
        }
    }
    parts
}

/// So many rows of a panel stay in the nearest cache: 40 KiB.
const NEAR: usize = 320;

/// Adds one panel of the rows in `parts` to the sums, some of them side by side.
///
/// # Safety
/// See [`Simd`]; all parts are rows of the panel.
#[inline(always)]
unsafe fn add_panel<S: Simd, T: Term>(
    panel: &[f32],
    from: usize,
    mut sums: &mut [(&[T], &mut [f32])],
    mut parts: &[&[T]],
) {
    while !sums.is_empty() {
        // Four, or three where four would leave one alone.
        let together = sums.len().div_ceil(sums.len().div_ceil(4));
        let (some, later) = sums.split_at_mut(together);
        // SAFETY: by the caller.
        unsafe {
            match together {
                1 => add_panel_to::<S, T, 1>(panel, from, some, parts),
                2 => add_panel_to::<S, T, 2>(panel, from, some, parts),
                3 => add_panel_to::<S, T, 3>(panel, from, some, parts),
                _ => add_panel_to::<S, T, 4>(panel, from, some, parts),
            }
        }
        (sums, parts) = (later, &parts[together..]);
    }
}

/// Adds it to N sums, with the first N parts.
///
/// # Safety
/// As for `add_panel`.
#[inline(always)]
unsafe fn add_panel_to<S: Simd, T: Term, const N: usize>(
    panel: &[f32],
    from: usize,
    sums: &mut [(&[T], &mut [f32])],
    parts: &[&[T]],
) {
    let (mut lists, sums) = ([&[][..]; N], &mut sums[..N]);
    lists.copy_from_slice(&parts[..N]);
    // SAFETY: by the caller; slices of a whole panel.
    unsafe {
        let mut totals = [[S::splat(0.0); 2]; N];
        for k in 0..N {
            totals[k] = load::<S>(sums[k].1[from..][..PANEL].as_ptr());
        }
        let totals = sum_some::<S, T, N>(panel, lists, totals);
        for k in 0..N {
            store::<S>(sums[k].1[from..][..PANEL].as_mut_ptr(), totals[k]);
        }
    }
}

/// The same for all rows and a panel whose columns have two sums.
///
/// # Safety
/// As for `add_panel`, with all terms.
#[inline(always)]
unsafe fn add_panel_apart<S: Simd, T: Term>(
    panel: &[f32],
    from: usize,
    sums: &mut [(&[T], &mut [f32])],
) {
    // SAFETY: by the caller.
    unsafe {
        let zero = [S::splat(0.0); 2];
        match sums {
            [(a, out_a), (b, out_b)] => {
                let (out_a, out_b) = (out_a[from..].as_mut_ptr(), out_b[from..].as_mut_ptr());
                let starts = [[load::<S>(out_a), zero], [load::<S>(out_b), zero]];
                let [a, b] = sum_two_apart::<S, T>(panel, [a, b], starts);
                store::<S>(out_a, sum::<S>(a));
                store::<S>(out_b, sum::<S>(b));
            }
            _ => {
                for (terms, out) in sums {
                    let out = out[from..].as_mut_ptr();
                    let sums = sum_apart::<S, T>(panel, terms, [load::<S>(out), zero]);
                    store::<S>(out, sum::<S>(sums));
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
/// See [`Simd`]; all terms are rows, there are four panels, and `out` is as wide.
#[inline(always)]
unsafe fn sum_four_panels<S: Simd, T: Term>(
    panels: &[f32],
    panel_len: usize,
    terms: &[T],
    out: &mut [f32],
) {
    // SAFETY: by the caller.
    unsafe {
        let mut sums = [[S::splat(0.0); 2]; 4];
        for k in 0..4 {
            sums[k] = load::<S>(out.as_ptr().add(k * PANEL));
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

/// Some lists side by side, each in its order: none waits for the sums of the others.
///
/// # Safety
/// As for `add`.
#[inline(always)]
pub(super) unsafe fn sum_some<S: Simd, T: Term, const N: usize>(
    panel: &[f32],
    lists: [&[T]; N],
    mut sums: [Wide<S>; N],
) -> [Wide<S>; N] {
    let all = lists.iter().map(|list| list.len()).min().unwrap_or(0);
    let together = lists.map(|list| &list[..all]);
    // SAFETY: by the caller.
    unsafe {
        for k in 0..all {
            for n in 0..N {
                sums[n] = add::<S, T>(panel, together[n][k], sums[n]);
            }
        }
        for n in 0..N {
            for &term in &lists[n][all..] {
                sums[n] = add::<S, T>(panel, term, sums[n]);
            }
        }
    }
    sums
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

/// Two lists side by side, each as in `sum_apart`.
///
/// # Safety
/// As for `add`.
#[inline(always)]
pub(super) unsafe fn sum_two_apart<S: Simd, T: Term>(
    panel: &[f32],
    [a, b]: [&[T]; 2],
    [mut sums_a, mut sums_b]: [[Wide<S>; 2]; 2],
) -> [[Wide<S>; 2]; 2] {
    let both = a.len().min(b.len()) / 2 * 2;
    let ((a, rest_of_a), (b, rest_of_b)) = (a.split_at(both), b.split_at(both));
    // SAFETY: by the caller.
    unsafe {
        for (a, b) in a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0) {
            for k in 0..2 {
                sums_a[k] = add::<S, T>(panel, a[k], sums_a[k]);
                sums_b[k] = add::<S, T>(panel, b[k], sums_b[k]);
            }
        }
        let sums_a = sum_apart::<S, T>(panel, rest_of_a, sums_a);
        [sums_a, sum_apart::<S, T>(panel, rest_of_b, sums_b)]
    }
}

/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(super) unsafe fn sum<S: Simd>([a, b]: [Wide<S>; 2]) -> Wide<S> {
    // SAFETY: by the caller.
    unsafe { [S::add(a[0], b[0]), S::add(a[1], b[1])] }
}
