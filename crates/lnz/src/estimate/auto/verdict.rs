//! The tests that the sampled parts of a model have to pass.

use super::{FamilyReport, Sampled};
use crate::Warning;
use crate::check::{Bracket, Diagnosis, KnownSum, Measured};
use crate::check::{disagreement, large_error, still_rising, uneven_weights};

/// The verdict on all parts; exact without any.
pub(super) fn diagnose(sampled: &[Sampled]) -> Diagnosis {
    if sampled.is_empty() {
        return Diagnosis::exact();
    }
    let warnings = sampled.iter().flat_map(warnings).collect();
    let used = |part: &Sampled| part.families.iter().filter(|f| f.share > 0.0).count();
    let several = sampled.iter().all(|part| used(part) > 1);
    let core = sampled.iter().all(|part| part.log_core.is_some());
    let reason = match (several, core) {
        (true, true) => "starts and islands agree, and the chains see what the search found",
        (true, false) => "starts and islands agree",
        (false, true) => {
            "one start finds the most, its islands agree and see what the search found"
        }
        (false, false) => "one start finds the most, and its islands agree",
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
    let bracket = Bracket {
        forward: part.log_z,
        reverse: part.log_reverse,
        log_core: core.log_exact,
        chains: part.chains,
    };
    let stopped = Warning::StoppedBetweenRounds { rounds: part.rounds };
    let found = [
        core.warning(),
        disagreement(part.families.iter().filter_map(main_run).collect()),
        part.families.iter().find_map(rise),
        uneven_weights(part.ess, part.max_weight_share, part.chains),
        bracket.warning(),
        large_error(part.std_error, part.target_error),
        part.stopped.then_some(stopped),
    ];
    found.into_iter().flatten().collect()
}

fn main_run(family: &FamilyReport) -> Option<(&'static str, Measured)> {
    let (log_z, error) = (family.log_z?, family.std_error?);
    Some((family.family.describe(), Measured { log_z, error }))
}

/// The main run of a family beside its trial, both by their weights alone.
fn rise(family: &FamilyReport) -> Option<Warning> {
    let (log_z, error) = family.weights?;
    still_rising(family.family.describe(), family.trial(), Measured { log_z, error })
}
