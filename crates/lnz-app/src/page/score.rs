//! The page of the log-likelihood of data.

use super::{Page, Trace, Words, estimate, interval_words, real, settings, styles, with_error};
use lnz_figures::{Axis, Figure, Marker, Panel, Rule, Series, Style};
use maud::{Markup, html};
use serde_json::Value;

/// Bins of a histogram.
const BINS: usize = 40;

/// The page of a likelihood: `json` is what `--json` prints, `trace` that of log Z where it was estimated.
pub fn score(
    json: &Value,
    words: &[Words],
    log_likelihoods: &[f64],
    trace: &Trace,
    command: &str,
) -> String {
    let data = json["data"]["name"].as_str().unwrap_or("data");
    let name = json["model"]["name"].as_str().unwrap_or("a model");
    let mean = real(&json["mean_log_likelihood"]).unwrap_or(f64::NAN);
    let error = real(&json["std_error"]);
    Page {
        title: format!("log-likelihood of {data} under {name}"),
        heading: html! { "Log-likelihood of " (data) " under " (name) },
        answer: html! {
            (with_error(mean, error)) " " small { "per example" } " "
            @if let Some(error) = error.filter(|error| *error > 0.0 && error.is_finite()) {
                (interval_words(&json["interval"], error))
            }
        },
        verdict: Some(json["verdict"].as_str().unwrap_or("log Z was given")),
        words,
        figures: html! {
            (spread(json, mean, log_likelihoods))
            @if json["estimate"].is_object() { (estimate::figures(&json["estimate"], trace)) }
        },
        settings: settings(&json["estimate"]),
        command,
        json,
    }
    .html()
}

/// How the log-likelihoods of the examples spread.
fn spread(json: &Value, mean: f64, log_likelihoods: &[f64]) -> Markup {
    let style = Style { marker: Marker::None, ..styles::AUTO };
    let x = Axis::linear("log-likelihood of an example (nats)");
    let mut panel = Panel::new("", x, Axis::linear("examples"))
        .with(Series::histogram("examples", log_likelihoods, BINS, style))
        .with_rule(Rule::upright("mean", mean, styles::EXACT));
    if real(&json["quantiles"]["max"]).is_some_and(|max| max > 0.0) {
        let name = "probability 1: no example can lie beyond it";
        panel = panel.with_rule(Rule::upright(name, 0.0, styles::CEILING));
    }
    html! {
        section id="spread" { h2 { "The examples" } (Figure::new(vec![panel]).html("spread")) }
    }
}
