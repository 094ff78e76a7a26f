//! AVX-512, one register per 16 lanes.
//!
//! The functions are inlined into ones that enable the features; see [`super::Kernel`].

// SAFETY of all blocks in this file: an `Avx512` exists only where `detect` found the features that the
// intrinsics need. Pointers come from references to all the lanes that are read or written, and the
// unaligned forms are used; where a pointer is given, it is valid by the contract of the method.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::avx2::{Avx2, Pair};
use super::{Kernel, RowBytes, Simd};
use std::arch::asm;
use std::arch::x86_64::*;

/// Proof that this machine has AVX-512 with the extensions F, BW, DQ and VL, and AVX2 as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(Avx2);

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        Avx2::detect().filter(|_| has).map(Self)
    }

    #[inline(always)]
    fn halves(self, a: __m512) -> Pair<__m256> {
        unsafe { Pair(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps::<1>(a)) }
    }
}

/// No instruction, but the compiler must have `a` in a register here. It keeps the order of such places.
#[target_feature(enable = "avx512f")]
#[inline]
fn pin(mut a: __m512) -> __m512 {
    unsafe { asm!("/* {0} */", inout(zmm_reg) a, options(nomem, nostack, preserves_flags)) };
    a
}

impl Simd for Avx512 {
    type F = __m512;
    type Mask = __mmask16;
    type Row = __m512i;
    type U = __m512i;

