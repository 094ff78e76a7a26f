//! Sixteen lanes at a time: the operations the kernels need, in three implementations.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use portable::Portable;

/// An instruction set that this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The instruction set that the annealing kernels use on this machine: "AVX-512", "AVX2" or "portable".
///
/// Results are the same bits with each of them.
pub fn instruction_set() -> &'static str {
    match Level::detect() {
        Level::Portable => "portable",
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => "AVX2",
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => "AVX-512",
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
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("popcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 {
                levels.push(Level::Avx2);
            }
            if avx2 && avx512 {
                levels.push(Level::Avx512);
            }
        }
        levels
    }
}

/// Code that runs on any instruction set; `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    /// # Safety
    /// The machine has the instruction set of `S`; call it through [`dispatch`] only.
    unsafe fn run<S: Simd>(self);
}

/// Runs `kernel` compiled for `level`, which must come from [`Level::available`].
pub(crate) fn dispatch<K: Kernel>(level: Level, kernel: K) {
    // SAFETY: a level other than Portable exists only where its features were detected.
    unsafe {
        match level {
            Level::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::run(kernel),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::run(kernel),
        }
    }
}

/// Operations on 16 lanes of f32, on rows of 64 bytes and on 8 lanes of u64.
///
/// Every function is to be inlined into one compiled with the instruction set's features; calling it
/// anywhere else is undefined behaviour on a machine without them. Results are the same bits in all
/// implementations: each lane is computed by the IEEE operation the name says, `mul_add` is fused,
/// and [`Simd::sum`] adds in a fixed order.
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

    /// `a`, as something the compiler can neither compute later nor use sooner.
    #[inline(always)]
    unsafe fn pin(a: Self::F) -> Self::F {
        a
    }
    #[inline(always)]
    unsafe fn pin_row(a: Self::Row) -> Self::Row {
        a
    }

    unsafe fn splat(value: f32) -> Self::F;
    unsafe fn load(from: *const f32) -> Self::F;
    unsafe fn store(to: *mut f32, a: Self::F);
    /// 16 integers converted to f32.
    unsafe fn load_i16(from: *const i16) -> Self::F;
    unsafe fn load_i32(from: *const i32) -> Self::F;
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F;
    /// a b + c, rounded once.
    unsafe fn mul_add(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// c - a b, rounded once.
    unsafe fn neg_mul_add(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The second operand where a comparison with NaN is involved, as x86 does.
    unsafe fn min(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn abs(a: Self::F) -> Self::F;
    /// `a` limited to [-limit, limit]; not for NaN.
    #[inline(always)]
    unsafe fn clamp(a: Self::F, limit: f32) -> Self::F {
        // SAFETY: by the caller.
        unsafe { Self::min(Self::max(a, Self::splat(-limit)), Self::splat(limit)) }
    }
    /// The larger of |a| and |b|; not for NaN.
    #[inline(always)]
    unsafe fn max_abs(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: by the caller.
        unsafe { Self::max(Self::abs(a), Self::abs(b)) }
    }
    /// The integer next to `y`, in the form that [`Simd::scale`] takes, and `y` minus that integer. |y| is
    /// at most 60.
    #[inline(always)]
    unsafe fn split(y: Self::F) -> (Self::F, Self::F) {
        // Adding 1.5 * 2^23 rounds to an integer, which then sits in the low bits.
        const ROUND: f32 = 12_582_912.0;
        // SAFETY: by the caller.
        unsafe {
            let integer = Self::add(y, Self::splat(ROUND));
            (integer, Self::sub(y, Self::sub(integer, Self::splat(ROUND))))
        }
    }
    /// `a` times two to the power of an integer from [`Simd::split`]: adds its low bits to the exponent.
    unsafe fn scale(a: Self::F, integer: Self::F) -> Self::F;
    unsafe fn less(a: Self::F, b: Self::F) -> Self::Mask;
    unsafe fn bits(mask: Self::Mask) -> u64;
    /// Which of 16 words have bit `bit` set.
    unsafe fn have_bit(words: *const u16, bit: u32) -> Self::Mask;
    /// Writes `first` plus the number of each lane that is set, in order; returns how many. There
    /// must be room for 16.
    #[inline(always)]
    unsafe fn store_indices(to: *mut u32, mask: Self::Mask, first: u32) -> usize {
        // SAFETY: the room by the caller; `bits` as any function here.
        unsafe {
            let (mut bits, mut count) = (Self::bits(mask), 0);
            while bits != 0 {
                *to.add(count) = first + bits.trailing_zeros();
                bits &= bits - 1;
                count += 1;
            }
            count
        }
    }
    /// Lane j of vector i becomes lane i of vector j.
    unsafe fn transpose(rows: [Self::F; 16]) -> [Self::F; 16];
    /// a + b where the mask is set, a elsewhere; `a` is not -0.
    unsafe fn add_where(mask: Self::Mask, a: Self::F, b: Self::F) -> Self::F;
    /// The lanes added by halving: 16 to 8 to 4 to 2 to 1.
    unsafe fn sum(a: Self::F) -> f32;
    /// [`Simd::sum`] of each of 16 vectors.
    #[inline(always)]
    unsafe fn sums(vectors: &[Self::F; 16]) -> [f32; 16] {
        let mut sums = [0.0; 16];
        for k in 0..16 {
            // SAFETY: by the caller.
            sums[k] = unsafe { Self::sum(vectors[k]) };
        }
        sums
    }
    /// The lanes multiplied in f64, by halving.
    unsafe fn product_f64(a: Self::F) -> f64;
    /// The lanes added in f64, by halving.
    unsafe fn sum_f64(a: Self::F) -> f64;

    /// Writes the positions of the bits of `mask`, counted from `first`, and returns how many there are.
    ///
    /// `to` is valid for 64 numbers.
    #[inline(always)]
    unsafe fn positions(mut mask: u64, first: u32, to: *mut u32) -> usize {
        let count = mask.count_ones() as usize;
        for k in 0..count {
            // SAFETY: by the caller.
            unsafe { *to.add(k) = first + mask.trailing_zeros() };
            mask &= mask - 1;
        }
        count
    }

    unsafe fn zero_row() -> Self::Row;
    unsafe fn load_row(from: *const u8) -> Self::Row;
    unsafe fn store_row(to: *mut u8, row: Self::Row);
    unsafe fn add_i16(a: Self::Row, b: Self::Row) -> Self::Row;
    unsafe fn sub_i16(a: Self::Row, b: Self::Row) -> Self::Row;
    unsafe fn add_i32(a: Self::Row, b: Self::Row) -> Self::Row;
    unsafe fn sub_i32(a: Self::Row, b: Self::Row) -> Self::Row;
    unsafe fn add_f32(a: Self::Row, b: Self::Row) -> Self::Row;

    unsafe fn load_u64(from: *const u64) -> Self::U;
    unsafe fn store_u64(to: *mut u64, value: Self::U);
    unsafe fn add_u64(a: Self::U, b: Self::U) -> Self::U;
    unsafe fn xor_u64(a: Self::U, b: Self::U) -> Self::U;
    #[inline(always)]
    unsafe fn xor3_u64(a: Self::U, b: Self::U, c: Self::U) -> Self::U {
        // SAFETY: by the caller.
        unsafe { Self::xor_u64(Self::xor_u64(a, b), c) }
    }
    unsafe fn shift_left<const N: u32>(a: Self::U) -> Self::U;
    unsafe fn rotate_left<const N: u32>(a: Self::U) -> Self::U;
    /// Each half of a lane, 32 bits, as a number in (0, 1): (top 24 bits + 1/2) / 2^24.
    unsafe fn uniforms(bits: Self::U) -> Self::F;
}
