//! Combinations of blocks: starts for models with more phases than a list can hold.
//!
//! Ten blocks with two phases each have 1024. What is fitted is a product of independent units for each
//! alternative of each block; a combination z has one alternative of every block. Chains start from
//! combinations that are drawn with probability P(z), the product over the blocks, and count where they end
//! in the cell of their own combination: E[w 1(y in C_z) / P(z)] over z and y is the sum over all cells,
//! which is Z. That holds for any P that is fixed beforehand. The error is small where P(z) is close to the
//! share of the cell, and log Z(C_z) is nearly a sum over blocks that hang together loosely.

use super::cells::{EPSILON, Product, cell};
use super::core::{Core, pack};
use super::crossover::{self, Exchanges};
use super::design::EVEN_PART;
use super::effort::{CHAINS, STEPS, SWEEPS, WINDOW};
use super::fit::ROUNDS;
use super::sampler::{Ends, Run, Sampler, State, drawn};
use super::schedule::schedule;
use super::tally::Chain;
use crate::math::{exp, ln, log_mean_exp, log_sum_exp};
use crate::{Result, Start};
use lnz_kernels::GROUP;
use lnz_kernels::random::Random;
use ndarray::{Array1, Array2};

/// Blocks of units with their alternatives.
pub(super) struct Blocks {
    /// Means of all units; those of a block stand for none of its alternatives.
    means: Array1<f64>,
    blocks: Vec<Block>,
    /// Combinations that chains were run from, and log Z of their cells.
    known: Vec<(Combination, f64)>,
}

struct Block {
    units: Vec<usize>,
    /// The means of its units in each alternative, and the products of independent units with these.
    means: Vec<Array1<f64>>,
    products: Vec<Product>,
    /// About what each alternative adds to log Z of a cell.
    gains: Vec<f64>,
    /// The probability that a chain has it.
    parts: Vec<f64>,
}

/// The alternative of each block.
pub(super) type Combination = Vec<usize>;

/// Chains from one combination.
pub(super) struct Trip {
    combination: Combination,
    pub(super) ends: Ends,
    /// The combination in whose cell each chain ended.
    homes: Vec<Combination>,
}

impl Trip {
    /// The samples of the chains that ended at home.
    fn at_home(&self) -> Vec<f64> {
        let sample = |(sample, home): (&f64, &Combination)| match *home == self.combination {
            true => *sample,
            false => f64::NEG_INFINITY,
        };
        self.ends.samples.iter().zip(&self.homes).map(sample).collect()
    }

    /// The part of the weight that is in its own alternative of a block.
    fn stays(&self, block: usize) -> f64 {
        let in_block = |(sample, home): (&f64, &Combination)| {
            if home[block] == self.combination[block] { *sample } else { f64::NEG_INFINITY }
        };
        let inside: Vec<f64> = self.ends.samples.iter().zip(&self.homes).map(in_block).collect();
        exp(log_sum_exp(&inside) - log_sum_exp(&self.ends.samples))
    }
}

impl Blocks {
    /// Fits the alternatives of the blocks that a search has found; `None` if so few of them are phases that
    /// there are no more combinations than phases that are known.
    pub(super) fn fit(
        sampler: &Sampler<'_>,
        found: &Exchanges,
        phases: usize,
    ) -> Result<Option<Self>> {
        let blocks = found.blocks.iter().map(Block::of).collect::<Result<_>>()?;
        let mut fitted = Self { means: found.base.clone(), blocks, known: vec![] };
        for betas in &ROUNDS[1..] {
            if fitted.combinations() <= phases as f64 {
                return Ok(None);
            }
            let trips = fitted.trips(sampler, 2 * CHAINS, &schedule(*betas), true, false)?;
            fitted.refit(sampler, trips)?;
        }
        Ok(Some(fitted))
    }

    /// About what share of Z each alternative of each block has.
    pub(super) fn shares(&self) -> Vec<Vec<f64>> {
        let of_block = |block: &Block| {
            let total = log_sum_exp(&block.gains);
            block.gains.iter().map(|gain| exp(gain - total)).collect()
        };
        self.blocks.iter().map(of_block).collect()
    }

