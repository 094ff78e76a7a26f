//! `lnz data info`: what is in a data file.

use crate::args::InfoArgs;
use crate::progress::Watch;
use crate::terminal::{self, Table, label};
use anyhow::Result;
use lnz::data::{Packing, Summary, summarise};
use lnz_app::data_sets;
use lnz_app::numbers::{count, plural};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(args: &InfoArgs) -> Result<ExitCode> {
    let path = data_sets::resolve(&args.file)?;
    let watch = Watch::new(args.quiet);
    let summary = summarise(&path, &watch);
    watch.finish();
    let (name, summary) = (path.display().to_string(), summary?);
    if args.json {
        terminal::print_json(&to_json(&name, &summary))?;
    } else {
        terminal::print(&to_text(&name, &summary))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(name: &str, summary: &Summary) -> String {
    let mut table = Table::default();
    let packing =
        packing(summary.packing).map(|by| format!(", packed by {by}")).unwrap_or_default();
    table.line("file", format!("{name}\n{}{packing}", summary.format));
    let sides: Vec<String> = summary.example_shape.iter().map(|&side| count(side)).collect();
    let shape = match &sides[..] {
        [_] => String::new(),
        sides => format!(" ({})", sides.join(" x ")),
    };
    let examples = plural(summary.examples as usize, "example");
    table.line("examples", format!("{examples} of {}{shape}", plural(summary.width, "value")));
    let scaled = if summary.scale == 1.0 { "" } else { ", bytes of the file divided by 255" };
    let [low, high] = summary.range;
    let share = |share: f64| format!("{:.2}%", 100.0 * share);
    table.line(
        "values",
        format!(
            "{} to {}{scaled}; mean {:.4}\n{} are 0, {} are 1, {} are grey",
            short_number(low),
            short_number(high),
            summary.mean,
            share(summary.zeros),
            share(summary.ones),
            share(grey(summary))
        ),
    );
    table.line(
        "columns",
        match (summary.constant_columns, summary.zero_columns) {
            (0, _) => "none is constant".to_owned(),
            (constant, zero) if constant == zero => {
                format!("{} of {} always 0", count(zero), count(summary.width))
            }
            (constant, zero) => format!(
                "{} of {} constant, {} of them always 0",
                count(constant),
                count(summary.width),
                count(zero)
            ),
        },
    );
    if summary.empty_examples > 0 {
        let empty = plural(summary.empty_examples as usize, "example");
        table.line("empty", format!("{empty} without any value above 0"));
    }
    if !summary.labels.is_empty() {
        let one = |(label, n): &(f64, u64)| format!("{label}: {}", count(*n as usize));
        let labels: Vec<String> = summary.labels.iter().take(LABELS_SHOWN).map(one).collect();
        let more = match summary.labels.len().saturating_sub(LABELS_SHOWN) {
            0 => String::new(),
            more => format!(", and {} more labels", count(more)),
        };
        table.line("labels", labels.join(", ") + &more);
    }
    table.text() + &preview(summary)
}

/// More would fill the screen.
const LABELS_SHOWN: usize = 20;

fn grey(summary: &Summary) -> f64 {
    (1.0 - summary.zeros - summary.ones).max(0.0)
}

fn short_number(value: f64) -> String {
    format!("{:.4}", value).trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn packing(packing: Packing) -> Option<&'static str> {
    match packing {
        Packing::Gzip => Some("gzip"),
        Packing::Xz => Some("xz"),
        _ => None,
    }
}

/// The first example as an image, two rows to a line, where the file says that it is one.
fn preview(summary: &Summary) -> String {
    let [rows, columns] = summary.example_shape[..] else { return String::new() };
    if !(4..=64).contains(&rows) || !(4..=80).contains(&columns) {
        return String::new();
    }
    let ink = |row: usize, column: usize| row < rows && summary.first[row * columns + column] > 0.5;
    let inked: Vec<usize> =
        (0..rows).filter(|&row| (0..columns).any(|column| ink(row, column))).collect();
    let (Some(&top), Some(&bottom)) = (inked.first(), inked.last()) else { return String::new() };
    let mut text = format!("\n{}{}\n", " ".repeat(11), label().apply_to("the first example"));
    for row in (top..=bottom).step_by(2) {
        let line: String = (0..columns)
            .map(|column| match (ink(row, column), ink(row + 1, column)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            })
            .collect();
        text += format!("           {line}").trim_end();
        text.push('\n');
    }
    text
}

fn to_json(name: &str, summary: &Summary) -> Value {
    let label = |(label, count): &(f64, u64)| json!({"label": label, "count": count});
    json!({
        "schema": lnz_app::schema::VERSION,
        "name": name,
        "format": summary.format.to_string(),
        "packing": packing(summary.packing),
        "examples": summary.examples,
        "width": summary.width,
        "example_shape": summary.example_shape,
        "scale": summary.scale,
        "range": summary.range,
        "mean": summary.mean,
        "zeros": summary.zeros,
        "ones": summary.ones,
        "grey": grey(summary),
        "constant_columns": summary.constant_columns,
        "zero_columns": summary.zero_columns,
        "empty_examples": summary.empty_examples,
        "labels": match summary.labels.is_empty() {
            true => Value::Null,
            false => summary.labels.iter().map(label).collect(),
        },
    })
}
