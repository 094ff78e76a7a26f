//! Sixteen lanes at a time: the operations the kernels need, in three implementations.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use portable::Portable;

/// An instruction set that this machine has: those of a processor come with the proof that it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// The instruction set that the annealing kernels use on this machine: "AVX-512", "AVX2" or "portable".
///
/// Results are the same bits with each of them.
pub fn instruction_set() -> &'static str {
    match Level::detect() {
        Level::Portable => "portable",
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(_) => "AVX2",
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(_) => "AVX-512",
    }
}

impl Level {
    /// The widest one.
    pub fn detect() -> Self {
        *Self::available().last().unwrap_or(&Level::Portable)
    }

    /// All of them, narrowest first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(Avx2::detect().map(Level::Avx2));
            levels.extend(Avx512::detect().map(Level::Avx512));
        }
        levels
    }
}

/// Code that runs on any instruction set.
pub trait Kernel {
    /// Must be `#[inline(always)]`, and so must everything that it calls with `simd`: only then is it
    /// compiled for the instruction set. Elsewhere it is right, but each operation is a call.
    fn run<S: Simd>(self, simd: S);
}

/// Runs `kernel` compiled for `level`.
pub(crate) fn dispatch<K: Kernel>(level: Level, kernel: K) {
    match level {
        Level::Portable => Portable.call(kernel),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(simd) => simd.call(kernel),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(simd) => simd.call(kernel),
    }
}

/// A row of weights or sums: 32 x i16, 16 x i32 or 16 x f32.
pub(crate) type RowBytes = [u8; 64];

/// Operations on 16 lanes of f32, on rows of 64 bytes and on 8 lanes of u64.
///
/// A value of the type proves that the machine has the instruction set, so that arithmetic is safe. It
/// is to be inlined into code compiled for the instruction set: see [`Kernel`]. Results are the same
/// bits in all implementations: each lane is computed by the IEEE operation the name says, `mul_add` is
/// fused, and [`Simd::sum`] adds in a fixed order.
pub trait Simd: Copy {
    /// 16 x f32.
    type F: Copy;
    /// 16 truth values.
    type Mask: Copy;
    /// 64 bytes: 32 x i16, 16 x i32 or 16 x f32.
    type Row: Copy;
    /// 8 x u64.
    type U: Copy;

    /// Whether four vectors can be drawn side by side without running out of registers.
    const MANY_REGISTERS: bool = false;

    /// Runs `kernel` in a function of its own, compiled for the instruction set. Kernels use it for what
    /// several of them need and what takes long enough: it is compiled once then.
    fn call<K: Kernel>(self, kernel: K);

    /// `a`, as something the compiler can neither compute later nor use sooner.
    #[inline(always)]
    fn pin(self, a: Self::F) -> Self::F {
        a
    }
    #[inline(always)]
    fn pin_row(self, a: Self::Row) -> Self::Row {
        a
    }

