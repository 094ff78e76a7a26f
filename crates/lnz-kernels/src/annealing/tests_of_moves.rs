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
use ndarray::Array1;

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
    let path = Path::new(&fixed.visible_bias, start.view());
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

/// One block along a path with flips of both layers: log weights and last states.
fn annealed_with_flips(model: &Rbm, level: Level) -> (Vec<f64>, Bits) {
    let fixed = on_grid(model);
    let start = Array1::from_elem(model.visible(), 0.7);
    let path = Path::new(&fixed.visible_bias, start.view());
    let range = ChainRange { group: 1, chains: 40, seed: 5, purpose: Purpose::Anneal };
    let flips = Flips { visible: 3, hidden: 2 };
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
fn flips_have_the_same_bits_on_every_instruction_set() {
    for (visible, hidden) in [(180, 20), (65, 7), (5, 3)] {
        let model = Rbm::hard(visible, hidden, 2);
        let reference = annealed_with_flips(&model, Level::Portable);
        for level in Level::available() {
            assert!(annealed_with_flips(&model, level) == reference, "{level:?}");
        }
    }
}
