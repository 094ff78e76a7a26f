//! Gives the items of long work to a crew.

use crate::crew::{Crew, Output, Task, Work, joined};
use crate::{Observer, Result};
use std::ops::Range;

/// The crew of an observer, if there is one and the work is long enough to be worth an order.
pub(super) fn crew_for(observer: &dyn Observer, seconds: f64) -> Option<&dyn Crew> {
    observer.crew().filter(|crew| seconds >= crew.least_seconds())
}

/// A task, and the functions that do what a crew asks for.
pub(super) struct Delegated<'a> {
    pub(super) task: Task,
    /// The model as bytes, for workers elsewhere.
    pub(super) model: &'a (dyn Fn() -> Vec<u8> + Sync),
    /// Computes some of the items here.
    pub(super) compute: &'a (dyn Fn(Range<usize>) -> Result<Output> + Sync),
    /// Tells the observer that items were computed elsewhere.
    pub(super) advance: &'a (dyn Fn(usize) + Sync),
    pub(super) observer: &'a dyn Observer,
}

impl Delegated<'_> {
    /// The output of all items, as the crew has computed them.
    pub(super) fn carried_out_by(&self, crew: &dyn Crew) -> Result<Output> {
        joined(&self.task, crew.carry_out(self)?)
    }
}

impl Work for Delegated<'_> {
    fn task(&self) -> &Task {
        &self.task
    }

    fn model(&self) -> Vec<u8> {
        (self.model)()
    }

    fn compute(&self, items: Range<usize>) -> Result<Output> {
        (self.compute)(items)
    }

    fn advance(&self, items: usize) {
        (self.advance)(items);
    }

    fn cancelled(&self) -> bool {
        self.observer.cancelled()
    }
}
