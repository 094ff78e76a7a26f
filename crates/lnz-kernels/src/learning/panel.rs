//! Rows of one panel of a matrix, added up in registers.

use crate::learning::layers::PANEL;
use crate::learning::lists::{List, Term};
use crate::simd::Simd;

/// The vectors of one row of a panel.
pub(crate) type Wide<S> = [<S as Simd>::F; 2];

/// A row of a panel, in registers.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, from: &[f32; PANEL]) -> Wide<S> {
    let (vectors, _) = from.as_chunks();
    [simd.load(&vectors[0]), simd.load(&vectors[1])]
}

#[inline(always)]
pub(crate) fn store<S: Simd>(simd: S, to: &mut [f32; PANEL], values: Wide<S>) {
    let (vectors, _) = to.as_chunks_mut();
    simd.store(&mut vectors[0], values[0]);
    simd.store(&mut vectors[1], values[1]);
}

/// # Safety
/// The term is a row of the panel.
#[inline(always)]
unsafe fn add<S: Simd, T: Term>(simd: S, panel: &[[f32; PANEL]], term: T, sum: Wide<S>) -> Wide<S> {
    // SAFETY: by the caller.
    let row = load(simd, unsafe { panel.get_unchecked(term.row() as usize) });
    [term.add(simd, row[0], sum[0]), term.add(simd, row[1], sum[1])]
}

/// Some lists side by side, each in its order: none waits for the sums of the others.
///
/// # Safety
/// All lists are of rows of each panel.
#[inline(always)]
pub(crate) unsafe fn sum_lists<'a, S: Simd, L: List<'a>, const P: usize, const N: usize>(
    simd: S,
    panels: &[&[[f32; PANEL]]; P],
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
                    sums[n][p] = add::<S, L::Term>(simd, panels[p], together[n].get(k), sums[n][p]);
                }
            }
        }
        for n in 0..N {
            let (_, rest) = lists[n].split_at(all);
            for k in 0..rest.len() {
                for p in 0..P {
                    sums[n][p] = add::<S, L::Term>(simd, panels[p], rest.get(k), sums[n][p]);
                }
            }
        }
    }
    sums
}

/// One list in two sums, of every other row each.
///
/// # Safety
/// The terms are rows of the panel.
#[inline(always)]
pub(crate) unsafe fn sum_even_odd<'a, S: Simd, L: List<'a>>(
    simd: S,
    panel: &[[f32; PANEL]],
    list: L,
    mut sums: [Wide<S>; 2],
) -> [Wide<S>; 2] {
    let (pairs, last) = list.split_at(list.len() / 2 * 2);
    // SAFETY: by the caller.
    unsafe {
        for k in (0..pairs.len()).step_by(2) {
            sums[0] = add::<S, L::Term>(simd, panel, pairs.get(k), sums[0]);
            sums[1] = add::<S, L::Term>(simd, panel, pairs.get(k + 1), sums[1]);
        }
        if last.len() > 0 {
            sums[0] = add::<S, L::Term>(simd, panel, last.get(0), sums[0]);
        }
    }
    sums
}

/// Two lists side by side, each as in `sum_even_odd`.
///
/// # Safety
/// The terms are rows of the panel.
#[inline(always)]
pub(crate) unsafe fn sum_two_even_odd<'a, S: Simd, L: List<'a>>(
    simd: S,
    panel: &[[f32; PANEL]],
    [a, b]: [L; 2],
    [mut sums_a, mut sums_b]: [[Wide<S>; 2]; 2],
) -> [[Wide<S>; 2]; 2] {
    let both = a.len().min(b.len()) / 2 * 2;
    let ((a, rest_of_a), (b, rest_of_b)) = (a.split_at(both), b.split_at(both));
    // SAFETY: by the caller.
    unsafe {
        for k in (0..both).step_by(2) {
            for n in 0..2 {
                sums_a[n] = add::<S, L::Term>(simd, panel, a.get(k + n), sums_a[n]);
                sums_b[n] = add::<S, L::Term>(simd, panel, b.get(k + n), sums_b[n]);
            }
        }
        let sums_a = sum_even_odd::<S, L>(simd, panel, rest_of_a, sums_a);
        [sums_a, sum_even_odd::<S, L>(simd, panel, rest_of_b, sums_b)]
    }
}

/// The two sums as one.
#[inline(always)]
pub(crate) fn sum<S: Simd>(simd: S, [a, b]: [Wide<S>; 2]) -> Wide<S> {
    [simd.add(a[0], b[0]), simd.add(a[1], b[1])]
}

/// N numbers, from one of them on.
#[inline(always)]
pub(crate) fn numbers_at<const N: usize>(values: &[f32], from: usize) -> &[f32; N] {
    match values[from..].first_chunk() {
        Some(numbers) => numbers,
        None => panic!("too few numbers for a vector or a panel"),
    }
}

#[inline(always)]
pub(crate) fn numbers_at_mut<const N: usize>(values: &mut [f32], from: usize) -> &mut [f32; N] {
    match values[from..].first_chunk_mut() {
        Some(numbers) => numbers,
        None => panic!("too few numbers for a vector or a panel"),
    }
}
