//! AVX2 with FMA, two registers per 16 lanes.
//!
//! The functions are inlined into ones that enable the features; see [`super::Kernel`].

// SAFETY of all blocks in this file: an `Avx2` exists only where `detect` found the features that the
// intrinsics need. Pointers come from references to all the lanes that are read or written, and the
// unaligned forms are used.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{Kernel, RowBytes, Simd};
use std::arch::x86_64::*;

/// Proof that this machine has AVX2, FMA and POPCNT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Self(()))
    }
}

/// The low and the high half of a logical vector.
#[derive(Clone, Copy)]
pub struct Pair<T>(pub(super) T, pub(super) T);

macro_rules! halves {
    ($operation:ident, $($arg:ident),*) => {
        unsafe { Pair($operation($($arg.0),*), $operation($($arg.1),*)) }
    };
}

impl Avx2 {
    #[inline(always)]
    fn add_f32_256(self, a: __m256i, b: __m256i) -> __m256i {
        unsafe {
            _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)))
        }
    }

    #[inline(always)]
    fn scale_256(self, a: __m256, integer: __m256) -> __m256 {
        unsafe {
            let shifted = _mm256_slli_epi32::<23>(_mm256_castps_si256(integer));
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), shifted))
        }
    }

    /// Lanes 0-3, 4-7, 8-11 and 12-15 in f64.
    #[inline(always)]
    fn widen_256(self, a: Pair<__m256>) -> [__m256d; 4] {
        unsafe {
            [
                _mm256_cvtps_pd(_mm256_castps256_ps128(a.0)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(a.0)),
                _mm256_cvtps_pd(_mm256_castps256_ps128(a.1)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(a.1)),
            ]
        }
    }

    #[inline(always)]
    fn transpose_256(self, rows: [__m256; 8]) -> [__m256; 8] {
        let (mut twos, mut fours, mut out) = (rows, rows, rows);
        unsafe {
            for k in (0..8).step_by(2) {
                twos[k] = _mm256_unpacklo_ps(rows[k], rows[k + 1]);
                twos[k + 1] = _mm256_unpackhi_ps(rows[k], rows[k + 1]);
            }
            for k in (0..8).step_by(4) {
                fours[k] = _mm256_shuffle_ps::<0x44>(twos[k], twos[k + 2]);
                fours[k + 1] = _mm256_shuffle_ps::<0xee>(twos[k], twos[k + 2]);
                fours[k + 2] = _mm256_shuffle_ps::<0x44>(twos[k + 1], twos[k + 3]);
                fours[k + 3] = _mm256_shuffle_ps::<0xee>(twos[k + 1], twos[k + 3]);
            }
            for k in 0..4 {
                out[k] = _mm256_permute2f128_ps::<0x20>(fours[k], fours[k + 4]);
                out[k + 4] = _mm256_permute2f128_ps::<0x31>(fours[k], fours[k + 4]);
            }
        }
        out
    }

    #[inline(always)]
    fn uniforms_256(self, bits: __m256i) -> __m256 {
        unsafe {
            let top = _mm256_cvtepi32_ps(_mm256_srli_epi32::<8>(bits));
            let (scale, offset) =
                (_mm256_set1_ps(1.0 / 16_777_216.0), _mm256_set1_ps(0.5 / 16_777_216.0));
            _mm256_fmadd_ps(top, scale, offset)
        }
    }
}

impl Simd for Avx2 {
    type F = Pair<__m256>;
    type Mask = Pair<__m256>;
    type Row = Pair<__m256i>;
    type U = Pair<__m256i>;

