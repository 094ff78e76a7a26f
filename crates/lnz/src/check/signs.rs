//! The signs of a wrong result: each test with its threshold and the reason for it.
//!
//! Tests know numbers, not methods: an estimator calls those that apply to what it has.

use super::Warning;
use crate::math::hypot;

/// Below this effective sample size the relative error of the mean weight passes 1/sqrt(20) = 22%,
/// and an error of log Z that is first-order in it stops being a good one.
pub(super) const FEW_EFFECTIVE_CHAINS: f64 = 20.0;

/// Above this share a single chain outweighs all others together.
const DOMINATING_SHARE: f64 = 0.5;

/// Differences of log Z, and so shares of Z, that are not worth a warning, however small errors are said to be.
pub(super) const LITTLE: f64 = 0.1;

/// Errors up to this are known well enough, whatever was aimed at.
const LARGE_ERROR: f64 = 0.2;

/// An estimate of log Z with the relative error of Z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub(crate) log_z: f64,
    pub(crate) error: f64,
}

impl Measured {
    /// The two differ by more than their errors allow.
    pub(crate) fn disagrees_with(self, other: Measured) -> bool {
        self.is_above(other) || other.is_above(self)
    }

    fn is_above(self, other: Measured) -> bool {
        self.log_z - other.log_z > LITTLE + 3.0 * hypot(self.error, other.error)
    }
}

/// Few weights count, or one counts for all.
///
/// Weights whose logarithm is normal with variance s^2 leave n e^(-s^2) of n chains effective. That is many
/// more than one where the mean is known, but its error is known from squares, which vary far more: among so
/// many chains that so few count, it is too small. The square root of n is where n is e^(2 s^2).
///
/// Chains that were resampled together are one of the `independent` contributions.
pub(crate) fn uneven_weights(
    ess: f64,
    share: f64,
    chains: usize,
    independent: usize,
) -> Option<Warning> {
    if independent > 1 && share > DOMINATING_SHARE {
        return Some(Warning::OneChainDominates { share, chains: independent });
    }
    let few = FEW_EFFECTIVE_CHAINS.max((independent as f64).sqrt());
    (ess < few).then_some(Warning::FewEffectiveChains { ess, chains })
}

/// The error is far above the one that was aimed at.
pub(crate) fn large_error(std_error: f64, target: f64) -> Option<Warning> {
    let large = std_error > (2.0 * target).max(LARGE_ERROR);
    large.then_some(Warning::TargetNotReached { std_error, target })
}

/// What a quick search says about log Z, in numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opinion {
    /// log Z is not below it.
    pub(crate) lower_bound: f64,
    /// What short runs found, each with the name of its start.
    pub(crate) trials: Vec<(&'static str, Measured)>,
}

/// An estimate below a bound is wrong; one that a short unbiased run exceeds probably is, because
/// log Z^ exceeds log Z by t with probability e^-t at most.
pub(crate) fn missed_mass(found: Measured, opinion: &Opinion) -> Option<Warning> {
    let log_z = found.log_z;
    let error = if found.error.is_finite() { found.error } else { 1.0 };
    let (found, lower_bound) = (Measured { log_z, error }, opinion.lower_bound);
    if (Measured { log_z: lower_bound, error: 0.0 }).is_above(found) {
        return Some(Warning::BelowLowerBound { log_z, lower_bound });
    }
    let (start, best) =
        opinion.trials.iter().max_by(|(_, a), (_, b)| a.log_z.total_cmp(&b.log_z))?;
    best.is_above(found).then_some(Warning::OtherStartFindsMore { log_z, start, found: best.log_z })
}

/// An estimate whose errors have no preferred side is wrong as soon as it is clearly below a known sum.
pub(crate) fn below_known_sum(found: Measured, lower_bound: f64) -> Option<Warning> {
    let log_z = found.log_z;
    (lower_bound > log_z + 3.0 * found.error)
        .then_some(Warning::BelowLowerBound { log_z, lower_bound })
}

/// Other runs have found mass that the chains do not reach.
pub(crate) fn unreached_mass(log_z: f64, mass: f64, error: f64) -> Option<Warning> {
    (mass > LITTLE + error).then_some(Warning::UnreachedMass { log_z, mass })
}

/// Both are unbiased, so that a main run far above its trial shows errors that are too small.
pub(crate) fn still_rising(
    start: &'static str,
    trial: Measured,
    main: Measured,
) -> Option<Warning> {
    main.is_above(trial).then_some(Warning::StillRising {
        start,
        trial: trial.log_z,
        log_z: main.log_z,
    })
}

/// Of a ladder: not even one state per column has gone from the start to the model and back.
pub(crate) fn few_round_trips(trips: usize, columns: usize) -> Option<Warning> {
    (trips < columns).then_some(Warning::FewRoundTrips { trips, columns })
}

/// Columns that differ more than this in their energy are not in the same equilibrium (Gelman and Rubin).
const LARGEST_R_HAT: f64 = 1.05;

pub(crate) fn columns_disagree(r_hat: f64) -> Option<Warning> {
    (r_hat > LARGEST_R_HAT).then_some(Warning::ColumnsDisagree { r_hat })
}

/// A pair of rungs that exchanges more seldom cuts the ladder in two.
const LARGEST_REJECTION: f64 = 0.95;

pub(crate) fn rare_exchanges(rejection: f64) -> Option<Warning> {
    (rejection > LARGEST_REJECTION).then_some(Warning::RareExchanges { rejection })
}

/// The lowest and the highest of several starts, if they differ beyond their errors.
pub(crate) fn disagreement(mut found: Vec<(&'static str, Measured)>) -> Option<Warning> {
    found.sort_by(|a, b| a.1.log_z.total_cmp(&b.1.log_z));
    let (&(lowest, low), &(highest, high)) = (found.first()?, found.last()?);
    low.disagrees_with(high).then_some(Warning::StartsDisagree {
        low: (lowest, low.log_z),
        high: (highest, high.log_z),
    })
}
