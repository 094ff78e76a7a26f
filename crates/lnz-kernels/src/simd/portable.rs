//! Plain Rust on arrays of 16 lanes: what the other implementations are compared with.

use super::Simd;
use std::array::from_fn;

#[derive(Clone, Copy)]
pub(crate) struct Portable;

type F = [f32; 16];
type Row = [u8; 64];
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

// SAFETY of the `unsafe` blocks below: pointers are valid for the lanes read or written, by the
// contract of the trait.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Simd for Portable {
    type F = F;
    type Mask = [bool; 16];
    type Row = Row;
    type U = U;

    #[inline(always)]
    unsafe fn splat(value: f32) -> F {
        [value; 16]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> F {
        unsafe { from.cast::<F>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, a: F) {
        unsafe { to.cast::<F>().write_unaligned(a) }
    }
    #[inline(always)]
    unsafe fn load_i16(from: *const i16) -> F {
        unsafe { from.cast::<[i16; 16]>().read_unaligned() }.map(f32::from)
    }
    #[inline(always)]
    unsafe fn load_i32(from: *const i32) -> F {
        unsafe { from.cast::<[i32; 16]>().read_unaligned() }.map(|v| v as f32)
    }
    #[inline(always)]
    unsafe fn add(a: F, b: F) -> F {
        from_fn(|k| a[k] + b[k])
    }
    #[inline(always)]
    unsafe fn sub(a: F, b: F) -> F {
        from_fn(|k| a[k] - b[k])
    }
    #[inline(always)]
    unsafe fn mul(a: F, b: F) -> F {
        from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    unsafe fn div(a: F, b: F) -> F {
        from_fn(|k| a[k] / b[k])
    }
    #[inline(always)]
    unsafe fn mul_add(a: F, b: F, c: F) -> F {
        from_fn(|k| a[k].mul_add(b[k], c[k]))
    }
    #[inline(always)]
    unsafe fn neg_mul_add(a: F, b: F, c: F) -> F {
        from_fn(|k| (-a[k]).mul_add(b[k], c[k]))
    }
    #[inline(always)]
    unsafe fn min(a: F, b: F) -> F {
        from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    unsafe fn max(a: F, b: F) -> F {
        from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    unsafe fn abs(a: F) -> F {
        a.map(f32::abs)
    }
    #[inline(always)]
    unsafe fn scale(a: F, integer: F) -> F {
        from_fn(|k| f32::from_bits(a[k].to_bits().wrapping_add(integer[k].to_bits() << 23)))
    }
    #[inline(always)]
    unsafe fn less(a: F, b: F) -> [bool; 16] {
        from_fn(|k| a[k] < b[k])
    }
    #[inline(always)]
    unsafe fn bits(mask: [bool; 16]) -> u64 {
        (0..16).fold(0, |bits, k| bits | u64::from(mask[k]) << k)
    }
    #[inline(always)]
    unsafe fn have_bit(words: *const u16, bit: u32) -> [bool; 16] {
        from_fn(|k| unsafe { *words.add(k) } >> bit & 1 == 1)
    }
    #[inline(always)]
    unsafe fn transpose(rows: [F; 16]) -> [F; 16] {
        from_fn(|i| from_fn(|j| rows[j][i]))
    }
    #[inline(always)]
    unsafe fn add_where(mask: [bool; 16], a: F, b: F) -> F {
        from_fn(|k| if mask[k] { a[k] + b[k] } else { a[k] })
    }
    #[inline(always)]
    unsafe fn sum(a: F) -> f32 {
        halve(a, |x, y| x + y)
    }
    #[inline(always)]
    unsafe fn product_f64(a: F) -> f64 {
        halve(a.map(f64::from), |x, y| x * y)
    }
    #[inline(always)]
    unsafe fn sum_f64(a: F) -> f64 {
        halve(a.map(f64::from), |x, y| x + y)
    }

    #[inline(always)]
    unsafe fn zero_row() -> Row {
        [0; 64]
    }
    #[inline(always)]
    unsafe fn load_row(from: *const u8) -> Row {
        unsafe { from.cast::<Row>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store_row(to: *mut u8, row: Row) {
        unsafe { to.cast::<Row>().write_unaligned(row) }
    }
    #[inline(always)]
    unsafe fn add_i16(a: Row, b: Row) -> Row {
        on_i16(a, b, i16::wrapping_add)
    }
    #[inline(always)]
    unsafe fn sub_i16(a: Row, b: Row) -> Row {
        on_i16(a, b, i16::wrapping_sub)
    }
    #[inline(always)]
    unsafe fn add_i32(a: Row, b: Row) -> Row {
        on_i32(a, b, i32::wrapping_add)
    }
    #[inline(always)]
    unsafe fn sub_i32(a: Row, b: Row) -> Row {
        on_i32(a, b, i32::wrapping_sub)
    }
    #[inline(always)]
    unsafe fn add_f32(a: Row, b: Row) -> Row {
        let sum = |a: i32, b: i32| f32::from_bits(a as u32) + f32::from_bits(b as u32);
        on_i32(a, b, |a, b| sum(a, b).to_bits() as i32)
    }

    #[inline(always)]
    unsafe fn load_u64(from: *const u64) -> U {
        unsafe { from.cast::<U>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store_u64(to: *mut u64, value: U) {
        unsafe { to.cast::<U>().write_unaligned(value) }
    }
    #[inline(always)]
    unsafe fn add_u64(a: U, b: U) -> U {
        from_fn(|k| a[k].wrapping_add(b[k]))
    }
    #[inline(always)]
    unsafe fn xor_u64(a: U, b: U) -> U {
        from_fn(|k| a[k] ^ b[k])
    }
    #[inline(always)]
    unsafe fn shift_left<const N: u32>(a: U) -> U {
        a.map(|v| v << N)
    }
    #[inline(always)]
    unsafe fn rotate_left<const N: u32>(a: U) -> U {
        a.map(|v| v.rotate_left(N))
    }
    #[inline(always)]
    unsafe fn uniforms(bits: U) -> F {
        from_fn(|k| {
            let half = (bits[k / 2] >> (32 * (k % 2))) as u32;
            ((half >> 8) as f32).mul_add(1.0 / 16_777_216.0, 0.5 / 16_777_216.0)
        })
    }
}
