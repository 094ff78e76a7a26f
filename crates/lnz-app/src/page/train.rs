//! The page of a training run, and the figure of its history.

use super::{Page, SMALL_BARS, SORTABLE, Words, interval, real, styles};
use lnz_figures::{Axis, Cell, Dash, Errors, Figure, Panel, Series, Style, Table};
use maud::html;
use serde_json::Value;

/// Epochs whose table is open from the beginning.
const MOST_EPOCHS: usize = 30;

/// The page of a training run: `json` is what `--json` prints, `settings` those of the model's own file.
pub fn train(
    json: &Value,
    words: &[Words],
    settings: Vec<(String, String)>,
    command: &str,
) -> String {
    let epochs = json["epochs"].as_array().map_or(&[][..], Vec::as_slice);
    let last = epochs.last().map_or(0, |row| row["epoch"].as_u64().unwrap_or(0));
    let tracked = epochs.iter().rev().find(|row| real(&row["log_z"]).is_some());
    let likelihood = tracked.and_then(|row| real(&row["train_log_likelihood"]));
    Page {
        title: format!("Training, {last} epochs"),
        heading: html! { "Training, " (last) " epochs" },
        answer: html! {
            @match likelihood {
                Some(value) => { (format!("{value:.2}")) " " small { "nats per example, when last tracked" } }
                None => { small { "The likelihood was not tracked: " code { "--track all" } " does." } }
            }
        },
        verdict: tracked.and_then(|row| row["verdict"].as_str()),
        words,
        figures: html! {
            @if let Some(figure) = history(epochs) {
                section id="likelihood" { h2 { "Likelihood and log Z" } (figure.html("likelihood")) }
            }
            @if epochs.len() > 1 {
                section id="learning" { h2 { "Learning" } (learning(epochs).html("learning")) }
            }
            section id="epochs" {
                h2 { "Epochs" }
                // Long tables would stand between the reader and what comes below.
                @if epochs.len() <= MOST_EPOCHS { (table(epochs).html()) }
                @else { details { summary { "All " (epochs.len()) " epochs" } (table(epochs).html()) } }
            }
        },
        settings,
        command,
        json,
    }
    .html()
}

fn points(epochs: &[Value], of: impl Fn(&Value) -> Option<f64>) -> Vec<[f64; 2]> {
    let point = |row: &Value| Some([real(&row["epoch"])?, of(row)?]);
    epochs.iter().filter_map(point).collect()
}

/// Likelihood and log Z along training, with their intervals, where they were tracked twice or more.
pub fn history(epochs: &[Value]) -> Option<Figure> {
    let log_z = points(epochs, |row| real(&row["log_z"]));
    if log_z.len() < 2 {
        return None;
    }
    // log p = F - log Z: its interval is that of log Z, turned round.
    let turned = |field: &'static str| {
        epochs
            .iter()
            .filter_map(|row| {
                let (mean, log_z) = (real(&row[field])?, real(&row["log_z"])?);
                let [low, high] = interval(&row["interval"]);
                Some([mean + log_z - high, mean + log_z - low])
            })
            .collect::<Vec<_>>()
    };
    let curve = |name: &str, field: &'static str, style: Style| {
        let points = points(epochs, |row| real(&row["log_z"]).and(real(&row[field])));
        Series::new(name, points, style).errors(Errors::Y(turned(field)))
    };
    let mut likelihood =
        Panel::new("mean log-likelihood", Axis::linear("epoch"), Axis::linear("nats per example"))
            .with(curve("train", "train_log_likelihood", styles::AUTO));
    let validation =
        curve("validation", "validation_log_likelihood", styles::MF.dash(Dash::Dashed));
    if !validation.points.is_empty() {
        likelihood = likelihood.with(validation);
    }
    let tracked = || epochs.iter().filter(|row| real(&row["log_z"]).is_some());
    let ends = tracked().map(|row| interval(&row["interval"])).collect();
    let mut log_z_panel = Panel::new("log Z", Axis::linear("epoch"), Axis::linear("nats"))
        .with(Series::new("log Z", log_z, styles::PS).errors(Errors::Y(ends)));
    let suspect = points(epochs, |row| real(&row["log_z"]).filter(|_| row["verdict"] == "suspect"));
    if !suspect.is_empty() {
        log_z_panel = log_z_panel.with(Series::new("suspect", suspect, styles::SUSPECT));
    }
    let note = SMALL_BARS.to_owned();
    Some(Figure { note, ..Figure::new(vec![likelihood, log_z_panel]) })
}

fn learning(epochs: &[Value]) -> Figure {
    let panel = |title: &str, label: &str, field: &'static str, style: Style| {
        Panel::new(title, Axis::linear("epoch"), Axis::linear(label)).with(Series::new(
            "",
            points(epochs, |row| real(&row[field])),
            style,
        ))
    };
    Figure::new(vec![
        panel(
            "reconstruction error",
            "mean square per unit",
            "reconstruction_error",
            styles::THIRD,
        ),
        panel("weights", "root mean square", "weight_rms", styles::FOURTH),
    ])
}

fn table(epochs: &[Value]) -> Table {
    let head = [
        "epoch",
        "reconstruction error",
        "weight rms",
        "log Z",
        "error",
        "verdict",
        "train",
        "validation",
    ];
    let mut table = Table::new(SORTABLE, &head);
    for row in epochs {
        let cell = |field: &str, decimals: usize| match real(&row[field]) {
            Some(value) => Cell::number(value, format!("{value:.decimals$}")),
            None => Cell::text("–"),
        };
        table.rows.push(vec![
            cell("epoch", 0),
            cell("reconstruction_error", 4),
            cell("weight_rms", 3),
            cell("log_z", 2),
            cell("std_error", 3),
            Cell::text(row["verdict"].as_str().unwrap_or("–")),
            cell("train_log_likelihood", 2),
            cell("validation_log_likelihood", 2),
        ]);
    }
    table
}
