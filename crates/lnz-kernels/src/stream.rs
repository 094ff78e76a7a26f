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
    words: [S::U; 4],
}

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut random = Random::stream(seed, purpose, index);
        Self { words: std::array::from_fn(|_| std::array::from_fn(|_| random.bits())) }
    }

    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    pub(crate) unsafe fn load<S: Simd>(&self) -> Lanes<S> {
        // SAFETY: each word holds 8 lanes; the features are the caller's duty.
        unsafe {
            let [s0, s1, s2, s3] = &self.words;
            let words = [
                S::load_u64(s0.as_ptr()),
                S::load_u64(s1.as_ptr()),
                S::load_u64(s2.as_ptr()),
                S::load_u64(s3.as_ptr()),
            ];
            Lanes { words }
        }
    }

    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    pub(crate) unsafe fn store<S: Simd>(&mut self, lanes: Lanes<S>) {
        for k in 0..4 {
            // SAFETY: as in `load`.
            unsafe { S::store_u64(self.words[k].as_mut_ptr(), lanes.words[k]) };
        }
    }
}

impl<S: Simd> Lanes<S> {
    /// Sixteen uniform numbers in (0, 1), on a grid of 2^-24.
    ///
    /// # Safety
    /// See [`Simd`].
    #[inline(always)]
    pub(crate) unsafe fn uniforms(&mut self) -> S::F {
        // SAFETY: only arithmetic; the features are the caller's duty.
        unsafe {
            let [s0, s1, s2, s3] = self.words;
            let result = S::add_u64(S::rotate_left::<23>(S::add_u64(s0, s3)), s0);
            let shifted = S::shift_left::<17>(s1);
            self.words = [
                S::xor3_u64(s0, s1, s3),
                S::xor3_u64(s0, s1, s2),
                S::xor3_u64(s0, s2, shifted),
                S::rotate_left::<45>(S::xor_u64(s1, s3)),
            ];
            S::uniforms(result)
        }
    }
}
