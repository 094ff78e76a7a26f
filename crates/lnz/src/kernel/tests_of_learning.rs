//! The kernels of training against their scalar twins, and each instruction set against the others.

use super::super::layers::{Matrix, PANEL, Side};
use super::super::learn::{HiddenPanel, LearnRows, Move, sum_of_contrasts, transpose_panel};
use super::super::occurrences::Occurrences;
use super::super::row_sums::{Active, Minus};
use super::*;
use crate::random::Random;
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
    for side in [&mut layers.hidden, &mut layers.visible] {
        side.bias_mut().iter_mut().for_each(|b| *b = random.normal() as f32);
    }
    layers
}

/// Some examples of various densities, an empty and a full one among them.
fn random_examples(units: usize, count: usize, random: &mut Random) -> Vec<Vec<Active>> {
    let one = |n: usize, random: &mut Random| {
        let density = [0.3, 0.0, 1.0, 0.1][n % 4];
        let units = (0..units as u32).filter(|_| random.happens(density)).collect::<Vec<u32>>();
        let value = |unit| Active { unit, value: random.uniform() as f32 };
        units.into_iter().map(value).collect()
    };
    (0..count).map(|n| one(n, random)).collect()
}

/// In float64: each sum, and how far float32 may be from it.
fn plain_sum(side: &Side, active: &[Active]) -> Vec<(f64, f64)> {
    let rows: Vec<Vec<f32>> =
        active.iter().map(|active| side.weights.row(active.unit as usize).collect()).collect();
    let column = |j: usize| {
        let terms = active.iter().zip(&rows).map(|(x, row)| f64::from(x.value) * f64::from(row[j]));
        let bias = f64::from(side.bias()[j]);
        let sum = bias + terms.clone().sum::<f64>();
        let size = bias.abs() + terms.map(f64::abs).sum::<f64>();
        (sum, (active.len() + 1) as f64 * f64::from(f32::EPSILON) / 2.0 * size)
    };
    (0..side.weights.columns()).map(column).collect()
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
    data: &[&[Active]],
    steps: usize,
    persistent: bool,
) -> Vec<Chain> {
    let mut chains: Vec<Chain> = data.iter().map(|_| Chain::new(layers)).collect();
    chains.iter_mut().enumerate().for_each(|(n, chain)| chain.seed(7, n as u64));
    let contrast =
        Contrast { layers, data, chains: &mut chains, steps, persistent, measure_every: 1 };
    contrast.run_on(level);
    chains
}

fn occurrences(
    level: Level,
    units: (usize, usize),
    data: &[&[Active]],
    chains: &[Chain],
) -> Occurrences {
    let mut found = Occurrences::default();
    found.find(level, units, data, chains);
    found
}

fn values(list: &[u32]) -> Vec<Active> {
    list.iter().map(|&unit| Active { unit, value: 1.0 }).collect()
}

