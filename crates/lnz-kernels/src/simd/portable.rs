//! Plain Rust on arrays of 16 lanes: what the other implementations are compared with.

use super::{Kernel, RowBytes, Simd};
use std::array::from_fn;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

type F = [f32; 16];
type Row = RowBytes;
type U = [u64; 8];

/// 32 lanes of i16 from 64 bytes and back.
#[inline(always)]
fn on_i16(a: Row, b: Row, operation: fn(i16, i16) -> i16) -> Row {
    let mut out = [0; 64];
    for k in 0..32 {
        let lane = |row: &Row| i16::from_ne_bytes([row[2 * k], row[2 * k + 1]]);
        out[2 * k..2 * k + 2].copy_from_slice(&operation(lane(&a), lane(&b)).to_ne_bytes());
    }
    out
}

#[inline(always)]
fn on_i32(a: Row, b: Row, operation: impl Fn(i32, i32) -> i32) -> Row {
    let mut out = [0; 64];
    for k in 0..16 {
        let lane = |row: &Row| {
            i32::from_ne_bytes([row[4 * k], row[4 * k + 1], row[4 * k + 2], row[4 * k + 3]])
        };
        out[4 * k..4 * k + 4].copy_from_slice(&operation(lane(&a), lane(&b)).to_ne_bytes());
    }
    out
}

/// Combines lane k with lane k + n/2 until one is left.
#[inline(always)]
fn halve<T: Copy>(mut lanes: [T; 16], combine: fn(T, T) -> T) -> T {
    let mut half = 8;
    while half > 0 {
        for k in 0..half {
            lanes[k] = combine(lanes[k], lanes[k + half]);
        }
        half /= 2;
    }
    lanes[0]
}

impl Simd for Portable {
    type F = F;
    type Mask = [bool; 16];
    type Row = Row;
    type U = U;

    #[inline(never)]
    fn call<K: Kernel>(self, kernel: K) {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> F {
        [value; 16]
    }
    #[inline(always)]
    fn load(self, from: &[f32; 16]) -> F {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16], a: F) {
        *to = a;
    }
    #[inline(always)]
    fn load_i16(self, from: &[i16; 16]) -> F {
        from.map(f32::from)
    }
    #[inline(always)]
    fn load_i32(self, from: &[i32; 16]) -> F {
        from.map(|v| v as f32)
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        from_fn(|k| a[k] + b[k])
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        from_fn(|k| a[k] - b[k])
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        from_fn(|k| a[k] / b[k])
    }
    #[inline(always)]
    fn mul_add(self, a: F, b: F, c: F) -> F {
        from_fn(|k| a[k].mul_add(b[k], c[k]))
    }
    #[inline(always)]
    fn neg_mul_add(self, a: F, b: F, c: F) -> F {
        from_fn(|k| (-a[k]).mul_add(b[k], c[k]))
    }
    #[inline(always)]
    fn min(self, a: F, b: F) -> F {
        from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn max(self, a: F, b: F) -> F {
        from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn abs(self, a: F) -> F {
        a.map(f32::abs)
    }
    #[inline(always)]
    fn scale(self, a: F, integer: F) -> F {
        from_fn(|k| f32::from_bits(a[k].to_bits().wrapping_add(integer[k].to_bits() << 23)))
    }
    #[inline(always)]
    fn less(self, a: F, b: F) -> [bool; 16] {
        from_fn(|k| a[k] < b[k])
    }
    #[inline(always)]
    fn bits(self, mask: [bool; 16]) -> u64 {
        (0..16).fold(0, |bits, k| bits | u64::from(mask[k]) << k)
    }
    #[inline(always)]
    fn have_bit(self, words: &[u16; 16], bit: u32) -> [bool; 16] {
        from_fn(|k| words[k] >> bit & 1 == 1)
    }
    #[inline(always)]
    fn transpose(self, rows: [F; 16]) -> [F; 16] {
        from_fn(|i| from_fn(|j| rows[j][i]))
    }
    #[inline(always)]
    fn add_where(self, mask: [bool; 16], a: F, b: F) -> F {
        from_fn(|k| if mask[k] { a[k] + b[k] } else { a[k] })
    }
    #[inline(always)]
    fn sum(self, a: F) -> f32 {
        halve(a, |x, y| x + y)
    }
    #[inline(always)]
    fn product_f64(self, a: F) -> f64 {
        halve(a.map(f64::from), |x, y| x * y)
    }
    #[inline(always)]
    fn sum_f64(self, a: F) -> f64 {
        halve(a.map(f64::from), |x, y| x + y)
    }

    #[inline(always)]
    fn zero_row(self) -> Row {
        [0; 64]
    }
    #[inline(always)]
    unsafe fn load_row_at(self, from: *const RowBytes) -> Row {
        // SAFETY: by the caller.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn store_row_at(self, to: *mut RowBytes, row: Row) {
        // SAFETY: by the caller.
        unsafe { *to = row }
    }
    #[inline(always)]
    fn add_i16(self, a: Row, b: Row) -> Row {
        on_i16(a, b, i16::wrapping_add)
    }
    #[inline(always)]
    fn sub_i16(self, a: Row, b: Row) -> Row {
        on_i16(a, b, i16::wrapping_sub)
    }
    #[inline(always)]
    fn add_i32(self, a: Row, b: Row) -> Row {
        on_i32(a, b, i32::wrapping_add)
    }
    #[inline(always)]
    fn sub_i32(self, a: Row, b: Row) -> Row {
        on_i32(a, b, i32::wrapping_sub)
    }
    #[inline(always)]
    fn add_f32(self, a: Row, b: Row) -> Row {
        let sum = |a: i32, b: i32| f32::from_bits(a as u32) + f32::from_bits(b as u32);
        on_i32(a, b, |a, b| sum(a, b).to_bits() as i32)
    }

    #[inline(always)]
    fn load_u64(self, from: &[u64; 8]) -> U {
        *from
    }
    #[inline(always)]
    fn store_u64(self, to: &mut [u64; 8], value: U) {
        *to = value;
    }
    #[inline(always)]
    fn add_u64(self, a: U, b: U) -> U {
        from_fn(|k| a[k].wrapping_add(b[k]))
    }
    #[inline(always)]
    fn xor_u64(self, a: U, b: U) -> U {
        from_fn(|k| a[k] ^ b[k])
    }
    #[inline(always)]
    fn shift_left<const N: u32>(self, a: U) -> U {
        a.map(|v| v << N)
    }
    #[inline(always)]
    fn rotate_left<const N: u32>(self, a: U) -> U {
        a.map(|v| v.rotate_left(N))
    }
    #[inline(always)]
    fn uniforms(self, bits: U) -> F {
        from_fn(|k| {
            let half = (bits[k / 2] >> (32 * (k % 2))) as u32;
            ((half >> 8) as f32).mul_add(1.0 / 16_777_216.0, 0.5 / 16_777_216.0)
        })
    }
}
