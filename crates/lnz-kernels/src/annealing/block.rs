//! A block of chains on one thread: states, sums and random streams, moved step by step.

use crate::aligned::Aligned;
use crate::annealing::fixed::{Fixed, FixedModel, Layer};
use crate::annealing::groups::{ChainRange, GROUP, groups};
use crate::annealing::path::Path;
use crate::annealing::product::{Method, Scratch};
use crate::bits::Bits;
use crate::free_energy::softplus::softplus_of_all;
use crate::random::{Purpose, Random, stream_seed};
use crate::simd::Level;
use crate::stop::{Stop, StopRule};
use crate::stream::Stream;
use ndarray::Array1;

/// Single-unit flips after each Gibbs step, with the other layer summed out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flips {
    /// Of visible units, before the hidden step.
    pub visible: usize,
    /// Of hidden units, before the visible step.
    pub hidden: usize,
}

/// To draw or read a unit of one chain takes as long as so many weights in a table.
pub(crate) const WORK_OF_A_UNIT: usize = 8;

/// Some chains of a run along one path.
pub struct Block<'a, T: Fixed> {
    pub(crate) model: &'a FixedModel<T>,
    pub(crate) path: &'a Path,
    pub(crate) flips: Flips,
    pub(crate) level: Level,
    pub(crate) chains: usize,
    pub(crate) streams: Vec<Stream>,
    /// For choices that are made one by one: a stream for each group.
    pub(crate) randoms: Vec<Random>,
    pub(crate) visible: Units<T>,
    pub(crate) hidden: Units<T>,
    /// The linear part of the path, (b - B).x, of each chain.
    pub(crate) linear: Vec<f64>,
    pub(crate) hidden_bias: Aligned<f32>,
    pub(crate) exponent_bias: Aligned<f32>,
    pub(crate) scratch: Scratch,
    pub(crate) stop: Stop<'a>,
    #[cfg(test)]
    pub(crate) forced: Option<Method>,
}

/// One layer of a block: its states and the sums of weights that its units receive.
pub(crate) struct Units<T: Fixed> {
    pub(crate) bits: Bits,
    pub(crate) sums: Sums<T>,
}

/// Sums of weights, tile after tile, chain after chain.
pub(crate) struct Sums<T: Fixed> {
    pub(crate) values: Aligned<T>,
    /// The states of the other layer that they belong to; none when they belong to no known state.
    pub(crate) of: Option<Bits>,
}

impl<T: Fixed> Sums<T> {
    fn new(layer: &Layer<T>, chains: usize) -> Self {
        Self { values: Aligned::zeroed(layer.lanes() * chains), of: None }
    }

    pub(crate) fn belong_to(&mut self, bits: &Bits) {
        match &mut self.of {
            Some(known) => known.words.copy_from_slice(&bits.words),
            none => *none = Some(bits.clone()),
        }
    }
}

impl<'a, T: Fixed> Block<'a, T> {
    /// Chains with all units off.
    pub fn new(
        model: &'a FixedModel<T>,
        path: &'a Path,
        flips: Flips,
        level: Level,
        range: ChainRange,
    ) -> Self {
        let ChainRange { group, chains, seed, purpose } = range;
        let groups = group as u64..(group + chains.div_ceil(GROUP)) as u64;
        let padded = model.visible_bias.len().next_multiple_of(64);
        Self {
            model,
            path,
            flips,
            level,
            chains,
            streams: groups.clone().map(|k| Stream::new(seed, purpose, k)).collect(),
            randoms: groups
                .map(|k| Random::stream(stream_seed(seed, purpose, 0), Purpose::OneByOne, k))
                .collect(),
            visible: Units {
                bits: Bits::zeros(model.visible_bias.len(), chains),
                sums: Sums::new(&model.to_visible, chains),
            },
            hidden: Units {
                bits: Bits::zeros(model.hidden_bias.len(), chains),
                sums: Sums::new(&model.to_hidden, chains),
            },
            linear: vec![0.0; chains],
            hidden_bias: model.padded_hidden_bias(),
            exponent_bias: Aligned::zeroed(padded),
            scratch: Scratch::new(),
            stop: Stop::never(),
            #[cfg(test)]
            forced: None,
        }
    }

    /// The same chains; once the rule says stop, steps end in the middle.
    pub fn stopped_by(self, rule: StopRule<'a>) -> Self {
        Self { stop: Stop::by(rule), ..self }
    }

    /// A step has ended in the middle: states and weights mean nothing any more.
    pub fn has_stopped(&self) -> bool {
        self.stop.has_stopped()
    }

