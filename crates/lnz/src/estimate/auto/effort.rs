//! What the steps before the main run may cost: in islands of chains, in sweeps and in intervals of a schedule.

/// Chains that are resampled together.
pub(super) const ISLAND: usize = 64;
/// Islands of a short run that something is fitted to, and chains of a trial.
pub(super) const ISLANDS: usize = 4;
pub(super) const CHAINS: usize = ISLANDS * ISLAND;
/// States of a search that are looked at closely.
pub(super) const STATES: usize = 2 * ISLAND;
/// Sweeps after which a chain is at home in its phase, and the last of them, which give its means.
pub(super) const SWEEPS: usize = 50;
pub(super) const WINDOW: usize = SWEEPS / 2;
/// Intervals of a trial; a run that something is fitted to has a half or a quarter of them.
pub(super) const BETAS: usize = 1024;
/// Islands of a trial with flips, and of a first round.
pub(super) const FLIP_ISLANDS: usize = 8;
/// Evaluations of softplus that a search for modes may take, about half a second on one core.
pub(super) const EVALUATIONS: f64 = 4e7;
/// Ascents that are begun at once, and those of a search at most.
pub(super) const ASCENTS: usize = ISLAND / 2;
