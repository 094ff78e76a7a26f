//! What a round has to know of the ends of its chains, and how a worker says it in few bits.
//!
//! Whole states are only wanted where they may be among those that were summed exactly. These are the
//! highest that are known, so that F tells which may be: in most models none, because chains end in typical
//! states, and those are lower.

use super::batch::{Ends, State};
use super::cells::{Product, cell};
use super::core::{self, Core};
use super::tally::Chain;
use crate::crew::bits::{pack, size_of, unpack};
use crate::energy::largest;
use crate::{Error, Rbm, Result, Start};
use lnz_kernels::Marginals;
use serde::{Deserialize, Serialize};

/// Two ways to compute F differ by less than this part of the largest energy that the model may have.
const ROUNDING: f64 = 1e-9;

/// What chains are told apart by.
pub(super) struct Marks<'a> {
    /// The products whose cells the annealed layer is divided into.
    pub(super) phases: &'a [Product],
    /// States of the smaller layer that were summed exactly.
    pub(super) core: &'a Core,
    /// The layer of the core.
    pub(super) layer: CoreLayer,
}

/// Which layer has the states of the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CoreLayer {
    /// The one that is annealed.
    Annealed,
    /// The other one.
    Other,
}

/// Marks as a worker is asked for them.
#[derive(Serialize, Deserialize)]
pub(super) struct Asked {
    /// The biases of the products; none where there is one cell only.
    products: Vec<Vec<f64>>,
    layer: CoreLayer,
    /// No state of the core has a lower F; absent if the core is empty.
    lowest: Option<f64>,
}

impl Marks<'_> {
    /// Chains of whose ends the states are at hand.
    pub(super) fn chains(&self, ends: &Ends) -> Vec<Chain> {
        let of_core = of_core(self.layer, ends);
        let chain = |(k, &sample): (usize, &f64)| Chain {
            sample,
            cell: cell(self.phases, &ends.states[k]),
            known: of_core.get(k).is_some_and(|state| self.core.contains(&core::pack(state))),
        };
        ends.samples.iter().enumerate().map(chain).collect()
    }

    /// What a worker needs to know, for the model whose chains it has.
    pub(super) fn asked(&self, model: &Rbm) -> Asked {
        let biases = self.phases.iter().map(|product| product.start.bias().to_vec());
        let margin = ROUNDING * (1.0 + largest(model) + model.constant().abs());
        Asked {
            products: if self.phases.len() > 1 { biases.collect() } else { vec![] },
            layer: self.layer,
            lowest: self.core.lowest().map(|lowest| lowest + model.constant() - margin),
        }
    }

    /// Chains from their samples and what [`Asked::answer`] says of each item of so many chains.
    pub(super) fn read(
        &self,
        asked: &Asked,
        model: &Rbm,
        item: usize,
        samples: &[f64],
        answer: &[u8],
    ) -> Result<Vec<Chain>> {
        let units = asked.units(model);
        let mut rest = answer;
        let mut take = |bytes: usize| rest.split_off(..bytes).ok_or_else(unfit);
        let mut chains = Vec::with_capacity(samples.len());
        for samples in samples.chunks(item) {
            let width = asked.width();
            let marks = unpack(take(size_of(width * samples.len()))?, width * samples.len());
            for (k, &sample) in samples.iter().enumerate() {
                let mark = &marks[k * width..][..width];
                let digits = mark[..asked.digits()].iter().enumerate();
                let cell = digits.map(|(k, &on)| usize::from(on) << k).sum();
                let known = asked.lowest.is_some()
                    && mark[width - 1]
                    && self.core.contains(&core::pack(&unpack(take(size_of(units))?, units)));
                if cell >= self.phases.len().max(1) {
                    return Err(unfit());
                }
                chains.push(Chain { sample, cell, known });
            }
        }
        if rest.is_empty() { Ok(chains) } else { Err(unfit()) }
    }
}

impl Asked {
    /// The states of the layer that is not annealed are needed.
    pub(super) fn others(&self) -> bool {
        self.lowest.is_some() && self.layer == CoreLayer::Other
    }

    /// The products are those of the annealed layer of a model.
    pub(super) fn fits(&self, model: &Rbm) -> bool {
        self.products.iter().all(|bias| bias.len() == model.visible())
    }

    /// For each item of so many chains the cell of each chain and whether its state follows, as bits; then
    /// these states.
    pub(super) fn answer(&self, model: &Rbm, item: usize, ends: &Ends) -> Result<Vec<u8>> {
        let biases = self.products.iter();
        let products: Vec<Product> =
            biases.map(|bias| Product::of(Start::from_bias(bias.clone()))).collect();
        let of_core = of_core(self.layer, ends);
        let high = self.high(model, of_core)?;
        let mut bytes = Vec::new();
        let chains: Vec<usize> = (0..ends.samples.len()).collect();
        for chains in chains.chunks(item) {
            let mut marks = Vec::new();
            for &k in chains {
                let cell = if products.is_empty() { 0 } else { cell(&products, &ends.states[k]) };
                marks.extend((0..self.digits()).map(|digit| cell >> digit & 1 == 1));
                marks.extend(high.get(k));
            }
            pack(&marks, &mut bytes);
            for &k in chains.iter().filter(|&&k| high.get(k) == Some(&true)) {
                pack(&of_core[k], &mut bytes);
            }
        }
        Ok(bytes)
    }

    /// Which states are so high that the core may have them; nothing if it is empty.
    fn high(&self, model: &Rbm, states: &[State]) -> Result<Vec<bool>> {
        let Some(lowest) = self.lowest else { return Ok(vec![]) };
        let marginals = match self.layer {
            CoreLayer::Annealed => Marginals::new(model),
            CoreLayer::Other => Marginals::new(&model.transposed()?),
        };
        let rows: Vec<f64> = states.iter().flatten().map(|&on| f64::from(on)).collect();
        let mut heights = vec![0.0; states.len()];
        marginals.of_rows(&rows, &mut heights);
        // What is not a number is not low.
        Ok(heights.iter().map(|&height| height >= lowest || height.is_nan()).collect())
    }

