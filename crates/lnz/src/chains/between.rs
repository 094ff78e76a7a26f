//! Chains on the way from one model to another of the same shape.
//!
//! The parameters at beta are `(1 - beta)` times those of the first model and beta times those of the
//! second, so that the path between equal models is one point. Each beta is a model of its own, with an
//! engine of its own whose chains stay at its end; a step hands the states on from one to the next.

use super::{Engine, Held, Precision, Walkers, engine};
use crate::observer::Observer;
use crate::path::Path;
use crate::{Rbm, Result, Start};
use lnz_kernels::random::{Purpose, stream_seed};
use lnz_kernels::{ChainRange, Flips};
use ndarray::Array1;
use rayon::prelude::*;
use std::borrow::Cow;

/// Some betas of the path between two models.
pub(crate) struct Between<'m> {
    last: &'m Rbm,
    rungs: Vec<(f64, Box<dyn Engine + 'm>)>,
}

impl<'m> Between<'m> {
    /// The models at these betas; no other can be visited.
    pub(crate) fn new(
        first: &'m Rbm,
        last: &'m Rbm,
        betas: &[f64],
        precision: Precision,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let rung = |&beta: &f64| {
            let model = match beta {
                0.0 => Cow::Borrowed(first),
                1.0 => Cow::Borrowed(last),
                _ => Cow::Owned(mixed(first, last, beta)?),
            };
            // Only the ends are real models, whose weights are not rounded.
            let held = match &model {
                Cow::Borrowed(model) => Held::new(model, precision, observer)?,
                Cow::Owned(model) => Held::without_bridge(model, precision, observer)?,
            };
            let path = Path::new(model, &Start::uniform(first.visible()));
            Ok((beta, engine(path, Flips::default(), &held)))
        };
        let rungs = betas.par_iter().map(rung).collect::<Result<_>>()?;
        Ok(Self { last, rungs })
    }

    /// Some chains of a run that are at `beta`, with all visible units off.
    pub(crate) fn walkers<'a>(
        &'a self,
        range: ChainRange,
        beta: f64,
        observer: &'a dyn Observer,
    ) -> impl Walkers + 'a {
        let at = self.on_rung(beta, range, observer);
        BetweenWalkers { path: self, range, observer, beta, at }
    }

    /// Chains of the model at `beta`. Each beta has random numbers of its own.
    fn on_rung<'a>(
        &'a self,
        beta: f64,
        range: ChainRange,
        observer: &'a dyn Observer,
    ) -> Box<dyn Walkers + 'a> {
        let rung = self.rungs.iter().find(|(known, _)| *known == beta);
        let (_, engine) = rung.expect("walks visit the betas that their path was made for");
        let seed = stream_seed(range.seed, Purpose::Family, beta.to_bits());
        engine.walkers(ChainRange { seed, ..range }, observer)
    }
}

/// The model at a beta between two others.
fn mixed(first: &Rbm, last: &Rbm, beta: f64) -> Result<Rbm> {
    let mix = |a: f64, b: f64| (1.0 - beta) * a + beta * b;
    let biases = |a: ndarray::ArrayView1<'_, f64>, b: ndarray::ArrayView1<'_, f64>| {
        a.iter().zip(b).map(|(&a, &b)| mix(a, b)).collect::<Array1<f64>>()
    };
    let mut weights = first.weights().to_owned();
    weights.zip_mut_with(&last.weights(), |a, &b| *a = mix(*a, b));
    Rbm::new(
        weights,
        biases(first.visible_bias(), last.visible_bias()),
        biases(first.hidden_bias(), last.hidden_bias()),
    )
}

/// Chains of the model at the present beta.
struct BetweenWalkers<'a> {
    path: &'a Between<'a>,
    range: ChainRange,
    observer: &'a dyn Observer,
    beta: f64,
    at: Box<dyn Walkers + 'a>,
}

impl<'a> BetweenWalkers<'a> {
    /// `log p~_beta(x)` of chains at their beta: with the weights that they see, but of the real models at
    /// both ends.
    fn log_densities(beta: f64, walkers: &mut dyn Walkers) -> Vec<f64> {
        let chains = walkers.chains();
        let mut unused = vec![0.0; chains];
        let (mut density, mut bridge) = (vec![0.0; chains], vec![0.0; chains]);
        walkers.weigh(1.0, 1.0, &mut unused);
        walkers.log_density(1.0, &mut density);
        if beta == 0.0 || beta == 1.0 {
            walkers.log_bridge(&mut bridge);
        }
        density.iter().zip(bridge).map(|(density, bridge)| density + bridge).collect()
    }

    /// Chains at another beta in the same states.
    fn moved_to(&self, beta: f64) -> Box<dyn Walkers + 'a> {
        let mut walkers = self.path.on_rung(beta, self.range, self.observer);
        let states: Vec<Array1<f64>> = (0..self.chains()).map(|k| self.state(k)).collect();
        walkers.set_states(&mut |chain, i| states[chain][i] == 1.0);
        walkers
    }
}

impl Walkers for BetweenWalkers<'_> {
    fn chains(&self) -> usize {
        self.at.chains()
    }

    fn have_stopped(&self) -> bool {
        self.at.have_stopped()
    }

    /// Nothing can be drawn from a model: chains are put into states.
    fn draw_start(&mut self) {}

    fn set_states(&mut self, is_on: &mut dyn FnMut(usize, usize) -> bool) {
        self.at.set_states(is_on);
    }

    fn weigh(&mut self, from: f64, to: f64, log_weights: &mut [f64]) {
        debug_assert!(from == self.beta);
        if from == to {
            return self.at.weigh(1.0, 1.0, &mut vec![0.0; log_weights.len()]);
        }
        let before = Self::log_densities(from, &mut *self.at);
        let stopped = self.have_stopped();
        let mut next = self.moved_to(to);
        let after = Self::log_densities(to, &mut *next);
        // Chains that were stopped stay what they are.
        if !stopped {
            (self.at, self.beta) = (next, to);
        }
        for (log_weight, (before, after)) in log_weights.iter_mut().zip(before.iter().zip(after)) {
            *log_weight += after - before;
        }
    }

    fn sweep(&mut self, _beta: f64) {
        self.at.sweep(1.0);
    }

    fn log_density(&self, beta: f64, out: &mut [f64]) {
        out.copy_from_slice(&Self::log_densities(beta, &mut *self.moved_to(beta)));
    }

    /// Both ends are real already.
    fn log_bridge(&mut self, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn rearrange(&mut self, ancestors: &[usize]) {
        self.at.rearrange(ancestors);
    }

    fn state(&self, chain: usize) -> Array1<f64> {
        self.at.state(chain)
    }

    fn model_inputs(&self, chain: usize) -> Array1<f64> {
        self.path.last.hidden_input(self.state(chain).view())
    }
}
