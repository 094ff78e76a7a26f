//! Moves keep the distribution that they should, and are the same on every instruction set.

use crate::annealing::block::{Block, Flips};
use crate::annealing::fixed::{FixedModel, Resolution};
use crate::annealing::groups::ChainRange;
use crate::annealing::metropolis::MetropolisBlock;
use crate::annealing::path::Path;
use crate::bits::Bits;
use crate::math::log_sum_exp;
use crate::random::Purpose;
use crate::simd::Level;
use crate::test_model::Rbm;
use ndarray::{Array1, array};

const VISIBLE: usize = 5;
const CHAINS: usize = 4096;

/// A model small enough to know every probability.
fn small_model() -> Rbm {
    Rbm::gaussian(VISIBLE, 3, 1.0, 8)
}

fn on_grid(model: &Rbm) -> FixedModel<i32> {
    FixedModel::new(model, Resolution::of::<i32>(model).unwrap())
}

/// The states of the chains are as frequent as exp(F), within five standard errors.
fn assert_distributed_as(model: &Rbm, bits: &Bits, what: &str) {
    let states: Vec<f64> = (0..1usize << VISIBLE)
        .map(|state| {
            let x = Array1::from_iter((0..VISIBLE).map(|i| (state >> i & 1) as f64));
            model.log_marginal(x.view())
        })
        .collect();
    let log_z = log_sum_exp(&states);
    for (state, log_p) in states.iter().enumerate() {
        let here = |chain| (0..VISIBLE).all(|i| bits.get(chain, i) == (state >> i & 1 == 1));
        let found = (0..CHAINS).filter(|&chain| here(chain)).count() as f64 / CHAINS as f64;
        let p = (log_p - log_z).exp();
        let std_error = (p * (1.0 - p) / CHAINS as f64).sqrt();
        assert!((found - p).abs() < 5.0 * std_error, "{what}, state {state}: {found} {p}");
    }
}

#[test]
fn metropolis_keeps_the_distribution_of_a_small_model() {
    let model = small_model();
    let fixed = on_grid(&model);
    for level in Level::available() {
        for flips in [1, 3] {
            let mut block = MetropolisBlock::new(&fixed, level, 0, CHAINS, 2, |_, _| false);
            for _ in 0..100 {
                block.step(flips);
            }
            assert_distributed_as(&model, block.bits(), &format!("{level:?}, {flips} flips"));
        }
    }
}

#[test]
fn flips_of_either_layer_keep_the_distribution_of_a_small_model() {
    let model = small_model();
    let fixed = on_grid(&model);
    let start = Array1::zeros(VISIBLE);
    let path = Path::single(&fixed.visible_bias, start.view());
    for flips in [Flips { visible: 3, hidden: 0 }, Flips { visible: 0, hidden: 2 }] {
        let range = ChainRange { group: 0, chains: CHAINS, seed: 3, purpose: Purpose::Anneal };
        let mut block = Block::new(&fixed, &path, flips, Level::detect(), range);
        let mut unused = vec![0.0; CHAINS];
        for _ in 0..60 {
            block.hidden_step(1.0, 1.0, &mut unused);
            block.visible_step(1.0);
        }
        assert_distributed_as(&model, block.visible(), &format!("{flips:?}"));
    }
}

/// One block along a path with three components and flips: log weights and last states.
fn annealed_from_a_mixture(model: &Rbm, level: Level) -> (Vec<f64>, Bits) {
    let fixed = on_grid(model);
    let n = model.visible();
    let biases = [Array1::zeros(n), Array1::from_elem(n, 1.5), Array1::from_elem(n, -0.7)];
    let path = Path::mixture(&fixed.visible_bias, &biases, vec![0.2, 0.5, 0.3]);
    let range = ChainRange { group: 1, chains: 40, seed: 5, purpose: Purpose::Anneal };
    let flips = Flips { visible: 0, hidden: 2 };
    let mut block = Block::new(&fixed, &path, flips, level, range);
    block.draw_start();
    let mut log_weights = vec![0.0; 40];
    for k in 0..20 {
        let (beta, next) = (f64::from(k) / 20.0, f64::from(k + 1) / 20.0);
        block.hidden_step(beta, next, &mut log_weights);
        block.visible_step(next);
    }
    (log_weights, block.visible().clone())
}

#[test]
fn mixtures_and_flips_have_the_same_bits_on_every_instruction_set() {
    for (visible, hidden) in [(180, 20), (65, 7), (5, 3)] {
        let model = Rbm::hard(visible, hidden, 2);
        let reference = annealed_from_a_mixture(&model, Level::Portable);
        for level in Level::available() {
            assert!(annealed_from_a_mixture(&model, level) == reference, "{level:?}");
        }
    }
}

#[test]
fn the_mixture_is_weighed_as_its_formula_says() {
    let model = small_model();
    let fixed = on_grid(&model);
    let biases = [array![0.5, -1.0, 2.0, 0.25, 0.0], Array1::zeros(VISIBLE)];
    let shares = [0.25, 0.75];
    let path = Path::mixture(&fixed.visible_bias, &biases, shares.to_vec());
    let range = ChainRange { group: 0, chains: 32, seed: 0, purpose: Purpose::Anneal };
    let mut block = Block::new(&fixed, &path, Flips::default(), Level::detect(), range);
    block.set_states(|chain, i| chain >> i & 1 == 1);
    let (beta, next) = (0.3, 0.45);
    let mut log_weights = vec![0.0; 32];
    block.hidden_step(beta, next, &mut log_weights);
    for (chain, found) in log_weights.iter().enumerate() {
        let x = block.state(chain);
        let a = model.hidden_input(x.view());
        let log_gamma = |beta: f64| {
            let terms: Vec<f64> = biases
                .iter()
                .zip(shares)
                .map(|(bias, share)| {
                    let normaliser: f64 = bias.iter().map(|&b| crate::math::softplus(b)).sum();
                    (1.0 - beta) * (share.ln() - normaliser + bias.dot(&x))
                })
                .collect();
            let hidden: f64 = a.iter().map(|&a| crate::math::softplus(beta * a)).sum();
            log_sum_exp(&terms) + beta * model.visible_bias().dot(&x) + hidden
        };
        let expected = log_gamma(next) - log_gamma(beta);
        assert!((found - expected).abs() < 1e-5, "chain {chain}: {found} {expected}");
    }
}