    fn combinations(&self) -> f64 {
        self.blocks.iter().map(|block| block.gains.len() as f64).product()
    }

    /// Fresh chains, [`GROUP`] for each combination that is drawn.
    pub(super) fn chains(
        &self,
        sampler: &Sampler<'_>,
        chains: usize,
        betas: &[f64],
        core: &Core,
    ) -> Result<Vec<Chain>> {
        let has_core = core.states() > 0;
        let trips = self.trips(sampler, chains, betas, false, has_core)?;
        Ok(trips.iter().flat_map(|trip| self.count(trip, core)).collect())
    }

    /// log P of a combination.
    pub(super) fn log_part(&self, combination: &Combination) -> f64 {
        let part = |(block, &k): (&Block, &usize)| ln(block.parts[k]);
        self.blocks.iter().zip(combination).map(part).sum()
    }

    /// What the chains of a trip count for.
    pub(super) fn count(&self, trip: &Trip, core: &Core) -> Vec<Chain> {
        let log_part = self.log_part(&trip.combination);
        let chain = |(i, sample): (usize, f64)| Chain {
            sample: sample - log_part,
            cell: 0,
            known: trip.ends.others.get(i).is_some_and(|other| core.contains(&pack(other))),
        };
        trip.at_home().into_iter().enumerate().map(chain).collect()
    }

    pub(super) fn trips(
        &self,
        sampler: &Sampler<'_>,
        chains: usize,
        betas: &[f64],
        is_resampled: bool,
        others: bool,
    ) -> Result<Vec<Trip>> {
        let mut random = sampler.random();
        let count = sampler.fewer(chains).div_ceil(GROUP).max(2);
        let combinations: Vec<Combination> = (0..count).map(|_| self.drawn(&mut random)).collect();
        let starts: Vec<Start> =
            combinations.iter().map(|z| self.start(z)).collect::<Result<_>>()?;
        let resampled = is_resampled.then_some(GROUP);
        let run = |start| Run { start, betas, chains: GROUP, resampled, others };
        let runs: Vec<Run<'_>> = starts.iter().map(run).collect();
        let trip = |(combination, ends): (Combination, Ends)| {
            let homes = ends.states.iter().map(|state| self.home(state)).collect();
            Trip { combination, ends, homes }
        };
        Ok(combinations.into_iter().zip(sampler.anneal_all(&runs)?).map(trip).collect())
    }

    fn drawn(&self, random: &mut Random) -> Combination {
        let draw = |block: &Block| {
            let mut left = random.uniform();
            let taken = block.parts.iter().position(|part| {
                left -= part;
                left < 0.0
            });
            taken.unwrap_or(0)
        };
        self.blocks.iter().map(draw).collect()
    }

    pub(super) fn start(&self, combination: &Combination) -> Result<Start> {
        let mut means = self.means.clone();
        for (block, &k) in self.blocks.iter().zip(combination) {
            block.units.iter().zip(&block.means[k]).for_each(|(&unit, &m)| means[unit] = m);
        }
        Start::from_means(means.view(), EPSILON)
    }

    /// The combination in whose cell a state is.
    pub(super) fn home(&self, state: &State) -> Combination {
        let of_block = |block: &Block| {
            cell(&block.products, &block.units.iter().map(|&unit| state[unit]).collect())
        };
        self.blocks.iter().map(of_block).collect()
    }

