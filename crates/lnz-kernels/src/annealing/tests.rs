//! Every kernel against its scalar twin, on every instruction set of the machine.

use crate::aligned::Aligned;
use crate::annealing::block::{Block, Flips};
use crate::annealing::draw::{DrawnTile, HiddenDraw, VisibleDraw};
use crate::annealing::elementwise::{HiddenStep, softplus_sum};
use crate::annealing::fixed::{Fixed, FixedModel, Resolution, Tile};
use crate::annealing::groups::{ChainRange, GROUP, groups};
use crate::annealing::path::Path;
use crate::annealing::product::Method;
use crate::bits::Bits;
use crate::math::{sigmoid, softplus};
use crate::random::Purpose;
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::stream::Stream;
use crate::test_model::Rbm;
use ndarray::{Array1, Array2};
use proptest::prelude::*;

/// The elementwise functions on one chain and tile.
struct ElementKernel<'a> {
    units: usize,
    sums: &'a mut [i16],
    bias: &'a Aligned<f32>,
    betas: (f64, f64),
    stream: Stream,
    out: &'a mut (u64, f64, f64, u64, f64),
}

impl Kernel for ElementKernel<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { units, sums, bias, betas: (beta, next), stream, out } = self;
        let mut streams = [stream];
        let tile = Tile { first: 0, units, rows: units.div_ceil(32), offset: 0 };
        let count = units.div_ceil(16);
        let constants = HiddenStep { step: 0.05, beta, next };
        let (mut log_weight, mut linear) = ([0.0], [0.0]);
        let (mut hidden, mut visible) = ([0], [0]);
        let mut draw_hidden = HiddenDraw { constants, bias, log_weights: &mut log_weight };
        let mut draw_visible = VisibleDraw {
            scale: -0.06,
            exponent_bias: bias,
            difference: bias,
            linear: &mut linear,
        };
        let (tile, streams) = (&tile, &mut streams);
        let mut drawn = DrawnTile { tile, sums, streams, states: &mut hidden };
        drawn.draw(simd, &mut draw_hidden, None);
        drawn.states = &mut visible;
        drawn.draw(simd, &mut draw_visible, None);
        let marginal = softplus_sum(
            simd,
            constants.step,
            next,
            &sums.as_chunks().0[..count],
            &bias.as_chunks().0[..count],
        );
        *out = (hidden[0], log_weight[0], marginal, visible[0], linear[0]);
    }
}

proptest! {
    #[test]
    fn elementwise_kernels_have_the_same_bits_and_the_right_values(
        units in 1usize..65,
        sums in proptest::collection::vec(-12_000i16..12_000, 64),
        bias in proptest::collection::vec(-5.0f32..5.0, 64),
        beta in 0.0..0.9f64,
        width in 0.0001..0.1f64,
        seed in 0u64..1000,
    ) {
        let padded = units.next_multiple_of(16);
        let mut sums = sums[..32 * units.div_ceil(32)].to_vec();
        sums[units..].fill(0);
        let bias = {
            let mut cut = Aligned::zeroed(64);
            cut[..units].copy_from_slice(&bias[..units]);
            cut
        };
        let betas = (beta, beta + width);
        let mut results = Vec::new();
        for level in Level::available() {
            let stream = Stream::new(seed, Purpose::Anneal, 0);
            let mut out = Default::default();
            let (sums, bias) = (&mut sums[..], &bias);
            dispatch(level, ElementKernel { units, sums, bias, betas, stream, out: &mut out });
            results.push(out);
        }
        prop_assert!(results.windows(2).all(|r| r[0] == r[1]), "{results:?}");

        let inputs: Vec<f64> =
            (0..padded).map(|j| f64::from(f32::from(sums[j]).mul_add(0.05, bias[j]))).collect();
        let at = |beta: f64| inputs.iter().map(|a| softplus(beta * a)).sum::<f64>();
        let (_, increment, marginal, _, _) = results[0];
        // Rounding of float32 relative to the largest terms, a few per unit.
        let scale: f64 = inputs.iter().map(|a| 1.0 + width * a.abs()).sum();
        prop_assert!((increment - (at(betas.1) - at(betas.0))).abs() < 2e-6 * scale);
        prop_assert!((marginal - at(betas.1)).abs() < 2e-6 * padded as f64);
    }
}

