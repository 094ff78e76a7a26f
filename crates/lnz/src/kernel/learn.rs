//! Contrastive divergence: products of sparse states with dense rows, and the update of the weights.
//!
//! Data and sampled states are mostly zeros, so every product is a sum of the rows of the units that
//! are on, for the gradient as well: there the rows are those of the examples in which a unit is on.

use super::aligned::Aligned;
use super::elementwise::exp2;
use super::simd::{Kernel, Level, Simd, dispatch};
use super::stream::{Lanes, Stream};
use crate::random::Purpose;
use std::f32::consts::LOG2_E;

/// A unit that is on, or has a value between 0 and 1; in a gradient, an example with its sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Active {
    pub(crate) unit: u32,
    pub(crate) value: f32,
}

/// Rows of float32, padded to whole vectors.
#[derive(Clone)]
pub(crate) struct Matrix {
    pub(crate) columns: usize,
    /// Columns with padding.
    pub(crate) width: usize,
    values: Aligned<f32>,
}

impl Matrix {
    pub(crate) fn zeroed(rows: usize, columns: usize) -> Self {
        let width = columns.next_multiple_of(16);
        Self { columns, width, values: Aligned::zeroed(rows * width) }
    }

    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.width
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.columns]
    }

    /// All values, row by row with padding.
    pub(crate) fn padded(&self) -> &[f32] {
        &self.values
    }

    pub(crate) fn padded_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

/// The bias of a unit that does not exist: it is never on.
const NEVER: f32 = -1e4;

/// One layer: the bias of its units and the weights into it, a row for each unit of the other layer.
#[derive(Clone)]
pub(crate) struct Side {
    bias: Aligned<f32>,
    pub(crate) weights: Matrix,
}

impl Side {
    pub(crate) fn new(others: usize, units: usize) -> Self {
        let weights = Matrix::zeroed(others, units);
        let mut bias = Aligned::zeroed(weights.width);
        bias[units..].fill(NEVER);
        Self { bias, weights }
    }

    pub(crate) fn bias(&self) -> &[f32] {
        &self.bias[..self.weights.columns]
    }

    pub(crate) fn bias_mut(&mut self) -> &mut [f32] {
        let units = self.weights.columns;
        &mut self.bias[..units]
    }
}

/// Both layers; the weights are kept in both orders.
#[derive(Clone)]
pub(crate) struct Layers {
    pub(crate) visible: Side,
    pub(crate) hidden: Side,
}

impl Layers {
    pub(crate) fn new(visible: usize, hidden: usize) -> Self {
        Self { visible: Side::new(hidden, visible), hidden: Side::new(visible, hidden) }
    }
}

/// One example of a mini-batch: what the data and what the model says about the hidden layer.
pub(crate) struct Contrast<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) level: Level,
    /// Steps of the Gibbs chain, at least one.
    pub(crate) steps: usize,
    /// The example.
    pub(crate) data: &'a [Active],
    /// Hidden units of a chain that goes on from batch to batch; it starts where there is none.
    pub(crate) particle: Option<&'a mut Option<Vec<Active>>>,
    /// The probabilities of the hidden units, given the data and given the end of the chain.
    pub(crate) hidden_data: &'a mut [f32],
    pub(crate) hidden_model: &'a mut [f32],
    /// Where the chain ends, on the visible side.
    pub(crate) negative: &'a mut Vec<Active>,
    /// As wide as the visible layer, padded.
    pub(crate) scratch: &'a mut Matrix,
    /// Hidden units that are on.
    pub(crate) on: &'a mut Vec<Active>,
    /// Squared error of the first reconstruction, summed over the units, if it is wanted.
    pub(crate) error: Option<&'a mut f64>,
}

impl Contrast<'_> {
    /// Runs with the random stream of this seed and index.
    pub(crate) fn run_with(self, seed: u64, index: u64) {
        assert_eq!(self.hidden_data.len(), self.layers.hidden.weights.width);
        assert_eq!(self.hidden_model.len(), self.layers.hidden.weights.width);
        assert_eq!(self.scratch.padded().len(), self.layers.visible.weights.width);
        let stream = Stream::new(seed, Purpose::Contrast, index);
        dispatch(self.level, WithStream { contrast: self, stream });
    }
}

