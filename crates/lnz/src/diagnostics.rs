//! How far a result can be trusted: a verdict, and warnings with their numbers.

mod advice;
mod checks;
mod warning;

pub use advice::{Change, RunSettings, StartedFrom};
pub use warning::Warning;

use crate::Estimate;
use crate::auto::{Sampled, SecondOpinion};
use checks::{disagreement, missed_core, missed_mass, still_rising, uneven_weights, wide_bracket};
use serde::Serialize;

/// What the tests of a result found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No sampling was needed.
    Exact,
    /// No test found a problem.
    Consistent,
    /// At least one test did.
    Suspect,
}

/// Errors up to this are known well enough, whatever was aimed at.
const LARGE_ERROR: f64 = 0.2;

/// The verdict on a result and its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The conclusion.
    pub verdict: Verdict,
    /// The reasons for a suspicion.
    pub warnings: Vec<Warning>,
    reason: &'static str,
}

impl Diagnosis {
    /// Of a value that was computed, not estimated.
    pub fn exact() -> Self {
        Self { verdict: Verdict::Exact, warnings: vec![], reason: "all states were summed" }
    }

    /// Of one annealing run, which had `requested` chains to begin with, with or without the opinion
    /// of a quick search.
    ///
    /// The weights themselves cannot show a mode that no chain has visited: wrong runs often look
    /// healthier than right ones.
    pub fn of_annealing(
        estimate: &Estimate,
        requested: usize,
        opinion: Option<&SecondOpinion>,
    ) -> Self {
        let Estimate { log_z, std_error, chains, ess, max_weight_share: share, .. } = *estimate;
        let mut warnings = Vec::new();
        if let Some(opinion) = opinion {
            warnings.extend(missed_mass(log_z, std_error, opinion));
        }
        warnings.extend(uneven_weights(ess, share, chains));
        if chains < requested {
            warnings.push(Warning::StoppedEarly { finished: chains, requested });
        }
        let reason = match opinion {
            None => {
                "the weights agree, but no test for missed modes was made; one run cannot see them"
            }
            Some(_) => {
                "the weights agree, and neither a search for modes nor other starts find more"
            }
        };
        Self::new(warnings, reason)
    }

    /// Of the default estimator, from its sampled parts.
    pub(crate) fn of_auto(sampled: &[Sampled]) -> Self {
        if sampled.is_empty() {
            return Self::exact();
        }
        let mut warnings = Vec::new();
        for part in sampled {
            warnings.extend(missed_core(part));
            warnings.extend(disagreement(part));
            warnings.extend(still_rising(part));
            warnings.extend(uneven_weights(part.ess, part.max_weight_share, part.chains));
            warnings.extend(wide_bracket(part));
            let (std_error, target) = (part.std_error, part.target_error);
            if std_error > (2.0 * target).max(LARGE_ERROR) {
                warnings.push(Warning::TargetNotReached { std_error, target });
            }
            if part.stopped {
                warnings.push(Warning::StoppedBetweenRounds { rounds: part.rounds });
            }
        }
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
        Self::new(warnings, reason)
    }

    fn new(warnings: Vec<Warning>, consistent: &'static str) -> Self {
        match warnings.is_empty() {
            true => Self { verdict: Verdict::Consistent, warnings, reason: consistent },
            false => Self { verdict: Verdict::Suspect, warnings, reason: "see the warnings" },
        }
    }

