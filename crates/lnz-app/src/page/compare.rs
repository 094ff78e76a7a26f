//! The page of several strategies side by side.

use super::estimate::{Row, intervals};
use super::{Page, SORTABLE, Words, badge, interval, real, styles};
use crate::numbers::{duration, exact, short, with_decimals_of};
use lnz_figures::{Axis, Cell, Figure, Rule, Table};
use maud::{Markup, html};
use serde_json::Value;

/// The page of a comparison: `json` is what `--json` prints.
pub fn compare(json: &Value, note: Option<&str>, command: &str) -> String {
    let name = json["model"]["name"].as_str().unwrap_or("a model");
    let rows = json["strategies"].as_array().map_or(&[][..], Vec::as_slice);
    let suspect = rows.iter().filter(|row| row["verdict"] == "suspect").count();
    let words: Vec<Words> =
        note.map(|note| ("note".to_owned(), note.to_owned())).into_iter().collect();
    Page {
        title: format!("Strategies for {name}"),
        heading: html! { "Strategies side by side on " (name) },
        answer: match real(&json["exact"]) {
            Some(log_z) => html! { (exact(log_z)) " " small { "the exact log Z" } },
            None => html! { small { "No exact value is known." } },
        },
        // The verdicts are those of the strategies: that of the number above would be another.
        verdict: None,
        words: &words,
        figures: html! {
            @if suspect > 0 {
                div.claim {
                    (badge("suspect"))
                    p { (suspect) " of " (rows.len()) " strategies, by the tests that each run makes of itself" }
                }
            }
            (strategies(json, rows))
            (table(rows).html())
        },
        settings: vec![],
        command,
        json,
    }
    .html()
}

fn name_of(row: &Value) -> String {
    let turned = if row["transpose"] == true { ", transposed" } else { "" };
    format!("{}{turned}", row["start"].as_str().unwrap_or_default())
}

fn strategies(json: &Value, rows: &[Value]) -> Markup {
    let drawn = |row: &Value| {
        let found = &row["estimate"];
        let verdict = row["verdict"].as_str().unwrap_or_default();
        Some(Row {
            label: name_of(row),
            value: real(&found["log_z"])?,
            interval: interval(&found["interval"]),
            style: styles::of_verdict(verdict),
            meaning: if verdict == "suspect" { "suspect" } else { "not suspect" },
        })
    };
    let drawn: Vec<Row> = rows.iter().filter_map(drawn).collect();
    let mut panel = intervals("", Axis::linear("log Z"), &drawn);
    if let Some(log_z) = real(&json["exact"]) {
        panel = panel.with_rule(Rule::upright("exact", log_z, styles::EXACT));
    }
    let note = "Bars are 95% intervals.".to_owned();
    let figure = Figure { note, ..Figure::new(vec![panel]) };
    html! { section id="where" { h2 { "Where log Z lies" } (figure.html("where")) } }
}

fn table(rows: &[Value]) -> Table {
    let head = ["start", "log Z", "error", "off by", "effective chains", "verdict", "time"];
    let mut table = Table::new(SORTABLE, &head);
    for row in rows {
        let found = &row["estimate"];
        let number = |value: &Value| real(value).unwrap_or(f64::NAN);
        let (log_z, error) = (number(&found["log_z"]), number(&found["std_error"]));
        let (ess, off) = (number(&found["ess"]), number(&row["difference"]));
        let cost = &row["cost"];
        let seconds = number(&cost["seconds"]) + real(&cost["start_seconds"]).unwrap_or(0.0);
        table.rows.push(vec![
            Cell::text(name_of(row)),
            Cell::number(log_z, with_decimals_of(error, log_z)),
            Cell::number(error, with_decimals_of(error, error)),
            Cell::number(off, format!("{off:+.2}")),
            Cell::number(ess, short(ess)),
            Cell::text(row["verdict"].as_str().unwrap_or_default()),
            Cell::number(seconds, duration(seconds)),
        ]);
    }
    table
}