    /// Bits that tell the cells apart.
    fn digits(&self) -> usize {
        self.products.len().max(1).next_power_of_two().ilog2() as usize
    }

    /// Bits of a chain.
    fn width(&self) -> usize {
        self.digits() + usize::from(self.lowest.is_some())
    }

    /// Units of a state of the core.
    fn units(&self, model: &Rbm) -> usize {
        match self.layer {
            CoreLayer::Annealed => model.visible(),
            CoreLayer::Other => model.hidden(),
        }
    }
}

fn of_core(layer: CoreLayer, ends: &Ends) -> &[State] {
    match layer {
        CoreLayer::Annealed => &ends.states,
        CoreLayer::Other => &ends.others,
    }
}

fn unfit() -> Error {
    Error::orders("the marks of a result are not those of its chains")
}

#[cfg(test)]
mod tests {
    use super::super::modes::find_modes;
    use super::*;
    use crate::Gwgm;
    use lnz_kernels::FreeEnergy;
    use lnz_kernels::random::{Purpose, Random};
    use ndarray::Array1;

    /// Ends of chains at random states, every third of which has the highest mode of the smaller layer.
    fn ends(count: usize, [n, m]: [usize; 2], mode: &State) -> Ends {
        let mut random = Random::stream(1, Purpose::Modes, 0);
        let mut state = |units| (0..units).map(|_| random.happens(0.5)).collect::<State>();
        let states = (0..count).map(|_| state(n)).collect();
        let other = |k: usize| if k.is_multiple_of(3) { mode.clone() } else { state(m) };
        let others = (0..count).map(other).collect();
        Ends { samples: (0..count).map(|k| k as f64).collect(), states, others }
    }

    #[test]
    fn what_a_worker_says_in_bits_is_what_the_states_say() {
        let small = Gwgm { visible: 10, hidden: 31, ..Gwgm::HARDEST }.generate(2).unwrap();
        let model = small.transposed().unwrap();
        let free_energy = FreeEnergy::new(&small);
        let modes = find_modes(&free_energy, vec![], 1, &());
        let constant = model.constant();
        for expansions in [0, 1, 4096] {
            let core = Core::build(&free_energy, &modes, expansions, constant, &());
            for cells in [1, 2, 3, 24] {
                let product = |k: usize| {
                    let mean = |i: usize| if i % cells == k { 0.9 } else { 0.3 };
                    Product::fitted(&Array1::from_iter((0..31).map(mean))).unwrap()
                };
                let phases: Vec<Product> = (0..cells).map(product).collect();
                let marks = Marks { phases: &phases, core: &core, layer: CoreLayer::Other };
                // As it was sent.
                let asked = serde_json::to_string(&marks.asked(&model)).unwrap();
                let asked: Asked = serde_json::from_str(&asked).unwrap();
                assert_eq!(asked.others(), expansions > 0);
                for count in [1, 16, 37] {
                    let ends = ends(count, [31, 10], &modes[0].x);
                    let answer = asked.answer(&model, 16, &ends).unwrap();
                    let read = |bytes: &[u8]| marks.read(&asked, &model, 16, &ends.samples, bytes);
                    let (found, wanted) = (read(&answer).unwrap(), marks.chains(&ends));
                    for (found, wanted) in found.iter().zip(&wanted) {
                        assert_eq!(found.sample, wanted.sample);
                        assert_eq!((found.cell, found.known), (wanted.cell, wanted.known));
                    }
                    assert_eq!(found.len(), count);
                    let least = count.div_ceil(3);
                    let known = wanted.iter().filter(|chain| chain.known).count();
                    assert!(if expansions > 0 { known >= least } else { known == 0 });
                    if let Some(cut) = answer.len().checked_sub(1) {
                        assert!(read(&answer[..cut]).is_err());
                    }
                    assert!(read(&[&answer[..], &[0]].concat()).is_err());
                    if expansions == 0 && cells == 1 {
                        assert!(answer.is_empty());
                    }
                }
            }
        }
    }

    #[test]
    fn states_that_are_lower_than_the_core_are_not_sent() {
        let small = Gwgm { visible: 10, hidden: 31, ..Gwgm::HARDEST }.generate(2).unwrap();
        let free_energy = FreeEnergy::new(&small);
        let modes = find_modes(&free_energy, vec![], 1, &());
        let core = Core::build(&free_energy, &modes[..1], 1, small.constant(), &());
        let model = small.transposed().unwrap();
        let marks = Marks { phases: &[], core: &core, layer: CoreLayer::Other };
        let asked = marks.asked(&model);
        let mut low = ends(160, [31, 10], &modes[0].x);
        let lowest = core.lowest().unwrap();
        low.others.retain(|state| free_energy.position(state.clone()).height() < lowest - 1.0);
        assert!(low.others.len() > 16);
        low.states.truncate(low.others.len());
        low.samples.truncate(low.others.len());
        let answer = asked.answer(&model, 16, &low).unwrap();
        let bytes: usize = low.samples.chunks(16).map(|item| item.len().div_ceil(8)).sum();
        assert_eq!(answer.len(), bytes);
        // The same where the layer of the core is the one that is annealed.
        let marks = Marks { layer: CoreLayer::Annealed, ..marks };
        let turned = Ends { states: low.others.clone(), others: vec![], ..low };
        assert_eq!(marks.asked(&small).answer(&small, 16, &turned).unwrap(), answer);
    }
}
