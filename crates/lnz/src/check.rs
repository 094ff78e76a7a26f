//! How far a result can be trusted: a verdict, and warnings with their numbers.

mod advice;
mod known;
mod proven;
mod signs;
mod warning;

pub use advice::{Change, RunSettings, StartedFrom};
pub(crate) use known::KnownSum;
pub(crate) use signs::{
    Measured, Opinion, below_known_sum, columns_disagree, disagreement, few_round_trips,
    large_error, missed_mass, rare_exchanges, still_rising, uneven_weights, unreached_mass,
};
pub use warning::{MANY_DIGITS, Warning, in_nats};

/// What the tests of a result found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No sampling was needed.
    Exact,
    /// The tests for mass that was missed were made, and found no problem.
    Consistent,
    /// These tests were off, or could not be made in time: the weights agree, which says little.
    Unchecked,
    /// At least one test did.
    Suspect,
}

crate::choices!(serialized Verdict {
    Exact: "exact", "No sampling was needed";
    Consistent: "consistent", "No test found a problem";
    Unchecked: "unchecked", "The tests for missed mass were off";
    Suspect: "suspect", "At least one test did";
});

/// The verdict on a result and its reasons.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The conclusion.
    pub verdict: Verdict,
    /// The reasons for a suspicion.
    pub warnings: Vec<Warning>,
    reason: &'static str,
}

/// The weights of independent chains in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    pub(crate) found: Measured,
    /// Effective sample size.
    pub(crate) ess: f64,
    /// Share of the largest weight.
    pub(crate) largest_share: f64,
    /// Chains that came to their end.
    pub(crate) chains: usize,
    /// Chains that were asked for.
    pub(crate) requested: usize,
}

impl Diagnosis {
    /// Of a value that was computed, not estimated.
    pub fn exact() -> Self {
        Self { verdict: Verdict::Exact, warnings: vec![], reason: "all states were summed" }
    }

    /// Suspect with any warning; `consistent` says what the verdict rests on without one.
    pub(crate) fn new(warnings: Vec<Warning>, consistent: &'static str) -> Self {
        match warnings.is_empty() {
            true => Self { verdict: Verdict::Consistent, warnings, reason: consistent },
            false => Self { verdict: Verdict::Suspect, warnings, reason: "see the warnings" },
        }
    }

    /// The same without the tests for mass that was missed: unchecked at best.
    pub(crate) fn unchecked(warnings: Vec<Warning>, reason: &'static str) -> Self {
        match Self::new(warnings, reason) {
            Self { verdict: Verdict::Consistent, warnings, reason } => {
                Self { verdict: Verdict::Unchecked, warnings, reason }
            }
            other => other,
        }
    }

