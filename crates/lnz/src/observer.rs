//! How long work reports its progress and learns that it should stop.

mod steps;

pub(crate) use steps::Steps;

use crate::Error;
use crate::crew::Crew;
use std::time::{Duration, Instant};

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
    /// The 95% interval of that estimate, where it is one of the whole model.
    pub interval: Option<[f64; 2]>,
    /// The inverse temperature reached, while annealing.
    pub beta: Option<f64>,
}

impl Progress {
    /// So much work is done, of which nothing is known yet.
    pub fn new(phase: Phase, done: u64, total: u64) -> Self {
        Self { phase, done, total, log_z: None, interval: None, beta: None }
    }
}

/// Receives progress, possibly from several threads at once, and may ask to stop.
///
/// `()` is the observer that does neither. One that stands in front of another says so by
/// [`behind`](Observer::behind) and writes only what it does differently.
pub trait Observer: Sync {
    /// The observer that hears and answers whatever this one leaves to it.
    fn behind(&self) -> Option<&dyn Observer> {
        None
    }

    /// Called a few times a second at most by fast work, at least once per phase.
    fn progress(&self, progress: Progress) {
        if let Some(observer) = self.behind() {
            observer.progress(progress);
        }
    }

    /// Asked often, every few milliseconds; once true it stays true, and work ends at once.
    fn cancelled(&self) -> bool {
        self.behind().is_some_and(Observer::cancelled)
    }

    /// How long work may still take, where there is a limit: what will not be done by then need not
    /// begin.
    fn seconds_left(&self) -> Option<f64> {
        self.behind().and_then(Observer::seconds_left)
    }

    /// Who computes the orders of long work; nobody if that is left to the threads of this process.
    fn crew(&self) -> Option<&dyn Crew> {
        self.behind().and_then(Observer::crew)
    }
}

impl Observer for () {}

/// An observer that brings a crew.
pub struct WithCrew<'a> {
    /// Who watches.
    pub observer: &'a dyn Observer,
    /// Who works.
    pub crew: &'a dyn Crew,
}

impl std::fmt::Debug for WithCrew<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithCrew").finish_non_exhaustive()
    }
}

impl Observer for WithCrew<'_> {
    fn behind(&self) -> Option<&dyn Observer> {
        Some(self.observer)
    }

    fn crew(&self) -> Option<&dyn Crew> {
        Some(self.crew)
    }
}

/// An observer without its crew: what it watches is computed here.
pub(crate) struct Alone<'a>(pub(crate) &'a dyn Observer);

impl Observer for Alone<'_> {
    fn behind(&self) -> Option<&dyn Observer> {
        Some(self.0)
    }

    fn crew(&self) -> Option<&dyn Crew> {
        None
    }
}

/// An observer that also says stop when a time has passed.
///
/// ```
/// use lnz::{Deadline, Observer};
/// let deadline = Deadline::after(0.0, &());
/// assert!(deadline.cancelled() && deadline.is_over());
/// assert!(!Deadline::after(f64::INFINITY, &()).cancelled());
/// ```
pub struct Deadline<'a> {
    observer: &'a dyn Observer,
    start: Instant,
    /// None if it never comes.
    end: Option<Instant>,
    seconds: f64,
    /// Work is stopped then, or only told.
    stops: bool,
}

impl std::fmt::Debug for Deadline<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deadline").field("seconds", &self.seconds).finish_non_exhaustive()
    }
}

impl<'a> Deadline<'a> {
    /// So many seconds from now; progress, and a wish to stop earlier, pass through.
    pub fn after(seconds: f64, observer: &'a dyn Observer) -> Self {
        Self::since(Instant::now(), seconds, observer)
    }

    /// So many seconds from a time that may lie in the past.
    pub fn since(start: Instant, seconds: f64, observer: &'a dyn Observer) -> Self {
        // What does not fit into a duration is never; so is NaN.
        let end = Duration::try_from_secs_f64(seconds.max(0.0)).ok();
        let end = end.and_then(|end| start.checked_add(end));
        Self { observer, start, end, seconds, stops: true }
    }

    /// The same for work that is never stopped in the middle: between its rounds it asks how much time is
    /// left.
    pub fn between_rounds(self) -> Self {
        Self { stops: false, ..self }
    }

    /// The time has passed.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Seconds since it was set.
    pub fn elapsed(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Says of work that was stopped by this deadline, and not by the observer behind it, that the time
    /// was too short. Where parts of the work had deadlines of their own, the time that was allowed is
    /// this one. Other errors stay what they are.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::Cancelled { reached } if self.is_over() && !self.observer.cancelled() => {
                Error::OutOfTime { allowed: self.seconds, reached }
            }
            Error::OutOfTime { reached, .. } if self.end.is_some() => {
                Error::OutOfTime { allowed: self.seconds, reached }
            }
            Error::TooSlow { least, .. } if self.end.is_some() => {
                Error::TooSlow { allowed: self.seconds, least: least + self.elapsed() }
            }
            other => other,
        }
    }
}

impl Observer for Deadline<'_> {
    fn behind(&self) -> Option<&dyn Observer> {
        Some(self.observer)
    }

    fn cancelled(&self) -> bool {
        self.observer.cancelled() || (self.stops && self.is_over())
    }

    fn seconds_left(&self) -> Option<f64> {
        let mine = self.end.map(|end| {
            let now = Instant::now();
            end.saturating_duration_since(now).as_secs_f64()
        });
        match (mine, self.observer.seconds_left()) {
            (Some(mine), Some(other)) => Some(mine.min(other)),
            (mine, other) => mine.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Impatient;

    impl Observer for Impatient {
        fn cancelled(&self) -> bool {
            true
        }
    }

    fn stopped() -> Error {
        Error::Cancelled { reached: "halfway".into() }
    }

    #[test]
    fn the_earlier_of_two_deadlines_counts() {
        let outer = Deadline::after(1e6, &());
        let inner = Deadline::after(2e6, &outer);
        assert!(inner.seconds_left().unwrap() <= 1e6);
        assert!(Deadline::after(5.0, &outer).seconds_left().unwrap() <= 5.0);
        assert_eq!(Deadline::after(f64::INFINITY, &()).seconds_left(), None);
        assert!(!inner.cancelled());
    }

    #[test]
    fn a_deadline_that_passed_is_told_from_a_wish_to_stop() {
        let over = Deadline::after(0.0, &());
        assert!(matches!(over.explain(stopped()), Error::OutOfTime { allowed: 0.0, .. }));
        let told = Deadline::after(0.0, &Impatient);
        assert!(matches!(told.explain(stopped()), Error::Cancelled { .. }));
        let ahead = Deadline::after(1e6, &Impatient);
        assert!(ahead.cancelled() && !ahead.is_over());
        assert!(matches!(over.explain(Error::Overflow), Error::Overflow));
    }

    #[test]
    fn the_time_that_was_allowed_is_that_of_the_outermost_deadline() {
        let (outer, none) = (Deadline::after(5.0, &()), Deadline::after(f64::INFINITY, &()));
        let part = || Error::OutOfTime { allowed: 4.9, reached: "halfway".into() };
        let slow = || Error::TooSlow { allowed: 4.9, least: 7.0 };
        assert!(matches!(outer.explain(part()), Error::OutOfTime { allowed: 5.0, .. }));
        assert!(matches!(outer.explain(slow()), Error::TooSlow { allowed: 5.0, .. }));
        assert!(matches!(none.explain(part()), Error::OutOfTime { allowed: 4.9, .. }));
        assert!(matches!(none.explain(slow()), Error::TooSlow { allowed: 4.9, .. }));
    }
}
