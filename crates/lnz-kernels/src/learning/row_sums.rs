//! Sums of rows of a matrix.
//!
//! They are taken for many lists of rows at once, panel by panel: a panel stays in the cache while
//! all lists pass over it.

use crate::learning::layers::{LANES, PANEL, Side};
use crate::learning::lists::{List, Term};
use crate::simd::Simd;

/// Asks for numbers that will be needed soon: examples lie anywhere in memory.
pub fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint only, which every x86-64 processor takes.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
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
pub(crate) unsafe fn sum_rows<'a, S: Simd, L: List<'a>>(side: &Side, sums: &mut [(L, &mut [f32])]) {
    let Side { bias, weights: rows } = side;
    let width = rows.width();
    assert_eq!(bias.len(), width);
    for (list, out) in &*sums {
        assert!(out.len() == width && are_rows(list.rows(), rows.rows()));
    }
    let (apart, panel_len) = (first_apart(rows.columns()) / PANEL, rows.panel_len());
    let panels: Vec<&[f32]> = rows.panels().chunks_exact(panel_len).collect();
    // SAFETY: all rows are rows of a panel, all of bias and out are as wide as the matrix.
    unsafe {
        if rows.rows() <= SHORT {
            add_panels::<S, L, 4>(&panels[..apart], bias, sums, 1);
        } else {
            add_panels::<S, L, 2>(&panels[..apart], bias, sums, rows.rows().div_ceil(NEAR));
        }
        for (p, panel) in panels.iter().enumerate().skip(apart) {
            let start = load::<S>(bias[p * PANEL..][..PANEL].as_ptr());
            for pair in sums.chunks_mut(2) {
                sum_panel_apart::<S, L>(panel, p * PANEL, start, pair);
            }
        }
    }
}

/// A matrix of at most so many rows is short: its lists are, too, and four panels of it fit into the
/// nearest cache.
const SHORT: usize = 64;

/// So many rows of two panels stay in the nearest cache: 40 KiB.
const NEAR: usize = 160;

/// The sums over the rows of all panels, P of them at a time, in `blocks` of rows.
///
/// # Safety
/// See [`Simd`]; all lists are of rows of the panels, there are a multiple of P panels, and bias and
/// sums are as wide.
#[inline(always)]
unsafe fn add_panels<'a, S: Simd, L: List<'a>, const P: usize>(
    panels: &[&[f32]],
    bias: &[f32],
    sums: &mut [(L, &mut [f32])],
    blocks: usize,
) {
    let rows = panels.first().map_or(0, |panel| panel.len() / PANEL);
    let parts = parts_by_row(sums, rows, blocks);
    for (k, panels) in panels.as_chunks::<P>().0.iter().enumerate() {
        let from = k * P * PANEL;
        for (block, mut parts) in parts.chunks(sums.len().max(1)).enumerate() {
            let (mut rest, start) = (&mut *sums, (block == 0).then_some(&bias[from..]));
            while !rest.is_empty() {
                // Four, or three where four would leave one alone; but sums are to stay in registers.
                let most = if P > 2 { 1 } else { 4 };
                let together = rest.len().div_ceil(rest.len().div_ceil(most));
                let (some, later) = rest.split_at_mut(together);
                // SAFETY: by the caller.
                unsafe {
                    match together {
                        1 => add_panels_to::<S, L, P, 1>(panels, from, start, some, parts),
                        2 => add_panels_to::<S, L, P, 2>(panels, from, start, some, parts),
                        3 => add_panels_to::<S, L, P, 3>(panels, from, start, some, parts),
                        _ => add_panels_to::<S, L, P, 4>(panels, from, start, some, parts),
                    }
                }
                (rest, parts) = (later, &parts[together..]);
            }
        }
    }
}

/// The lists in parts: first the rows of each that are in the first block of rows, and so on.
fn parts_by_row<'a, L: List<'a>>(sums: &[(L, &mut [f32])], rows: usize, blocks: usize) -> Vec<L> {
    let mut parts = Vec::with_capacity(sums.len() * blocks);
    let mut rest: Vec<L> = sums.iter().map(|(list, _)| *list).collect();
    for k in 1..=blocks {
        let end = (rows * k / blocks) as u32;
        for rest in &mut rest {
            let (part, after) = rest.split_at(rest.rows().partition_point(|&row| row < end));
            parts.push(part);
            *rest = after;
        }
    }
    parts
}

/// Adds rows of P panels to `start`, or else to the sums: N sums and the first N parts.
///
/// # Safety
/// As for `add_panels`.
#[inline(always)]
unsafe fn add_panels_to<'a, S: Simd, L: List<'a>, const P: usize, const N: usize>(
    panels: &[&[f32]; P],
    from: usize,
    start: Option<&[f32]>,
    sums: &mut [(L, &mut [f32])],
    parts: &[L],
) {
    let (mut lists, sums) = ([parts[0]; N], &mut sums[..N]);
    lists.copy_from_slice(&parts[..N]);
    // SAFETY: by the caller; slices of P panels.
    unsafe {
        let mut totals = [[[S::splat(0.0); 2]; P]; N];
        for n in 0..N {
            let start = start.unwrap_or(&sums[n].1[from..])[..P * PANEL].as_ptr();
            for p in 0..P {
                totals[n][p] = load::<S>(start.add(p * PANEL));
            }
        }
        let totals = sum_lists::<S, L, P, N>(panels, lists, totals);
        for n in 0..N {
            let out = sums[n].1[from..][..P * PANEL].as_mut_ptr();
            for p in 0..P {
                store::<S>(out.add(p * PANEL), totals[n][p]);
            }
        }
    }
}

