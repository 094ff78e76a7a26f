//! The kernels of training against their scalar twins, and each instruction set against the others.

use crate::learning::chain::{Chain, Example};
use crate::learning::chains::RunChains;
use crate::learning::dense::DenseSums;
use crate::learning::gradient::{HiddenPanel, LearnRows, Move, transpose_panel};
use crate::learning::layers::{Layer, Layers, Matrix, PANEL};
use crate::learning::lists::{Factored, List};
use crate::learning::log_marginals::log_marginals;
use crate::learning::occurrences::Occurrences;
use crate::random::{Purpose, Random};
use crate::simd::Level;
use proptest::prelude::*;

fn random_matrix(rows: usize, columns: usize, random: &mut Random) -> Matrix {
    let mut matrix = Matrix::zeroed(rows, columns);
    (0..rows).for_each(|k| matrix.set_row(k, (0..columns).map(|_| random.normal() as f32)));
    matrix
}

fn random_layers(visible: usize, hidden: usize, random: &mut Random) -> Layers {
    let mut layers = Layers::new(visible, hidden);
    layers.hidden.weights = random_matrix(visible, hidden, random);
    layers.visible.weights = random_matrix(hidden, visible, random);
    for layer in [&mut layers.hidden, &mut layers.visible] {
        layer.bias_mut().iter_mut().for_each(|b| *b = random.normal() as f32);
    }
    layers
}

/// The units and the values of some examples.
struct Examples(Vec<(Vec<u32>, Vec<f32>)>);

impl Examples {
    /// Of various densities, an empty and a full one among them; all values are one unless `grey`.
    fn random(units: usize, count: usize, grey: bool, random: &mut Random) -> Self {
        let one = |n: usize, random: &mut Random| {
            let density = [0.3, 0.0, 1.0, 0.1][n % 4];
            let units: Vec<u32> = (0..units as u32).filter(|_| random.happens(density)).collect();
            let values = units.iter().filter(|_| grey).map(|_| random.uniform() as f32).collect();
            (units, values)
        };
        Self((0..count).map(|n| one(n, random)).collect())
    }

    fn all(&self) -> Vec<Example<'_>> {
        self.0.iter().map(|(units, values)| Example { units, values }).collect()
    }
}

/// The value of each unit that is not zero.
fn values(example: Example<'_>) -> impl ExactSizeIterator<Item = (u32, f32)> + Clone {
    let value = move |k: usize| *example.values.get(k).unwrap_or(&1.0);
    example.units.iter().enumerate().map(move |(k, &unit)| (unit, value(k)))
}

fn value_of(unit: usize, example: Example<'_>) -> f32 {
    values(example).find(|(k, _)| *k as usize == unit).map_or(0.0, |(_, value)| value)
}

/// The end of a chain.
fn end(chain: &Chain) -> Example<'_> {
    Example { units: &chain.end, values: &[] }
}

/// In float64: each sum, and how far float32 may be from it.
fn plain_sum(layer: &Layer, example: Example<'_>) -> Vec<(f64, f64)> {
    let rows: Vec<Vec<f32>> =
        example.units.iter().map(|&unit| layer.weights.row(unit as usize).collect()).collect();
    let column = |j: usize| {
        let terms = values(example).zip(&rows);
        let terms = terms.map(|((_, value), row)| f64::from(value) * f64::from(row[j]));
        let bias = f64::from(layer.bias()[j]);
        let sum = bias + terms.clone().sum::<f64>();
        let size = bias.abs() + terms.map(f64::abs).sum::<f64>();
        (sum, (rows.len() + 1) as f64 * f64::from(f32::EPSILON) / 2.0 * size)
    };
    (0..layer.weights.columns()).map(column).collect()
}

/// The slope of a sigmoid is at most 1/4; exp2 and the division add a few roundings.
fn are_sigmoids(p: &[f32], sums: &[(f64, f64)]) -> bool {
    let close = |(p, (sum, error)): (&f32, &(f64, f64))| {
        (f64::from(*p) - crate::math::sigmoid(*sum)).abs() < error / 4.0 + 5e-7
    };
    p.iter().zip(sums).all(close)
}

