//! A result as a page: one HTML file that needs no other file.
//!
//! A page is made from what `--json` prints, so that a result that was saved, or that comes back from
//! Python, has the same page. What JSON leaves out (weights, rounds) comes beside it.

mod compare;
mod estimate;
mod score;
pub mod styles;
mod track;
mod train;

pub use compare::compare;
pub use estimate::{Trace, estimate};
pub use score::score;
pub use track::track;
pub use train::{history, train};

use crate::numbers::{self, with_decimals_of};
use crate::report::Line;
use lnz_figures::{Badge, document};
use maud::{Markup, html};
use serde_json::Value;

/// Caption of a table that can be sorted.
const SORTABLE: &str = "Select the head of a column to sort by it";

/// Note on figures along a run, whose intervals are often tiny.
const SMALL_BARS: &str =
    "Bars are 95% intervals, and smaller than the marks where they cannot be seen.";

/// One line of a result in words: what it is about, and what is said.
pub type Words = (String, String);

/// The lines of a result, with their colours left out.
pub fn words(lines: &[Line]) -> Vec<Words> {
    let said = |line: &Line| {
        let lead = line.lead.as_ref().map_or("", |(_, lead)| lead);
        (line.label.to_owned(), format!("{lead}{}", line.text))
    };
    lines.iter().map(said).collect()
}

/// Lines without a label belong to the one before.
fn grouped(words: &[Words]) -> Vec<Words> {
    let mut groups: Vec<Words> = Vec::new();
    for (label, text) in words {
        match (label.as_str(), groups.last_mut()) {
            ("", Some((_, before))) => *before += &format!("\n{text}"),
            _ => groups.push((label.clone(), text.clone())),
        }
    }
    groups
}

/// What every page has: the answer, the verdict and the words first; then figures; then how to repeat it.
struct Page<'a> {
    /// Of the window.
    title: String,
    heading: Markup,
    answer: Markup,
    verdict: Option<&'a str>,
    words: &'a [Words],
    figures: Markup,
    settings: Vec<(String, String)>,
    command: &'a str,
    json: &'a Value,
}

impl Page<'_> {
    fn html(self) -> String {
        let groups = grouped(self.words);
        let (reasons, others): (Vec<_>, Vec<_>) =
            groups.iter().partition(|(label, _)| label == "verdict");
        let body = html! {
            header {
                h1 { (self.heading) }
                p.answer { (self.answer) }
                @if let Some(verdict) = self.verdict {
                    div.claim {
                        (badge(verdict))
                        @for (_, reason) in &reasons {
                            @for line in reason.lines() { p { (without(verdict, line)) } }
                        }
                    }
                }
                dl.lines { @for (label, text) in &others { dt { (label) } dd { (text) } } }
            }
            (self.figures)
            section id="repeat" {
                h2 { "How to repeat it" }
                pre.command { code { (in_words(self.command)) } }
                (origin(self.json))
            }
            @if !self.settings.is_empty() {
                section id="settings" {
                    h2 { "Settings" }
                    dl.lines { @for (name, value) in &self.settings { dt { (name) } dd { (value) } } }
                }
            }
            section id="json" {
                h2 { "The result for programs" }
                details {
                    summary { "JSON, as " code { "--json" } " prints it" }
                    pre id="result" { (serde_json::to_string_pretty(self.json).unwrap_or_default()) }
                }
            }
        };
        document(&self.title, body)
    }
}

/// A command whose lines end between its words: an option is not broken at its hyphens.
fn in_words(command: &str) -> Markup {
    html! { @for (k, word) in command.split(' ').enumerate() { @if k > 0 { " " } span { (word) } } }
}

/// The verdict says itself what it is.
fn without<'a>(verdict: &str, line: &'a str) -> &'a str {
    line.strip_prefix(verdict).and_then(|rest| rest.strip_prefix(':')).unwrap_or(line).trim()
}

fn badge(verdict: &str) -> Markup {
    let badge = match verdict {
        "exact" | "consistent" => Badge::Yes,
        "unchecked" => Badge::Part,
        "suspect" => Badge::No,
        _ => Badge::Open,
    };
    badge.html(verdict)
}

/// Version, day, machine and the hash of the model.
fn origin(json: &Value) -> Markup {
    let run = &json["run"];
    let machine = &run["machine"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let hash = [&json["model"]["sha256"], &json["sha256"]].map(word).concat();
    html! {
        p.small {
            "lnz " (word(&run["lnz"])) ", " (word(&run["date"])) ", on " (word(&machine["processor"])) " ("
            (word(&machine["system"])) ", " (machine["cores"]) " processors, "
            (word(&machine["instruction_set"])) ")"
        }
        @if !hash.is_empty() {
            p.small { "The model has the hash " code { (hash) } ": a file with the same hash holds the same model." }
        }
    }
}

/// The settings that were in use, by their names.
fn settings(json: &Value) -> Vec<(String, String)> {
    let used = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some((name.clone(), text.clone())),
        Value::Number(number) if number.is_f64() => Some((name.clone(), real(value)?.to_string())),
        other => Some((name.clone(), other.to_string())),
    };
    json["settings"].as_object().map_or(vec![], |fields| fields.iter().filter_map(used).collect())
}

/// A number in JSON, which has words for infinity.
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::String(word) => word.parse().ok(),
        other => other.as_f64(),
    }
}

/// Both ends of an interval; nothing is known beyond one that is missing.
fn interval(value: &Value) -> [f64; 2] {
    let end = |k: usize, otherwise: f64| real(&value[k]).unwrap_or(otherwise);
    [end(0, f64::NEG_INFINITY), end(1, f64::INFINITY)]
}

/// `275.69 ± 0.13`, or all digits of an exact value.
fn with_error(value: f64, error: Option<f64>) -> Markup {
    match error {
        Some(0.0) => html! { (numbers::exact(value)) },
        Some(error) if error.is_finite() => html! {
            (with_decimals_of(error, value)) " ± " (numbers::error(error))
        },
        _ => html! { (lnz::in_nats(value)) },
    }
}

/// `95% interval [275.4, 276.0]`.
fn interval_words(value: &Value, error: f64) -> Markup {
    let end = |end: f64| match end.is_finite() {
        true => with_decimals_of(error, end),
        false if end > 0.0 => "∞".to_owned(),
        false => "−∞".to_owned(),
    };
    let [low, high] = interval(value).map(end);
    html! { small { "95% interval [" (low) ", " (high) "]" } }
}

#[cfg(test)]
mod tests;
