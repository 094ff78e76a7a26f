//! What the steps before the main run may cost, in chains, sweeps, intervals of a schedule and evaluations.

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
pub(super) const FLIP_ISLANDS: usize = 2 * ISLANDS;
/// Times as many islands in a trial with flips, where it matters and few are too rough, at most.
pub(super) const MOST_TRIALS: usize = 8;
/// Evaluations of softplus that a search for modes may take, about half a second on one core, and the core as well.
pub(super) const EVALUATIONS: f64 = 4e7;
/// Times that an ascent goes through all units, about.
pub(super) const PASSES: usize = 8;
/// Ascents that are begun at once, and those of a search at most.
pub(super) const ASCENTS: usize = ISLAND / 2;
/// Singular vectors, columns and groups of units that are tried, and batches of ascents, at most.
pub(super) const TRIED: usize = ISLAND / 4;
/// A phase or a core with a smaller share of Z is not worth its trouble.
pub(super) const LEAST_SHARE: f64 = 1e-4;
/// Mass below this share of Z is not looked for, and with a smaller share of effective chains an error is itself too
/// small: no reason to stop.
pub(super) const NEGLIGIBLE: f64 = 0.02;
/// Fewer units are no group, and fewer effective chains have seen nothing.
pub(super) const FEW: usize = 4;
/// Means that are farther apart differ, and a coupling above this share of the strongest of its units is strong.
pub(super) const CLEARLY: f64 = 0.25;
/// Steps of an iteration that is over long before.
pub(super) const STEPS: usize = 100;
/// A phase keeps more than this part of its chains, and of the weight of its own start; a part more of the couplings
/// of its units.
pub(super) const STAYING: f64 = 0.5;
