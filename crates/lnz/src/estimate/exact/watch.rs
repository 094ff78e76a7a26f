//! Progress over all components.

use crate::{Error, Observer, Phase, Progress};
use std::time::{Duration, Instant};

/// Time between two reports.
pub(super) const LONG_WAVE: Duration = Duration::from_millis(200);

/// Counts states and tells the observer.
pub(super) struct Watch<'a> {
    pub(super) observer: &'a dyn Observer,
    total: u64,
    done: u64,
    reported: Instant,
}

impl<'a> Watch<'a> {
    pub(super) fn new(observer: &'a dyn Observer, states: f64) -> Self {
        Self { observer, total: states as u64, done: 0, reported: Instant::now() }
    }

    pub(super) fn advance(&mut self, states: u64) {
        self.done += states;
        if self.reported.elapsed() > LONG_WAVE {
            self.report();
        }
    }

    pub(super) fn report(&mut self) {
        self.reported = Instant::now();
        self.observer.progress(Progress::new(Phase::Enumerate, self.done, self.total));
    }

    pub(super) fn cancelled(&self) -> Error {
        Error::Cancelled { reached: format!("after {} of {} states", self.done, self.total) }
    }
}
