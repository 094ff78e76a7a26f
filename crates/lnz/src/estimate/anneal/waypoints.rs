//! The estimate of log Z on the way from the start distribution to the model.

use crate::math::{ln, log_sum_exp};
use lnz_kernels::GROUP;

/// Points that are kept of a long schedule; more cannot be told apart in a figure.
const MOST_POINTS: usize = 128;

/// Whether step `step` (from 1) of `intervals` is among those kept; the last always is.
pub(super) fn is_kept(step: usize, intervals: usize) -> bool {
    let points = intervals.min(MOST_POINTS);
    step * points / intervals != (step - 1) * points / intervals
}

/// Sums of the weights of each group of chains. Groups are the same for any number of threads, so
/// that adding them up in order gives the same bits.
pub(super) fn group_sums(samples: &[f64]) -> Vec<f64> {
    samples.chunks(GROUP).map(log_sum_exp).collect()
}

/// From the group sums of all finished blocks at the kept steps, in order, to log Z at each of them.
pub(super) fn along(blocks: &[Vec<Vec<f64>>], chains: usize) -> Vec<f64> {
    let Some(first) = blocks.first() else { return vec![] };
    let sum_at = |point: usize| {
        let groups: Vec<f64> = blocks.iter().flat_map(|block| block[point].clone()).collect();
        log_sum_exp(&groups) - ln(chains as f64)
    };
    (0..first.len()).map(sum_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_schedules_are_thinned_evenly_and_end_at_the_model() {
        for intervals in [1, 7, 128, 129, 1000, 4096] {
            let kept: Vec<usize> = (1..=intervals).filter(|&k| is_kept(k, intervals)).collect();
            assert_eq!(kept.len(), intervals.min(MOST_POINTS));
            assert_eq!(kept.last(), Some(&intervals));
        }
    }
}
