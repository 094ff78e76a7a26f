//! One mini-batch: the chains, the gradient and the step.

use super::{ERROR_EVERY, Trainer};
use crate::kernel::{Active, Contrast, LearnRows, Matrix, Move, learn_rows, sum_of_rows};
use crate::random::{Purpose, Random};
use rayon::prelude::*;

/// Buffers of one example of a mini-batch.
pub(super) struct Slot {
    /// The example, where its values are drawn.
    drawn: Vec<Active>,
    /// The end of the chain.
    negative: Vec<Active>,
    on: Vec<Active>,
    scratch: Matrix,
    pub(super) error: f64,
}

impl Slot {
    pub(super) fn new(visible: usize) -> Self {
        let scratch = Matrix::zeroed(1, visible);
        Self { drawn: vec![], negative: vec![], on: vec![], scratch, error: 0.0 }
    }
}

#[cfg(test)]
impl Slot {
    pub(super) fn end_of_chain(&self, visible: usize) -> ndarray::Array1<f64> {
        let mut state = ndarray::Array1::zeros(visible);
        self.negative.iter().for_each(|active| state[active.unit as usize] = 1.0);
        state
    }
}

/// Examples that a thread takes at a time.
const TOGETHER: usize = 4;

impl Trainer<'_> {
    /// Hidden probabilities given each example and given the end of its chain.
    ///
    /// Each example has its own random stream, numbered from `first` over the whole training.
    pub(super) fn gibbs_chains(&mut self, batch: &[usize], first: u64) {
        let width = self.hidden.width;
        let (data, model) = self.hidden.padded_mut().split_at_mut(self.slots.len() * width);
        let (layers, settings, level) = (&self.layers, &self.settings, self.level);
        let mut without = vec![None; if settings.persistent { 0 } else { batch.len() }];
        let particles =
            if settings.persistent { &mut self.particles[..batch.len()] } else { &mut without };
        let slots = self.slots.par_iter_mut().zip(particles).zip(batch).enumerate();
        let rows = data.par_chunks_exact_mut(width).zip(model.par_chunks_exact_mut(width));
        slots.zip(rows).with_min_len(TOGETHER).for_each(|(slot, (hidden_data, hidden_model))| {
            let (n, ((slot, particle), &example)) = slot;
            let index = first + n as u64;
            let mut values = self.examples.get(example);
            if settings.draw_values {
                let mut random = Random::stream(settings.seed, Purpose::Grey, index);
                slot.drawn.clear();
                let drawn = values.iter().filter(|grey| random.happens(f64::from(grey.value)));
                slot.drawn.extend(drawn.map(|grey| Active { value: 1.0, ..*grey }));
                values = &slot.drawn;
            }
            let measured = !settings.persistent || n % ERROR_EVERY == 0;
            Contrast {
                layers,
                level,
                steps: settings.steps,
                data: values,
                particle: settings.persistent.then_some(particle),
                hidden_data,
                hidden_model,
                negative: &mut slot.negative,
                scratch: &mut slot.scratch,
                on: &mut slot.on,
                error: measured.then_some(&mut slot.error),
            }
            .run_with(settings.seed, index);
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
        let model_rows = self.slots.len();
        let (slots, hidden, level) = (&self.slots[..batch.len()], &self.hidden, self.level);
        let data: Vec<&[Active]> = match settings.draw_values {
            true => slots.iter().map(|slot| &slot.drawn[..]).collect(),
            false => batch.iter().map(|&example| self.examples.get(example)).collect(),
        };
        // Each thread takes rows; how many does not change what is summed in which order.
        let rows = self.layers.hidden.weights.rows();
        let share = rows.div_ceil(4 * rayon::current_num_threads()).max(8);
        let bias = self.layers.visible.bias_mut().par_chunks_mut(share);
        let bias = bias.zip(self.velocity.visible.par_chunks_mut(share));
        let width = hidden.width;
        let weights = self.layers.hidden.weights.padded_mut().par_chunks_mut(share * width);
        let weights = weights.zip(self.velocity.weights.padded_mut().par_chunks_mut(share * width));
        weights.zip(bias).enumerate().for_each(|(chunk, ((weights, velocity), bias))| {
            let first = chunk * share;
            let lists = by_unit(first..first + bias.0.len(), &data, slots, model_rows);
            let (starts, examples) = (&lists.starts[..], &lists.examples[..]);
            learn_rows(level, LearnRows { step, starts, examples, hidden, weights, velocity });
            for (k, (bias, velocity)) in bias.0.iter_mut().zip(bias.1).enumerate() {
                let examples = &examples[starts[k]..starts[k + 1]];
                step.apply(bias, velocity, examples.iter().map(|active| active.value).sum());
            }
        });
        let signed = |first: usize, value| {
            (0..batch.len()).map(move |n| Active { unit: (first + n) as u32, value })
        };
        let all: Vec<Active> = signed(0, 1.0).chain(signed(model_rows, -1.0)).collect();
        let gradient = sum_of_rows(level, &all, hidden);
        let bias = self.layers.hidden.bias_mut().iter_mut().zip(&mut self.velocity.hidden);
        bias.zip(&gradient).for_each(|((bias, velocity), &g)| step.apply(bias, velocity, g));
    }

    /// Brings the transposed copy of the weights up to date.
    pub(super) fn mirror_weights(&mut self) {
        const SIDE: usize = 16;
        let (from, to) = (&self.layers.hidden.weights, &mut self.layers.visible.weights);
        let (width, columns) = (to.width, to.columns);
        to.padded_mut().par_chunks_mut(SIDE * width).enumerate().for_each(|(chunk, rows)| {
            let first = chunk * SIDE;
            let count = rows.len() / width;
            for i in (0..columns).step_by(SIDE) {
                for k in i..columns.min(i + SIDE) {
                    let source = &from.row(k)[first..first + count];
                    for (j, &w) in source.iter().enumerate() {
                        rows[j * width + k] = w;
                    }
                }
            }
        });
    }
}

/// For each of some visible units, the examples in which it is on: with the value that it has in the
/// data, and with -1 where the chain of an example ends.
struct ByUnit {
    starts: Vec<usize>,
    examples: Vec<Active>,
}

fn by_unit(
    units: std::ops::Range<usize>,
    data: &[&[Active]],
    slots: &[Slot],
    model_rows: usize,
) -> ByUnit {
    let within = |list: &[Active]| {
        let from = list.partition_point(|active| (active.unit as usize) < units.start);
        let to = list.partition_point(|active| (active.unit as usize) < units.end);
        (from, to)
    };
    let all: Vec<(u32, f32, &[Active])> = (data.iter().enumerate())
        .map(|(n, list)| (n as u32, 1.0, *list))
        .chain(
            (slots.iter().enumerate())
                .map(|(n, slot)| ((model_rows + n) as u32, -1.0, &slot.negative[..])),
        )
        .map(|(row, sign, list)| {
            let (from, to) = within(list);
            (row, sign, &list[from..to])
        })
        .collect();
    let mut starts = vec![0; units.len() + 1];
    for active in all.iter().flat_map(|(_, _, list)| *list) {
        starts[active.unit as usize - units.start + 1] += 1;
    }
    for k in 0..units.len() {
        starts[k + 1] += starts[k];
    }
    let mut examples = vec![Active { unit: 0, value: 0.0 }; starts[units.len()]];
    let mut next = starts.clone();
    for (row, sign, list) in all {
        for active in list {
            let place = &mut next[active.unit as usize - units.start];
            examples[*place] = Active { unit: row, value: sign * active.value };
            *place += 1;
        }
    }
    ByUnit { starts, examples }
}
