//! A block of chains that propose flips and accept them by the ratio of marginals.

use crate::aligned::Aligned;
use crate::annealing::elementwise::softplus_sum;
use crate::annealing::fixed::{Fixed, FixedModel, Tile};
use crate::annealing::groups::{GROUP, groups};
use crate::annealing::product::{Method, Scratch};
use crate::annealing::tile_product::sum_tile;
use crate::bits::Bits;
use crate::math::exp;
use crate::random::{Purpose, Random};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::stop::{Stop, StopRule};

/// Chains with their log marginals, and the proposal for each.
pub struct MetropolisBlock<'a, T: Fixed> {
    model: &'a FixedModel<T>,
    level: Level,
    now: Walkers<T>,
    proposal: Walkers<T>,
    hidden_bias: Aligned<f32>,
    scratch: Scratch,
    stop: Stop<'a>,
    /// One stream and one order of the units per group: its first units are flipped next.
    randoms: Vec<(Random, Vec<u32>)>,
}

/// States, the hidden sums that belong to them, and the two parts of log p~(x).
#[derive(Clone)]
struct Walkers<T: Fixed> {
    bits: Bits,
    sums: Aligned<T>,
    /// b.x.
    linear: Vec<f64>,
    /// sum_j softplus(a_j).
    hidden: Vec<f64>,
}

impl<T: Fixed> Walkers<T> {
    /// Copies one chain.
    fn take(&mut self, chain: usize, other: &Self, tiles: &[Tile]) {
        self.bits.copy_chain(chain, &other.bits);
        let mut lanes = 0;
        for tile in tiles {
            let width = tile.rows * T::PER_ROW;
            let from = lanes * self.bits.chains + chain * width;
            self.sums[from..from + width].copy_from_slice(&other.sums[from..from + width]);
            lanes += width;
        }
        self.linear[chain] = other.linear[chain];
        self.hidden[chain] = other.hidden[chain];
    }
}

impl<'a, T: Fixed> MetropolisBlock<'a, T> {
    /// `chains` chains in the states that `on` gives for each chain and unit.
    pub fn new(
        model: &'a FixedModel<T>,
        level: Level,
        group: usize,
        chains: usize,
        seed: u64,
        mut on: impl FnMut(usize, usize) -> bool,
    ) -> Self {
        let units = model.visible_bias.len();
        let mut bits = Bits::zeros(units, chains);
        let mut linear = vec![0.0; chains];
        for chain in 0..chains {
            for i in 0..units {
                if on(chain, i) {
                    bits.set(chain, i, true);
                    linear[chain] += f64::from(model.visible_bias[i]);
                }
            }
        }
        let sums = Aligned::zeroed(model.to_hidden.lanes() * chains);
        let now = Walkers { bits, sums, linear, hidden: vec![0.0; chains] };
        let randoms = (0..chains.div_ceil(GROUP))
            .map(|k| {
                let random = Random::stream(seed, Purpose::Start, (group + k) as u64);
                (random, (0..units as u32).collect())
            })
            .collect();
        let mut block = Self {
            model,
            level,
            proposal: now.clone(),
            now,
            hidden_bias: model.padded_hidden_bias(),
            scratch: Scratch::new(),
            stop: Stop::never(),
            randoms,
        };
        block.weigh_proposals(None);
        block.now = block.proposal.clone();
        block
    }

    /// The same chains; once the rule says stop, steps end in the middle.
    pub fn stopped_by(self, rule: StopRule<'a>) -> Self {
        Self { stop: Stop::by(rule), ..self }
    }

    /// A step has ended in the middle: the states mean nothing any more.
    pub fn has_stopped(&self) -> bool {
        self.stop.has_stopped()
    }

    /// The present states.
    pub fn bits(&self) -> &Bits {
        &self.now.bits
    }

    /// One proposal per chain, which flips `flips` distinct units.
    pub fn step(&mut self, flips: usize) {
        let chains = self.now.bits.chains;
        self.proposal.bits.words.copy_from_slice(&self.now.bits.words);
        for (group, (random, order)) in groups(chains).zip(&mut self.randoms) {
            for chain in group {
                let mut linear = self.now.linear[chain];
                for k in 0..flips {
                    let other = k + random.below(order.len() - k);
                    order.swap(k, other);
                    let i = order[k] as usize;
                    let on = self.now.bits.get(chain, i);
                    self.proposal.bits.set(chain, i, !on);
                    let bias = f64::from(self.model.visible_bias[i]);
                    linear += if on { -bias } else { bias };
                }
                self.proposal.linear[chain] = linear;
            }
        }
        let method = Method::cheapest(
            &self.proposal.bits,
            Some(&self.now.bits),
            self.model.to_hidden.inputs,
        );
        if method == Method::Delta {
            self.proposal.sums.copy_from_slice(&self.now.sums);
        }
        self.weigh_proposals(Some(method));
        for (group, (random, _)) in groups(chains).zip(&mut self.randoms) {
            for chain in group {
                let gain = self.proposal.linear[chain] - self.now.linear[chain]
                    + self.proposal.hidden[chain]
                    - self.now.hidden[chain];
                if random.uniform() < exp(gain) {
                    self.now.take(chain, &self.proposal, &self.model.to_hidden.tiles);
                }
            }
        }
    }

    /// The sums and hidden marginals of the proposals; without a method, from nothing.
    fn weigh_proposals(&mut self, method: Option<Method>) {
        let method = method.unwrap_or(Method::Tables);
        self.proposal.hidden.fill(0.0);
        dispatch(self.level, MarginalKernel { block: self, method });
    }
}

struct MarginalKernel<'b, 'a, T: Fixed> {
    block: &'b mut MetropolisBlock<'a, T>,
    method: Method,
}

impl<T: Fixed> Kernel for MarginalKernel<'_, '_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { block, method } = self;
        let layer = &block.model.to_hidden;
        let Walkers { bits, sums, hidden, .. } = &mut block.proposal;
        let chains = bits.chains;
        block.scratch.prepare(simd, method, layer.inputs, bits, Some(&block.now.bits));
        let mut lanes = 0;
        for tile in &layer.tiles {
            if block.stop.before(chains * layer.inputs) {
                return;
            }
            let width = tile.rows * T::PER_ROW;
            let sums = &mut sums[lanes * chains..(lanes + width) * chains];
            let count = tile.units.div_ceil(16);
            let bias = &block.hidden_bias[tile.first..].as_chunks().0[..count];
            let step = block.model.step;
            sum_tile(simd, method, layer, tile, bits, &mut block.scratch, sums);
            for chain in 0..chains {
                let sums = &sums[chain * width..].as_chunks().0[..count];
                hidden[chain] += softplus_sum(simd, step, 1.0, sums, bias);
            }
            lanes += width;
        }
    }
}