#[test]
fn sampled_units_follow_their_probabilities() {
    // No weights: hidden units are on with sigma(next c), visible ones with the path's bias.
    let (visible, hidden, chains) = (70, 40, 4096);
    let bias = |n: usize| Array1::from_iter((0..n).map(|i| -3.0 + 6.0 * i as f64 / n as f64));
    let model = Rbm::new(Array2::zeros((visible, hidden)), bias(visible), bias(hidden));
    let fixed = FixedModel::<i16>::new(&model, Resolution::of::<i16>(&model).unwrap());
    let start = Array1::from_elem(visible, 1.0);
    let path = Path::new(&fixed.visible_bias, start.view());
    let range = ChainRange { group: 0, chains, seed: 1, purpose: Purpose::Anneal };
    let mut block = Block::new(&fixed, &path, Flips::default(), Level::detect(), range);
    let mut unused = vec![0.0; chains];
    block.draw_start();
    let within = |counts: Vec<u64>, probability: &dyn Fn(usize) -> f64| {
        for (i, n) in counts.into_iter().enumerate() {
            let p = probability(i);
            let std_error = (p * (1.0 - p) / chains as f64).sqrt();
            assert!((n as f64 / chains as f64 - p).abs() < 5.0 * std_error, "unit {i}");
        }
    };
    within(block.visible().counts(visible), &|_| sigmoid(1.0));
    block.hidden_step(0.5, 0.7, &mut unused);
    within(block.hidden().counts(hidden), &|j| sigmoid(0.7 * model.hidden_bias()[j]));
    block.visible_step(0.7);
    within(block.visible().counts(visible), &|i| sigmoid(0.3 + 0.7 * model.visible_bias()[i]));
}

/// Anneals one block and returns its log weights and last states. Before each step, `watch` sees the block and
/// the betas; at the end it sees the block without any.
fn annealed<T: Fixed>(
    model: &Rbm,
    level: Level,
    forced: Option<Method>,
    chains: usize,
    betas: &[f64],
    mut watch: impl FnMut(&FixedModel<T>, &Block<'_, T>, &[f64]),
) -> (Vec<f64>, Bits) {
    let fixed = FixedModel::<T>::new(model, Resolution::of::<T>(model).unwrap());
    let path = Path::new(&fixed.visible_bias, start_bias(model).view());
    let range = ChainRange { group: 3, chains, seed: 7, purpose: Purpose::Anneal };
    let mut block = Block::new(&fixed, &path, Flips::default(), level, range);
    block.forced = forced;
    block.draw_start();
    let mut log_weights = vec![0.0; chains];
    for step in betas.windows(2) {
        watch(&fixed, &block, step);
        block.hidden_step(step[0], step[1], &mut log_weights);
        if step[1] < 1.0 {
            block.visible_step(step[1]);
        }
    }
    watch(&fixed, &block, &[]);
    (log_weights, block.visible().clone())
}

fn start_bias(model: &Rbm) -> Array1<f64> {
    Array1::from_elem(model.visible(), -0.4)
}

/// Replays in float64 the states that one block goes through: its log weights as the kernels have them, and as
/// they should be.
fn replayed(model: &Rbm, chains: usize, betas: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let start = start_bias(model);
    let mut replay = vec![0.0; chains];
    let mut ends = vec![0.0; chains];
    let watch = |fixed: &FixedModel<i32>, block: &Block<'_, i32>, step: &[f64]| {
        let grid = f64::from(fixed.step);
        let rounded = model.weights().mapv(|w| (w / grid).round() * grid);
        let (b, c) = (model.visible_bias().to_owned(), model.hidden_bias().to_owned());
        let rounded = Rbm::new(rounded, b, c);
        for chain in 0..chains {
            let x = block.state(chain);
            match *step {
                [from, to] => {
                    let linear = (&rounded.visible_bias() - &start).dot(&x);
                    let a = rounded.hidden_input(x.view());
                    let at = |beta: f64| a.iter().map(|a| softplus(beta * a)).sum::<f64>();
                    replay[chain] += (to - from) * linear + at(to) - at(from);
                }
                // The end of the path as the kernels see it, exchanged for that of the rounded model.
                _ => {
                    let end = rounded.log_marginal(x.view()) - start.dot(&x);
                    ends[chain] = end - block.log_end(chain);
                }
            }
        }
    };
    let (mut found, _) = annealed(model, Level::detect(), None, chains, betas, watch);
    found.iter_mut().zip(&ends).for_each(|(log_weight, end)| *log_weight += end);
    (found, replay)
}