    #[inline(always)]
    fn call<K: Kernel>(self, kernel: K) {
        #[target_feature(enable = "avx2,fma,popcnt")]
        #[inline(never)]
        fn run<K: Kernel>(simd: Avx2, kernel: K) {
            kernel.run(simd)
        }
        unsafe { run(self, kernel) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        unsafe { Pair(_mm256_set1_ps(value), _mm256_set1_ps(value)) }
    }
    #[inline(always)]
    fn load(self, from: &[f32; 16]) -> Self::F {
        unsafe { Pair(_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))) }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16], a: Self::F) {
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), a.0);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), a.1);
        }
    }
    #[inline(always)]
    fn load_i16(self, from: &[i16; 16]) -> Self::F {
        unsafe {
            let (low, high) = (
                _mm_loadu_si128(from.as_ptr().cast()),
                _mm_loadu_si128(from.as_ptr().add(8).cast()),
            );
            Pair(
                _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(low)),
                _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(high)),
            )
        }
    }
    #[inline(always)]
    fn load_i32(self, from: &[i32; 16]) -> Self::F {
        unsafe {
            Pair(
                _mm256_cvtepi32_ps(_mm256_loadu_si256(from.as_ptr().cast())),
                _mm256_cvtepi32_ps(_mm256_loadu_si256(from.as_ptr().add(8).cast())),
            )
        }
    }
    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        halves!(_mm256_add_ps, a, b)
    }
    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        halves!(_mm256_sub_ps, a, b)
    }
    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        halves!(_mm256_mul_ps, a, b)
    }
    #[inline(always)]
    fn div(self, a: Self::F, b: Self::F) -> Self::F {
        halves!(_mm256_div_ps, a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        halves!(_mm256_fmadd_ps, a, b, c)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        halves!(_mm256_fnmadd_ps, a, b, c)
    }
    #[inline(always)]
    fn min(self, a: Self::F, b: Self::F) -> Self::F {
        halves!(_mm256_min_ps, a, b)
    }
    #[inline(always)]
    fn max(self, a: Self::F, b: Self::F) -> Self::F {
        halves!(_mm256_max_ps, a, b)
    }
    #[inline(always)]
    fn abs(self, a: Self::F) -> Self::F {
        unsafe {
            let sign = _mm256_set1_ps(-0.0);
            Pair(_mm256_andnot_ps(sign, a.0), _mm256_andnot_ps(sign, a.1))
        }
    }
    #[inline(always)]
    fn scale(self, a: Self::F, integer: Self::F) -> Self::F {
        Pair(self.scale_256(a.0, integer.0), self.scale_256(a.1, integer.1))
    }
    #[inline(always)]
    fn less(self, a: Self::F, b: Self::F) -> Self::Mask {
        unsafe {
            Pair(_mm256_cmp_ps::<_CMP_LT_OQ>(a.0, b.0), _mm256_cmp_ps::<_CMP_LT_OQ>(a.1, b.1))
        }
    }
    #[inline(always)]
    fn bits(self, mask: Self::Mask) -> u64 {
        unsafe {
            let (low, high) = (_mm256_movemask_ps(mask.0), _mm256_movemask_ps(mask.1));
            (low | high << 8) as u64
        }
    }
    #[inline(always)]
    fn have_bit(self, words: &[u16; 16], bit: u32) -> Self::Mask {
        unsafe {
            let bit = _mm_set1_epi16((1u16 << bit) as i16);
            let (low, high) = (
                _mm_loadu_si128(words.as_ptr().cast()),
                _mm_loadu_si128(words.as_ptr().add(8).cast()),
            );
            let low = _mm_cmpeq_epi16(_mm_and_si128(low, bit), bit);
            let high = _mm_cmpeq_epi16(_mm_and_si128(high, bit), bit);
            let (low, high) = (_mm256_cvtepi16_epi32(low), _mm256_cvtepi16_epi32(high));
            Pair(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high))
        }
    }
    #[inline(always)]
    fn transpose(self, rows: [Self::F; 16]) -> [Self::F; 16] {
        let mut out = rows;
        for half in [0, 8] {
            let (mut low, mut high) = ([rows[0].0; 8], [rows[0].0; 8]);
            for k in 0..8 {
                (low[k], high[k]) = (rows[half + k].0, rows[half + k].1);
            }
            (low, high) = (self.transpose_256(low), self.transpose_256(high));
            for k in 0..8 {
                if half == 0 {
                    (out[k].0, out[8 + k].0) = (low[k], high[k]);
                } else {
                    (out[k].1, out[8 + k].1) = (low[k], high[k]);
                }
            }
        }
        out
    }
    #[inline(always)]
    fn add_where(self, mask: Self::Mask, a: Self::F, b: Self::F) -> Self::F {
        unsafe {
            let kept = Pair(_mm256_and_ps(mask.0, b.0), _mm256_and_ps(mask.1, b.1));
            self.add(a, kept)
        }
    }
    #[inline(always)]
    fn sum(self, a: Self::F) -> f32 {
        unsafe {
            let eight = _mm256_add_ps(a.0, a.1);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
    #[inline(always)]
    fn sum_f64(self, a: Self::F) -> f64 {
        unsafe {
            let [a0, a1, a2, a3] = self.widen_256(a);
            let four = _mm256_add_pd(_mm256_add_pd(a0, a2), _mm256_add_pd(a1, a3));
            let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
    #[inline(always)]
    fn product_f64(self, a: Self::F) -> f64 {
        unsafe {
            let [a0, a1, a2, a3] = self.widen_256(a);
            let four = _mm256_mul_pd(_mm256_mul_pd(a0, a2), _mm256_mul_pd(a1, a3));
            let two = _mm_mul_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(_mm_mul_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }

    #[inline(always)]
    fn zero_row(self) -> Self::Row {
        unsafe { Pair(_mm256_setzero_si256(), _mm256_setzero_si256()) }
    }
    #[inline(always)]
    unsafe fn load_row_at(self, from: *const RowBytes) -> Self::Row {
        unsafe {
            Pair(_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.byte_add(32).cast()))
        }
    }
    #[inline(always)]
    unsafe fn store_row_at(self, to: *mut RowBytes, row: Self::Row) {
        unsafe {
            _mm256_storeu_si256(to.cast(), row.0);
            _mm256_storeu_si256(to.byte_add(32).cast(), row.1);
        }
    }
    #[inline(always)]
    fn add_i16(self, a: Self::Row, b: Self::Row) -> Self::Row {
        halves!(_mm256_add_epi16, a, b)
    }
    #[inline(always)]
    fn sub_i16(self, a: Self::Row, b: Self::Row) -> Self::Row {
        halves!(_mm256_sub_epi16, a, b)
    }
    #[inline(always)]
    fn add_i32(self, a: Self::Row, b: Self::Row) -> Self::Row {
        halves!(_mm256_add_epi32, a, b)
    }
    #[inline(always)]
    fn sub_i32(self, a: Self::Row, b: Self::Row) -> Self::Row {
        halves!(_mm256_sub_epi32, a, b)
    }
    #[inline(always)]
    fn add_f32(self, a: Self::Row, b: Self::Row) -> Self::Row {
        Pair(self.add_f32_256(a.0, b.0), self.add_f32_256(a.1, b.1))
    }

    #[inline(always)]
    fn load_u64(self, from: &[u64; 8]) -> Self::U {
        unsafe {
            let from = from.as_ptr();
            Pair(_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(4).cast()))
        }
    }
    #[inline(always)]
    fn store_u64(self, to: &mut [u64; 8], value: Self::U) {
        unsafe {
            let to = to.as_mut_ptr();
            _mm256_storeu_si256(to.cast(), value.0);
            _mm256_storeu_si256(to.add(4).cast(), value.1);
        }
    }
    #[inline(always)]
    fn add_u64(self, a: Self::U, b: Self::U) -> Self::U {
        halves!(_mm256_add_epi64, a, b)
    }
    #[inline(always)]
    fn xor_u64(self, a: Self::U, b: Self::U) -> Self::U {
        halves!(_mm256_xor_si256, a, b)
    }
    #[inline(always)]
    fn shift_left<const N: u32>(self, a: Self::U) -> Self::U {
        unsafe {
            let count = _mm_cvtsi32_si128(N as i32);
            Pair(_mm256_sll_epi64(a.0, count), _mm256_sll_epi64(a.1, count))
        }
    }
    #[inline(always)]
    fn rotate_left<const N: u32>(self, a: Self::U) -> Self::U {
        unsafe {
            let right = _mm_cvtsi32_si128(64 - N as i32);
            let left = self.shift_left::<N>(a);
            Pair(
                _mm256_or_si256(left.0, _mm256_srl_epi64(a.0, right)),
                _mm256_or_si256(left.1, _mm256_srl_epi64(a.1, right)),
            )
        }
    }
    #[inline(always)]
    fn uniforms(self, bits: Self::U) -> Self::F {
        Pair(self.uniforms_256(bits.0), self.uniforms_256(bits.1))
    }
}