    fn splat(self, value: f32) -> Self::F;
    fn load(self, from: &[f32; 16]) -> Self::F;
    fn store(self, to: &mut [f32; 16], a: Self::F);
    /// 16 integers converted to f32.
    fn load_i16(self, from: &[i16; 16]) -> Self::F;
    fn load_i32(self, from: &[i32; 16]) -> Self::F;
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// a b + c, rounded once.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// c - a b, rounded once.
    fn neg_mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The second operand where a comparison with NaN is involved, as x86 does.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// `a` limited to [-limit, limit]; not for NaN.
    #[inline(always)]
    fn clamp(self, a: Self::F, limit: f32) -> Self::F {
        self.min(self.max(a, self.splat(-limit)), self.splat(limit))
    }
    /// The larger of |a| and |b|; not for NaN.
    #[inline(always)]
    fn max_abs(self, a: Self::F, b: Self::F) -> Self::F {
        self.max(self.abs(a), self.abs(b))
    }
    /// The integer next to `y`, in the form that [`Simd::scale`] takes, and `y` minus that integer. |y| is
    /// at most 60.
    #[inline(always)]
    fn split(self, y: Self::F) -> (Self::F, Self::F) {
        // Adding 1.5 * 2^23 rounds to an integer, which then sits in the low bits.
        const ROUND: f32 = 12_582_912.0;
        let integer = self.add(y, self.splat(ROUND));
        (integer, self.sub(y, self.sub(integer, self.splat(ROUND))))
    }
    /// `a` times two to the power of an integer from [`Simd::split`]: adds its low bits to the exponent.
    fn scale(self, a: Self::F, integer: Self::F) -> Self::F;
    fn less(self, a: Self::F, b: Self::F) -> Self::Mask;
    fn bits(self, mask: Self::Mask) -> u64;
    /// Which of 16 words have bit `bit` set.
    fn have_bit(self, words: &[u16; 16], bit: u32) -> Self::Mask;
    /// Writes `first` plus the number of each lane that is set, in order; returns how many there are,
    /// which are initialised then.
    ///
    /// # Safety
    /// `to` is valid for writing 16 numbers.
    #[inline(always)]
    unsafe fn store_indices(self, to: *mut u32, mask: Self::Mask, first: u32) -> usize {
        let (mut bits, mut count) = (self.bits(mask), 0);
        while bits != 0 {
            // SAFETY: room for 16 by the caller; a mask has no more bits.
            unsafe { *to.add(count) = first + bits.trailing_zeros() };
            bits &= bits - 1;
            count += 1;
        }
        count
    }
    /// Lane j of vector i becomes lane i of vector j.
    fn transpose(self, rows: [Self::F; 16]) -> [Self::F; 16];
    /// a + b where the mask is set, a elsewhere; `a` is not -0.
    fn add_where(self, mask: Self::Mask, a: Self::F, b: Self::F) -> Self::F;
    /// The lanes added by halving: 16 to 8 to 4 to 2 to 1.
    fn sum(self, a: Self::F) -> f32;
    /// [`Simd::sum`] of each of 16 vectors.
    #[inline(always)]
    fn sums(self, vectors: &[Self::F; 16]) -> [f32; 16] {
        let mut sums = [0.0; 16];
        for k in 0..16 {
            sums[k] = self.sum(vectors[k]);
        }
        sums
    }
    /// The lanes multiplied in f64, by halving.
    fn product_f64(self, a: Self::F) -> f64;
    /// The lanes added in f64, by halving.
    fn sum_f64(self, a: Self::F) -> f64;

    /// Writes the positions of the bits of `mask`, counted from `first`; returns how many there are, which
    /// are initialised then.
    ///
    /// # Safety
    /// `to` is valid for writing 64 numbers.
    #[inline(always)]
    unsafe fn positions(self, mut mask: u64, first: u32, to: *mut u32) -> usize {
        let count = mask.count_ones() as usize;
        for k in 0..count {
            // SAFETY: by the caller.
            unsafe { *to.add(k) = first + mask.trailing_zeros() };
            mask &= mask - 1;
        }
        count
    }

    fn zero_row(self) -> Self::Row;
    #[inline(always)]
    fn load_row(self, from: &RowBytes) -> Self::Row {
        // SAFETY: a reference is valid.
        unsafe { self.load_row_at(from) }
    }
    #[inline(always)]
    fn store_row(self, to: &mut RowBytes, row: Self::Row) {
        // SAFETY: a reference is valid.
        unsafe { self.store_row_at(to, row) }
    }
    /// # Safety
    /// `from` is valid for reading a row.
    unsafe fn load_row_at(self, from: *const RowBytes) -> Self::Row;
    /// # Safety
    /// `to` is valid for writing a row.
    unsafe fn store_row_at(self, to: *mut RowBytes, row: Self::Row);
    fn add_i16(self, a: Self::Row, b: Self::Row) -> Self::Row;
    fn sub_i16(self, a: Self::Row, b: Self::Row) -> Self::Row;
    fn add_i32(self, a: Self::Row, b: Self::Row) -> Self::Row;
    fn sub_i32(self, a: Self::Row, b: Self::Row) -> Self::Row;
    fn add_f32(self, a: Self::Row, b: Self::Row) -> Self::Row;

    fn load_u64(self, from: &[u64; 8]) -> Self::U;
    fn store_u64(self, to: &mut [u64; 8], value: Self::U);
    fn add_u64(self, a: Self::U, b: Self::U) -> Self::U;
    fn xor_u64(self, a: Self::U, b: Self::U) -> Self::U;
    #[inline(always)]
    fn xor3_u64(self, a: Self::U, b: Self::U, c: Self::U) -> Self::U {
        self.xor_u64(self.xor_u64(a, b), c)
    }
    fn shift_left<const N: u32>(self, a: Self::U) -> Self::U;
    fn rotate_left<const N: u32>(self, a: Self::U) -> Self::U;
    /// Each half of a lane, 32 bits, as a number in (0, 1): (top 24 bits + 1/2) / 2^24.
    fn uniforms(self, bits: Self::U) -> Self::F;
}