    /// Of independent chains, with or without the opinion of a quick search.
    ///
    /// The weights themselves cannot show a mode that no chain has visited: wrong runs often look
    /// healthier than right ones.
    pub(crate) fn of_weights(weights: &Weights, opinion: Option<&Opinion>) -> Self {
        let Weights { found, ess, largest_share, chains, requested } = *weights;
        let mut warnings = Vec::new();
        warnings.extend(opinion.and_then(|opinion| missed_mass(found, opinion)));
        warnings.extend(uneven_weights(ess, largest_share, chains, chains));
        if chains < requested {
            warnings.push(Warning::StoppedEarly { finished: chains, requested });
        }
        match opinion {
            None => Self::unchecked(
                warnings,
                "the weights agree, but no test for missed modes was made; one run cannot see them",
            ),
            Some(_) => Self::new(
                warnings,
                "the weights agree, and neither a search for modes nor other starts find more",
            ),
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

    const RUN: RunSettings = RunSettings {
        betas: Some(1024),
        chains: 1024,
        start: StartedFrom::Uniform,
        transposed: false,
        max_seconds: None,
    };

    /// 64 chains that agree on 100.
    const AGREEING: Weights = Weights {
        found: Measured { log_z: 100.0, error: 0.0 },
        ess: 64.0,
        largest_share: 1.0 / 64.0,
        chains: 64,
        requested: 64,
    };

    fn diagnose(weights: Weights) -> Diagnosis {
        Diagnosis::of_weights(&weights, None)
    }

    #[test]
    fn agreeing_weights_alone_are_unchecked_and_say_what_was_not_tested() {
        let diagnosis = diagnose(AGREEING);
        assert_eq!(diagnosis.verdict, Verdict::Unchecked);
        assert!(diagnosis.reason().contains("no test for missed modes"));
    }

    #[test]
    fn one_dominating_chain_is_named_once() {
        let diagnosis = diagnose(Weights { ess: 1.0, largest_share: 1.0, ..AGREEING });
        assert_eq!(diagnosis.verdict, Verdict::Suspect);
        assert_eq!(diagnosis.warnings.len(), 1);
        assert_eq!(diagnosis.warnings[0].kind(), "one_chain_dominates");
        assert!(diagnosis.warnings[0].message().contains("one of 64 chains carries 100.0%"));
    }

    #[test]
    fn among_many_chains_more_must_count() {
        let kinds = |ess: f64, chains: usize| {
            let weights =
                Weights { ess, largest_share: 0.05, chains, requested: chains, ..AGREEING };
            diagnose(weights).warnings.iter().map(|warning| warning.kind()).collect::<Vec<_>>()
        };
        assert_eq!(kinds(25.0, 400), Vec::<&str>::new());
        assert_eq!(kinds(15.0, 400), ["few_effective_chains"]);
        // A share of 0.3% is that of weights with tails that nobody has seen.
        assert_eq!(kinds(80.0, 25_600), ["few_effective_chains"]);
        assert_eq!(kinds(200.0, 25_600), Vec::<&str>::new());
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
        let one = Weights { ess: 1.0, largest_share: 1.0, chains: 1, requested: 1, ..AGREEING };
        let diagnosis = diagnose(one);
        assert_eq!(diagnosis.warnings[0].advice(&RUN)[0].setting, "chains");
        assert!(diagnosis.warnings[0].message().contains("only one chain"));
    }

    #[test]
    fn a_run_stopped_early_says_so() {
        let diagnosis = diagnose(Weights { requested: 1024, ..AGREEING });
        assert_eq!(diagnosis.warnings, [Warning::StoppedEarly { finished: 64, requested: 1024 }]);
    }

    #[test]
    fn an_estimate_below_what_is_known_is_called_wrong() {
        let against = |lower_bound| {
            Diagnosis::of_weights(&AGREEING, Some(&Opinion { lower_bound, trials: vec![] }))
        };
        let diagnosis = against(119.6);
        assert_eq!(diagnosis.verdict, Verdict::Suspect);
        assert_eq!(diagnosis.warnings[0].kind(), "below_lower_bound");
        assert_eq!(diagnosis.warnings[0].advice(&RUN)[0].value.as_deref(), Some("auto"));
        assert_eq!(against(99.8).verdict, Verdict::Consistent);
    }

    #[test]
    fn another_start_that_finds_more_is_named() {
        let against = |error| {
            let trials = vec![("the uniform distribution", Measured { log_z: 103.0, error })];
            Diagnosis::of_weights(&AGREEING, Some(&Opinion { lower_bound: 90.0, trials })).warnings
        };
        assert_eq!(against(0.2)[0].kind(), "other_start_finds_more");
        assert!(against(0.2)[0].message().contains("from the uniform distribution finds 103.00"));
        // Within the error of the short run nothing is said.
        assert!(against(1.0).is_empty());
    }

    #[test]
    fn the_lowest_and_the_highest_start_are_held_against_each_other() {
        let start = |name, log_z| (name, Measured { log_z, error: 0.1 });
        let found = vec![start("a", 5.0), start("b", 4.0), start("c", 4.5)];
        let warning = disagreement(found).unwrap();
        assert_eq!(warning, Warning::StartsDisagree { low: ("b", 4.0), high: ("a", 5.0) });
        assert_eq!(disagreement(vec![start("a", 5.0), start("b", 4.6)]), None);
    }
}
