//! One mini-batch: the chains, the gradient and the step.

use super::{ERROR_EVERY, Trainer};
use crate::kernel::{
    Active, Contrast, HiddenPanel, LearnRows, Move, Occurrences, PANEL, prefetch, sum_of_contrasts,
    transpose_panel,
};
use crate::random::{Purpose, Random};
use rayon::prelude::*;

/// At most so many examples share the weights in the cache.
const TOGETHER: usize = 32;

impl Trainer<'_> {
    /// Runs the chain of each example, and leaves hidden probabilities given the example and given
    /// the end of its chain.
    ///
    /// Each example has its own random stream, numbered from `first` over the whole training.
    pub(super) fn gibbs_chains(&mut self, batch: &[usize], first: u64) {
        let (layers, settings, level) = (&self.layers, &self.settings, self.level);
        if settings.draw_values {
            self.drawn[..batch.len()].par_iter_mut().enumerate().for_each(|(n, drawn)| {
                let mut random = Random::stream(settings.seed, Purpose::Grey, first + n as u64);
                let values = self.examples.get(batch[n]).iter();
                drawn.clear();
                drawn.extend(
                    values
                        .filter(|grey| random.happens(f64::from(grey.value)))
                        .map(|grey| Active { value: 1.0, ..*grey }),
                );
            });
        }
        let data = values_of(self.examples, &self.drawn, batch, settings.draw_values);
        let pieces = batch.len().div_ceil(TOGETHER).max(2 * rayon::current_num_threads());
        // Whole periods of the error, so that who shares with whom does not change what is measured.
        let measure_every = if settings.persistent { ERROR_EVERY } else { 1 };
        let together = batch.len().div_ceil(pieces).next_multiple_of(measure_every);
        let chains = self.chains[..batch.len()].par_chunks_mut(together);
        chains.zip(data.par_chunks(together)).enumerate().for_each(|(piece, (chains, data))| {
            data.iter().for_each(|list| prefetch(list));
            for (n, chain) in chains.iter_mut().enumerate() {
                chain.seed(settings.seed, first + (piece * together + n) as u64);
            }
            let (steps, persistent) = (settings.steps, settings.persistent);
            Contrast { layers, data, chains, steps, persistent, measure_every }.run_on(level);
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
        let data = values_of(self.examples, &self.drawn, batch, settings.draw_values);
        let (chains, level) = (&self.chains[..batch.len()], self.level);
        let (visible, hidden) = (self.examples.width(), settings.hidden);
        // Each thread takes some units; how many does not change what is summed in which order.
        let share = visible.div_ceil(rayon::current_num_threads()).next_multiple_of(16);
        self.occurrences.resize_with(visible.div_ceil(share), Occurrences::default);
        let bias = self.layers.visible.bias_mut().par_chunks_mut(share);
        let bias = bias.zip(self.velocity.visible.par_chunks_mut(share));
        let parts = bias.zip(&mut self.occurrences).enumerate();
        parts.for_each(|(part, ((bias, velocity), occurrences))| {
            occurrences.find(level, (part * share, bias.len()), &data, chains);
            let bias = bias.iter_mut().zip(velocity).zip(occurrences.sums());
            bias.for_each(|((bias, velocity), sum)| step.apply(bias, velocity, sum));
        });
        let panel_len = self.layers.hidden.weights.panel_len();
        let weights = self.layers.hidden.weights.panels_mut().par_chunks_mut(panel_len);
        let velocity = self.velocity.weights.panels_mut().par_chunks_mut(panel_len);
        weights.zip(velocity).enumerate().for_each(|(panel, (weights, velocity))| {
            let panel = HiddenPanel::of(chains, panel, hidden);
            let weights = weights[..visible * PANEL].par_chunks_mut(share * PANEL);
            let velocity = velocity[..visible * PANEL].par_chunks_mut(share * PANEL);
            weights.zip(velocity).zip(&self.occurrences).for_each(
                |((weights, velocity), occurrences)| {
                    let hidden = &panel;
                    LearnRows { step, occurrences, hidden, weights, velocity }.run_on(level);
                },
            );
        });
        let gradient = sum_of_contrasts(chains, hidden);
        let bias = self.layers.hidden.bias_mut().iter_mut().zip(&mut self.velocity.hidden);
        bias.zip(&gradient).for_each(|((bias, velocity), &g)| step.apply(bias, velocity, g));
    }

    /// Brings the transposed copy of the weights up to date.
    pub(super) fn mirror_weights(&mut self) {
        let (from, to) = (&self.layers.hidden.weights, &mut self.layers.visible.weights);
        let (panel_len, level) = (to.panel_len(), self.level);
        let panels = to.panels_mut().par_chunks_mut(panel_len).enumerate();
        panels.for_each(|(panel, to)| transpose_panel(level, from, panel, to));
    }
}

/// The values of each example of a mini-batch, as they are or as they were drawn.
fn values_of<'a>(
    examples: &'a super::Examples,
    drawn: &'a [Vec<Active>],
    batch: &[usize],
    draw_values: bool,
) -> Vec<&'a [Active]> {
    match draw_values {
        true => drawn[..batch.len()].iter().map(|drawn| &drawn[..]).collect(),
        false => batch.iter().map(|&example| examples.get(example)).collect(),
    }
}
