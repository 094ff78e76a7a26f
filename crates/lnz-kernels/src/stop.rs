//! Work that ends early: kernels ask now and then whether anybody still wants their result.

/// Says whether to stop. Once it says so, it must go on saying so.
pub type StopRule<'a> = Box<dyn Fn() -> bool + Send + Sync + 'a>;

/// Work between two questions, in weights that are looked at for one chain: at most a few milliseconds,
/// and so much that a question, which may read a clock, costs nothing beside it.
const BETWEEN_QUESTIONS: usize = 1 << 22;

/// Asks a rule now and then, and remembers that it said stop.
pub(crate) struct Stop<'a> {
    rule: StopRule<'a>,
    since: usize,
    stopped: bool,
}

impl<'a> Stop<'a> {
    pub(crate) fn never() -> Self {
        Self::by(Box::new(|| false))
    }

    pub(crate) fn by(rule: StopRule<'a>) -> Self {
        Self { rule, since: 0, stopped: false }
    }

    /// It said stop: what was computed since is of no use.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Counts work that is about to be done; true if it should not be.
    pub(crate) fn before(&mut self, work: usize) -> bool {
        self.since = self.since.saturating_add(work);
        if self.since >= BETWEEN_QUESTIONS && !self.stopped {
            self.since = 0;
            self.stopped = (self.rule)();
        }
        self.stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_rule_is_asked_by_the_amount_of_work_and_not_after_it_said_stop() {
        let asked = AtomicUsize::new(0);
        let mut stop = Stop::by(Box::new(|| asked.fetch_add(1, Ordering::Relaxed) == 1));
        let small = BETWEEN_QUESTIONS / 8;
        assert!((0..15).all(|_| !stop.before(small)));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(stop.before(small) && stop.has_stopped());
        assert!((0..100).all(|_| stop.before(usize::MAX)));
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
