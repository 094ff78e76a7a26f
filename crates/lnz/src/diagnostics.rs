//! How far a result can be trusted: a verdict, and warnings with their numbers.

use crate::Estimate;
use crate::auto::{Bracket, Family, Sampled, SecondOpinion, disagrees};
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
    /// The estimate is below a sum that log Z cannot be below.
    BelowLowerBound {
        /// The estimate.
        log_z: f64,
        /// log of the exact sum over some states.
        lower_bound: f64,
    },
    /// A short run from another start finds more mass; an unbiased estimate is hardly ever too high.
    OtherStartFindsMore {
        /// The estimate.
        log_z: f64,
        /// The start that finds more.
        family: Family,
        /// What it finds.
        found: f64,
    },
    /// The chains hardly visit states whose weight is known.
    MissedCore {
        /// log of the exact sum over those states.
        log_core: f64,
        /// The same sum as the chains see it.
        log_sampled: f64,
    },
    /// Two families of starts differ beyond their errors.
    FamiliesDisagree {
        /// The lower one and its estimate.
        low: (Family, f64),
        /// The higher one and its estimate.
        high: (Family, f64),
    },
    /// The main run lies clearly above the trial: errors that small cannot be believed.
    StillRising {
        /// The start.
        family: Family,
        /// log Z in the trial.
        trial: f64,
        /// log Z in the main run.
        log_z: f64,
    },
    /// The way back from the modes leaves room for more than so few chains can rule out.
    WideBracket {
        /// The estimate.
        log_z: f64,
        /// What annealing from the modes back to the start finds.
        reverse: f64,
        /// Chains in the estimate.
        chains: usize,
    },
    /// The time was over long before the error was as small as wanted.
    TargetNotReached {
        /// The error.
        std_error: f64,
        /// The error wanted.
        target: f64,
    },
    /// The run was stopped before its last round had finished.
    StoppedBetweenRounds {
        /// Rounds in the estimate.
        rounds: usize,
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSettings {
    /// Intervals of a linear schedule; `None` if the betas were given one by one.
    pub betas: Option<usize>,
    /// Chains asked for.
    pub chains: usize,
    /// What the run started from.
    pub start: StartedFrom,
    /// The layers were exchanged.
    pub transposed: bool,
    /// The time limit of the default estimator.
    pub max_seconds: Option<f64>,
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
    /// Whatever the default estimator found best.
    Auto,
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

/// A difference of log Z below this is not worth a warning.
const LEAST_MISS: f64 = 0.5;

/// Known mass that the chains miss by less than this may be chance.
const LEAST_CORE_MISS: f64 = 0.1;

/// Errors up to this are known well enough, whatever was aimed at.
const LARGE_ERROR: f64 = 0.2;

/// A rise from trial to main run below this is not worth a warning.
const LEAST_RISE: f64 = 0.2;

/// A core with less than this share of Z tells nothing about the rest.
const SHARE_THAT_MATTERS: f64 = 0.05;

/// Longer schedules than this are not recommended: more chains are then the better use of time.
const LONG_SCHEDULE: usize = 1 << 16;

impl Warning {
    /// A short name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::FewEffectiveChains { .. } => "few_effective_chains",
            Warning::OneChainDominates { .. } => "one_chain_dominates",
            Warning::BelowLowerBound { .. } => "below_lower_bound",
            Warning::OtherStartFindsMore { .. } => "other_start_finds_more",
            Warning::MissedCore { .. } => "missed_core",
            Warning::FamiliesDisagree { .. } => "families_disagree",
            Warning::StillRising { .. } => "still_rising",
            Warning::WideBracket { .. } => "wide_bracket",
            Warning::TargetNotReached { .. } => "target_not_reached",
            Warning::StoppedBetweenRounds { .. } | Warning::StoppedEarly { .. } => "stopped_early",
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
            Warning::BelowLowerBound { log_z, lower_bound } => format!(
                "{log_z:.2} is wrong: some states that a search found already sum up to {lower_bound:.2}"
            ),
            Warning::OtherStartFindsMore { log_z, family, found } => format!(
                "{log_z:.2} is probably too low: a short run from {} finds {found:.2}",
                family.describe()
            ),
            Warning::MissedCore { log_core, log_sampled } => format!(
                "the chains hardly visit states that are known to weigh {log_core:.2} (they see {log_sampled:.2}), so they may miss others too"
            ),
            Warning::FamiliesDisagree { low, high } => format!(
                "the starts disagree: {:.2} from {}, {:.2} from {}",
                low.1,
                low.0.describe(),
                high.1,
                high.0.describe()
            ),
            Warning::StillRising { family, trial, log_z } => format!(
                "from {} a short run gave {trial:.2} and a longer one {log_z:.2}, more than their errors allow: a longer one still may give more",
                family.describe()
            ),
            Warning::WideBracket { log_z, reverse, chains } => format!(
                "annealing back from the modes finds {reverse:.2}, {:.1} more: {chains} chains are too few to say that nothing lies between",
                reverse - log_z
            ),
            Warning::TargetNotReached { std_error, target } => format!(
                "the error is still {std_error:.2}, not {target}, and an error that large is itself uncertain"
            ),
            Warning::StoppedBetweenRounds { rounds } => {
                format!("the run was stopped after {rounds} rounds")
            }
            Warning::StoppedEarly { finished, requested } => {
                format!("the run was stopped when {finished} of {requested} chains had finished")
            }
        }
    }

    /// What to try next, the most promising first.
    pub fn advice(&self, run: &RunSettings) -> Vec<Change> {
        let change = |setting, value: usize| Change { setting, value: Some(value.to_string()) };
        let more_time = || {
            let seconds = 4.0 * run.max_seconds.unwrap_or(60.0);
            vec![Change { setting: "max_seconds", value: Some(format!("{seconds}")) }]
        };
        match self {
            Warning::BelowLowerBound { .. } | Warning::OtherStartFindsMore { .. } => {
                vec![Change { setting: "method", value: Some("auto".into()) }]
            }
            Warning::MissedCore { .. }
            | Warning::FamiliesDisagree { .. }
            | Warning::StillRising { .. }
            | Warning::TargetNotReached { .. }
            | Warning::WideBracket { .. }
            | Warning::StoppedBetweenRounds { .. } => more_time(),
            _ if run.start == StartedFrom::Auto => more_time(),
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
                // From the means of data the modes are chosen early, whatever the schedule: only more
                // chains help.
                changes.push(match run.betas {
                    Some(betas) if betas < LONG_SCHEDULE && run.start != StartedFrom::Data => {
                        change("betas", betas * 4)
                    }
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

fn uneven_weights(ess: f64, share: f64, chains: usize) -> Option<Warning> {
    if chains > 1 && share > DOMINATING_SHARE {
        return Some(Warning::OneChainDominates { share, chains });
    }
    (ess < FEW_EFFECTIVE_CHAINS).then_some(Warning::FewEffectiveChains { ess, chains })
}

/// An estimate below a bound is wrong; one that a short unbiased run exceeds probably is, because
/// log Z^ exceeds log Z by t with probability e^-t at most.
fn missed_mass(log_z: f64, std_error: f64, opinion: &SecondOpinion) -> Option<Warning> {
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
fn missed_core(part: &Sampled) -> Option<Warning> {
    let (log_core, log_sampled) = (part.log_core?, part.log_sampled_core?);
    let matters = log_core > part.log_z + SHARE_THAT_MATTERS.ln();
    let missed = log_core - log_sampled > LEAST_CORE_MISS + 2.5 * part.weights_error;
    (matters && missed).then_some(Warning::MissedCore { log_core, log_sampled })
}

fn wide_bracket(part: &Sampled) -> Option<Warning> {
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
fn still_rising(part: &Sampled) -> Option<Warning> {
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
fn disagreement(part: &Sampled) -> Option<Warning> {
    let mut used: Vec<(Family, f64, f64)> =
        part.families.iter().filter_map(|f| Some((f.family, f.log_z?, f.std_error?))).collect();
    used.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (low, high) = (used.first()?, used.last()?);
    disagrees(low.1, low.2, high.1, high.2)
        .then_some(Warning::FamiliesDisagree { low: (low.0, low.1), high: (high.0, high.1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FamilyReport;

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
