//! Lists of the rows of a sum, with or without factors.

use crate::simd::Simd;

/// The rows of a sum.
pub(crate) trait List<'a>: Copy {
    type Term: Term;
    fn new(rows: &'a [u32], factors: &'a [f32]) -> Self;
    fn rows(self) -> &'a [u32];
    fn get(self, k: usize) -> Self::Term;
    fn split_at(self, k: usize) -> (Self, Self);

    #[inline(always)]
    fn len(self) -> usize {
        self.rows().len()
    }
}

/// A row in a sum, with its factor.
pub(crate) trait Term: Copy {
    fn row(self) -> u32;
    /// `sum + factor * vector`, rounded once.
    fn add<S: Simd>(self, simd: S, vector: S::F, sum: S::F) -> S::F;
}

/// All factors are one.
impl<'a> List<'a> for &'a [u32] {
    type Term = u32;

    #[inline(always)]
    fn new(rows: &'a [u32], _: &'a [f32]) -> Self {
        rows
    }

    #[inline(always)]
    fn rows(self) -> &'a [u32] {
        self
    }

    #[inline(always)]
    fn get(self, k: usize) -> u32 {
        self[k]
    }

    #[inline(always)]
    fn split_at(self, k: usize) -> (Self, Self) {
        <[u32]>::split_at(self, k)
    }
}

impl Term for u32 {
    #[inline(always)]
    fn row(self) -> u32 {
        self
    }

    #[inline(always)]
    fn add<S: Simd>(self, simd: S, vector: S::F, sum: S::F) -> S::F {
        simd.add(sum, vector)
    }
}

/// Each row has its factor.
#[derive(Clone, Copy)]
pub(crate) struct Factored<'a> {
    rows: &'a [u32],
    factors: &'a [f32],
}

impl<'a> List<'a> for Factored<'a> {
    type Term = (u32, f32);

    #[inline(always)]
    fn new(rows: &'a [u32], factors: &'a [f32]) -> Self {
        assert_eq!(rows.len(), factors.len());
        Self { rows, factors }
    }

    #[inline(always)]
    fn rows(self) -> &'a [u32] {
        self.rows
    }

    #[inline(always)]
    fn get(self, k: usize) -> (u32, f32) {
        (self.rows[k], self.factors[k])
    }

    #[inline(always)]
    fn split_at(self, k: usize) -> (Self, Self) {
        let ((rows, later), (factors, later_factors)) =
            (self.rows.split_at(k), self.factors.split_at(k));
        (Self { rows, factors }, Self { rows: later, factors: later_factors })
    }
}

impl Term for (u32, f32) {
    #[inline(always)]
    fn row(self) -> u32 {
        self.0
    }

    #[inline(always)]
    fn add<S: Simd>(self, simd: S, vector: S::F, sum: S::F) -> S::F {
        simd.mul_add(simd.splat(self.1), vector, sum)
    }
}