struct WithStream<'a> {
    contrast: Contrast<'a>,
    stream: Stream,
}

impl Kernel for WithStream<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let Contrast { layers, data, negative, on, scratch, .. } = self.contrast;
        let Contrast { hidden_data, hidden_model, .. } = self.contrast;
        let (visible, hidden) = (&layers.visible, &layers.hidden);
        // SAFETY: buffers are as wide as the layers (`run_with`); the features by `dispatch`.
        unsafe {
            let mut random = self.stream.load::<S>();
            sum_rows::<S>(&hidden.bias, data, &hidden.weights, hidden_data);
            probabilities_and_sample::<S>(hidden_data, &mut random, on);
            let goes_on = self.contrast.particle.is_some();
            let mut error = self.contrast.error;
            // The first step of a chain from the data is the reconstruction; another chain has none.
            if let Some(error) = error.take_if(|_| goes_on) {
                sum_rows::<S>(&visible.bias, on, &visible.weights, scratch.padded_mut());
                probabilities::<S>(scratch.padded_mut());
                *error = squared_error::<S>(scratch.padded(), data);
            }
            let chain = match self.contrast.particle {
                None => on,
                Some(particle) => particle.get_or_insert_with(|| on.clone()),
            };
            for step in 1..=self.contrast.steps {
                sum_rows::<S>(&visible.bias, chain, &visible.weights, scratch.padded_mut());
                probabilities_and_sample::<S>(scratch.padded_mut(), &mut random, negative);
                if let Some(error) = error.take() {
                    *error = squared_error::<S>(scratch.padded(), data);
                }
                sum_rows::<S>(&hidden.bias, negative, &hidden.weights, hidden_model);
                if step < self.contrast.steps {
                    probabilities_and_sample::<S>(hidden_model, &mut random, chain);
                }
            }
            // The gradient takes probabilities; a chain that goes on needs a state as well.
            if goes_on {
                probabilities_and_sample::<S>(hidden_model, &mut random, chain);
            } else {
                probabilities::<S>(hidden_model);
            }
        }
    }
}

/// `out = bias + sum over active units of value * row`.
///
/// # Safety
/// See [`Simd`]; `bias` and `out` are as wide as the rows.
#[inline(always)]
unsafe fn sum_rows<S: Simd>(bias: &[f32], active: &[Active], rows: &Matrix, out: &mut [f32]) {
    let (width, count) = (rows.width, rows.rows() as u32);
    assert!(bias.len() == width && out.len() == width);
    assert!(active.iter().all(|active| active.unit < count));
    let mut tiles = Tiles { bias, active, rows, out, from: 0 };
    // SAFETY: tiles end within the width, units within the rows.
    unsafe {
        while tiles.from + 8 * 16 <= width {
            tiles.sum::<S, 8>();
        }
        while tiles.from + 4 * 16 <= width {
            tiles.sum::<S, 4>();
        }
        while tiles.from + 2 * 16 <= width {
            tiles.sum::<S, 2>();
        }
        while tiles.from < width {
            tiles.sum::<S, 1>();
        }
    }
}

/// Columns of a sum of rows that are not done yet.
struct Tiles<'a> {
    bias: &'a [f32],
    active: &'a [Active],
    rows: &'a Matrix,
    out: &'a mut [f32],
    from: usize,
}