    /// The visible states.
    pub fn visible(&self) -> &Bits {
        &self.visible.bits
    }

    #[cfg(test)]
    pub(crate) fn hidden(&self) -> &Bits {
        &self.hidden.bits
    }

    /// The visible state of a chain.
    pub fn state(&self, chain: usize) -> Array1<f64> {
        let units = self.model.visible_bias.len();
        (0..units).map(|i| f64::from(self.visible.bits.get(chain, i))).collect()
    }

    /// Draws the visible state of every chain from the start distribution.
    pub fn draw_start(&mut self) {
        for (group, random) in groups(self.chains).zip(&mut self.randoms) {
            if self.stop.before(group.len() * WORK_OF_A_UNIT * self.path.units()) {
                return;
            }
            for chain in group {
                for (i, on) in self.path.draw(random).into_iter().enumerate() {
                    self.visible.bits.set(chain, i, on);
                }
            }
        }
        self.refresh_linear();
    }

    /// Sets the visible state of every chain by asking for each unit.
    pub fn set_states(&mut self, mut on: impl FnMut(usize, usize) -> bool) {
        for chain in 0..self.chains {
            if self.stop.before(WORK_OF_A_UNIT * self.model.visible_bias.len()) {
                return;
            }
            for i in 0..self.model.visible_bias.len() {
                self.visible.bits.set(chain, i, on(chain, i));
            }
        }
        self.refresh_linear();
    }

    /// The linear part of every chain, added up in the order of the kernel: lanes of 16, halved, tile
    /// by tile.
    pub(crate) fn refresh_linear(&mut self) {
        for (chain, linear) in self.linear.iter_mut().enumerate() {
            if self.stop.before(WORK_OF_A_UNIT * self.model.visible_bias.len()) {
                return;
            }
            *linear = 0.0;
            for tile in &self.model.to_visible.tiles {
                let mut lanes = [0f32; 16];
                for lane in 0..tile.units {
                    if self.visible.bits.get(chain, tile.first + lane) {
                        lanes[lane % 16] += self.path.difference[tile.first + lane];
                    }
                }
                for half in [8, 4, 2, 1] {
                    for k in 0..half {
                        lanes[k] += lanes[k + half];
                    }
                }
                *linear += f64::from(lanes[0]);
            }
        }
    }

    /// Chain k becomes a copy of chain `ancestors[k]`.
    pub fn resample(&mut self, ancestors: &[usize]) {
        self.visible.bits = self.visible.bits.rearranged(ancestors);
        self.hidden.bits = self.hidden.bits.rearranged(ancestors);
        self.linear = ancestors.iter().map(|&k| self.linear[k]).collect();
        self.hidden.sums.of = None;
        self.visible.sums.of = None;
    }

    /// `log p~_beta(x)` of a chain on the grid, without the constant of the model.
    ///
    /// Right after a `hidden_step`, whose sums it uses.
    pub fn log_density(&self, beta: f64, chain: usize) -> f64 {
        let start = self.path.log_start(|i| self.visible.bits.get(chain, i));
        start + beta * self.linear[chain] + self.log_hidden(beta, chain)
    }

    /// The part of log p~_1(x) that the path has at its end, as the kernels see it: the linear part
    /// and sum_j softplus(a_j), to be exchanged for the real model's.
    ///
    /// Right after a `hidden_step`, whose sums it uses.
    pub fn log_end(&self, chain: usize) -> f64 {
        self.linear[chain] + self.log_hidden(1.0, chain)
    }

    /// sum_j softplus(beta a_j).
    fn log_hidden(&self, beta: f64, chain: usize) -> f64 {
        let mut inputs = Vec::with_capacity(self.hidden_bias.len());
        let mut lanes = 0;
        for tile in &self.model.to_hidden.tiles {
            let width = tile.rows * T::PER_ROW;
            let from = lanes * self.chains + chain * width;
            for lane in 0..tile.units {
                let sum = self.hidden.sums.values[from + lane].to_f32();
                let a = sum.mul_add(self.model.step, self.hidden_bias[tile.first + lane]);
                inputs.push(beta * f64::from(a));
            }
            lanes += width;
        }
        softplus_of_all(inputs, self.level)
    }

    #[inline(always)]
    pub(crate) fn method(&self, from: &Bits, before: Option<&Bits>, inputs: usize) -> Method {
        #[cfg(test)]
        if let Some(forced) = self.forced {
            return if before.is_none() && forced == Method::Delta { Method::Skip } else { forced };
        }
        Method::cheapest(from, before, inputs)
    }
}
