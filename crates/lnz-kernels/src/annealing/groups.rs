//! Groups of chains: what shares a random stream, and how they are shared out to threads.

use crate::random::Purpose;
use std::ops::Range;

/// Chains that share a random stream. Blocks are whole groups, so that the random numbers of a chain
/// do not depend on how chains are shared out to threads.
pub const GROUP: usize = 16;

/// Chains in a block at most: enough to spread the cost of its tables, few enough for the cache.
pub const LARGEST_BLOCK: usize = 1024;

/// How `chains` chains are shared out to threads: for each block its first group and its chains.
///
/// A whole number of blocks per thread. How groups are shared out does not change a bit of a result.
pub fn share_out(chains: usize) -> Vec<(usize, usize)> {
    let groups = chains.div_ceil(GROUP);
    let threads = rayon::current_num_threads();
    let blocks = threads * (groups * GROUP).div_ceil(threads * LARGEST_BLOCK);
    let groups_per_block = groups.div_ceil(blocks);
    (0..groups)
        .step_by(groups_per_block)
        .map(|group| (group, (chains - group * GROUP).min(groups_per_block * GROUP)))
        .collect()
}

/// Some chains of a run: which ones, and which random numbers they use.
#[derive(Debug, Clone, Copy)]
pub struct ChainRange {
    /// The first chain is chain `group * GROUP` of the run.
    pub group: usize,
    pub chains: usize,
    pub seed: u64,
    pub purpose: Purpose,
}

/// The chains of each group.
pub(crate) fn groups(chains: usize) -> impl Iterator<Item = Range<usize>> {
    (0..chains).step_by(GROUP).map(move |first| first..(first + GROUP).min(chains))
}
