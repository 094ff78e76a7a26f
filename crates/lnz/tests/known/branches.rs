//! Blocks of Curie-Weiss units that are joined two by two, without a loop: the state of one changes the shares of its
//! neighbours' phases.

use super::coexistence::CurieWeiss;
use super::disguise::Solved;
use super::numbers::Numbers;
use super::sums::{log_sum, softplus};
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2, s};

/// Every block has two phases, so that k of them have 2^k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Branches {
    pub(crate) blocks: usize,
    pub(crate) block: CurieWeiss,
    pub(crate) shape: Shape,
    /// How strongly neighbours hold each other: the weights of a link, in units of four per visible unit of a block.
    pub(crate) pull: f64,
}

/// Which block a new one is joined to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The last one.
    Chain,
    /// The first one.
    Star,
    /// Any of those before it.
    Tree,
}

/// Hidden units of a link.
const LINK: usize = 2;

/// Two blocks and the weights of the hidden units that see both of them.
struct Link {
    parent: usize,
    weight: f64,
    parent_weight: f64,
    bias: f64,
}

impl Branches {
    pub(crate) fn visible(&self) -> usize {
        self.blocks * self.block.visible
    }

    pub(crate) fn hidden(&self) -> usize {
        self.blocks * self.block.hidden + (self.blocks - 1) * LINK
    }

    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(13, seed);
        let blocks: Vec<Rbm> =
            (0..self.blocks).map(|_| self.block.tuned(&mut numbers)).collect::<Result<_>>()?;
        let valleys: Vec<f64> = blocks.iter().map(|block| self.block.valley(block)).collect();
        let links: Vec<Link> =
            (1..self.blocks).map(|child| self.link(child, &valleys, &mut numbers)).collect();
        let (model, log_z) = self.joined(&blocks, &links)?;
        Solved::new(model, log_z)?.disguised(&mut numbers)
    }

    /// Neutral where both blocks are at the valleys between their phases.
    fn link(&self, child: usize, valleys: &[f64], numbers: &mut Numbers) -> Link {
        let parent = match self.shape {
            Shape::Chain => child - 1,
            Shape::Star => 0,
            Shape::Tree => numbers.below(child),
        };
        let size = self.block.visible as f64;
        let weight = 4.0 * self.pull * (1.0 + 0.3 * numbers.normal()) / size;
        let parent_weight = weight * (2.0 * numbers.bit(0.5) - 1.0);
        let bias = -weight * valleys[child] - parent_weight * valleys[parent];
        Link { parent, weight, parent_weight, bias }
    }

    /// The model, and its log Z by messages from the last block to the first: each tells its parent, for every number of
    /// units on there, the log of the sum over its own branch.
    fn joined(&self, blocks: &[Rbm], links: &[Link]) -> Result<(Rbm, f64)> {
        let CurieWeiss { visible: size, hidden, .. } = self.block;
        let apart = Rbm::block_diagonal(blocks)?;
        let mut weights = Array2::zeros((self.visible(), self.hidden()));
        weights.slice_mut(s![.., ..apart.hidden()]).assign(&apart.weights());
        let mut visible_bias = apart.visible_bias().to_owned();
        let mut hidden_bias = apart.hidden_bias().to_vec();
        for (child, link) in (1..).zip(links) {
            let first = self.blocks * hidden + (child - 1) * LINK;
            hidden_bias.extend([link.bias; LINK]);
            for (block, weight) in [(child, link.weight), (link.parent, link.parent_weight)] {
                let units = block * size..(block + 1) * size;
                weights.slice_mut(s![units.clone(), first..first + LINK]).fill(weight);
                let balance = weight * LINK as f64 / 2.0;
                visible_bias.slice_mut(s![units]).mapv_inplace(|bias| bias - balance);
            }
        }
        let mut branches: Vec<Vec<f64>> = Vec::new();
        for (k, block) in blocks.iter().enumerate() {
            let bias = visible_bias.slice(s![k * size..(k + 1) * size]).to_owned();
            let balanced =
                Rbm::new(block.weights().to_owned(), bias, block.hidden_bias().to_owned())?;
            branches.push(self.block.profile(&balanced));
        }
        for (child, link) in (1..self.blocks).zip(links).rev() {
            let of_branch = branches[child].clone();
            for (on, log) in branches[link.parent].iter_mut().enumerate() {
                let input = link.bias + link.parent_weight * on as f64;
                let term = |(k, log): (usize, &f64)| {
                    log + LINK as f64 * softplus(input + link.weight * k as f64)
                };
                *log += log_sum(&of_branch.iter().enumerate().map(term).collect::<Vec<_>>());
            }
        }
        let model = Rbm::new(weights, visible_bias, Array1::from(hidden_bias))?;
        Ok((model, log_sum(&branches[0])))
    }
}
