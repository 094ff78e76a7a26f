//! States of many chains, a bit for each unit.

/// States of one layer for a block of chains: bit `i % 64` of word `i / 64` of each chain, all chains
/// of a word side by side.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Bits {
    pub(crate) words: Vec<u64>,
    pub(crate) chains: usize,
}

impl Bits {
    pub(crate) fn zeros(units: usize, chains: usize) -> Self {
        Self { words: vec![0; units.div_ceil(64) * chains], chains }
    }

    pub(crate) fn get(&self, chain: usize, unit: usize) -> bool {
        self.words[unit / 64 * self.chains + chain] >> (unit % 64) & 1 == 1
    }

    pub(crate) fn set(&mut self, chain: usize, unit: usize, on: bool) {
        let word = &mut self.words[unit / 64 * self.chains + chain];
        *word = *word & !(1 << (unit % 64)) | u64::from(on) << (unit % 64);
    }

    pub(crate) fn copy_chain(&mut self, chain: usize, other: &Self) {
        for k in (chain..self.words.len()).step_by(self.chains) {
            self.words[k] = other.words[k];
        }
    }

    /// Chain k is chain `order[k]` of these.
    pub(crate) fn rearranged(&self, order: &[usize]) -> Self {
        let words = self.words.chunks(self.chains);
        Self { words: words.flat_map(|w| order.iter().map(|&k| w[k])).collect(), ..*self }
    }

    /// The words of a chain.
    pub fn packed(&self, chain: usize) -> Vec<u64> {
        self.words.iter().skip(chain).step_by(self.chains).copied().collect()
    }

    /// How many chains have each unit on.
    pub fn counts(&self, units: usize) -> Vec<u64> {
        (0..units).map(|i| (0..self.chains).map(|c| u64::from(self.get(c, i))).sum()).collect()
    }

    /// Always inlined, like its callers: kernels count bits by an instruction.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    #[inline(always)]
    pub(crate) fn count_different(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }
}