impl Tiles<'_> {
    /// The next N vectors.
    ///
    /// # Safety
    /// See [`Simd`]; at least N vectors are left, and all active units are rows.
    #[inline(always)]
    unsafe fn sum<S: Simd, const N: usize>(&mut self) {
        // SAFETY: by the caller.
        unsafe {
            let (bias, out) =
                (self.bias.as_ptr().add(self.from), self.out.as_mut_ptr().add(self.from));
            let first = self.rows.values.as_ptr().add(self.from);
            let width = self.rows.width;
            let mut sums = [S::splat(0.0); N];
            for k in 0..N {
                sums[k] = S::load(bias.add(16 * k));
            }
            // Few vectors leave the processor waiting for each sum: every other row has its own.
            let mut others = [S::splat(0.0); N];
            let apart = N <= 4;
            for pair in self.active.chunks(2) {
                let row = first.add(pair[0].unit as usize * width);
                let value = S::splat(pair[0].value);
                for k in 0..N {
                    sums[k] = S::mul_add(value, S::load(row.add(16 * k)), sums[k]);
                }
                if let [_, active] = pair {
                    let row = first.add(active.unit as usize * width);
                    let value = S::splat(active.value);
                    let sums = if apart { &mut others } else { &mut sums };
                    for k in 0..N {
                        sums[k] = S::mul_add(value, S::load(row.add(16 * k)), sums[k]);
                    }
                }
            }
            for k in 0..N {
                S::store(out.add(16 * k), if apart { S::add(sums[k], others[k]) } else { sums[k] });
            }
            self.from += 16 * N;
        }
    }
}

/// Inputs become probabilities.
///
/// # Safety
/// See [`Simd`]; whole vectors.
#[inline(always)]
unsafe fn probabilities<S: Simd>(values: &mut [f32]) {
    for vector in values.chunks_exact_mut(16) {
        // SAFETY: 16 values.
        unsafe {
            let p = sigmoid::<S>(S::load(vector.as_ptr()));
            S::store(vector.as_mut_ptr(), p);
        }
    }
}

/// Inputs become probabilities, and `on` the units that are drawn with them.
///
/// # Safety
/// See [`Simd`]; whole vectors.
#[inline(always)]
unsafe fn probabilities_and_sample<S: Simd>(
    values: &mut [f32],
    random: &mut Lanes<S>,
    on: &mut Vec<Active>,
) {
    on.clear();
    on.reserve(values.len());
    for (v, vector) in values.chunks_exact_mut(16).enumerate() {
        // SAFETY: 16 values.
        let mut bits = unsafe {
            let p = sigmoid::<S>(S::load(vector.as_ptr()));
            S::store(vector.as_mut_ptr(), p);
            S::bits(S::less(random.uniforms(), p))
        };
        while bits != 0 {
            on.push(Active { unit: 16 * v as u32 + bits.trailing_zeros(), value: 1.0 });
            bits &= bits - 1;
        }
    }
}

/// # Safety
/// See [`Simd`].
#[inline(always)]
unsafe fn sigmoid<S: Simd>(a: S::F) -> S::F {
    // SAFETY: arithmetic only.
    unsafe {
        let one = S::splat(1.0);
        S::div(one, S::add(one, exp2::<S>(S::mul(a, S::splat(-LOG2_E)))))
    }
}

/// sum_i (x_i - p_i)^2, where x is zero unless it is active.
///
/// # Safety
/// See [`Simd`]; whole vectors.
#[inline(always)]
unsafe fn squared_error<S: Simd>(p: &[f32], x: &[Active]) -> f64 {
    // SAFETY: 16 values each.
    let squares = unsafe {
        let mut sum = S::splat(0.0);
        for vector in p.chunks_exact(16) {
            let p = S::load(vector.as_ptr());
            sum = S::mul_add(p, p, sum);
        }
        S::sum_f64(sum)
    };
    let of_active = |x: &Active| f64::from(x.value) * f64::from(x.value - 2.0 * p[x.unit as usize]);
    squares + x.iter().map(of_active).sum::<f64>()
}

/// F(x) = b.x + sum_j softplus(a_j) of one example.
pub(crate) fn log_marginal(level: Level, layers: &Layers, x: &[Active]) -> f64 {
    let mut out = 0.0;
    dispatch(level, LogMarginal { layers, x, out: &mut out });
    out
}

