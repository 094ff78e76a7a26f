//! What a trial promises: how well its way would know log Z after as much work as the longest trial.
//!
//! Trials differ in their work and in their schedules. Chains know more the more there are of them, but what they do not
//! reach stays unknown.

use super::effort::{BETAS, CHAINS, MOST_TRIALS};
use crate::check::Measured;
use crate::math::hypot;

/// What a way has found, and what the main run would make of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Promise {
    /// Mass that it does not reach is an error, too.
    pub(super) found: Measured,
    /// The error after as much work as the longest trial.
    pub(super) error: f64,
}

impl Promise {
    /// The work of the longest trial.
    pub(super) const CHAIN_STEPS: usize = MOST_TRIALS * CHAINS * BETAS;

    /// Of a way whose main run has the schedule of its trial.
    pub(super) fn of(found: Measured, chain_steps: f64, unreached: f64) -> Self {
        let part = (chain_steps / Self::CHAIN_STEPS as f64).sqrt();
        let Measured { log_z, error } = found;
        Self {
            found: Measured { log_z, error: hypot(error, unreached) },
            error: hypot(error * part, unreached),
        }
    }

    /// Where two ways disagree, the one that finds more is better; otherwise the one that would know it better.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        match self.found.disagrees_with(other.found) {
            true => self.found.log_z > other.found.log_z,
            false => self.error < other.error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(log_z: f64, error: f64, trials: usize, unreached: f64) -> Promise {
        Promise::of(Measured { log_z, error }, (trials * CHAINS * BETAS) as f64, unreached)
    }

    #[test]
    fn a_long_trial_does_not_make_a_way_better() {
        // The same knowledge for an eighth of the work.
        let (short, long) = (promise(0.0, 0.3, 1, 0.0), promise(0.2, 0.2, MOST_TRIALS, 0.0));
        assert!(short.is_better_than(&long) && !long.is_better_than(&short));
        // More work would not help the first one.
        assert!(long.is_better_than(&promise(0.0, 0.1, 1, 0.25)));
    }

    #[test]
    fn of_two_ways_that_disagree_the_one_that_finds_more_is_better() {
        let (low, high) = (promise(0.0, 0.01, 1, 0.0), promise(1.0, 0.2, 1, 0.0));
        assert!(high.is_better_than(&low) && !low.is_better_than(&high));
    }
}
