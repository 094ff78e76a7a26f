//! Reasons to distrust a likelihood: those of its log Z, and those that the data gives.

use crate::Spelling;
use serde::Serialize;

/// A reason to distrust a likelihood, or what to know about its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LikelihoodWarning {
    /// A short name for programs.
    pub kind: String,
    /// What was found and what to try next, in flags.
    pub message: String,
    /// What was found.
    #[serde(skip)]
    pub found: String,
    /// What to try next; options stand in braces.
    #[serde(skip)]
    pub advice: String,
}

/// Kinds that are about the data.
const GREY_VALUES: &str = "grey_values";
const NARROW_DATA: &str = "narrow_data";

impl LikelihoodWarning {
    /// One that comes with its text.
    pub fn new(kind: &str, message: String) -> Self {
        let (kind, found) = (kind.to_owned(), message.clone());
        Self { kind, message, found, advice: String::new() }
    }

    /// F is convex, so its largest value is at a state of zeros and ones, one term of Z.
    pub(super) fn above_one(highest: f64) -> Self {
        Self::new(
            "above_one",
            format!(
                "an example has the log-likelihood {highest:.2}, but no probability is above 1: log Z is too low by at least as much, or not that of this model"
            ),
        )
    }

    /// By Jensen's inequality.
    pub(super) fn grey_values(share: f64) -> Self {
        let found = format!(
            "{:.1}% of the values are neither 0 nor 1, but the model gives probabilities to zeros and ones only; the result is below the mean over their random binarisations",
            100.0 * share
        );
        let advice = "use {binarize=bernoulli} or threshold".to_owned();
        let message = format!("{found}: {}", Spelling::Flags.say(&advice));
        Self { kind: GREY_VALUES.to_owned(), message, found, advice }
    }

    pub(super) fn narrow_data(used: usize, visible: usize) -> Self {
        Self::new(
            NARROW_DATA,
            format!(
                "the largest index in the file is {used}, but the model has {visible} visible units; the others count as 0"
            ),
        )
    }

    /// It is about the data, and none about log Z.
    pub(super) fn is_note(&self) -> bool {
        [GREY_VALUES, NARROW_DATA].contains(&&*self.kind)
    }

    /// For people.
    pub(super) fn say(&self, spelling: Spelling) -> String {
        match (spelling, &*self.advice) {
            (Spelling::Flags, _) => self.message.clone(),
            (_, "") => self.found.clone(),
            (_, advice) => format!("{}; {}", self.found, spelling.say(advice)),
        }
    }
}