proptest! {
    #[test]
    fn probabilities_are_those_of_the_scalar_twin(
        visible in prop::sample::select(vec![1, 7, 63, 64, 65, 200, 700]),
        hidden in prop::sample::select(vec![1, 16, 33, 129, 400]),
        persistent: bool,
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let data = random_examples(visible, 5, &mut random);
        let data: Vec<&[Active]> = data.iter().map(|x| &x[..]).collect();
        let reference = contrast(&layers, Level::Portable, &data, 2, persistent);
        for level in Level::available() {
            let chains = contrast(&layers, level, &data, 2, persistent);
            for (n, (chain, twin)) in chains.iter().zip(&reference).enumerate() {
                let given_data = plain_sum(&layers.hidden, data[n]);
                prop_assert!(are_sigmoids(&chain.given_data, &given_data));
                let given_end = plain_sum(&layers.hidden, &values(&chain.end));
                prop_assert!(are_sigmoids(&chain.given_end, &given_end));
                prop_assert!(chain.given_data[hidden..].iter().all(|p| *p < 1e-15));
                prop_assert!(chain.end.iter().all(|&unit| (unit as usize) < visible));
                prop_assert!(chain.end.is_sorted());
                // The same bits on every instruction set, and alone or with others.
                let mut alone = Chain::new(&layers);
                alone.seed(7, n as u64);
                let (data, chains) = (&data[n..n + 1], std::slice::from_mut(&mut alone));
                let layers = &layers;
                Contrast { layers, data, chains, steps: 2, persistent, measure_every: 1 }.run_on(level);
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
    fn log_marginals_are_those_of_float64(
        visible in prop::sample::select(vec![1, 7, 64, 200]),
        hidden in prop::sample::select(vec![1, 16, 33, 1100]),
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let data = random_examples(visible, 3, &mut random);
        let data: Vec<&[Active]> = data.iter().map(|x| &x[..]).collect();
        for level in Level::available() {
            for (example, found) in data.iter().zip(log_marginals(level, &layers, &data)) {
                let bias = layers.visible.bias();
                let linear = example.iter().map(|x| f64::from(x.value) * f64::from(bias[x.unit as usize]));
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
        seed in 0u64..1000,
    ) {
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(visible, hidden, &mut random);
        let data = random_examples(visible, 10, &mut random);
        let data: Vec<&[Active]> = data.iter().map(|x| &x[..]).collect();
        let chains = contrast(&layers, Level::Portable, &data, 1, false);
        let occurrences = occurrences(Level::Portable, (0, visible), &data, &chains);
        let step = Move { rate: 0.1, scale: 0.01, momentum, decay: 0.02 };
        let learn = |level| {
            let mut weights = layers.hidden.weights.clone();
            let mut velocity = Matrix::zeroed(visible, hidden);
            let len = weights.panel_len();
            for _ in 0..2 {
                let panels = weights.panels_mut().chunks_exact_mut(len);
                let panels = panels.zip(velocity.panels_mut().chunks_exact_mut(len)).enumerate();
                for (p, (weights, velocity)) in panels {
                    let panel = HiddenPanel::of(&chains, p, hidden);
                    let weights = &mut weights[..visible * PANEL];
                    let velocity = &mut velocity[..visible * PANEL];
                    let (occurrences, hidden) = (&occurrences, &panel);
                    LearnRows { step, occurrences, hidden, weights, velocity }.run_on(level);
                }
            }
            weights
        };
        let portable = learn(Level::Portable);
        // The statistics <x h>, from the definition.
        let on = |list: &[Active], i: usize| {
            list.iter().find(|x| x.unit as usize == i).map_or(0.0, |x| x.value)
        };
        for level in Level::available() {
            let weights = learn(level);
            prop_assert_eq!(weights.panels(), portable.panels());
            for i in 0..visible {
                let start: Vec<f32> = layers.hidden.weights.row(i).collect();
                for (j, found) in weights.row(i).enumerate() {
                    let gradient: f32 = chains.iter().zip(&data).map(|(chain, x)| {
                        let end = on(&values(&chain.end), i);
                        on(x, i) * chain.given_data[j] - end * chain.given_end[j]
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
        for (i, found) in occurrences.sums().enumerate() {
            let expected: f32 = chains.iter().zip(&data)
                .map(|(chain, x)| on(x, i) - on(&values(&chain.end), i)).sum();
            prop_assert!((found - expected).abs() < 1e-5);
        }
        for (j, found) in sum_of_contrasts(&chains, hidden)[..hidden].iter().enumerate() {
            let difference = |chain: &Chain| chain.given_data[j] - chain.given_end[j];
            let expected: f32 = chains.iter().map(difference).sum();
            prop_assert!((found - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn units_split_among_threads_have_the_same_examples(
        sixteens in 0usize..3, count in 0usize..33, seed in 0u64..1000,
    ) {
        let first = 16 * sixteens;
        let mut random = Random::stream(seed, Purpose::Model, 0);
        let layers = random_layers(80, 5, &mut random);
        let data = random_examples(80, 70, &mut random);
        let data: Vec<&[Active]> = data.iter().map(|x| &x[..]).collect();
        let chains = contrast(&layers, Level::Portable, &data, 1, false);
        let all = occurrences(Level::Portable, (0, 80), &data, &chains);
        for level in Level::available() {
            let some = occurrences(level, (first, count), &data, &chains);
            for k in 0..count {
                prop_assert_eq!(some.data(k), all.data(first + k));
                prop_assert_eq!(some.ends(k), all.ends(first + k));
            }
        }
        for unit in 0..80u32 {
            let on = |list: &[Active]| list.iter().find(|x| x.unit == unit).map(|x| x.value);
            let expected: Vec<Active> = (0..).zip(&data)
                .filter_map(|(n, x)| on(x).map(|value| Active { unit: n, value })).collect();
            prop_assert_eq!(all.data(unit as usize), expected);
            let expected: Vec<Minus> = (data.len() as u32..).zip(&chains)
                .filter(|(_, chain)| chain.end.contains(&unit)).map(|(n, _)| Minus(n)).collect();
            prop_assert_eq!(all.ends(unit as usize), expected);
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
