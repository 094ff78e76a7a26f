//! Every way to add weights gives the sum of the definition, on every instruction set of the machine.

use crate::aligned::Aligned;
use crate::annealing::fixed::{Fixed, FixedModel, Resolution};
use crate::annealing::product::{Method, Scratch};
use crate::annealing::tile_product::sum_tiles;
use crate::bits::Bits;
use crate::random::{Purpose, Random};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::stop::Stop;
use crate::test_model::Rbm;
use ndarray::{Array1, Array2};
use proptest::prelude::*;

/// Sizes around the edges of words, rows and tiles.
const SIZES: [usize; 9] = [1, 7, 16, 33, 63, 64, 65, 784, 785];

/// States with each unit on with probability `density`.
fn states(units: usize, chains: usize, density: f64, seed: u64) -> Bits {
    let mut random = Random::stream(seed, Purpose::Model, 9);
    let mut bits = Bits::zeros(units, chains);
    for chain in 0..chains {
        for i in 0..units {
            bits.set(chain, i, random.happens(density));
        }
    }
    bits
}

struct SumKernel<'a, T: Fixed> {
    model: &'a FixedModel<T>,
    method: Method,
    bits: &'a Bits,
    before: Option<&'a Bits>,
    scratch: &'a mut Scratch,
    sums: &'a mut [T],
}

impl<T: Fixed> Kernel for SumKernel<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let layer = &self.model.to_hidden;
        self.scratch.prepare(simd, self.method, layer.inputs, self.bits, self.before);
        let mut never = Stop::never();
        sum_tiles(simd, self.method, layer, self.bits, self.scratch, self.sums, &mut never);
    }
}

/// The sums of every chain and hidden unit, computed by `method` on `level`; delta goes through the
/// sums of `before`.
fn sums<T: Fixed>(
    model: &FixedModel<T>,
    level: Level,
    method: Method,
    bits: &Bits,
    before: &Bits,
) -> Vec<Vec<f32>> {
    let mut buffer = Aligned::<T>::zeroed(model.to_hidden.lanes() * bits.chains);
    let mut scratch = Scratch::new();
    let mut run = |method, bits: &Bits, before: Option<&Bits>| {
        let (scratch, sums) = (&mut scratch, &mut buffer[..]);
        dispatch(level, SumKernel { model, method, bits, before, scratch, sums });
    };
    if method == Method::Delta {
        run(Method::Tables, before, None);
    }
    run(method, bits, Some(before));
    (0..bits.chains)
        .map(|chain| {
            let mut lanes = 0;
            let mut values = Vec::new();
            for tile in &model.to_hidden.tiles {
                let width = tile.rows * T::PER_ROW;
                let from = lanes * bits.chains + chain * width;
                values.extend(buffer[from..from + tile.units].iter().map(|v| v.to_f32()));
                lanes += width;
            }
            values
        })
        .collect()
}

/// The same from the definition, in 64-bit integers.
fn naive_sums(model: &Rbm, step: f64, bits: &Bits) -> Vec<Vec<f32>> {
    (0..bits.chains)
        .map(|chain| {
            (0..model.hidden())
                .map(|j| {
                    let on = (0..model.visible()).filter(|&i| bits.get(chain, i));
                    on.map(|i| (model.weights()[[i, j]] / step).round() as i64).sum::<i64>() as f32
                })
                .collect()
        })
        .collect()
}

fn check_products<T: Fixed>(model: &Rbm, bits: &Bits, before: &Bits) {
    let grid = Resolution::of::<T>(model).unwrap();
    let fixed = FixedModel::<T>::new(model, grid);
    let expected = naive_sums(model, grid.step, bits);
    for level in Level::available() {
        for method in [Method::Tables, Method::Skip, Method::Delta] {
            let found = sums(&fixed, level, method, bits, before);
            assert_eq!(found, expected, "{level:?} {method:?}");
        }
    }
}

#[test]
fn every_product_gives_the_sum_of_the_weights_of_units_that_are_on() {
    for (k, &visible) in SIZES.iter().enumerate() {
        for (l, &hidden) in SIZES.iter().enumerate() {
            if visible * hidden > 70_000 {
                continue;
            }
            let model = Rbm::gaussian(visible, hidden, 3.0, (10 * k + l) as u64);
            for density in [0.0, 0.03, 0.5, 1.0] {
                let bits = states(visible, 5, density, 1);
                let before = states(visible, 5, 0.4, 2);
                check_products::<i16>(&model, &bits, &before);
                check_products::<i32>(&model, &bits, &before);
            }
        }
    }
}

#[test]
fn tables_of_five_inputs_give_the_sum_as_well() {
    for (k, visible) in [1, 4, 5, 39, 40, 41, 64, 80, 129, 785].into_iter().enumerate() {
        let model = Rbm::gaussian(visible, 65, 3.0, k as u64);
        let (bits, before) = (states(visible, 261, 0.5, 1), states(visible, 261, 0.4, 2));
        check_products::<i16>(&model, &bits, &before);
        check_products::<i32>(&model, &bits, &before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn products_agree_on_any_model(
        visible in 1usize..150,
        hidden in 1usize..150,
        log_spread in -6.0..12.0f64,
        mean in -1.0..1.0f64,
        density in 0.0..1.0f64,
        seed in 0u64..1000,
    ) {
        let spread = log_spread.exp();
        let noise = Rbm::gaussian(visible, hidden, spread, seed);
        // A mean as large as the spread makes the sums one-sided: the worst case for overflow.
        let weights = &noise.weights() + mean * spread;
        let model = Rbm::new(weights, Array1::zeros(visible), Array1::zeros(hidden));
        let (bits, before) = (states(visible, 9, density, seed), states(visible, 9, 0.5, seed + 1));
        check_products::<i16>(&model, &bits, &before);
        check_products::<i32>(&model, &bits, &before);
    }
}

#[test]
fn sums_of_sixteen_bits_reach_the_limit_without_overflow() {
    // All weights of one sign: the sum of all of them is the largest there can be.
    for sign in [-1.0, 1.0] {
        let weights = Array2::from_elem((785, 65), sign * 7.3);
        let model = Rbm::new(weights, Array1::zeros(785), Array1::zeros(65));
        let grid = Resolution::of::<i16>(&model).unwrap();
        let ones = states(785, 3, 1.1, 0);
        let found = sums(
            &FixedModel::<i16>::new(&model, grid),
            Level::detect(),
            Method::Tables,
            &ones,
            &ones,
        );
        assert_eq!(found, naive_sums(&model, grid.step, &ones));
        let largest = f64::from(found[0][0]).abs();
        assert!(largest <= 32_767.0 && largest > 31_900.0, "{largest}");
    }
}
