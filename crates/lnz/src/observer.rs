//! How long work reports its progress and learns that it should stop.

/// One phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Enumerating states.
    Enumerate,
    /// Tightening a proven bound; `log_z` is the bound so far.
    Bound,
    /// Sampling the model to build the start distribution.
    Start,
    /// Annealing.
    Anneal,
    /// Searching for modes and trying starts, before the main run of the default estimator.
    Prepare,
    /// Rounds of the default estimator.
    Round,
    /// Training; work is counted in examples.
    Train,
    /// Going through a data set.
    Score,
}

/// A report from running work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Units of work finished: states, chain-steps, examples, stages or parts of the way.
    pub done: u64,
    /// Units of work in the whole phase; zero if that is not known.
    pub total: u64,
    /// The current estimate of log Z, where there is one: while annealing, of log Z at the inverse
    /// temperature reached.
    pub log_z: Option<f64>,
    /// The inverse temperature reached, while annealing.
    pub beta: Option<f64>,
}

/// Receives progress, possibly from several threads at once, and may ask to stop.
///
/// `()` is the observer that does neither.
pub trait Observer: Sync {
    /// Called a few times a second at most by fast work, at least once per phase.
    fn progress(&self, _progress: Progress) {}

    /// Asked often; once true, work ends at the next opportunity.
    fn cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}
