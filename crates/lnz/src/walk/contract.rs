//! What every engine promises, checked on models that are small enough to enumerate.

use super::{Population, stay, walk};
use crate::chains::{Bridge, Engine, FAST, Held, ReferenceEngine, Task, Walkers, engine};
use crate::math::{log_mean_exp, log_sum_exp};
use crate::path::Path;
use crate::{Gwgm, Precision, Rbm, Start};
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{ChainRange, Flips, GROUP};
use ndarray::{Array1, array};
use std::borrow::Cow;
use std::sync::Arc;

const VISIBLE: usize = 4;
/// Few and uneven, so that the weights vary.
const BETAS: [f64; 5] = [0.0, 0.15, 0.4, 0.7, 1.0];

/// A model for each kind of hidden units, with its name. The visible ones are 0 or 1.
fn models() -> Vec<(&'static str, Rbm)> {
    let family = Gwgm {
        visible: VISIBLE,
        hidden: 5,
        mu_mu: 0.2,
        sigma_mu: 0.0,
        mu_sigma: 1.2,
        sigma_sigma: 0.0,
        lambda: 1.0,
    };
    vec![("binary", family.generate(3).unwrap().with_constant(-1.5).unwrap())]
}

/// A kind of path: its name, how it is made, and the flips on it.
type KindOfPath<'m> = (&'static str, Box<dyn Fn() -> Path<'m> + 'm>, Flips);

fn paths(model: &Rbm) -> Vec<KindOfPath<'_>> {
    let one = move || {
        let start = Start::from_means(array![0.8, 0.3, 0.5, 0.6].view(), 0.05).unwrap();
        Path::new(Cow::Borrowed(model), &start)
    };
    let (visible, hidden) = (Flips { visible: 2, hidden: 0 }, Flips { visible: 0, hidden: 2 });
    vec![
        ("sweeps", Box::new(one), Flips::default()),
        ("flips of visible units", Box::new(one), visible),
        ("flips of hidden units", Box::new(one), hidden),
    ]
}

/// Checks every engine on every kind of model and path. Its name is given, and the model.
fn for_every_engine(check: impl Fn(&str, &dyn Engine, &Rbm)) {
    for (units, model) in models() {
        for (way, path, flips) in paths(&model) {
            for (k, backend) in FAST.iter().enumerate() {
                for precision in [Precision::I16, Precision::I32, Precision::F64] {
                    let in_tiles = Held::new(&model, precision, &()).unwrap();
                    let by_row = Arc::new(Bridge::RowByRow { keeps_inputs: true });
                    let row_by_row = Held { bridge: by_row, ..in_tiles.clone() };
                    for (held, ending) in [(in_tiles, "in tiles"), (row_by_row, "row by row")] {
                        let task = Task { path: path(), flips, held };
                        if let Ok(engine) = backend(Box::new(task)) {
                            let name =
                                format!("backend {k}, {precision:?}, {units}, {way}, {ending}");
                            check(&name, &*engine, &model);
                        }
                    }
                }
            }
            check(
                &format!("float64, {units}, {way}"),
                &ReferenceEngine::new(path(), flips),
                &model,
            );
        }
    }
}

#[test]
fn the_precision_that_is_asked_for_is_used_where_it_fits() {
    let (_, model) = &models()[0];
    for precision in [Precision::I16, Precision::I32, Precision::F64] {
        for (_, path, flips) in paths(model) {
            let held = Held::new(model, precision, &()).unwrap();
            let engine = engine(path(), flips, &held);
            assert_eq!(engine.precision(), precision);
        }
    }
}

fn range(group: usize, chains: usize, seed: u64) -> ChainRange {
    ChainRange { group, chains, seed, purpose: Purpose::Anneal }
}

fn states() -> Vec<Array1<f64>> {
    let unit = |state: usize, i: usize| (state >> i & 1) as f64;
    (0..1 << VISIBLE).map(|state| (0..VISIBLE).map(|i| unit(state, i)).collect()).collect()
}

/// The probability of each state at `beta`, by enumeration.
fn probabilities(path: &Path<'_>, beta: f64) -> Vec<f64> {
    let log_density = |x: &Array1<f64>| {
        path.log_density(beta, x.view(), path.model().hidden_input(x.view()).view())
    };
    let heights: Vec<f64> = states().iter().map(log_density).collect();
    let log_z = log_sum_exp(&heights);
    heights.iter().map(|height| (height - log_z).exp()).collect()
}