    /// Leaves out blocks whose alternatives are no phases, and fits the others to where chains ended.
    fn refit(&mut self, sampler: &Sampler<'_>, mut trips: Vec<Trip>) -> Result<()> {
        // As many as leave a chain of each group at home. Where there are no phases, one of K stays by chance,
        // and few combinations are left.
        let stays = |g: usize| trips.iter().map(|t| t.stays(g)).sum::<f64>() / trips.len() as f64;
        let stays: Vec<f64> = (0..self.blocks.len()).map(stays).collect();
        let mut order: Vec<usize> = (0..stays.len()).collect();
        order.sort_by(|&a, &b| stays[b].total_cmp(&stays[a]));
        let mut kept = vec![false; stays.len()];
        let mut at_home = 1.0;
        for g in order {
            at_home *= stays[g];
            kept[g] = at_home * GROUP as f64 > 1.0;
        }
        let keep = |z: &mut Combination| {
            let mut kept = kept.iter();
            z.retain(|_| kept.next() == Some(&true));
        };
        for trip in &mut trips {
            keep(&mut trip.combination);
            trip.homes.iter_mut().for_each(keep);
        }
        self.known.iter_mut().for_each(|(z, _)| keep(z));
        let mut is_kept = kept.iter();
        self.blocks.retain(|_| is_kept.next() == Some(&true));
        self.learn(&trips);
        let mut random = sampler.random();
        trips.retain(|trip| log_sum_exp(&trip.at_home()) > f64::NEG_INFINITY);
        let states = trips.iter().flat_map(|trip| {
            let chosen = drawn(&trip.at_home(), GROUP, &mut random);
            chosen.into_iter().map(|i| trip.ends.states[i].clone()).collect::<Vec<State>>()
        });
        let (_, means) = sampler.sweep(&states.collect::<Vec<_>>(), SWEEPS, WINDOW)?;
        let has = |g: usize, k: usize| {
            let trip_has = trips.iter().map(move |trip| trip.combination[g] == k);
            trip_has.flat_map(|has| [has; GROUP]).collect::<Vec<bool>>()
        };
        if let Some(mean) = mean_of(&means, &vec![true; means.nrows()]) {
            self.means = mean;
        }
        for (g, block) in self.blocks.iter_mut().enumerate() {
            for k in 0..block.means.len() {
                if let Some(mean) = mean_of(&means, &has(g, k)) {
                    block.means[k] = block.units.iter().map(|&unit| mean[unit]).collect();
                    block.products[k] = Product::fitted(&block.means[k])?;
                }
            }
        }
        Ok(())
    }

    /// Explains log Z of the cells by what each alternative adds to it, which is what blocks that hang
    /// together loosely do, and draws combinations accordingly.
    pub(super) fn learn(&mut self, trips: &[Trip]) {
        let known =
            trips.iter().map(|trip| (trip.combination.clone(), log_mean_exp(&trip.at_home())));
        self.known.extend(known.filter(|(_, log_z)| log_z.is_finite()));
        let guesses: Vec<Vec<f64>> = self.blocks.iter().map(|block| block.gains.clone()).collect();
        for _ in 0..STEPS {
            let rests: Vec<f64> =
                self.known.iter().map(|(z, log_z)| log_z - self.gain(z)).collect();
            let common = rests.iter().sum::<f64>() / rests.len().max(1) as f64;
            for g in 0..self.blocks.len() {
                let now = self.blocks[g].gains.clone();
                for k in 0..now.len() {
                    let with = self.known.iter().filter(|(z, _)| z[g] == k);
                    let (sum, count) = with.fold((0.0, 0.0), |(sum, count), (z, log_z)| {
                        (sum + log_z - self.gain(z) + now[k] - common, count + 1.0)
                    });
                    // The guess counts as one more of them.
                    self.blocks[g].gains[k] = (sum + guesses[g][k]) / (count + 1.0);
                }
            }
        }
        let even = EVEN_PART / self.blocks.len().max(1) as f64;
        self.blocks.iter_mut().for_each(|block| block.share_out(even));
    }

    fn gain(&self, combination: &Combination) -> f64 {
        let gain = |(block, &k): (&Block, &usize)| block.gains[k];
        self.blocks.iter().zip(combination).map(gain).sum()
    }
}

impl Block {
    fn of(found: &crossover::Block) -> Result<Self> {
        let means = found.alternatives.iter().map(|a| Array1::from_vec(a.means.clone()));
        let means: Vec<Array1<f64>> = means.collect();
        let products = means.iter().map(Product::fitted).collect::<Result<_>>()?;
        let gains: Vec<f64> = found.alternatives.iter().map(|a| a.gain).collect();
        // Evenly at first: a guess is no reason not to look.
        let parts = vec![1.0 / gains.len() as f64; gains.len()];
        Ok(Self { units: found.units.clone(), means, products, gains, parts })
    }

