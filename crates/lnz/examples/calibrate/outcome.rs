//! What a method said about a model, beside the truth.

use crate::Chosen;
use crate::known::Solved;
use crate::methods::Method;
use crate::options::Part;
use lnz::{Choice, Verdict};

/// What a method said about a model, beside the truth.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) family: String,
    pub(crate) kind: String,
    pub(crate) part: Part,
    pub(crate) seed: u64,
    pub(crate) size: (usize, usize),
    pub(crate) method: Method,
    pub(crate) truth: f64,
    pub(crate) log_z: f64,
    pub(crate) std_error: f64,
    pub(crate) interval: [f64; 2],
    pub(crate) verdict: Verdict,
    pub(crate) warnings: Vec<String>,
    pub(crate) chain_steps: u64,
    pub(crate) seconds: f64,
}

/// An error of this many nats makes a confident answer a false one.
pub(crate) const WRONG: f64 = 0.5;
/// So does a truth outside of the interval with both arms as long by this factor.
pub(crate) const STRETCH: f64 = 3.0;
/// A warning on an error below this many nats is a false alarm.
pub(crate) const RIGHT: f64 = 0.1;

impl Outcome {
    pub(crate) fn of(method: Method, chosen: &Chosen, of: &Solved) -> Self {
        Self {
            family: chosen.family.name.clone(),
            kind: chosen.family.kind.into(),
            part: chosen.part,
            seed: chosen.seed,
            size: (of.model.visible(), of.model.hidden()),
            method,
            truth: of.log_z,
            log_z: f64::NAN,
            std_error: f64::NAN,
            interval: [f64::NAN; 2],
            verdict: Verdict::Suspect,
            warnings: vec![],
            chain_steps: 0,
            seconds: 0.0,
        }
    }

    pub(crate) fn error(&self) -> f64 {
        self.log_z - self.truth
    }

    /// Whether the interval holds the truth, with arms as long by a factor. A value that is not a
    /// number holds nothing.
    fn holds(&self, stretch: f64) -> bool {
        let rounding = self.rounding();
        let [low, high] = self.interval.map(|end| self.log_z + stretch * (end - self.log_z));
        low - rounding <= self.truth && self.truth <= high + rounding
    }

    pub(crate) fn is_covered(&self) -> bool {
        self.holds(1.0)
    }

    fn is_wrong(&self) -> bool {
        self.error().is_nan() || self.error().abs() > WRONG
    }

    /// Wrong without a warning.
    pub(crate) fn is_falsely_confident(&self) -> bool {
        self.verdict != Verdict::Suspect && (self.is_wrong() || !self.holds(STRETCH))
    }

    /// Whether the error is within so many of the standard errors that were claimed.
    pub(crate) fn is_within(&self, errors: f64) -> bool {
        self.error().abs() <= errors * self.std_error + self.rounding()
    }

    /// The truth itself has rounding errors.
    fn rounding(&self) -> f64 {
        1e-9 * self.truth.abs().max(1.0)
    }

    /// Right with a warning.
    pub(crate) fn is_false_alarm(&self) -> bool {
        self.verdict == Verdict::Suspect && self.error().abs() < RIGHT
    }

    pub(crate) fn is_miss(&self) -> bool {
        self.is_wrong() || !self.is_covered()
    }

    pub(crate) fn verdict_in_a_word(&self) -> String {
        format!("{:?}", self.verdict).to_lowercase()
    }

    /// One line for the log.
    pub(crate) fn line(&self) -> String {
        let [low, high] = self.interval.map(|end| end - self.truth);
        let of_method = if self.method == Method::Auto {
            String::new()
        } else {
            format!(" {}", self.method.name())
        };
        format!(
            "{} | {}{of_method} | error {:+.4} +- {:.4} | interval {low:+.4} {high:+.4}{} | {} {} | {:.2} M steps | {:.1} s",
            self.family,
            self.seed,
            self.error(),
            self.std_error,
            if self.is_covered() { "" } else { " MISSED" },
            self.verdict_in_a_word(),
            self.warnings.join(" "),
            self.chain_steps as f64 * 1e-6,
            self.seconds,
        )
    }

    /// Names of the values in [`row`](Self::row).
    pub(crate) const COLUMNS: [&str; 19] = [
        "family",
        "kind",
        "part",
        "seed",
        "visible",
        "hidden",
        "method",
        "truth",
        "log_z",
        "error",
        "std_error",
        "low",
        "high",
        "is_covered",
        "verdict",
        "warnings",
        "chain_steps",
        "seconds",
        "is_falsely_confident",
    ];

    /// Tab-separated values.
    pub(crate) fn row(&self) -> String {
        let values: [String; Self::COLUMNS.len()] = [
            self.family.clone(),
            self.kind.clone(),
            self.part.name().into(),
            self.seed.to_string(),
            self.size.0.to_string(),
            self.size.1.to_string(),
            self.method.name().into(),
            format!("{:?}", self.truth),
            format!("{:?}", self.log_z),
            format!("{:?}", self.error()),
            format!("{:?}", self.std_error),
            format!("{:?}", self.interval[0]),
            format!("{:?}", self.interval[1]),
            self.is_covered().to_string(),
            self.verdict_in_a_word(),
            self.warnings.join(" "),
            self.chain_steps.to_string(),
            format!("{:.3}", self.seconds),
            self.is_falsely_confident().to_string(),
        ];
        values.join("\t")
    }

    /// The outcome of a row; none if it is not one.
    pub(crate) fn from_row(row: &str) -> Option<Self> {
        let values: Vec<&str> = row.split('\t').collect();
        if values.len() != Self::COLUMNS.len() {
            return None;
        }
        let number = |k: usize| values[k].parse::<f64>().ok();
        let count = |k: usize| values[k].parse::<usize>().ok();
        Some(Self {
            family: values[0].into(),
            kind: values[1].into(),
            part: Part::ALL.into_iter().find(|part| part.name() == values[2])?,
            seed: values[3].parse().ok()?,
            size: (count(4)?, count(5)?),
            method: *Method::all(true).iter().find(|method| method.name() == values[6])?,
            truth: number(7)?,
            log_z: number(8)?,
            std_error: number(10)?,
            interval: [number(11)?, number(12)?],
            verdict: Verdict::CHOICES.iter().find(|v| v.name == values[14])?.value,
            warnings: values[15].split_whitespace().map(Into::into).collect(),
            chain_steps: values[16].parse().ok()?,
            seconds: number(17)?,
        })
    }

    /// It is about this model and method.
    pub(crate) fn is_of(&self, method: Method, chosen: &Chosen) -> bool {
        self.family == chosen.family.name
            && (self.part, self.seed) == (chosen.part, chosen.seed)
            && self.method == method
    }
}
