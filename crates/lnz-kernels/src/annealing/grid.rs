//! Chains on fixed-point weights, whatever their resolution: the face of the annealing engine.
//!
//! The engine is generic over the integer that holds a weight. Both versions of it are compiled here,
//! once, behind types that are not generic.

use crate::annealing::block::{Block, Flips};
use crate::annealing::fixed::{FixedModel, Resolution};
use crate::annealing::groups::ChainRange;
use crate::annealing::metropolis::MetropolisBlock;
use crate::annealing::path::Path;
use crate::bits::Bits;
use crate::parameters::Parameters;
use crate::simd::Level;
use crate::stop::StopRule;
use ndarray::{Array1, ArrayView1};

/// A model whose weights are multiples of one step, held in 16 or 32 bits.
pub enum GridModel {
    I16(FixedModel<i16>),
    I32(FixedModel<i32>),
}

impl GridModel {
    /// On 16 bits, where they hold the model finely enough.
    pub fn on_16_bits<'m>(model: impl Into<Parameters<'m>>) -> Option<Self> {
        let model = model.into();
        let resolution = Resolution::of::<i16>(model).filter(Resolution::is_fine)?;
        Some(Self::I16(FixedModel::new(model, resolution)))
    }

    /// On 32 bits; `None` beyond the range of float32.
    pub fn on_32_bits<'m>(model: impl Into<Parameters<'m>>) -> Option<Self> {
        let model = model.into();
        Some(Self::I32(FixedModel::new(model, Resolution::of::<i32>(model)?)))
    }

    fn visible_bias(&self) -> &[f32] {
        match self {
            Self::I16(model) => &model.visible_bias,
            Self::I32(model) => &model.visible_bias,
        }
    }

    /// The path that begins at `exp(B.x)`.
    pub fn path(&self, start: ArrayView1<'_, f64>) -> Path {
        Path::new(self.visible_bias(), start)
    }
}

/// Calls the same method of both versions of a block.
macro_rules! either {
    ($block:expr, $name:ident => $call:expr) => {
        match $block {
            Self::I16($name) => $call,
            Self::I32($name) => $call,
        }
    };
}

/// Some chains of a run along one path.
pub enum GridChains<'a> {
    I16(Box<Block<'a, i16>>),
    I32(Box<Block<'a, i32>>),
}

impl<'a> GridChains<'a> {
    /// Chains with all units off.
    pub fn new(model: &'a GridModel, path: &'a Path, flips: Flips, range: ChainRange) -> Self {
        let level = Level::detect();
        match model {
            GridModel::I16(model) => {
                Self::I16(Box::new(Block::new(model, path, flips, level, range)))
            }
            GridModel::I32(model) => {
                Self::I32(Box::new(Block::new(model, path, flips, level, range)))
            }
        }
    }

    /// See `Block::stopped_by`.
    pub fn stopped_by(self, rule: StopRule<'a>) -> Self {
        match self {
            Self::I16(block) => Self::I16(Box::new(block.stopped_by(rule))),
            Self::I32(block) => Self::I32(Box::new(block.stopped_by(rule))),
        }
    }

    /// See `Block::has_stopped`.
    pub fn has_stopped(&self) -> bool {
        either!(self, block => block.has_stopped())
    }

    /// The visible states.
    pub fn visible(&self) -> &Bits {
        either!(self, block => block.visible())
    }

    /// The visible state of a chain.
    pub fn state(&self, chain: usize) -> Array1<f64> {
        either!(self, block => block.state(chain))
    }

    /// Draws the visible state of every chain from the start distribution.
    pub fn draw_start(&mut self) {
        either!(self, block => block.draw_start())
    }

    /// Sets the visible state of every chain by asking for each unit.
    pub fn set_states(&mut self, on: &mut dyn FnMut(usize, usize) -> bool) {
        either!(self, block => block.set_states(on))
    }

    /// See `Block::hidden_step`.
    pub fn hidden_step(&mut self, beta: f64, next: f64, log_weights: &mut [f64]) {
        either!(self, block => block.hidden_step(beta, next, log_weights))
    }

    /// See `Block::visible_step`.
    pub fn visible_step(&mut self, beta: f64) {
        either!(self, block => block.visible_step(beta))
    }

    /// Chain k becomes a copy of chain `ancestors[k]`.
    pub fn resample(&mut self, ancestors: &[usize]) {
        either!(self, block => block.resample(ancestors))
    }

    /// See `Block::log_density`.
    pub fn log_density(&self, beta: f64, chain: usize) -> f64 {
        either!(self, block => block.log_density(beta, chain))
    }

    /// See `Block::log_end`.
    pub fn log_end(&self, chain: usize) -> f64 {
        either!(self, block => block.log_end(chain))
    }
}

/// Chains that propose flips and accept them by the ratio of marginals.
pub enum MetropolisChains<'a> {
    I16(Box<MetropolisBlock<'a, i16>>),
    I32(Box<MetropolisBlock<'a, i32>>),
}

impl<'a> MetropolisChains<'a> {
    /// Chains in the states that `on` gives for each chain and unit.
    pub fn new(
        model: &'a GridModel,
        group: usize,
        chains: usize,
        seed: u64,
        on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Self {
        let level = Level::detect();
        match model {
            GridModel::I16(model) => {
                Self::I16(Box::new(MetropolisBlock::new(model, level, group, chains, seed, on)))
            }
            GridModel::I32(model) => {
                Self::I32(Box::new(MetropolisBlock::new(model, level, group, chains, seed, on)))
            }
        }
    }

    /// The same chains; once the rule says stop, steps end in the middle.
    pub fn stopped_by(self, rule: StopRule<'a>) -> Self {
        match self {
            Self::I16(block) => Self::I16(Box::new(block.stopped_by(rule))),
            Self::I32(block) => Self::I32(Box::new(block.stopped_by(rule))),
        }
    }

    /// A step has ended in the middle: the states mean nothing any more.
    pub fn has_stopped(&self) -> bool {
        either!(self, block => block.has_stopped())
    }

    /// The present states.
    pub fn bits(&self) -> &Bits {
        either!(self, block => block.bits())
    }

    /// One proposal per chain, which flips `flips` distinct units.
    pub fn step(&mut self, flips: usize) {
        either!(self, block => block.step(flips))
    }
}