fn chains_of(
    layers: &Layers,
    level: Level,
    data: &[Example<'_>],
    steps: usize,
    persistent: bool,
) -> Vec<Chain> {
    let mut chains: Vec<Chain> = data.iter().map(|_| Chain::new(layers)).collect();
    chains.iter_mut().enumerate().for_each(|(n, chain)| chain.seed(7, n as u64));
    RunChains { layers, data, chains: &mut chains, steps, persistent, first: 0, dense: None }
        .run_on(level);
    chains
}

fn occurrences(
    level: Level,
    units: (usize, usize),
    data: &[Example<'_>],
    chains: &[Chain],
) -> Occurrences {
    let mut found = Occurrences::default();
    found.find(level, units, data, chains);
    found
}

proptest! {
    #[test]
    fn probabilities_are_those_of_the_scalar_twin(
        visible in prop::sample::select(vec![1, 7, 63, 64, 65, 200, 700]),
        hidden in prop::sample::select(vec![1, 16, 33, 129, 400]),
        persistent: bool,
        grey: bool,
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let data = Examples::random(visible, 5, grey, &mut random);
        let data = data.all();
        let reference = chains_of(&layers, Level::Portable, &data, 2, persistent);
        for level in Level::available() {
            let chains = chains_of(&layers, level, &data, 2, persistent);
            for (n, (chain, twin)) in chains.iter().zip(&reference).enumerate() {
                let given_data = plain_sum(&layers.hidden, data[n]);
                prop_assert!(are_sigmoids(&chain.given_data, &given_data));
                let given_end = plain_sum(&layers.hidden, end(chain));
                prop_assert!(are_sigmoids(&chain.given_end, &given_end));
                prop_assert!(chain.given_data[hidden..].iter().all(|p| *p < 1e-15));
                prop_assert!(chain.end.iter().all(|&unit| (unit as usize) < visible));
                prop_assert!(chain.end.is_sorted());
                // The same bits on every instruction set, and alone or with others.
                let mut alone = Chain::new(&layers);
                alone.seed(7, n as u64);
                let (data, chains) = (&data[n..n + 1], std::slice::from_mut(&mut alone));
                let layers = &layers;
                RunChains { layers, data, chains, steps: 2, persistent, first: n, dense: None }.run_on(level);
                for other in [twin, &alone] {
                    prop_assert_eq!(&chain.given_data[..], &other.given_data[..]);
                    prop_assert_eq!(&chain.given_end[..], &other.given_end[..]);
                    prop_assert_eq!(&chain.end, &other.end);
                    prop_assert_eq!(&chain.state, &other.state);
                    prop_assert_eq!(chain.error, other.error);
                }
            }
        }
    }

    #[test]
    fn tables_give_the_sums_of_dense_chains(
        visible in prop::sample::select(vec![1, 31, 65, 100]),
        hidden in prop::sample::select(vec![1, 5, 40, 64, 129]),
        count in prop::sample::select(vec![64, 75, 260]),
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let mut state = || Some((0..hidden as u32).filter(|_| random.happens(0.6)).collect());
        let mut chains: Vec<Chain> = (0..count).map(|_| Chain::new(&layers)).collect();
        chains.iter_mut().for_each(|chain| chain.state = state());
        let on: usize = chains.iter().flat_map(|chain| &chain.state).map(Vec::len).sum();
        let mut found: Vec<Vec<f32>> = vec![];
        for (level, shares) in Level::available().into_iter().flat_map(|l| [(l, 1), (l, 3)]) {
            let mut dense = DenseSums::default();
            prop_assert_eq!(dense.take(&layers.visible, &chains), 3 * on >= hidden * count);
            if 3 * on < hidden * count {
                return Ok(());
            }
            dense.shares(&layers.visible, shares).into_iter().for_each(|share| share.run_on(level));
            let sums: Vec<Vec<f32>> = (0..count).map(|k| dense.of(k).flatten().copied().collect()).collect();
            if found.is_empty() {
                found = sums;
            } else {
                prop_assert_eq!(&found, &sums);
            }
        }
        for (chain, found) in chains.iter().zip(&found) {
            let units = chain.state.as_deref().unwrap_or_default();
            let plain = plain_sum(&layers.visible, Example { units, values: &[] });
            for ((found, bias), (sum, error)) in found.iter().zip(layers.visible.bias()).zip(plain) {
                prop_assert!((f64::from(bias + found) - sum).abs() <= error);
            }
        }
    }

    #[test]
    fn states_as_bits_are_those_of_the_list(hidden in 1usize..200, seed in 0u64..1000) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(30, hidden, &mut random);
        let data = Examples::random(30, 3, false, &mut random);
        for mut chain in chains_of(&layers, Level::detect(), &data.all(), 1, true) {
            let words = |chain: &Chain| {
                let mut words = vec![1; hidden.div_ceil(64)];
                chain.write_state(words.iter_mut());
                words
            };
            let from_bits = words(&chain);
            prop_assert!(!chain.state_bits.is_empty());
            chain.state_bits.clear();
            prop_assert_eq!(from_bits, words(&chain));
        }
    }

    #[test]
    fn log_marginals_are_those_of_float64(
        visible in prop::sample::select(vec![1, 7, 64, 200]),
        hidden in prop::sample::select(vec![1, 16, 33, 1100]),
        grey: bool,
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let data = Examples::random(visible, 3, grey, &mut random);
        let data = data.all();
        for level in Level::available() {
            for (&example, found) in data.iter().zip(log_marginals(level, &layers, &data)) {
                let bias = layers.visible.bias();
                let linear = values(example).map(|(unit, x)| f64::from(x) * f64::from(bias[unit as usize]));
                let sums = plain_sum(&layers.hidden, example);
                let marginal: f64 = sums.iter().map(|(a, _)| crate::math::softplus(*a)).sum();
                let bound: f64 = sums.iter().map(|(_, error)| error + 1e-6).sum();
                prop_assert!((found - linear.sum::<f64>() - marginal).abs() < bound);
            }
        }
    }

    #[test]
    fn rows_learn_like_the_scalar_twin(
        visible in prop::sample::select(vec![1, 2, 7, 40]),
        hidden in prop::sample::select(vec![1, 20, 64, 130, 200]),
        momentum in prop::sample::select(vec![0.0f32, 0.9]),
        grey: bool,
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let data = Examples::random(visible, 10, grey, &mut random);
        let data = data.all();
        let chains = chains_of(&layers, Level::Portable, &data, 1, false);
        let step = Move { rate: 0.1, scale: 0.01, momentum, decay: 0.02 };
        // In shares of 32 units, as many threads would take them.
        let parts: Vec<Occurrences> = (0..visible).step_by(PANEL).map(|first| {
            occurrences(Level::Portable, (first, PANEL.min(visible - first)), &data, &chains)
        }).collect();
        let panels_of = |level| -> Vec<HiddenPanel> {
            let numbers = 0..hidden.div_ceil(PANEL);
            numbers.map(|number| HiddenPanel::of(level, &chains, number, hidden)).collect()
        };
        let learn = |level| {
            let panels = panels_of(level);
            let mut weights = layers.hidden.weights.clone();
            let mut velocity = Matrix::zeroed(visible, hidden);
            let mut mirrored = Matrix::zeroed(hidden, visible);
            let panel_len = mirrored.panel_len();
            for _ in 0..2 {
                let shares = weights.shares_mut(PANEL).into_iter().zip(velocity.shares_mut(PANEL));
                let shares = shares.zip(mirrored.panels_mut().chunks_exact_mut(panel_len));
                for (occurrences, ((mut weights, mut velocity), mirrored)) in parts.iter().zip(shares) {
                    let pairs = weights.chunks_mut(2).zip(velocity.chunks_mut(2));
                    for (panels, (weights, velocity)) in panels.chunks(2).zip(pairs) {
                        LearnRows { step, occurrences, panels, weights, velocity, mirrored, panel_len }
                            .run_on(level);
                    }
                }
            }
            for j in 0..hidden {
                let column: Vec<f32> = (0..visible).map(|i| weights.row(i).nth(j).unwrap()).collect();
                assert_eq!(mirrored.row(j).collect::<Vec<f32>>(), column);
            }
            weights
        };
        let portable = learn(Level::Portable);
        // The statistics <x h>, from the definition.
        for level in Level::available() {
            let weights = learn(level);
            prop_assert_eq!(weights.panels(), portable.panels());
            for i in 0..visible {
                let start: Vec<f32> = layers.hidden.weights.row(i).collect();
                for (j, found) in weights.row(i).enumerate() {
                    let gradient: f32 = chains.iter().zip(&data).map(|(chain, x)| {
                        value_of(i, *x) * chain.given_data[j] - value_of(i, end(chain)) * chain.given_end[j]
                    }).sum();
                    let (mut w, mut v) = (start[j], 0.0f32);
                    for _ in 0..2 {
                        v = momentum.mul_add(v, (-step.decay).mul_add(w, gradient * step.scale));
                        w = step.rate.mul_add(v, w);
                    }
                    // The kernel adds in another order: twenty terms below one, scaled by 0.001.
                    prop_assert!((found - w).abs() < 1e-6);
                }
            }
        }
        // The biases: sums of the same statistics over all units of the other layer being on.
        for (i, found) in parts.iter().flat_map(|part| part.sums()).enumerate() {
            let expected: f32 = chains.iter().zip(&data)
                .map(|(chain, x)| value_of(i, *x) - value_of(i, end(chain))).sum();
            prop_assert!((found - expected).abs() < 1e-5);
        }
        for level in Level::available() {
            for (j, found) in panels_of(level).iter().flat_map(|panel| panel.sum).take(hidden).enumerate() {
                let difference = |chain: &Chain| chain.given_data[j] - chain.given_end[j];
                let expected: f32 = chains.iter().map(difference).sum();
                prop_assert!((found - expected).abs() < 1e-5);
            }
            let (mut bias, mut velocity) = ([0.5, -1.0], [2.0, 3.0]);
            step.learn_biases(level, &mut bias, &mut velocity, [5.0, 7.0, 9.0].into_iter());
            let moved = [2.0, 3.0].map(|v: f32| momentum.mul_add(v, (2.0 * v + 1.0) * step.scale));
            prop_assert_eq!(velocity, moved);
            prop_assert_eq!(bias, [step.rate.mul_add(moved[0], 0.5), step.rate.mul_add(moved[1], -1.0)]);
        }
    }

    #[test]
    fn units_split_among_threads_have_the_same_examples(
        sixteens in 0usize..3, count in 0usize..33, grey: bool, seed in 0u64..1000,
    ) {
        let first = 16 * sixteens;
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(80, 5, &mut random);
        let data = Examples::random(80, 70, grey, &mut random);
        let data = data.all();
        let chains = chains_of(&layers, Level::Portable, &data, 1, false);
        let listed = |found: &Occurrences, k: usize| -> Vec<(u32, f32)> {
            match found.are_ones() {
                true => found.list::<&[u32]>(k).iter().map(|&row| (row, 1.0)).collect(),
                false => { let list = found.list::<Factored<'_>>(k); (0..list.len()).map(|n| list.get(n)).collect() }
            }
        };
        // Of all units, from the definition.
        let expected = |unit: u32| -> Vec<(u32, f32)> {
            let of_data = (0..).zip(&data).map(|(n, x)| (n, value_of(unit as usize, *x)));
            let of_ends = (data.len() as u32..).zip(&chains).map(|(n, chain)| (n, value_of(unit as usize, end(chain))));
            of_data.chain(of_ends).filter(|(_, value)| *value != 0.0).collect()
        };
        for level in Level::available() {
            let mut found = occurrences(level, (first, count), &data, &chains);
            for k in 0..count {
                prop_assert_eq!(listed(&found, k), expected((first + k) as u32));
            }
            // Buffers stay from batch to batch, and the next one may be of another kind.
            let other = Examples::random(80, 70, !grey, &mut random);
            found.find(level, (first, count), &other.all(), &chains);
            found.find(level, (first, count), &data, &chains);
            for k in 0..count {
                prop_assert_eq!(listed(&found, k), expected((first + k) as u32));
            }
        }
    }

    #[test]
    fn transposed_rows_are_columns(
        rows in prop::sample::select(vec![1, 15, 16, 33, 64, 100]),
        columns in prop::sample::select(vec![1, 16, 17, 40, 96]),
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let from = random_matrix(rows, columns, &mut random);
        for level in Level::available() {
            let mut to = Matrix::zeroed(columns, rows);
            let len = to.panel_len();
            for (p, panel) in to.panels_mut().chunks_exact_mut(len).enumerate() {
                transpose_panel(level, &from, p, panel);
            }
            for j in 0..columns {
                let column: Vec<f32> = (0..rows).map(|i| from.row(i).nth(j).unwrap()).collect();
                prop_assert_eq!(to.row(j).collect::<Vec<f32>>(), column);
            }
        }
    }
}
