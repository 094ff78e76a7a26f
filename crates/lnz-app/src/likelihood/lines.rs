//! A likelihood for people: whether to believe it, the number, and where log Z comes from.

use super::{DataSummary, LikelihoodReport};
use crate::Spelling;
use crate::numbers::{self, count, duration, exact, with_decimals_of};
use crate::report::{Line, Tone};
use lnz::data::Binarize;
use lnz::in_nats;

fn plain(label: &'static str, text: impl Into<String>) -> Line {
    Line { label, lead: None, text: text.into() }
}

impl LikelihoodReport {
    /// The lines of the result, with options spelt as told.
    pub fn lines(&self, spelling: Spelling) -> Vec<Line> {
        let mut lines = Vec::new();
        // The reason to distrust a number comes before the number.
        let suspect = match self.verdict.as_deref() {
            Some("suspect") => "log Z is suspect:",
            _ => "log Z:",
        };
        let bad = |label, lead: &str, text: String| {
            let lead = Some((Tone::Bad, lead.to_owned()));
            Line { label, lead, text: format!(" {text}") }
        };
        let (notes, reasons): (Vec<_>, Vec<_>) = self.warnings.iter().partition(|w| w.is_note());
        for (i, reason) in reasons.iter().enumerate() {
            let label = if i == 0 { "verdict" } else { "" };
            lines.push(bad(label, suspect, reason.say(spelling)));
        }
        lines.push(plain("model", self.model.to_text()));
        lines.push(plain("data", self.data.to_text(self.examples)));
        lines.extend(notes.iter().map(|note| bad("", "note:", note.say(spelling))));
        lines.push(self.likelihood_line());
        let q = &self.quantiles;
        lines.push(plain(
            "spread",
            format!(
                "5% {}   25% {}   median {}   75% {}   95% {}\nlowest {}, highest {}",
                in_nats(q.q05),
                in_nats(q.q25),
                in_nats(q.median),
                in_nats(q.q75),
                in_nats(q.q95),
                in_nats(q.min),
                in_nats(q.max)
            ),
        ));
        lines.push(plain("log Z", self.log_z_text()));
        let mean = self.mean_log_marginal;
        let mean = with_decimals_of(0.0, mean);
        let text = format!("{mean}, computed in {}", duration(self.seconds));
        lines.push(plain("mean F", text));
        lines
    }

    fn likelihood_line(&self) -> Line {
        let mean = self.mean_log_likelihood;
        let (lead, mut text) = match (self.std_error, self.interval) {
            (Some(error), Some([low, high])) if error > 0.0 => {
                let round = |x| with_decimals_of(error, x);
                let text = match error.is_finite() {
                    true => format!(
                        " ± {} per example   95% interval [{}, {}], from log Z",
                        numbers::error(error),
                        round(low),
                        round(high)
                    ),
                    false => " per example; the error of log Z is not known".to_owned(),
                };
                (round(mean), text)
            }
            (Some(_), _) => (exact(mean), " per example".to_owned()),
            (None, _) => (with_decimals_of(0.0, mean), " per example".to_owned()),
        };
        if self.sampling_error.is_finite() {
            let error = numbers::error(self.sampling_error);
            text +=
                &format!("\nsampling error {error}: how far other examples of the kind may lead");
        }
        Line { label: "log p", lead: Some((Tone::Value, lead)), text }
    }

    fn log_z_text(&self) -> String {
        match (self.std_error, self.log_z_interval) {
            (Some(error), Some([low, high])) if error > 0.0 && error.is_finite() => {
                let round = |x| with_decimals_of(error, x);
                format!(
                    "{} ± {}   95% interval [{}, {}]\n{}",
                    round(self.log_z),
                    numbers::error(error),
                    round(low),
                    round(high),
                    self.log_z_origin
                )
            }
            (Some(0.0), _) => format!("{}, {}", exact(self.log_z), self.log_z_origin),
            _ => format!("{}, {}", self.log_z, self.log_z_origin),
        }
    }
}

impl DataSummary {
    fn to_text(&self, examples: usize) -> String {
        let treated = match (self.binarize, self.seed) {
            (Binarize::Threshold, _) => ", values above 1/2 as 1, others as 0".to_owned(),
            (_, Some(seed)) => format!(", each value drawn as 0 or 1 (seed {seed})"),
            _ => String::new(),
        };
        let examples = match examples {
            1 => "one example".to_owned(),
            n => format!("{} examples", count(n)),
        };
        format!("{}: {examples}{treated}", self.name)
    }
}
