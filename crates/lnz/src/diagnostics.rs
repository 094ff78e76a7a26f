//! How far a result can be trusted: a verdict, and warnings with their numbers.

use crate::Estimate;
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

/// A problem that a test found, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// So few weights count that the standard error cannot be trusted either.
    FewEffectiveChains {
        /// Effective sample size.
        ess: f64,
        /// Chains in the estimate.
        chains: usize,
    },
    /// One chain carries most of the estimate: where one came by luck, others are missing.
    OneChainDominates {
        /// Its share of the sum of weights.
        share: f64,
        /// Chains in the estimate.
        chains: usize,
    },
    /// The run was stopped before all chains had finished.
    StoppedEarly {
        /// Chains in the estimate.
        finished: usize,
        /// Chains asked for.
        requested: usize,
    },
}

/// The settings of an annealing run that the advice of a warning depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSettings {
    /// Intervals of a linear schedule; `None` if the betas were given one by one.
    pub betas: Option<usize>,
    /// Chains asked for.
    pub chains: usize,
    /// What the run started from.
    pub start: StartedFrom,
    /// The layers were exchanged.
    pub transposed: bool,
}

/// What an annealing run started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedFrom {
    /// The uniform distribution.
    Uniform,
    /// Means of data, which exist for the visible units only.
    Data,
    /// Means of samples of the model.
    Model,
}

/// One change of a setting that may help: `--setting value` on the command line,
/// `setting=value` in Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Name of the setting.
    pub setting: &'static str,
    /// Its new value; `None` for a switch that is to be turned on.
    pub value: Option<String>,
}

/// Below this effective sample size the relative error of the mean weight passes 1/sqrt(20) = 22%,
/// and an error of log Z that is first-order in it stops being a good one.
const FEW_EFFECTIVE_CHAINS: f64 = 20.0;

/// Above this share a single chain outweighs all others together.
const DOMINATING_SHARE: f64 = 0.5;

/// Longer schedules than this are not recommended: more chains are then the better use of time.
const LONG_SCHEDULE: usize = 1 << 16;

impl Warning {
    /// A short name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::FewEffectiveChains { .. } => "few_effective_chains",
            Warning::OneChainDominates { .. } => "one_chain_dominates",
            Warning::StoppedEarly { .. } => "stopped_early",
        }
    }

    /// What was found, in one sentence.
    pub fn message(&self) -> String {
        match *self {
            Warning::FewEffectiveChains { chains: 1, .. } => {
                "there is only one chain, so the error is not known".into()
            }
            Warning::FewEffectiveChains { ess, chains } => format!(
                "only {ess:.1} of {chains} chains count effectively: the estimate is probably too low, its error too small"
            ),
            Warning::OneChainDominates { share, chains } => format!(
                "one of {chains} chains carries {:.0}% of the weight: the estimate is probably too low, its error means nothing",
                share * 100.0
            ),
            Warning::StoppedEarly { finished, requested } => {
                format!("the run was stopped when {finished} of {requested} chains had finished")
            }
        }
    }

    /// What to try next, the most promising first.
    pub fn advice(&self, run: &RunSettings) -> Vec<Change> {
        let change = |setting, value: usize| Change { setting, value: Some(value.to_string()) };
        match self {
            Warning::FewEffectiveChains { chains, .. }
                if (*chains as f64) < FEW_EFFECTIVE_CHAINS =>
            {
                vec![change("chains", 1024)]
            }
            Warning::FewEffectiveChains { .. } | Warning::OneChainDominates { .. } => {
                let mut changes = Vec::new();
                if run.start == StartedFrom::Uniform {
                    changes.push(Change { setting: "start", value: Some("gibbs".into()) });
                }
                changes.push(match run.betas {
                    Some(betas) if betas < LONG_SCHEDULE => change("betas", betas * 4),
                    _ => change("chains", run.chains.saturating_mul(4)),
                });
                if !run.transposed && run.start != StartedFrom::Data {
                    changes.push(Change { setting: "transpose", value: None });
                }
                changes
            }
            Warning::StoppedEarly { .. } => vec![change("chains", run.chains.div_ceil(4))],
        }
    }
}

/// The verdict on a result and its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The conclusion.
    pub verdict: Verdict,
    /// The reasons for a suspicion.
    pub warnings: Vec<Warning>,
}

impl Diagnosis {
    /// Of a value that was computed, not estimated.
    pub fn exact() -> Self {
        Self { verdict: Verdict::Exact, warnings: vec![] }
    }

    /// Of one annealing run, which had `requested` chains to begin with.
    ///
    /// These tests see weights that vary too much. They cannot see a mode that no chain has visited:
    /// wrong runs often look healthier than right ones.
    pub fn of_annealing(estimate: &Estimate, requested: usize) -> Self {
        let Estimate { chains, ess, max_weight_share: share, .. } = *estimate;
        let mut warnings = Vec::new();
        if chains > 1 && share > DOMINATING_SHARE {
            warnings.push(Warning::OneChainDominates { share, chains });
        } else if ess < FEW_EFFECTIVE_CHAINS {
            warnings.push(Warning::FewEffectiveChains { ess, chains });
        }
        if chains < requested {
            warnings.push(Warning::StoppedEarly { finished: chains, requested });
        }
        let verdict = if warnings.is_empty() { Verdict::Consistent } else { Verdict::Suspect };
        Self { verdict, warnings }
    }

    /// What the verdict rests on, in half a sentence.
    pub fn reason(&self) -> &'static str {
        match self.verdict {
            Verdict::Exact => "all states were summed",
            Verdict::Consistent => {
                "the weights agree, but no test for missed modes was made; one run cannot see them"
            }
            Verdict::Suspect => "see the warnings",
        }
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
    };

    fn diagnose(samples: &[f64], requested: usize) -> Diagnosis {
        Diagnosis::of_annealing(&Estimate::from_samples(samples), requested)
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
}