    /// Parts by gains, but for an even part.
    fn share_out(&mut self, even: f64) {
        let total = log_sum_exp(&self.gains);
        let each = even / self.gains.len() as f64;
        self.parts = self.gains.iter().map(|g| each + (1.0 - even) * exp(g - total)).collect();
    }
}

/// The mean of some rows.
fn mean_of(rows: &Array2<f32>, chosen: &[bool]) -> Option<Array1<f64>> {
    let count = chosen.iter().filter(|chosen| **chosen).count();
    let mut sum = Array1::zeros(rows.ncols());
    for (row, _) in rows.rows().into_iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        sum.zip_mut_with(&row, |sum: &mut f64, &x| *sum += f64::from(x));
    }
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::auto::tally::{Tally, alone};
    use crate::{Precision, Rbm, exact_log_z};
    use ndarray::s;

    /// Six blocks of four units that are all on or all off, and weak couplings between them.
    fn joined() -> Rbm {
        let mut weights =
            Array2::from_shape_fn((24, 12), |(i, j)| 0.02 * ((7 * i + 3 * j) % 5) as f64 - 0.04);
        for block in 0..6 {
            let mut within =
                weights.slice_mut(s![4 * block..4 * block + 4, 2 * block..2 * block + 2]);
            within.fill(6.0 + 0.1 * block as f64);
        }
        Rbm::new(weights, Array1::from_elem(24, -5.9), Array1::from_elem(12, -12.0)).unwrap()
    }

    fn found() -> Exchanges {
        let block = |block: usize| crossover::Block {
            units: (4 * block..4 * block + 4).collect(),
            alternatives: [0.9, 0.1]
                .map(|mean| crossover::Alternative { means: vec![mean; 4], gain: 0.0 })
                .into(),
        };
        let blocks = (0..6).map(block).collect();
        let mut found = Exchanges::default();
        (found.base, found.blocks) = (Array1::from_elem(24, 0.9), blocks);
        found
    }

    fn with_sampler<T>(seed: u64, run: impl FnOnce(&Sampler<'_>) -> T) -> T {
        let model = joined();
        let turned = model.transposed().unwrap();
        run(&Sampler::new([&model, &turned], Precision::default(), seed, &()).unwrap())
    }

    #[test]
    fn the_mean_over_seeds_is_z() {
        let exact = exact_log_z(&joined(), &()).unwrap();
        let ratio = |seed: u64| {
            with_sampler(seed, |sampler| {
                let blocks = Blocks::fit(sampler, &found(), 32).unwrap().expect("64 combinations");
                let core = Core::default();
                let chains = blocks.chains(sampler, 64, &schedule(32), &core).unwrap();
                let tally = Tally { chains: vec![chains], island: GROUP };
                (tally.summary(&alone(), &core, false).log_z - exact).exp()
            })
        };
        let ratios: Vec<f64> = (0..60).map(ratio).collect();
        let n = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / n;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!((mean - 1.0).abs() < 5.0 * (variance / n).sqrt(), "{mean}, variance {variance}");
    }

    #[test]
    fn every_state_is_at_home_in_one_combination_and_parts_sum_to_one() {
        with_sampler(1, |sampler| {
            let blocks = Blocks::fit(sampler, &found(), 32).unwrap().expect("64 combinations");
            let state: State = (0..24).map(|unit| unit / 4 % 2 == 0).collect();
            assert_eq!(blocks.home(&state), [0, 1, 0, 1, 0, 1]);
            for block in &blocks.blocks {
                assert!((block.parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(block.parts.iter().all(|part| *part > EVEN_PART / 20.0));
            }
        });
    }

    #[test]
    fn blocks_that_chains_leave_are_no_blocks() {
        // Independent units have no phases, whatever a search believes.
        let model = Rbm::new(Array2::zeros((24, 3)), Array1::zeros(24), Array1::zeros(3)).unwrap();
        let turned = model.transposed().unwrap();
        let sampler = Sampler::new([&model, &turned], Precision::default(), 0, &()).unwrap();
        assert!(Blocks::fit(&sampler, &found(), 32).unwrap().is_none());
    }
}
