//! Vectors as arrays: the twin that every machine has.
//!
//! Two lanes suit the registers of NEON. On x86-64 machines without FMA, `mul_add` is a slow library
//! call (35 times slower than AVX2): only processors from before 2013 pay for the same bits everywhere.

use super::{Block, MANTISSA_BITS, Simd, TO_EXPONENT_FIELD};
use crate::simd::Portable;
use std::array::from_fn;

type V = [f64; 2];

impl Simd for Portable {
    type V = V;
    const LANES: usize = 2;

    #[inline(always)]
    fn splat(self, value: f64) -> V {
        [value; 2]
    }

    #[inline(always)]
    fn load(self, block: &Block, part: usize) -> V {
        block.0.as_chunks().0[part]
    }

    #[inline(always)]
    fn store(self, v: V, block: &mut Block, part: usize) {
        block.0.as_chunks_mut().0[part] = v;
    }

    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        from_fn(|i| a[i] + b[i])
    }

    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        from_fn(|i| a[i] - b[i])
    }

    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        from_fn(|i| a[i] * b[i])
    }

    #[inline(always)]
    fn mul_add(self, a: V, b: V, c: V) -> V {
        from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn min(self, a: V, b: V) -> V {
        from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn max(self, a: V, b: V) -> V {
        from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }

    #[inline(always)]
    fn mantissa(self, v: V) -> V {
        v.map(|v| f64::from_bits(v.to_bits() & MANTISSA_BITS | 1f64.to_bits()))
    }

    #[inline(always)]
    fn exponent(self, v: V) -> V {
        v.map(|v| (v.to_bits() >> 52) as i32 as f64 - 1023.0)
    }

    #[inline(always)]
    fn scale(self, v: V, k: V) -> V {
        from_fn(|i| v[i] * f64::from_bits((k[i] + TO_EXPONENT_FIELD).to_bits() << 52))
    }

    #[inline(always)]
    fn any_greater(self, a: V, b: V) -> bool {
        a[0] > b[0] || a[1] > b[1]
    }
}