struct LogMarginal<'a> {
    layers: &'a Layers,
    x: &'a [Active],
    out: &'a mut f64,
}

impl Kernel for LogMarginal<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let hidden = &self.layers.hidden;
        let mut inputs = Aligned::zeroed(hidden.weights.width);
        let bias = self.layers.visible.bias();
        for active in self.x {
            *self.out += f64::from(bias[active.unit as usize]) * f64::from(active.value);
        }
        // SAFETY: as wide as the hidden layer, whole vectors; the features by `dispatch`.
        unsafe {
            sum_rows::<S>(&hidden.bias, self.x, &hidden.weights, &mut inputs);
            let (zero, one) = (S::splat(0.0), S::splat(1.0));
            // The factors lie in (1, 2]: 60 in each of 16 lanes do not overflow in f64.
            for part in inputs.chunks(60 * 16) {
                let mut product = one;
                for vector in part.chunks_exact(16) {
                    let a = S::load(vector.as_ptr());
                    let e = exp2::<S>(S::mul(S::abs(a), S::splat(-LOG2_E)));
                    product = S::mul_add(product, e, product);
                    *self.out += S::sum_f64(S::max(a, zero));
                }
                *self.out += S::product_f64(product).ln();
            }
        }
    }
}

/// How far a mini-batch moves the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Move {
    /// The learning rate.
    pub(crate) rate: f32,
    /// One over the size of the mini-batch.
    pub(crate) scale: f32,
    pub(crate) momentum: f32,
    pub(crate) decay: f32,
}

impl Move {
    /// The same for one number: a bias, which does not decay.
    pub(crate) fn apply(&self, value: &mut f32, velocity: &mut f32, gradient: f32) {
        *velocity = self.momentum.mul_add(*velocity, gradient * self.scale);
        *value = self.rate.mul_add(*velocity, *value);
    }
}

/// Moves rows of the weights; row k by the gradient that `examples[k]` sums over the rows of `hidden`.
pub(crate) struct LearnRows<'a> {
    pub(crate) step: Move,
    /// For each row, where its examples start; one more at the end.
    pub(crate) starts: &'a [usize],
    pub(crate) examples: &'a [Active],
    pub(crate) hidden: &'a Matrix,
    pub(crate) weights: &'a mut [f32],
    pub(crate) velocity: &'a mut [f32],
}

/// Runs it.
pub(crate) fn learn_rows(level: Level, rows: LearnRows<'_>) {
    let count = rows.starts.len() - 1;
    assert_eq!(rows.weights.len(), count * rows.hidden.width);
    assert_eq!(rows.velocity.len(), count * rows.hidden.width);
    dispatch(level, rows);
}

/// The gradient of the bias of the other layer: the same sum over all examples.
pub(crate) fn sum_of_rows(level: Level, active: &[Active], rows: &Matrix) -> Vec<f32> {
    let mut out = vec![0.0; rows.width];
    dispatch(level, SumOfRows { active, rows, out: &mut out });
    out
}

struct SumOfRows<'a> {
    active: &'a [Active],
    rows: &'a Matrix,
    out: &'a mut [f32],
}

impl Kernel for SumOfRows<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let zero = Aligned::zeroed(self.rows.width);
        // SAFETY: as wide as the rows; the features by `dispatch`.
        unsafe { sum_rows::<S>(&zero, self.active, self.rows, self.out) }
    }
}

