//! How long work reports what it does, and learns that it should stop.

/// Follows the runs of an experiment, of which several go on at a time.
pub trait RunObserver: Sync {
    /// This number of runs lies ahead, with this cost in all, in arbitrary units.
    fn expect(&self, _runs: usize, _cost: f64) {}

    /// A run of this cost is done.
    fn advance(&self, _cost: f64) {}

    /// Asked before and during each run; once true, no run is begun and those that go on are given up.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Follows the training of models.
pub trait TrainingObserver: lnz::Observer {
    /// The next piece of work, in words.
    fn begin(&self, _work: &str) {}
}

impl RunObserver for () {}
impl TrainingObserver for () {}
