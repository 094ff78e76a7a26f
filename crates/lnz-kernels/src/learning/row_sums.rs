//! Sums of rows of a matrix.
//!
//! They are taken for many lists of rows at once, panel by panel: a panel stays in the cache while
//! all lists pass over it.

use crate::learning::chain::Example;
use crate::learning::layers::{LANES, Layer, PANEL};
use crate::learning::lists::List;
use crate::learning::panel::{
    Wide, load, numbers_at_mut, store, sum, sum_even_odd, sum_lists, sum_two_even_odd,
};
use crate::simd::{Kernel, Simd};
use std::marker::PhantomData;

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
pub(crate) fn first_with_two_sums(columns: usize) -> usize {
    columns.div_ceil(LANES) / 8 * 8 * LANES
}

/// `out = bias + sum of the listed rows of weights`, for each list; lists are in the order of rows.
pub(crate) fn sum_rows<'a, S: Simd, L: List<'a>>(
    simd: S,
    layer: &Layer,
    sums: &mut [(L, &mut [f32])],
) {
    simd.call(SumRows { layer, sums, of: PhantomData });
}

/// The hidden inputs of some examples.
pub(crate) fn sum_examples<'a, S: Simd, L: List<'a>>(
    simd: S,
    hidden: &Layer,
    data: &[Example<'a>],
    outs: impl Iterator<Item = &'a mut [f32]>,
) {
    let lists = data.iter().map(|example| L::new(example.units, example.values));
    sum_rows::<S, L>(simd, hidden, &mut lists.zip(outs).collect::<Vec<_>>());
}

struct SumRows<'s, 'o, 'a, L: List<'a>> {
    layer: &'s Layer,
    sums: &'s mut [(L, &'o mut [f32])],
    of: PhantomData<&'a ()>,
}

impl<'a, L: List<'a>> Kernel for SumRows<'_, '_, 'a, L> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { layer, sums, .. } = self;
        let Layer { bias, weights: rows } = layer;
        let width = rows.width();
        assert_eq!(bias.len(), width);
        for (list, out) in &*sums {
            assert!(out.len() == width && are_rows(list.rows(), rows.rows()));
        }
        let (first_even_odd, panel_len) =
            (first_with_two_sums(rows.columns()) / PANEL, rows.panel_len());
        let panels: Vec<&[[f32; PANEL]]> =
            rows.panels().chunks_exact(panel_len).map(|panel| panel.as_chunks().0).collect();
        // SAFETY: all lists are of rows of the matrix, as was just checked, and so of rows of a panel.
        unsafe {
            if rows.rows() <= SHORT {
                add_panels::<S, L, 4>(simd, &panels[..first_even_odd], bias, sums, 1);
            } else {
                add_panels::<S, L, 2>(
                    simd,
                    &panels[..first_even_odd],
                    bias,
                    sums,
                    rows.rows().div_ceil(NEAR),
                );
            }
            for (p, panel) in panels.iter().enumerate().skip(first_even_odd) {
                let start = load(simd, &bias.as_chunks().0[p]);
                for pair in sums.chunks_mut(2) {
                    sum_panel_even_odd::<S, L>(simd, panel, p * PANEL, start, pair);
                }
            }
        }
    }
}

/// A matrix of at most this number of rows is short: its lists are, too, and four panels of it fit into the
/// nearest cache.
const SHORT: usize = 64;

/// Rows of two panels that stay in the nearest cache: 40 KiB.
const NEAR: usize = 160;

/// The sums over the rows of all panels, P of them at a time, in `blocks` of rows.
///
/// There are a multiple of P panels, and bias and sums are as wide.
///
/// # Safety
/// All lists are of rows of the panels.
#[inline(always)]
unsafe fn add_panels<'a, S: Simd, L: List<'a>, const P: usize>(
    simd: S,
    panels: &[&[[f32; PANEL]]],
    bias: &[f32],
    sums: &mut [(L, &mut [f32])],
    blocks: usize,
) {
    let rows = panels.first().map_or(0, |panel| panel.len());
    let parts = parts_by_row(sums, rows, blocks);
    for (k, panels) in panels.as_chunks::<P>().0.iter().enumerate() {
        let from = k * P * PANEL;
        for (block, mut parts) in parts.chunks(sums.len().max(1)).enumerate() {
            let (mut rest, start) = (&mut *sums, (block == 0).then_some(&bias[from..]));
            while !rest.is_empty() {
                // Four, or three where four would leave one alone; but sums are to stay in registers.
                let together = match P {
                    ..=2 => rest.len().div_ceil(rest.len().div_ceil(4)),
                    _ => 1,
                };
                let (some, later) = rest.split_at_mut(together);
                // SAFETY: by the caller.
                unsafe {
                    match together {
                        1 => add_panels_to::<S, L, P, 1>(simd, panels, from, start, some, parts),
                        2 => add_panels_to::<S, L, P, 2>(simd, panels, from, start, some, parts),
                        3 => add_panels_to::<S, L, P, 3>(simd, panels, from, start, some, parts),
                        _ => add_panels_to::<S, L, P, 4>(simd, panels, from, start, some, parts),
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
/// All parts are of rows of the panels.
#[inline(always)]
unsafe fn add_panels_to<'a, S: Simd, L: List<'a>, const P: usize, const N: usize>(
    simd: S,
    panels: &[&[[f32; PANEL]]; P],
    from: usize,
    start: Option<&[f32]>,
    sums: &mut [(L, &mut [f32])],
    parts: &[L],
) {
    let (mut lists, sums) = ([parts[0]; N], &mut sums[..N]);
    lists.copy_from_slice(&parts[..N]);
    let mut totals = [[[simd.splat(0.0); 2]; P]; N];
    for n in 0..N {
        let (start, _) = start.unwrap_or(&sums[n].1[from..])[..P * PANEL].as_chunks();
        for p in 0..P {
            totals[n][p] = load(simd, &start[p]);
        }
    }
    // SAFETY: by the caller.
    let totals = unsafe { sum_lists::<S, L, P, N>(simd, panels, lists, totals) };
    for n in 0..N {
        let (out, _) = sums[n].1[from..][..P * PANEL].as_chunks_mut();
        for p in 0..P {
            store(simd, &mut out[p], totals[n][p]);
        }
    }
}

/// The sums over all rows of a panel whose columns have two of them.
///
/// # Safety
/// All lists are of rows of the panel.
#[inline(always)]
unsafe fn sum_panel_even_odd<'a, S: Simd, L: List<'a>>(
    simd: S,
    panel: &[[f32; PANEL]],
    from: usize,
    start: Wide<S>,
    sums: &mut [(L, &mut [f32])],
) {
    // SAFETY: by the caller.
    unsafe {
        let starts = [start, [simd.splat(0.0); 2]];
        match sums {
            [(a, out_a), (b, out_b)] => {
                let [a, b] = sum_two_even_odd::<S, L>(simd, panel, [*a, *b], [starts; 2]);
                store(simd, numbers_at_mut(out_a, from), sum(simd, a));
                store(simd, numbers_at_mut(out_b, from), sum(simd, b));
            }
            _ => {
                for (list, out) in sums {
                    let sums = sum_even_odd::<S, L>(simd, panel, *list, starts);
                    store(simd, numbers_at_mut(out, from), sum(simd, sums));
                }
            }
        }
    }
}

/// All are among the first `count` rows.
#[inline(always)]
fn are_rows(rows: &[u32], count: usize) -> bool {
    let largest = rows.iter().fold(0, |largest, &row| row.max(largest));
    rows.is_empty() || (largest as usize) < count
}
