//! The verdict of the default method: which tests the sampled parts of a model pass.

use super::{Family, FamilyReport, Sampled};
use crate::Warning;
use crate::check::{Diagnosis, KnownSum, Measured};
use crate::check::{disagreement, large_error, still_rising, uneven_weights, unreached_mass};

/// The verdict on all parts; exact without any.
pub(super) fn diagnose(sampled: &[Sampled]) -> Diagnosis {
    if sampled.is_empty() {
        return Diagnosis::exact();
    }
    let warnings = sampled.iter().flat_map(warnings).collect();
    let back = sampled.iter().all(|part| part.log_reverse.is_some());
    let reason = match back {
        true => "all that other ways have found is reached",
        false => "both ways agree as far as they know",
    };
    Diagnosis::new(warnings, reason)
}

/// What is wrong with one part, the strongest sign first.
fn warnings(part: &Sampled) -> Vec<Warning> {
    let nothing = f64::NEG_INFINITY;
    let core = KnownSum {
        log_exact: part.log_core.unwrap_or(nothing),
        log_seen: part.log_sampled_core.unwrap_or(nothing),
        log_z: part.log_z,
        error: part.weights_error,
    };
    let stopped = Warning::StoppedBetweenRounds { rounds: part.rounds };
    let unreached = part.unreached.zip(part.unreached_error);
    let found = [
        core.warning(),
        disagreement(higher_trial(part)),
        unreached.and_then(|(mass, error)| unreached_mass(part.log_z, mass, error)),
        part.families.iter().find_map(rise),
        uneven_weights(part.ess, part.max_weight_share, part.chains, part.independent),
        large_error(part.std_error, part.target_error),
        (part.stopped || part.rounds == 0).then_some(stopped),
    ];
    found.into_iter().flatten().collect()
}

/// The main run beside the highest trial of the other ways, where that one finds more.
fn higher_trial(part: &Sampled) -> Vec<(&'static str, Measured)> {
    let Some((main, weights)) = part.families.iter().find_map(|f| Some((f.family, f.weights?)))
    else {
        return vec![];
    };
    let main = (main, Measured { log_z: weights.0, error: weights.1 });
    let others = part.families.iter().filter(|f| f.weights.is_none());
    let other = others.max_by(|a, b| a.trial_log_z.total_cmp(&b.trial_log_z));
    let higher = other.filter(|other| other.trial_log_z > main.1.log_z);
    let named = |(family, measured): (Family, Measured)| (family.describe(), measured);
    higher.map(|f| vec![named(main), named((f.family, f.trial()))]).unwrap_or_default()
}

/// Compares the main run with its trial, both by their weights alone.
fn rise(family: &FamilyReport) -> Option<Warning> {
    let (log_z, error) = family.weights?;
    still_rising(family.family.describe(), family.trial(), Measured { log_z, error })
}
