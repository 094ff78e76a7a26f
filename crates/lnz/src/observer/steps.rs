//! Counts the steps of chains on several threads, and says when a report is due.

use std::sync::atomic::{AtomicU64, Ordering};

/// Reports of a run, about: an estimate on the way costs an exponential per chain.
const REPORTS: u64 = 1000;

/// Steps of a run.
pub(crate) struct Steps {
    done: AtomicU64,
    total: u64,
}

impl Steps {
    pub(crate) fn new(total: u64) -> Self {
        Self { done: AtomicU64::new(0), total }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Adds some steps; how many are done now.
    pub(crate) fn add(&self, steps: u64) -> u64 {
        self.done.fetch_add(steps, Ordering::Relaxed) + steps
    }

    /// Adds some steps; how many are done now, if it is time for a report.
    pub(crate) fn add_and_report(&self, steps: u64) -> Option<u64> {
        let done = self.add(steps);
        let every = (self.total / REPORTS).max(1);
        (done / every != (done - steps) / every).then_some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_about_a_thousand_reports_whatever_its_length() {
        for (total, block, least) in [(100_000_000, 1024, 990), (5000, 1, 990), (40, 16, 3)] {
            let steps = Steps::new(total);
            let added = (0..total).step_by(block);
            let reports = added.filter_map(|_| steps.add_and_report(block as u64)).count();
            assert!((least..=1000).contains(&reports), "{reports} of {total}");
            assert!(steps.done() >= total);
        }
    }
}