fn exact_log_z(model: &Rbm) -> f64 {
    let heights: Vec<f64> = states().iter().map(|x| model.log_marginal(x.view())).collect();
    log_sum_exp(&heights)
}

/// Puts chains into states drawn from `probabilities`.
fn draw_states(walkers: &mut dyn Walkers, probabilities: &[f64], seed: u64) {
    let mut random = Random::stream(seed, Purpose::FirstState, 0);
    let mut draw = || {
        let mut left = random.uniform();
        let passed = probabilities.iter().take_while(|p| {
            left -= *p;
            left >= 0.0
        });
        passed.count().min(probabilities.len() - 1)
    };
    let drawn: Vec<usize> = (0..walkers.chains()).map(|_| draw()).collect();
    walkers.set_states(&mut |chain, i| drawn[chain] >> i & 1 == 1);
}

/// Pearson's statistic of the chains lies within six standard deviations of its mean, both of which are
/// known for a multinomial distribution.
fn assert_distributed(walkers: &dyn Walkers, probabilities: &[f64], what: &str) {
    let mut counts = vec![0.0; probabilities.len()];
    for chain in 0..walkers.chains() {
        let units = walkers.state(chain);
        let state: usize = units.iter().enumerate().map(|(i, &x)| (x as usize) << i).sum();
        counts[state] += 1.0;
    }
    let (n, k) = (walkers.chains() as f64, probabilities.len() as f64);
    let found: f64 =
        counts.iter().zip(probabilities).map(|(c, p)| (c - n * p).powi(2) / (n * p)).sum();
    let inverses: f64 = probabilities.iter().map(|p| 1.0 / p).sum();
    let variance = 2.0 * (k - 1.0) + (inverses - k * k - 2.0 * k + 2.0) / n;
    let most = k - 1.0 + 6.0 * variance.sqrt();
    assert!(found < most, "{what}: {found} exceeds {most}; {counts:?}, {probabilities:?}");
}

#[test]
fn the_start_is_drawn_from_the_distribution_at_beta_zero() {
    for_every_engine(|name, engine, _| {
        let mut walkers = engine.walkers(range(0, 8192, 1), &());
        walkers.draw_start();
        assert_distributed(&*walkers, &probabilities(engine.path(), 0.0), name);
    });
}

#[test]
fn every_engine_leaves_each_distribution_of_the_path_as_it_is() {
    for_every_engine(|name, engine, _| {
        for beta in [0.2, 0.6, 1.0] {
            let expected = probabilities(engine.path(), beta);
            let mut walkers = engine.walkers(range(0, 8192, 2), &());
            draw_states(&mut *walkers, &expected, 2);
            stay(&mut *walkers, beta, 3, || Some(())).unwrap();
            assert_distributed(&*walkers, &expected, &format!("{name}, beta = {beta}"));
        }
    });
}

#[test]
fn every_engine_forgets_where_its_chains_began() {
    for_every_engine(|name, engine, _| {
        let expected = probabilities(engine.path(), 0.6);
        let mut walkers = engine.walkers(range(0, 8192, 3), &());
        stay(&mut *walkers, 0.6, 40, || Some(())).unwrap();
        assert_distributed(&*walkers, &expected, name);
    });
}

/// Populations, each with its own chains and random numbers.
const POPULATIONS: usize = 256;

/// Z^/Z of many small populations, or the inverse of it on the way back: both are one on average.
fn ratios(engine: &dyn Engine, forward: bool, resampled: bool) -> Vec<f64> {
    let (log_z, log_z0) = (exact_log_z(engine.path().model()), engine.path().log_z0());
    let at_model = probabilities(engine.path(), 1.0);
    let ratio = |index: usize| {
        let mut walkers = engine.walkers(range(index, GROUP, 4), &());
        let mut population = Population::new(GROUP, 0.0);
        if resampled {
            population = population.resampled(Random::stream(4, Purpose::Resample, index as u64));
        }
        let mut betas = BETAS;
        if forward {
            walkers.draw_start();
        } else {
            draw_states(&mut *walkers, &at_model, index as u64);
            betas.reverse();
        }
        walk(&mut *walkers, &mut population, betas.into_iter(), |_, _| Some(())).unwrap();
        let expected = if forward { log_z - log_z0 } else { log_z0 - log_z };
        (log_mean_exp(&population.log_weights) - expected).exp()
    };
    (0..POPULATIONS).map(ratio).collect()
}

