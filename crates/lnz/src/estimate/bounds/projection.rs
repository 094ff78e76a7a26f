//! How the index of a table over many units becomes the index of one over some of them.

/// Index bits that are looked up together.
const LOW_BITS: usize = 6;

/// From a table over a scope to one over a part of it.
pub(super) struct Projection {
    /// Index into the part, for the first units of the scope.
    low: Vec<u32>,
    /// What each later unit adds to it.
    high: Vec<u32>,
}

impl Projection {
    /// Both rise, and every unit of the part is in the scope.
    pub(super) fn new(scope: &[u32], part: &[u32]) -> Self {
        let adds: Vec<u32> = scope
            .iter()
            .map(|unit| part.binary_search(unit).map_or(0, |place| 1 << place))
            .collect();
        let (first, later) = adds.split_at(adds.len().min(LOW_BITS));
        let mut low = vec![0];
        for &add in first {
            for k in 0..low.len() {
                low.push(low[k] + add);
            }
        }
        Self { low, high: later.to_vec() }
    }

    /// Calls `visit` with each block of the scope's indices: where it begins, and for each of its
    /// entries the index into the part, as a number for the block and one for the entry.
    pub(super) fn for_each_block(&self, mut visit: impl FnMut(usize, usize, &[u32])) {
        for block in 0..1usize << self.high.len() {
            let on = self.high.iter().enumerate().filter(|(k, _)| block >> k & 1 == 1);
            let outside: u32 = on.map(|(_, add)| add).sum();
            visit(block * self.low.len(), outside as usize, &self.low);
        }
    }
}
