//! The page of log Z along a training run.

use super::{Page, SMALL_BARS, SORTABLE, Words, interval, real, settings, styles};
use crate::numbers::{duration, with_decimals_of};
use lnz_figures::{Axis, Cell, Errors, Figure, Panel, Series, Table};
use maud::html;
use serde_json::Value;

/// The page of a run: `json` is what `--json` prints.
pub fn track(json: &Value, words: &[Words], command: &str) -> String {
    let rows = json["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let unit = json["unit"].as_str().unwrap_or("checkpoint");
    let last = rows.last();
    let at = last.map_or(0, |row| row["at"].as_u64().unwrap_or(0));
    Page {
        title: format!("log Z along {} checkpoints", rows.len()),
        heading: html! { "log Z along " (rows.len()) " checkpoints" },
        answer: html! {
            @if let Some(log_z) = last.and_then(|row| real(&row["log_z"])) {
                (super::with_error(log_z, last.and_then(|row| real(&row["std_error"]))))
                " " small { "at " (unit) " " (at) }
            }
        },
        verdict: json["verdict"].as_str(),
        words,
        figures: html! {
            section id="along" { h2 { "Along the run" } (figure(rows, unit).html("along")) }
            section id="rows" { h2 { "Checkpoints" } (table(rows, unit).html()) }
        },
        settings: settings(json),
        command,
        json,
    }
    .html()
}

/// log Z with its interval at every checkpoint, and how far the directions of each bridge are apart.
fn figure(rows: &[Value], unit: &str) -> Figure {
    let points = |of: &dyn Fn(&Value) -> Option<f64>| -> Vec<[f64; 2]> {
        rows.iter().filter_map(|row| Some([real(&row["at"])?, of(row)?])).collect()
    };
    let ends = rows.iter().filter(|row| real(&row["log_z"]).is_some());
    let ends = ends.map(|row| interval(&row["interval"])).collect();
    let along = points(&|row| real(&row["log_z"]));
    let mut log_z = Panel::new("log Z", Axis::linear(unit), Axis::linear("nats"))
        .with(Series::new("log Z", along, styles::AUTO).errors(Errors::Y(ends)));
    let checks = points(&|row| real(&row["independent"]["log_z"]));
    if !checks.is_empty() {
        let checked = rows.iter().filter(|row| row["independent"].is_object());
        let ends = checked.map(|row| interval(&row["independent"]["interval"])).collect();
        let series = Series::new("independent estimate", checks, styles::TRIAL);
        log_z = log_z.with(series.errors(Errors::Y(ends)));
    }
    let suspect = points(&|row| real(&row["log_z"]).filter(|_| row["verdict"] == "suspect"));
    if !suspect.is_empty() {
        log_z = log_z.with(Series::new("suspect", suspect, styles::SUSPECT));
    }
    let gaps = points(&|row| {
        let [low, high] = interval(&row["bridge"]["bracket"]);
        Some(high - low).filter(|gap| gap.is_finite())
    });
    let mut panels = vec![log_z];
    if !gaps.is_empty() {
        let panel = Panel::new("between both directions", Axis::linear(unit), Axis::linear("nats"));
        panels.push(panel.with(Series::new("", gaps, styles::PS)));
    }
    let note = SMALL_BARS.to_owned();
    Figure { note, ..Figure::new(panels) }
}

fn table(rows: &[Value], unit: &str) -> Table {
    let first = match unit {
        "epoch" => "epoch",
        "update" => "update",
        _ => "checkpoint",
    };
    let head = [
        first,
        "log Z",
        "error",
        "from",
        "gap",
        "steps",
        "independent",
        "off, in errors",
        "log-likelihood",
        "verdict",
        "time",
    ];
    let mut table = Table::new(SORTABLE, &head);
    for row in rows {
        let nothing = || Cell::text("–");
        let error = real(&row["std_error"]).unwrap_or(f64::INFINITY);
        let cell = |value: Option<f64>, show: &dyn Fn(f64) -> String| match value {
            Some(value) => Cell::number(value, show(value)),
            None => nothing(),
        };
        let precise = |value: f64| with_decimals_of(error.max(1e-6), value);
        let gap = match row["bridge"].is_object() {
            true => Some(interval(&row["bridge"]["bracket"])).map(|[low, high]| high - low),
            false => None,
        };
        table.rows.push(vec![
            cell(real(&row["at"]), &|at| format!("{at}")),
            cell(real(&row["log_z"]), &precise),
            cell(Some(error), &precise),
            Cell::text(row["from"].as_str().unwrap_or_default()),
            cell(gap, &|gap| format!("{gap:.3}")),
            cell(real(&row["bridge"]["betas"]), &|betas| format!("{betas}")),
            cell(real(&row["independent"]["log_z"]), &precise),
            cell(real(&row["independent"]["off_in_errors"]), &|off| format!("{off:+.1}")),
            cell(real(&row["log_likelihood"]), &precise),
            Cell::text(row["verdict"].as_str().unwrap_or_default()),
            cell(real(&row["seconds"]), &duration),
        ]);
    }
    table
}