fn assert_unbiased(forward: bool) {
    for_every_engine(|name, engine, _| {
        let [independent, resampled] = [false, true].map(|r| ratios(engine, forward, r));
        assert!(independent != resampled, "{name}: no population was resampled");
        for (way, ratios) in [("independent", independent), ("resampled", resampled)] {
            let n = ratios.len() as f64;
            let mean = ratios.iter().sum::<f64>() / n;
            let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let error = (variance / n).sqrt();
            let what = format!("{name}, chains {way}: {mean} +- {error}");
            // Without spread, or with too much, the mean would tell nothing.
            assert!((1e-4..0.05).contains(&error), "{what}");
            assert!((mean - 1.0).abs() < 4.5 * error, "{what}");
        }
    });
}

#[test]
fn the_way_to_the_model_is_unbiased() {
    assert_unbiased(true);
}

#[test]
fn the_way_back_is_unbiased() {
    assert_unbiased(false);
}

/// The log weights of some chains on the way to the model.
fn log_weights(engine: &dyn Engine, range: ChainRange) -> Vec<f64> {
    let mut walkers = engine.walkers(range, &());
    walkers.draw_start();
    let mut population = Population::new(range.chains, engine.path().log_z0());
    walk(&mut *walkers, &mut population, BETAS.into_iter(), |_, _| Some(())).unwrap();
    population.log_weights
}

#[test]
fn a_seed_fixes_every_bit_whatever_block_a_chain_is_in() {
    for_every_engine(|name, engine, _| {
        let together = log_weights(engine, range(1, 40, 5));
        let [first, second, third] = [(1, GROUP), (2, GROUP), (3, 8)]
            .map(|(group, chains)| log_weights(engine, range(group, chains, 5)));
        assert_eq!(together, [first, second, third].concat(), "{name}");
        assert_ne!(together, log_weights(engine, range(1, 40, 6)), "{name}");
        assert_ne!(together, log_weights(engine, range(4, 40, 5)), "{name}");
    });
}

#[test]
fn weights_are_differences_of_densities_and_the_bridge_leads_to_the_real_one() {
    for_every_engine(|name, engine, model| {
        let path = engine.path();
        let mut walkers = engine.walkers(range(0, 24, 7), &());
        walkers.draw_start();
        let [mut gains, mut before, mut after, mut at_model, mut bridge] =
            [(); 5].map(|()| vec![0.0; 24]);
        walkers.weigh(0.3, 0.8, &mut gains);
        walkers.log_density(0.3, &mut before);
        walkers.log_density(0.8, &mut after);
        walkers.log_density(1.0, &mut at_model);
        walkers.log_bridge(&mut bridge);
        for chain in 0..24 {
            // The kernels work in float32: some tens of terms below ten.
            let expected = after[chain] - before[chain];
            assert!((gains[chain] - expected).abs() < 1e-4, "{name}: {} {expected}", gains[chain]);
            let (x, a) = (walkers.state(chain), walkers.model_inputs(chain));
            assert_eq!(a, model.hidden_input(x.view()), "{name}");
            let (found, real) =
                (at_model[chain] + bridge[chain], path.log_density(1.0, x.view(), a.view()));
            // Sums of float64 below a hundred.
            assert!((found - real).abs() < 1e-12, "{name}: {found} {real}");
        }
    });
}

#[test]
fn rearranged_chains_are_copies_that_go_their_own_ways() {
    for_every_engine(|name, engine, _| {
        let mut walkers = engine.walkers(range(0, 64, 8), &());
        walkers.draw_start();
        let mut gains = vec![0.0; 64];
        walkers.weigh(0.0, 0.5, &mut gains);
        let state = walkers.state(5);
        walkers.rearrange(&[5; 64]);
        assert!((0..64).all(|chain| walkers.state(chain) == state), "{name}");
        stay(&mut *walkers, 0.5, 3, || Some(())).unwrap();
        assert!((1..64).any(|chain| walkers.state(chain) != walkers.state(0)), "{name}");
    });
}