/// The sums over all rows of a panel whose columns have two of them.
///
/// # Safety
/// See [`Simd`]; all lists are of rows of the panel.
#[inline(always)]
unsafe fn sum_panel_apart<'a, S: Simd, L: List<'a>>(
    panel: &[f32],
    from: usize,
    start: Wide<S>,
    sums: &mut [(L, &mut [f32])],
) {
    // SAFETY: by the caller.
    unsafe {
        let starts = [start, [S::splat(0.0); 2]];
        match sums {
            [(a, out_a), (b, out_b)] => {
                let [a, b] = sum_two_apart::<S, L>(panel, [*a, *b], [starts; 2]);
                store::<S>(out_a[from..][..PANEL].as_mut_ptr(), sum::<S>(a));
                store::<S>(out_b[from..][..PANEL].as_mut_ptr(), sum::<S>(b));
            }
            _ => {
                for (list, out) in sums {
                    let sums = sum_apart::<S, L>(panel, *list, starts);
                    store::<S>(out[from..][..PANEL].as_mut_ptr(), sum::<S>(sums));
                }
            }
        }
    }
}

/// All are among the first `count` rows.
#[inline(always)]
pub(crate) fn are_rows(rows: &[u32], count: usize) -> bool {
    let largest = rows.iter().fold(0, |largest, &row| row.max(largest));
    rows.is_empty() || (largest as usize) < count
}

/// The vectors of one row of a panel.
pub(crate) type Wide<S> = [<S as Simd>::F; 2];

/// # Safety
/// See [`Simd`]; the pointer is to a row of a panel, as below.
#[inline(always)]
pub(crate) unsafe fn load<S: Simd>(from: *const f32) -> Wide<S> {
    // SAFETY: by the caller.
    unsafe { [S::load(from), S::load(from.add(LANES))] }
}

/// # Safety
/// As for `load`.
#[inline(always)]
pub(crate) unsafe fn store<S: Simd>(to: *mut f32, values: Wide<S>) {
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
/// As for `add`, with each panel.
#[inline(always)]
pub(crate) unsafe fn sum_lists<'a, S: Simd, L: List<'a>, const P: usize, const N: usize>(
    panels: &[&[f32]; P],
    lists: [L; N],
    mut sums: [[Wide<S>; P]; N],
) -> [[Wide<S>; P]; N] {
    let all = lists.iter().map(|list| list.len()).min().unwrap_or(0);
    let together = lists.map(|list| list.split_at(all).0);
    // SAFETY: by the caller.
    unsafe {
        for k in 0..all {
            for n in 0..N {
                for p in 0..P {
                    sums[n][p] = add::<S, L::Term>(panels[p], together[n].get(k), sums[n][p]);
                }
            }
        }
        for n in 0..N {
            let (_, rest) = lists[n].split_at(all);
            for k in 0..rest.len() {
                for p in 0..P {
                    sums[n][p] = add::<S, L::Term>(panels[p], rest.get(k), sums[n][p]);
                }
            }
        }
    }
    sums
}

/// One list in two sums, of every other row each.
///
/// # Safety
/// As for `add`.
#[inline(always)]
pub(crate) unsafe fn sum_apart<'a, S: Simd, L: List<'a>>(
    panel: &[f32],
    list: L,
    mut sums: [Wide<S>; 2],
) -> [Wide<S>; 2] {
    let (pairs, last) = list.split_at(list.len() / 2 * 2);
    // SAFETY: by the caller.
    unsafe {
        for k in (0..pairs.len()).step_by(2) {
            sums[0] = add::<S, L::Term>(panel, pairs.get(k), sums[0]);
            sums[1] = add::<S, L::Term>(panel, pairs.get(k + 1), sums[1]);
        }
        if last.len() > 0 {
            sums[0] = add::<S, L::Term>(panel, last.get(0), sums[0]);
        }
    }
    sums
}

/// Two lists side by side, each as in `sum_apart`.
///
/// # Safety
/// As for `add`.
#[inline(always)]
pub(crate) unsafe fn sum_two_apart<'a, S: Simd, L: List<'a>>(
    panel: &[f32],
    [a, b]: [L; 2],
    [mut sums_a, mut sums_b]: [[Wide<S>; 2]; 2],
) -> [[Wide<S>; 2]; 2] {
    let both = a.len().min(b.len()) / 2 * 2;
    let ((a, rest_of_a), (b, rest_of_b)) = (a.split_at(both), b.split_at(both));
    // SAFETY: by the caller.
    unsafe {
        for k in (0..both).step_by(2) {
            for n in 0..2 {
                sums_a[n] = add::<S, L::Term>(panel, a.get(k + n), sums_a[n]);
                sums_b[n] = add::<S, L::Term>(panel, b.get(k + n), sums_b[n]);
            }
        }
        let sums_a = sum_apart::<S, L>(panel, rest_of_a, sums_a);
        [sums_a, sum_apart::<S, L>(panel, rest_of_b, sums_b)]
    }
}

/// # Safety
/// See [`Simd`].
#[inline(always)]
pub(crate) unsafe fn sum<S: Simd>([a, b]: [Wide<S>; 2]) -> Wide<S> {
    // SAFETY: by the caller.
    unsafe { [S::add(a[0], b[0]), S::add(a[1], b[1])] }
}