    /// What the verdict rests on, in half a sentence.
    pub fn reason(&self) -> &'static str {
        self.reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, FamilyReport};

    const RUN: RunSettings = RunSettings {
        betas: Some(1024),
        chains: 1024,
        start: StartedFrom::Uniform,
        transposed: false,
        max_seconds: None,
    };

    fn diagnose(samples: &[f64], requested: usize) -> Diagnosis {
        Diagnosis::of_annealing(&Estimate::from_samples(samples), requested, None)
    }

    #[test]
    fn agreeing_weights_are_consistent_and_say_what_was_not_tested() {
        let diagnosis = diagnose(&[3.0; 64], 64);
        assert_eq!(diagnosis.verdict, Verdict::Consistent);
        assert!(diagnosis.reason().contains("no test for missed modes"));
    }

    #[test]
    fn one_dominating_chain_is_named_once() {
        let mut samples = vec![0.0; 64];
        samples[5] = 50.0;
        let diagnosis = diagnose(&samples, 64);
        assert_eq!(diagnosis.verdict, Verdict::Suspect);
        assert_eq!(diagnosis.warnings.len(), 1);
        assert_eq!(diagnosis.warnings[0].kind(), "one_chain_dominates");
        assert!(diagnosis.warnings[0].message().contains("one of 64 chains carries 100%"));
    }

    #[test]
    fn advice_does_not_repeat_what_was_tried() {
        let warning = Warning::FewEffectiveChains { ess: 5.0, chains: 1024 };
        let settings = |run| warning.advice(&run).iter().map(|c| c.setting).collect::<Vec<_>>();
        assert_eq!(settings(RUN), ["start", "betas", "transpose"]);
        let tried = RunSettings { start: StartedFrom::Model, transposed: true, ..RUN };
        assert_eq!(settings(tried), ["betas"]);
        assert_eq!(settings(RunSettings { betas: Some(1 << 20), ..tried }), ["chains"]);
        // Means of data have no transpose, and a list of betas has no number to raise.
        let given = RunSettings { start: StartedFrom::Data, betas: None, ..RUN };
        assert_eq!(settings(given), ["chains"]);
        assert_eq!(warning.advice(&RUN)[1].value.as_deref(), Some("4096"));
    }

    #[test]
    fn few_chains_ask_for_more_chains() {
        let diagnosis = diagnose(&[1.0], 1);
        assert_eq!(diagnosis.warnings[0].advice(&RUN)[0].setting, "chains");
        assert!(diagnosis.warnings[0].message().contains("only one chain"));
    }

    #[test]
    fn a_run_stopped_early_says_so() {
        let diagnosis = diagnose(&[1.0; 64], 1024);
        assert_eq!(diagnosis.warnings, [Warning::StoppedEarly { finished: 64, requested: 1024 }]);
    }

    #[test]
    fn an_estimate_below_what_is_known_is_called_wrong() {
        let estimate = Estimate::from_samples(&[215.17; 64]);
        let opinion = SecondOpinion { lower_bound: 234.8, trials: vec![] };
        let diagnosis = Diagnosis::of_annealing(&estimate, 64, Some(&opinion));
        assert_eq!(diagnosis.verdict, Verdict::Suspect);
        assert_eq!(diagnosis.warnings[0].kind(), "below_lower_bound");
        assert_eq!(diagnosis.warnings[0].advice(&RUN)[0].value.as_deref(), Some("auto"));
        let opinion = SecondOpinion { lower_bound: 215.0, trials: vec![] };
        let diagnosis = Diagnosis::of_annealing(&estimate, 64, Some(&opinion));
        assert_eq!(diagnosis.verdict, Verdict::Consistent);
    }

    #[test]
    fn another_start_that_finds_more_is_named() {
        let estimate = Estimate::from_samples(&[100.0; 64]);
        let trial = FamilyReport {
            family: Family::Flips,
            trial_log_z: 103.0,
            trial_error: 0.2,
            share: 1.0,
            log_z: None,
            std_error: None,
            weights: None,
        };
        let opinion = SecondOpinion { lower_bound: 90.0, trials: vec![trial] };
        let diagnosis = Diagnosis::of_annealing(&estimate, 64, Some(&opinion));
        assert_eq!(diagnosis.warnings[0].kind(), "other_start_finds_more");
        // Within the error of the short run nothing is said.
        let unsure = FamilyReport { trial_error: 1.0, ..trial };
        let opinion = SecondOpinion { lower_bound: 90.0, trials: vec![unsure] };
        assert!(Diagnosis::of_annealing(&estimate, 64, Some(&opinion)).warnings.is_empty());
    }
}
