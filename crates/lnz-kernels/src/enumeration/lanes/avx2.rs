//! Four lanes with AVX2 and FMA.

use super::{Block, MANTISSA_BITS, Simd, TO_EXPONENT_FIELD};
use crate::simd::Avx2;
use std::arch::x86_64::*;

// SAFETY of every block below: the intrinsics need AVX2 or FMA and nothing else, and an `Avx2` exists
// only where both were found. Pointers come from references to four numbers, and the unaligned
// forms are used.
impl Simd for Avx2 {
    type V = __m256d;
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(self, value: f64) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_set1_pd(value) }
    }

    #[inline(always)]
    fn load(self, block: &Block, part: usize) -> __m256d {
        let numbers: &[f64; 4] = &block.0.as_chunks().0[part];
        // SAFETY: see above.
        unsafe { _mm256_loadu_pd(numbers.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, v: __m256d, block: &mut Block, part: usize) {
        let numbers: &mut [f64; 4] = &mut block.0.as_chunks_mut().0[part];
        // SAFETY: see above.
        unsafe { _mm256_storeu_pd(numbers.as_mut_ptr(), v) }
    }

    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_add_pd(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_sub_pd(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_mul_pd(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_fmadd_pd(a, b, c) }
    }

    #[inline(always)]
    fn min(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_min_pd(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe { _mm256_max_pd(a, b) }
    }

    #[inline(always)]
    fn mantissa(self, v: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe {
            let kept = _mm256_castsi256_pd(_mm256_set1_epi64x(MANTISSA_BITS as i64));
            _mm256_or_pd(_mm256_and_pd(v, kept), _mm256_set1_pd(1.0))
        }
    }

    #[inline(always)]
    fn exponent(self, v: __m256d) -> __m256d {
        // As mantissa bits of 2^52 the exponent field becomes a number that one subtraction frees.
        let offset = (1u64 << 52) as f64;
        // SAFETY: see above.
        unsafe {
            let field = _mm256_srli_epi64::<52>(_mm256_castpd_si256(v));
            let shifted = _mm256_or_pd(_mm256_castsi256_pd(field), _mm256_set1_pd(offset));
            _mm256_sub_pd(shifted, _mm256_set1_pd(offset + 1023.0))
        }
    }

    #[inline(always)]
    fn scale(self, v: __m256d, k: __m256d) -> __m256d {
        // SAFETY: see above.
        unsafe {
            let field = _mm256_castpd_si256(_mm256_add_pd(k, _mm256_set1_pd(TO_EXPONENT_FIELD)));
            _mm256_mul_pd(v, _mm256_castsi256_pd(_mm256_slli_epi64::<52>(field)))
        }
    }

    #[inline(always)]
    fn any_greater(self, a: __m256d, b: __m256d) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(a, b)) != 0 }
    }
}
