//! Random numbers for the lanes: eight xoshiro256++ generators side by side.

use crate::random::{Purpose, Random};
use crate::simd::Simd;

/// The state of eight generators: word by word, lane by lane.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Stream {
    words: [[u64; 8]; 4],
}

/// The state in registers.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<S: Simd> {
    simd: S,
    words: [S::U; 4],
}

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut random = Random::stream(seed, purpose, index);
        Self { words: std::array::from_fn(|_| std::array::from_fn(|_| random.bits())) }
    }

    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, simd: S) -> Lanes<S> {
        let [s0, s1, s2, s3] = &self.words;
        let words = [simd.load_u64(s0), simd.load_u64(s1), simd.load_u64(s2), simd.load_u64(s3)];
        Lanes { simd, words }
    }

    #[inline(always)]
    pub(crate) fn store<S: Simd>(&mut self, lanes: Lanes<S>) {
        for k in 0..4 {
            lanes.simd.store_u64(&mut self.words[k], lanes.words[k]);
        }
    }
}

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    pub(crate) fn simd(&self) -> S {
        self.simd
    }

    /// Sixteen uniform numbers in (0, 1), on a grid of 2^-24.
    #[inline(always)]
    pub(crate) fn uniforms(&mut self) -> S::F {
        let simd = self.simd;
        let [s0, s1, s2, s3] = self.words;
        let result = simd.add_u64(simd.rotate_left::<23>(simd.add_u64(s0, s3)), s0);
        let shifted = simd.shift_left::<17>(s1);
        self.words = [
            simd.xor3_u64(s0, s1, s3),
            simd.xor3_u64(s0, s1, s2),
            simd.xor3_u64(s0, s2, shifted),
            simd.rotate_left::<45>(simd.xor_u64(s1, s3)),
        ];
        simd.uniforms(result)
    }
}