impl Kernel for LearnRows<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let width = self.hidden.width;
        let zero = Aligned::zeroed(width);
        let mut gradient = Aligned::zeroed(width);
        let rows = self.weights.chunks_exact_mut(width).zip(self.velocity.chunks_exact_mut(width));
        for ((weights, velocity), range) in rows.zip(self.starts.windows(2)) {
            let examples = &self.examples[range[0]..range[1]];
            // SAFETY: all rows are of the same width, whole vectors; the features by `dispatch`.
            unsafe {
                sum_rows::<S>(&zero, examples, self.hidden, &mut gradient);
                let (rate, scale) = (S::splat(self.step.rate), S::splat(self.step.scale));
                let (momentum, decay) = (S::splat(self.step.momentum), S::splat(self.step.decay));
                for at in (0..width).step_by(16) {
                    let weight = weights.as_mut_ptr().add(at);
                    let old = S::load(weight);
                    let uphill = S::mul(S::load(gradient.as_ptr().add(at)), scale);
                    let mut pace = S::neg_mul_add(decay, old, uphill);
                    if self.step.momentum != 0.0 {
                        let kept = velocity.as_mut_ptr().add(at);
                        pace = S::mul_add(momentum, S::load(kept), pace);
                        S::store(kept, pace);
                    }
                    S::store(weight, S::mul_add(rate, pace, old));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn random_side(others: usize, units: usize, random: &mut Random) -> Side {
        let mut side = Side::new(others, units);
        side.bias_mut().iter_mut().for_each(|b| *b = random.normal() as f32);
        let width = side.weights.width;
        for row in side.weights.padded_mut().chunks_exact_mut(width) {
            row[..units].iter_mut().for_each(|w| *w = random.normal() as f32);
        }
        side
    }

    fn random_active(units: usize, random: &mut Random) -> Vec<Active> {
        let mut draw = |unit| {
            let value = random.uniform() as f32;
            random.happens(0.3).then_some(Active { unit, value })
        };
        (0..units as u32).filter_map(&mut draw).collect()
    }

    /// The scalar twin in float64: each sum, and how far float32 may be from it.
    fn plain_sum(side: &Side, active: &[Active]) -> Vec<(f64, f64)> {
        let column = |j: usize| {
            let term = |active: &Active| {
                f64::from(active.value) * f64::from(side.weights.row(active.unit as usize)[j])
            };
            let bias = f64::from(side.bias()[j]);
            let sum = bias + active.iter().map(term).sum::<f64>();
            let size = bias.abs() + active.iter().map(|active| term(active).abs()).sum::<f64>();
            (sum, (active.len() + 1) as f64 * f64::from(f32::EPSILON) / 2.0 * size)
        };
        (0..side.weights.columns).map(column).collect()
    }

    /// The slope of a sigmoid is at most 1/4; exp2 and the division add a few roundings.
    fn are_sigmoids(p: &[f32], sums: &[(f64, f64)]) -> bool {
        let close = |(p, (sum, error)): (&f32, &(f64, f64))| {
            (f64::from(*p) - crate::math::sigmoid(*sum)).abs() < error / 4.0 + 5e-7
        };
        p.iter().zip(sums).all(close)
    }

    fn contrast(
        layers: &Layers,
        level: Level,
        data: &[Active],
        steps: usize,
    ) -> (Vec<f32>, Vec<f32>, Vec<Active>, f64) {
        let width = layers.hidden.weights.width;
        let (mut first, mut last) = (vec![0.0; width], vec![0.0; width]);
        let (mut negative, mut on, mut error) = (vec![], vec![], 0.0);
        let mut scratch = Matrix::zeroed(1, layers.visible.weights.columns);
        Contrast {
            layers,
            level,
            steps,
            data,
            particle: None,
            hidden_data: &mut first,
            hidden_model: &mut last,
            negative: &mut negative,
            scratch: &mut scratch,
            on: &mut on,
            error: Some(&mut error),
        }
        .run_with(7, 3);
        (first, last, negative, error)
    }

    fn random_layers(visible: usize, hidden: usize, random: &mut Random) -> Layers {
        let mut layers = Layers::new(visible, hidden);
        layers.hidden = random_side(visible, hidden, random);
        layers.visible = random_side(hidden, visible, random);
        layers
    }

    proptest! {
        #[test]
        fn probabilities_are_those_of_the_scalar_twin(
            visible in prop::sample::select(vec![1, 7, 63, 64, 65, 200]),
            hidden in prop::sample::select(vec![1, 16, 33, 129]),
            seed in 0u64..1000,
        ) {
            let mut random = Random::stream(seed, Purpose::Model, 0);
            let layers = random_layers(visible, hidden, &mut random);
            let data = random_active(visible, &mut random);
            for level in Level::available() {
                let (first, last, negative, error) = contrast(&layers, level, &data, 2);
                prop_assert!(are_sigmoids(&first, &plain_sum(&layers.hidden, &data)));
                prop_assert!(are_sigmoids(&last, &plain_sum(&layers.hidden, &negative)));
                prop_assert!(first[hidden..].iter().all(|p| *p < 1e-15));
                prop_assert!(negative.iter().all(|active| (active.unit as usize) < visible));
                // The same bits on every instruction set.
                let reference = contrast(&layers, Level::Portable, &data, 2);
                prop_assert_eq!((first, last, negative, error), reference);
            }
        }

        #[test]
        fn log_marginals_are_those_of_float64(
            visible in prop::sample::select(vec![1, 7, 64, 200]),
            hidden in prop::sample::select(vec![1, 16, 33, 1100]),
            seed in 0u64..1000,
        ) {
            let mut random = Random::stream(seed, Purpose::Model, 0);
            let layers = random_layers(visible, hidden, &mut random);
            let data = random_active(visible, &mut random);
            let linear: f64 = data.iter().map(|x| {
                f64::from(x.value) * f64::from(layers.visible.bias()[x.unit as usize])
            }).sum();
            let sums = plain_sum(&layers.hidden, &data);
            let marginal: f64 = sums.iter().map(|(a, _)| crate::math::softplus(*a)).sum();
            let bound: f64 = sums.iter().map(|(_, error)| error + 1e-6).sum();
            for level in Level::available() {
                let found = log_marginal(level, &layers, &data);
                prop_assert!((found - linear - marginal).abs() < bound);
            }
        }

        #[test]
        fn rows_learn_like_the_scalar_twin(
            hidden in prop::sample::select(vec![1, 20, 64, 130]),
            momentum in prop::sample::select(vec![0.0f32, 0.9]),
            seed in 0u64..1000,
        ) {
            let mut random = Random::stream(seed, Purpose::Model, 0);
            let probabilities = random_side(10, hidden, &mut random).weights;
            let width = probabilities.width;
            let lists: Vec<Vec<Active>> = (0..3).map(|_| random_active(10, &mut random)).collect();
            let mut starts = vec![0];
            lists.iter().for_each(|list| starts.push(starts[starts.len() - 1] + list.len()));
            let examples = lists.concat();
            let start = random_side(3, hidden, &mut random).weights;
            let step = Move { rate: 0.1, scale: 0.01, momentum, decay: 0.02 };
            let learn = |level| {
                let (mut weights, mut velocity) = (start.clone(), Matrix::zeroed(3, hidden));
                for _ in 0..2 {
                    let (weights, velocity) = (weights.padded_mut(), velocity.padded_mut());
                    let (starts, examples, hidden) = (&starts, &examples, &probabilities);
                    learn_rows(level, LearnRows { step, starts, examples, hidden, weights, velocity });
                }
                weights
            };
            for level in Level::available() {
                let weights = learn(level);
                let portable = learn(Level::Portable);
                prop_assert_eq!(weights.padded(), portable.padded());
                for (k, list) in lists.iter().enumerate() {
                    for j in 0..hidden {
                        let (mut w, mut v) = (start.row(k)[j], 0.0f32);
                        let gradient = list.iter().fold(0.0f32, |sum, active| {
                            active.value.mul_add(probabilities.row(active.unit as usize)[j], sum)
                        });
                        for _ in 0..2 {
                            v = momentum.mul_add(v, (-step.decay).mul_add(w, gradient * step.scale));
                            w = step.rate.mul_add(v, w);
                        }
                        // The kernel adds in another order: ten terms below five, scaled by 0.001.
                        prop_assert!((weights.padded()[k * width + j] - w).abs() < 1e-6);
                    }
                }
            }
        }
    }
}
