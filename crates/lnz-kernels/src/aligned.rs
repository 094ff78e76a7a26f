//! Buffers that start on a cache line.

use crate::simd::RowBytes;
use std::ops::{Deref, DerefMut};

/// Numbers for which every bit pattern is a value, so that buffers may be viewed as any of them.
///
/// # Safety
/// Only for integer and float primitives of at most 64 bytes whose size divides 64.
pub unsafe trait Plain: Copy + Default + 'static {}
// SAFETY: primitives without padding or invalid values.
unsafe impl Plain for i16 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// A zero-initialised slice whose first element starts on a 64-byte boundary.
#[derive(Clone)]
pub(crate) struct Aligned<T: Plain> {
    lines: Vec<Line>,
    len: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Plain> Aligned<T> {
    pub(crate) fn zeroed(len: usize) -> Self {
        let lines = vec![Line([0; 64]); (len * size_of::<T>()).div_ceil(64)];
        Self { lines, len, of: std::marker::PhantomData }
    }
}

impl<T: Plain> Default for Aligned<T> {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl<T: Plain> Deref for Aligned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `len` values of T, aligned to 64, all initialised.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

/// Numbers as rows of 64 bytes; those that do not fill a row are left out.
#[inline(always)]
pub(crate) fn rows<T: Plain>(values: &[T]) -> &[RowBytes] {
    let count = size_of_val(values) / size_of::<RowBytes>();
    // SAFETY: the rows end where the numbers do or before, and plain numbers have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), count) }
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn rows_mut<T: Plain>(values: &mut [T]) -> &mut [RowBytes] {
    let count = size_of_val(values) / size_of::<RowBytes>();
    // SAFETY: as in `rows`, `values` is borrowed exclusively, and any bytes are plain numbers.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_on_a_cache_line_and_hold_zeros() {
        for len in [0, 1, 33, 1000] {
            let buffer = Aligned::<i16>::zeroed(len);
            assert_eq!(buffer.len(), len);
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
            assert!(buffer.iter().all(|&v| v == 0));
        }
    }

    #[test]
    fn rows_are_the_bytes_of_the_numbers_in_them() {
        let mut numbers: Vec<i16> = (0..70).collect();
        assert_eq!(rows(&numbers).len(), 2);
        assert_eq!(rows(&numbers)[1][..2], 32i16.to_ne_bytes());
        rows_mut(&mut numbers)[0] = [0; 64];
        assert_eq!(numbers, [vec![0; 32], (32..70).collect()].concat());
    }
}
