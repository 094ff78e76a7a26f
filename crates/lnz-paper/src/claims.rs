//! What the paper says, what was found here, and whether it holds: every verdict is computed from the
//! rows by a rule that is stated with it.

mod grid;
mod large;
mod strategies;
mod uniform;

use crate::results::Results;
use serde::Serialize;

/// One claim of the paper.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Claim {
    /// The experiment it belongs to.
    pub(crate) experiment: &'static str,
    /// The claim, in our words.
    pub(crate) says: &'static str,
    /// What was found.
    pub(crate) evidence: String,
    /// By what rule the verdict follows from the evidence.
    pub(crate) rule: &'static str,
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Holds,
    InPart,
    Not,
    /// The results that it needs are not there.
    Untested,
}

impl Verdict {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::InPart => "holds in part",
            Verdict::Not => "does not hold here",
            Verdict::Untested => "not tested",
        }
    }

    /// Holds if all of these are true, in part if some are.
    fn of(tests: &[bool]) -> Self {
        match tests.iter().filter(|test| **test).count() {
            _ if tests.is_empty() => Verdict::Untested,
            n if n == tests.len() => Verdict::Holds,
            0 => Verdict::Not,
            _ => Verdict::InPart,
        }
    }

    /// At most in part, if some of what it is about could not be tested.
    fn capped(self, is_complete: bool) -> Self {
        match self {
            Verdict::Holds if !is_complete => Verdict::InPart,
            verdict => verdict,
        }
    }

    /// Holds from one value on, in part from a smaller one.
    fn at_least(value: f64, holds: f64, in_part: f64) -> Self {
        match value {
            v if v >= holds => Verdict::Holds,
            v if v >= in_part => Verdict::InPart,
            _ => Verdict::Not,
        }
    }
}

/// A claim before it has met the results: they may be missing.
struct Draft {
    experiment: &'static str,
    says: &'static str,
    rule: &'static str,
}

impl Draft {
    fn judge(self, found: Option<(String, Verdict)>) -> Claim {
        let (evidence, verdict) = found.unwrap_or_else(|| {
            let missing = format!("The results of {} for this are not there.", self.experiment);
            (missing, Verdict::Untested)
        });
        let Self { experiment, says, rule } = self;
        Claim { experiment, says, evidence, rule, verdict }
    }
}

/// All claims that can be checked, in the order of the paper.
pub(crate) fn claims(results: &Results) -> Vec<Claim> {
    let mut claims = uniform::claims(results);
    claims.extend(grid::claims(results));
    claims.extend(strategies::claims(results));
    claims.extend(large::claims(results));
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_their_tests() {
        assert_eq!(Verdict::of(&[true, true]), Verdict::Holds);
        assert_eq!(Verdict::of(&[true, false]), Verdict::InPart);
        assert_eq!(Verdict::of(&[false, false]), Verdict::Not);
        assert_eq!(Verdict::of(&[]), Verdict::Untested);
        assert_eq!(Verdict::at_least(0.5, 0.9, 0.4), Verdict::InPart);
        assert_eq!(Verdict::Holds.capped(false), Verdict::InPart);
        assert_eq!(Verdict::Not.capped(false), Verdict::Not);
    }

    #[test]
    fn without_results_nothing_is_claimed() {
        let folder = tempfile::tempdir().unwrap();
        let results = Results::read(folder.path(), ["fig1"]).unwrap();
        let claims = claims(&results);
        assert!(claims.len() > 25);
        assert!(claims.iter().all(|claim| claim.verdict == Verdict::Untested), "{claims:?}");
    }
}