    const MANY_REGISTERS: bool = true;

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
        #[inline(never)]
        fn run<K: Kernel>(simd: Avx512, kernel: K) {
            kernel.run(simd)
        }
        unsafe { run(self, kernel) }
    }

    #[inline(always)]
    fn pin(self, a: __m512) -> __m512 {
        unsafe { pin(a) }
    }
    #[inline(always)]
    fn pin_row(self, a: __m512i) -> __m512i {
        unsafe { _mm512_castps_si512(pin(_mm512_castsi512_ps(a))) }
    }
    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    fn load(self, from: &[f32; 16]) -> __m512 {
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16], a: __m512) {
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), a) }
    }
    #[inline(always)]
    fn load_i16(self, from: &[i16; 16]) -> __m512 {
        unsafe {
            _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(from.as_ptr().cast())))
        }
    }
    #[inline(always)]
    fn load_i32(self, from: &[i32; 16]) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(_mm512_loadu_si512(from.as_ptr().cast())) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn neg_mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fnmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_min_ps(a, b) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        unsafe { _mm512_abs_ps(a) }
    }
    #[inline(always)]
    fn clamp(self, a: __m512, limit: f32) -> __m512 {
        // The smaller absolute value with the sign of `a`.
        unsafe { _mm512_range_ps::<0b0010>(a, _mm512_set1_ps(limit)) }
    }
    #[inline(always)]
    fn max_abs(self, a: __m512, b: __m512) -> __m512 {
        // The larger absolute value, without a sign.
        unsafe { _mm512_range_ps::<0b1011>(a, b) }
    }
    #[inline(always)]
    fn split(self, y: __m512) -> (__m512, __m512) {
        unsafe {
            let rest = _mm512_reduce_ps::<_MM_FROUND_TO_NEAREST_INT>(y);
            (_mm512_sub_ps(y, rest), rest)
        }
    }
    #[inline(always)]
    fn scale(self, a: __m512, integer: __m512) -> __m512 {
        unsafe { _mm512_scalef_ps(a, integer) }
    }
    #[inline(always)]
    fn less(self, a: __m512, b: __m512) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
    }
    #[inline(always)]
    fn bits(self, mask: __mmask16) -> u64 {
        u64::from(mask)
    }
    #[inline(always)]
    fn have_bit(self, words: &[u16; 16], bit: u32) -> __mmask16 {
        unsafe {
            let words = _mm256_loadu_si256(words.as_ptr().cast());
            _mm256_test_epi16_mask(words, _mm256_set1_epi16((1u16 << bit) as i16))
        }
    }
    #[inline(always)]
    unsafe fn store_indices(self, to: *mut u32, mask: __mmask16, first: u32) -> usize {
        unsafe {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let indices = _mm512_add_epi32(lanes, _mm512_set1_epi32(first as i32));
            _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(mask, indices));
        }
        mask.count_ones() as usize
    }
    #[inline(always)]
    fn transpose(self, rows: [__m512; 16]) -> [__m512; 16] {
        // Squares of 2 x 2, then of 4 x 4 within each quarter, then the quarters themselves.
        let (mut twos, mut fours, mut out) = (rows, rows, rows);
        unsafe {
            for k in (0..16).step_by(2) {
                twos[k] = _mm512_unpacklo_ps(rows[k], rows[k + 1]);
                twos[k + 1] = _mm512_unpackhi_ps(rows[k], rows[k + 1]);
            }
            for k in (0..16).step_by(4) {
                let (a, b) = (_mm512_castps_pd(twos[k]), _mm512_castps_pd(twos[k + 1]));
                let (c, d) = (_mm512_castps_pd(twos[k + 2]), _mm512_castps_pd(twos[k + 3]));
                fours[k] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
                fours[k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
                fours[k + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
                fours[k + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
            }
            for k in 0..4 {
                let even = _mm512_shuffle_f32x4::<0x88>(fours[k], fours[k + 4]);
                let odd = _mm512_shuffle_f32x4::<0xdd>(fours[k], fours[k + 4]);
                let more_even = _mm512_shuffle_f32x4::<0x88>(fours[k + 8], fours[k + 12]);
                let more_odd = _mm512_shuffle_f32x4::<0xdd>(fours[k + 8], fours[k + 12]);
                out[k] = _mm512_shuffle_f32x4::<0x88>(even, more_even);
                out[k + 4] = _mm512_shuffle_f32x4::<0x88>(odd, more_odd);
                out[k + 8] = _mm512_shuffle_f32x4::<0xdd>(even, more_even);
                out[k + 12] = _mm512_shuffle_f32x4::<0xdd>(odd, more_odd);
            }
        }
        out
    }
    #[inline(always)]
    fn add_where(self, mask: __mmask16, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mask_add_ps(a, mask, a, b) }
    }
    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        self.0.sum(self.halves(a))
    }
    #[inline(always)]
    fn sums(self, vectors: &[__m512; 16]) -> [f32; 16] {
        // Each round halves the lanes of two vectors and puts them into one.
        unsafe {
            let mut two_in_one = [_mm512_setzero_ps(); 8];
            for k in 0..8 {
                let (a, b) = (vectors[2 * k], vectors[2 * k + 1]);
                two_in_one[k] = _mm512_add_ps(
                    _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b),
                );
            }
            let mut four_in_one = [_mm512_setzero_ps(); 4];
            for k in 0..4 {
                let (a, b) = (two_in_one[2 * k], two_in_one[2 * k + 1]);
                four_in_one[k] = _mm512_add_ps(
                    _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b),
                    _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b),
                );
            }
            let mut eight_in_one = [_mm512_setzero_ps(); 2];
            for k in 0..2 {
                let (a, b) = (four_in_one[2 * k], four_in_one[2 * k + 1]);
                eight_in_one[k] = _mm512_add_ps(
                    _mm512_shuffle_ps::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_ps::<0b11_10_11_10>(a, b),
                );
            }
            let [a, b] = eight_in_one;
            let all = _mm512_add_ps(
                _mm512_shuffle_ps::<0b10_00_10_00>(a, b),
                _mm512_shuffle_ps::<0b11_01_11_01>(a, b),
            );
            // Vector 4 k + l is now lane k of quarter l.
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            let mut sums = [0.0; 16];
            _mm512_storeu_ps(sums.as_mut_ptr(), _mm512_permutexvar_ps(order, all));
            sums
        }
    }
    #[inline(always)]
    fn product_f64(self, a: __m512) -> f64 {
        self.0.product_f64(self.halves(a))
    }
    #[inline(always)]
    fn sum_f64(self, a: __m512) -> f64 {
        self.0.sum_f64(self.halves(a))
    }

    #[inline(always)]
    unsafe fn positions(self, mask: u64, first: u32, to: *mut u32) -> usize {
        let mut count = 0;
        for quarter in 0..4 {
            let mask = (mask >> (16 * quarter)) as __mmask16;
            // Whole vectors: what is too much is overwritten by the next.
            count += unsafe { self.store_indices(to.add(count), mask, first + 16 * quarter) };
        }
        count
    }

    #[inline(always)]
    fn zero_row(self) -> __m512i {
        unsafe { _mm512_setzero_si512() }
    }
    #[inline(always)]
    unsafe fn load_row_at(self, from: *const RowBytes) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store_row_at(self, to: *mut RowBytes, row: __m512i) {
        unsafe { _mm512_storeu_si512(to.cast(), row) }
    }
    #[inline(always)]
    fn add_i16(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi16(a, b) }
    }
    #[inline(always)]
    fn sub_i16(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi16(a, b) }
    }
    #[inline(always)]
    fn add_i32(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    fn sub_i32(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn add_f32(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe {
            _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
        }
    }

    #[inline(always)]
    fn load_u64(self, from: &[u64; 8]) -> __m512i {
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_u64(self, to: &mut [u64; 8], value: __m512i) {
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), value) }
    }
    #[inline(always)]
    fn add_u64(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    fn xor_u64(self, a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    fn xor3_u64(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        unsafe { _mm512_ternarylogic_epi64::<0b1001_0110>(a, b, c) }
    }
    #[inline(always)]
    fn shift_left<const N: u32>(self, a: __m512i) -> __m512i {
        unsafe { _mm512_slli_epi64::<N>(a) }
    }
    #[inline(always)]
    fn rotate_left<const N: u32>(self, a: __m512i) -> __m512i {
        unsafe { _mm512_rolv_epi64(a, _mm512_set1_epi64(i64::from(N))) }
    }
    #[inline(always)]
    fn uniforms(self, bits: __m512i) -> __m512 {
        unsafe {
            let top = _mm512_cvtepi32_ps(_mm512_srli_epi32::<8>(bits));
            _mm512_fmadd_ps(
                top,
                _mm512_set1_ps(1.0 / 16_777_216.0),
                _mm512_set1_ps(0.5 / 16_777_216.0),
            )
        }
    }
}
