//! The tests of a result.

use super::Warning;
use crate::auto::{Bracket, Family, Sampled, SecondOpinion, disagrees};

/// Below this effective sample size the relative error of the mean weight passes 1/sqrt(20) = 22%,
/// and an error of log Z that is first-order in it stops being a good one.
pub(super) const FEW_EFFECTIVE_CHAINS: f64 = 20.0;

/// Above this share a single chain outweighs all others together.
const DOMINATING_SHARE: f64 = 0.5;

/// A difference of log Z below this is not worth a warning.
const LEAST_MISS: f64 = 0.5;

/// Known mass that the chains miss by less than this may be chance.
const LEAST_CORE_MISS: f64 = 0.1;

/// A rise from trial to main run below this is not worth a warning.
const LEAST_RISE: f64 = 0.2;

/// A core with less than this share of Z tells nothing about the rest.
const SHARE_THAT_MATTERS: f64 = 0.05;

pub(super) fn uneven_weights(ess: f64, share: f64, chains: usize) -> Option<Warning> {
    if chains > 1 && share > DOMINATING_SHARE {
        return Some(Warning::OneChainDominates { share, chains });
    }
    (ess < FEW_EFFECTIVE_CHAINS).then_some(Warning::FewEffectiveChains { ess, chains })
}

/// An estimate below a bound is wrong; one that a short unbiased run exceeds probably is, because
/// log Z^ exceeds log Z by t with probability e^-t at most.
pub(super) fn missed_mass(log_z: f64, std_error: f64, opinion: &SecondOpinion) -> Option<Warning> {
    let error = if std_error.is_finite() { std_error } else { 1.0 };
    if opinion.lower_bound > log_z + LEAST_MISS + 3.0 * error {
        let lower_bound = opinion.lower_bound;
        return Some(Warning::BelowLowerBound { log_z, lower_bound });
    }
    let best = opinion.trials.iter().max_by(|a, b| a.trial_log_z.total_cmp(&b.trial_log_z))?;
    let allowed = LEAST_MISS + 3.0 * error.hypot(best.trial_error);
    (best.trial_log_z > log_z + allowed).then_some(Warning::OtherStartFindsMore {
        log_z,
        family: best.family,
        found: best.trial_log_z,
    })
}

/// The strongest test: the sampler's own estimate of a sum that is known.
pub(super) fn missed_core(part: &Sampled) -> Option<Warning> {
    let (log_core, log_sampled) = (part.log_core?, part.log_sampled_core?);
    let matters = log_core > part.log_z + SHARE_THAT_MATTERS.ln();
    let missed = log_core - log_sampled > LEAST_CORE_MISS + 2.5 * part.weights_error;
    (matters && missed).then_some(Warning::MissedCore { log_core, log_sampled })
}

pub(super) fn wide_bracket(part: &Sampled) -> Option<Warning> {
    let bracket = Bracket {
        forward: part.log_z,
        reverse: part.log_reverse,
        log_core: part.log_core.unwrap_or(f64::NEG_INFINITY),
        chains: part.chains,
    };
    let reverse = part.log_reverse.filter(|_| bracket.is_too_wide())?;
    Some(Warning::WideBracket { log_z: part.log_z, reverse, chains: part.chains })
}

/// Both are unbiased, so that a main run far above its trial shows errors that are too small.
pub(super) fn still_rising(part: &Sampled) -> Option<Warning> {
    part.families.iter().find_map(|f| {
        let (log_z, error) = f.weights?;
        let rise = log_z - f.trial_log_z;
        (rise > LEAST_RISE + 2.0 * error.hypot(f.trial_error)).then_some(Warning::StillRising {
            family: f.family,
            trial: f.trial_log_z,
            log_z,
        })
    })
}

/// The lowest and the highest family of the main run, if they differ beyond their errors.
pub(super) fn disagreement(part: &Sampled) -> Option<Warning> {
    let mut used: Vec<(Family, f64, f64)> =
        part.families.iter().filter_map(|f| Some((f.family, f.log_z?, f.std_error?))).collect();
    used.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (low, high) = (used.first()?, used.last()?);
    disagrees(low.1, low.2, high.1, high.2)
        .then_some(Warning::FamiliesDisagree { low: (low.0, low.1), high: (high.0, high.1) })
}
