//! The annealing of one chain in float64: what the fast kernels must agree with.

use crate::math::{sigmoid, softplus};
use crate::moves::Chain;
use crate::{Rbm, Schedule, Start};
use lnz_kernels::random::Random;
use ndarray::Array1;

/// One chain from start to end; returns `s = log w + log Z_0`, or nothing when `go_on` does.
pub(super) fn anneal_chain(
    (model, start, schedule): (&Rbm, &Start, &Schedule),
    random: &mut Random,
    go_on: impl Fn() -> Option<()>,
) -> Option<f64> {
    go_on()?;
    let first = start.bias().mapv(|b| f64::from(random.happens(sigmoid(b))));
    let mut chain = Chain::new(model, first);
    let mut sample = model.constant() + start.log_z0(model.hidden());
    for step in schedule.betas().windows(2) {
        go_on()?;
        let (beta, next) = (step[0], step[1]);
        sample += log_path(model, start, next, &chain) - log_path(model, start, beta, &chain);
        if next < 1.0 {
            chain.gibbs(start.bias(), next, random);
        }
    }
    Some(sample)
}

/// `log p~_beta(x) = ((1 - beta) B + beta b).x + sum_j softplus(beta a_j)`.
pub(super) fn log_path(model: &Rbm, start: &Start, beta: f64, chain: &Chain<'_>) -> f64 {
    let bias: Array1<f64> = start.bias() * (1.0 - beta) + &(&model.visible_bias() * beta);
    bias.dot(&chain.x) + chain.a.iter().map(|&a| softplus(beta * a)).sum::<f64>()
}