fn linear(intervals: usize) -> Vec<f64> {
    (0..=intervals).map(|k| k as f64 / intervals as f64).collect()
}

#[test]
fn every_instruction_set_and_product_gives_the_same_bits() {
    for (visible, hidden) in [(70, 33), (20, 180), (129, 64), (1, 1), (5, 0)] {
        let model = Rbm::gaussian(visible, hidden, 0.5, 3);
        check_same_bits(&model, GROUP + 5, &linear(20));
    }
}

#[test]
fn look_ups_during_draws_give_the_same_bits() {
    // Interleave a draw there are look-ups of one, three, seven or ten chains, by the number of full passes and of
    // chains. These are too few for any, come out even, or leave some over.
    for (visible, hidden) in [(64, 129), (65, 97), (120, 200), (191, 65), (280, 130), (333, 400)] {
        let model = Rbm::gaussian(visible, hidden, 0.4, 4);
        for chains in [15, 3 * GROUP, 7 * GROUP, 9 * GROUP + 5] {
            check_same_bits(&model, chains, &linear(3));
        }
    }
    // Tables of five inputs instead of four.
    for (visible, hidden) in [(20, 65), (120, 285), (333, 400)] {
        let model = Rbm::gaussian(visible, hidden, 0.4, 4);
        for chains in [16 * GROUP, 31 * GROUP + 5] {
            check_same_bits(&model, chains, &linear(2));
        }
    }
}

fn check_same_bits(model: &Rbm, chains: usize, betas: &[f64]) {
    let reference16 = annealed::<i16>(model, Level::Portable, None, chains, betas, |_, _, _| ());
    let reference32 = annealed::<i32>(model, Level::Portable, None, chains, betas, |_, _, _| ());
    for level in Level::available() {
        for forced in [None, Some(Method::Tables), Some(Method::Skip), Some(Method::Delta)] {
            let found16 = annealed::<i16>(model, level, forced, chains, betas, |_, _, _| ());
            let found32 = annealed::<i32>(model, level, forced, chains, betas, |_, _, _| ());
            assert!(found16 == reference16 && found32 == reference32);
        }
    }
}

#[test]
fn log_weights_agree_with_a_float64_replay_of_the_same_states() {
    let hard = Rbm::hard(20, 180, 5);
    let trained_like = Rbm::gaussian(300, 100, 0.3, 1);
    let weak = Rbm::gaussian(100, 200, 0.02, 2);
    for (name, model) in [("hard", &hard), ("trained-like", &trained_like), ("weak", &weak)] {
        // 8 to 64 betas take steps beyond the Taylor series.
        for intervals in [8, 64, 128, 1024] {
            let (found, replay) = replayed(model, GROUP + 5, &linear(intervals));
            let worst = found.iter().zip(&replay).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-4, "{name}, {intervals} betas: off by {worst:e}");
        }
    }
}

#[test]
fn groups_cover_all_chains() {
    let chains: Vec<usize> = groups(2 * GROUP + 3).flatten().collect();
    assert_eq!(chains, (0..2 * GROUP + 3).collect::<Vec<_>>());
}

#[test]
fn equal_weights_are_rounded_alike_and_that_counts_as_noise() {
    // All errors are the same d: sums of d n and d m, not of their square roots.
    // 2040 weights in a row leave 15.56 steps to each.
    let (n, m) = (20, 2040);
    let equal = Rbm::new(Array2::from_elem((n, m), 0.02512), Array1::zeros(n), Array1::zeros(m));
    let grid = Resolution::of::<i16>(&equal).unwrap();
    let error = (0.02512 / grid.step).round() * grid.step - 0.02512;
    let (n, m) = (n as f64, m as f64);
    let expected = (error * error * (n * m * m + m * n * n) / 16.0).sqrt();
    assert!((grid.noise - expected.max(grid.step * (n * m / 48.0).sqrt())).abs() < 1e-9);
    assert!(!grid.is_fine(), "{}", grid.noise);
    // Independent errors cancel.
    let random = Rbm::gaussian(784, 500, 0.2, 1);
    let grid = Resolution::of::<i16>(&random).unwrap();
    assert_eq!(grid.noise, grid.step * (784.0f64 * 500.0 / 48.0).sqrt());
}
