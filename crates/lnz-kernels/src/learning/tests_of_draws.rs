//! Units are drawn as their probabilities say, whichever way the kernels take.

use crate::aligned::Aligned;
use crate::learning::layers::{LANES, PANEL};
use crate::learning::sampling::{draw, less_than_reciprocal, sample};
use crate::random::{Purpose, Random};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::stream::Stream;
use proptest::prelude::*;

proptest! {
    #[test]
    fn drawing_without_probabilities_draws_the_same_units(units in 1usize..100, seed in 0u64..1000) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let inputs: Vec<f32> = (0..units).map(|_| (4.0 * random.normal()) as f32).collect();
        for level in Level::available() {
            let mut found = vec![];
            dispatch(level, BothWays { inputs: &inputs, found: &mut found });
            prop_assert_eq!(&found[0], &found[1]);
        }
    }

    #[test]
    fn numbers_close_to_a_reciprocal_are_on_the_right_side(a in 1.0f32..1e6, spread in 0u32..40) {
        let reciprocal = 1.0 / a;
        let u: [f32; LANES] = std::array::from_fn(|k| {
            f32::from_bits(reciprocal.to_bits() - 8 * spread + spread * k as u32)
        });
        let expected = u.map(|u| u < reciprocal);
        for level in Level::available() {
            let mut found = 0;
            dispatch(level, LessThanReciprocal { u, a, found: &mut found });
            prop_assert_eq!(std::array::from_fn(|k| found >> k & 1 == 1), expected);
        }
    }
}

struct LessThanReciprocal<'a> {
    u: [f32; LANES],
    a: f32,
    found: &'a mut u64,
}

impl Kernel for LessThanReciprocal<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let u = simd.load(&self.u);
        *self.found = simd.bits(less_than_reciprocal(simd, u, simd.splat(self.a)));
    }
}

/// Units and bits of [`sample`] and of [`draw`], from the same random numbers.
struct BothWays<'a> {
    inputs: &'a [f32],
    found: &'a mut Vec<(Vec<u32>, Vec<u16>)>,
}

impl Kernel for BothWays<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let units = self.inputs.len();
        let mut padded = Aligned::zeroed(units.next_multiple_of(PANEL));
        padded[..units].copy_from_slice(self.inputs);
        for without in [true, false] {
            let mut stream = Stream::new(3, Purpose::Learning, 5);
            let (mut on, mut bits) = (vec![], vec![0; units.div_ceil(LANES)]);
            for _ in 0..20 {
                let (mut part, mut inputs) = (vec![], padded.clone());
                match without {
                    true => draw(simd, &inputs, units, &mut stream, &mut part, &mut bits),
                    false => sample(simd, &mut inputs, units, &mut stream, &mut part, &mut bits),
                }
                on.extend(part);
            }
            self.found.push((on, bits));
        }
    }
}
