//! One mini-batch: the chains, the gradient and the step.

use super::Trainer;
use lnz_kernels::random::{Purpose, Random};
use lnz_kernels::{
    Example, HiddenPanel, LearnRows, Move, Occurrences, PANEL, RunChains, prefetch, transpose_panel,
};
use rayon::prelude::*;

/// At most this many examples go through the weights together.
const TOGETHER: usize = 128;

impl Trainer<'_> {
    /// Runs the chain of each example, and leaves hidden probabilities given the example and given
    /// the end of its chain.
    ///
    /// Each example has its own random stream, numbered from `first` over the whole training.
    pub(super) fn gibbs_chains(&mut self, batch: &[usize], first: u64) {
        let (layers, settings, level) = (&self.layers, &self.settings, self.level);
        if settings.draw_values {
            self.drawn[..batch.len()].par_iter_mut().enumerate().for_each(|(n, drawn)| {
                let mut random =
                    Random::stream(settings.seed, Purpose::GreyValues, first + n as u64);
                let Example { units, values } = self.examples.get(batch[n]);
                drawn.clear();
                for (k, &unit) in units.iter().enumerate() {
                    if random.happens(values.get(k).map_or(1.0, |&value| f64::from(value))) {
                        drawn.push(unit);
                    }
                }
            });
        }
        let data = examples_of(self.examples, &self.drawn, batch, settings.draw_values);
        let (visible, now) = (&layers.visible, &self.chains[..batch.len()]);
        let dense = settings.persistent && self.dense.take(visible, now);
        if dense {
            let shares = self.dense.shares(visible, rayon::current_num_threads());
            shares.into_par_iter().for_each(|share| share.run_on(level));
        }
        let dense = dense.then_some(&self.dense);
        let pieces = batch.len().div_ceil(TOGETHER).max(rayon::current_num_threads());
        let together = batch.len().div_ceil(pieces);
        let chains = self.chains[..batch.len()].par_chunks_mut(together);
        chains.zip(data.par_chunks(together)).enumerate().for_each(|(piece, (chains, data))| {
            data.iter().for_each(|example| prefetch(example.units));
            data.iter().for_each(|example| prefetch(example.values));
            let first_of_piece = piece * together;
            for (n, chain) in (first_of_piece..).zip(&mut *chains) {
                chain.seed(settings.seed, first + n as u64);
            }
            let (steps, persistent) = (settings.steps, settings.persistent);
            RunChains { layers, data, chains, steps, persistent, first: first_of_piece, dense }
                .run_on(level);
        });
    }

    /// Moves weights and biases by the gradient of the mini-batch.
    pub(super) fn learn(&mut self, batch: &[usize], rate: f32) {
        let settings = &self.settings;
        let step = Move {
            rate,
            scale: 1.0 / batch.len() as f32,
            momentum: settings.momentum as f32,
            decay: settings.weight_decay as f32,
        };
        let data = examples_of(self.examples, &self.drawn, batch, settings.draw_values);
        let (chains, level) = (&self.chains[..batch.len()], self.level);
        let hidden = settings.hidden;
        let panels = (0..hidden.div_ceil(PANEL)).into_par_iter();
        let panel = |number| HiddenPanel::of(level, chains, number, hidden);
        let panels: Vec<_> = panels.map(panel).collect();
        // Each thread takes some visible units, the same in each batch, so that their weights stay in
        // its cache. How many does not change what is summed in which order.
        let share = self.examples.width().div_ceil(rayon::current_num_threads());
        let share = share.next_multiple_of(PANEL);
        let (bias, mirrored) = self.layers.visible.parts_mut();
        let bias = bias.par_chunks_mut(share).zip(self.velocity.visible.par_chunks_mut(share));
        let weights = self.layers.hidden.weights.shares_mut(share);
        let weights = weights.into_par_iter().zip(self.velocity.weights.shares_mut(share));
        let panel_len = mirrored.panel_len();
        let mirrored = mirrored.panels_mut().par_chunks_mut(share / PANEL * panel_len);
        self.occurrences.resize_with(weights.len(), Occurrences::default);
        let shares = bias.zip(weights).zip(mirrored).zip(&mut self.occurrences).enumerate();
        shares.for_each(|(k, (((bias, weights), mirrored), occurrences))| {
            let ((bias, bias_velocity), (mut weights, mut velocity)) = (bias, weights);
            occurrences.find(level, (k * share, bias.len()), &data, chains);
            step.learn_biases(level, bias, bias_velocity, occurrences.sums());
            let parts = weights.chunks_mut(2).zip(velocity.chunks_mut(2));
            for (panels, (weights, velocity)) in panels.chunks(2).zip(parts) {
                LearnRows { step, occurrences, panels, weights, velocity, mirrored, panel_len }
                    .run_on(level);
            }
        });
        let gradient = panels.iter().flat_map(|panel| panel.sum);
        let (bias, velocity) = (self.layers.hidden.bias_mut(), &mut self.velocity.hidden);
        step.learn_biases(level, bias, velocity, gradient);
    }

    /// Makes the transposed copy of the weights.
    pub(super) fn mirror_weights(&mut self) {
        let (from, to) = (&self.layers.hidden.weights, &mut self.layers.visible.weights);
        let (panel_len, level) = (to.panel_len(), self.level);
        let panels = to.panels_mut().par_chunks_mut(panel_len).enumerate();
        panels.for_each(|(panel, to)| transpose_panel(level, from, panel, to));
    }
}

/// The examples of a mini-batch, as they are or as they were drawn.
fn examples_of<'a>(
    examples: &'a super::Examples,
    drawn: &'a [Vec<u32>],
    batch: &[usize],
    draw_values: bool,
) -> Vec<Example<'a>> {
    match draw_values {
        true => drawn[..batch.len()].iter().map(|on| Example { units: on, values: &[] }).collect(),
        false => batch.iter().map(|&example| examples.get(example)).collect(),
    }
}
