//! Eight lanes with AVX-512.

use super::{Block, Simd};
use crate::simd::Avx512;
use std::arch::x86_64::*;

// SAFETY of every block below: the intrinsics need AVX-512F and nothing else, and an `Avx512` exists
// only where it was found. Pointers come from references to blocks of eight numbers.
impl Simd for Avx512 {
    type V = __m512d;
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(self, value: f64) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_set1_pd(value) }
    }

    #[inline(always)]
    fn load(self, block: &Block, _part: usize) -> __m512d {
        // SAFETY: see above; a block is aligned to 64 bytes.
        unsafe { _mm512_load_pd(block.0.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, v: __m512d, block: &mut Block, _part: usize) {
        // SAFETY: see above; a block is aligned to 64 bytes.
        unsafe { _mm512_store_pd(block.0.as_mut_ptr(), v) }
    }

    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_add_pd(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_sub_pd(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_mul_pd(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_fmadd_pd(a, b, c) }
    }

    #[inline(always)]
    fn min(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_min_pd(a, b) }
    }

    #[inline(always)]
    fn max(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_max_pd(a, b) }
    }

    #[inline(always)]
    fn mantissa(self, v: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_getmant_pd::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(v) }
    }

    #[inline(always)]
    fn exponent(self, v: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_getexp_pd(v) }
    }

    #[inline(always)]
    fn scale(self, v: __m512d, k: __m512d) -> __m512d {
        // SAFETY: see above.
        unsafe { _mm512_scalef_pd(v, k) }
    }

    #[inline(always)]
    fn any_greater(self, a: __m512d, b: __m512d) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, b) != 0 }
    }
}
