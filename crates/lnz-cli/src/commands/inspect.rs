//! `lnz inspect`: what is in a model file and how it was understood.

use crate::args::InspectArgs;
use crate::terminal::{self, Table};
use anyhow::Result;
use lnz::io::{ModelFile, TensorInfo};
use lnz::{ExactCost, exact_cost};
use lnz_app::numbers::{count, duration, exact, short};
use lnz_app::report::ModelSummary;
use lnz_app::{Origin, Source};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode> {
    let source = args.model.load()?;
    let model = ModelSummary::new(&source.name, source.model());
    let cost = exact_cost(source.model())?;
    if args.json {
        terminal::print_json(&to_json(&source, &model, &cost))?;
    } else {
        terminal::print(&to_text(&source, &model, &cost))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(source: &Source, model: &ModelSummary, cost: &ExactCost) -> String {
    let mut table = Table::default();
    table.line("model", model.to_text());
    match &source.origin {
        Origin::BuiltIn(entry, _) => table.line("about", entry.description),
        Origin::File(file) => describe_file(file, &mut table),
    }
    let stored = source.stored();
    if stored.model.constant() != 0.0 {
        table.line("constant", format!("{} is added to log Z", stored.model.constant()));
    }
    if stored.data_means.is_some() {
        table.line("data", "means of the visible units are stored, for --start data");
    }
    if let Some(log_z) = stored.exact_log_z {
        table.line("log Z", format!("{}, exact, stored in the file", exact(log_z)));
    }
    for (key, text) in &stored.metadata {
        table.line("note", format!("{key}: {text}"));
    }
    table.line("exact", describe_cost(cost));
    table.text()
}

fn describe_file(file: &ModelFile, table: &mut Table) {
    let tensors: Vec<String> = file.tensors.iter().map(describe_tensor).collect();
    table.line("file", format!("{}\n{}", file.format, tensors.join("\n")));
    table.line("read as", file.understood.join("\n"));
}

fn describe_tensor(tensor: &TensorInfo) -> String {
    let shape = match &tensor.shape[..] {
        [] => "one number".to_owned(),
        sides => sides.iter().map(|&n| count(n)).collect::<Vec<_>>().join(" x "),
    };
    let name = if tensor.name.is_empty() { "(no name)" } else { &tensor.name };
    // The layout of a vector says nothing.
    let order = match tensor.shape.len() {
        0 | 1 => String::new(),
        _ => format!(", {}", tensor.order),
    };
    format!("{name}: {shape}, {}{order}", tensor.dtype)
}

fn describe_cost(cost: &ExactCost) -> String {
    let states = match cost.free_units {
        0 => "no states to sum over".to_owned(),
        n if cost.states > (n as f64).exp2() => {
            format!("{} states, 2^{n} of them in the largest component", short(cost.states))
        }
        n => format!("2^{n} states"),
    };
    format!("{states}, about {} on this machine", duration(cost.seconds))
}

fn to_json(source: &Source, model: &ModelSummary, cost: &ExactCost) -> Value {
    let stored = source.stored();
    let file = match &source.origin {
        Origin::BuiltIn(..) => Value::Null,
        Origin::File(file) => json!({
            "format": file.format.to_string(),
            "tensors": file.tensors.iter().map(tensor_json).collect::<Vec<_>>(),
            "understood": file.understood,
        }),
    };
    json!({
        "schema": 1,
        "model": model,
        "file": file,
        "constant": stored.model.constant(),
        "has_data_means": stored.data_means.is_some(),
        "exact_log_z": stored.exact_log_z,
        "metadata": stored.metadata,
        "exact_cost": {
            "free_units": cost.free_units,
            "states": cost.states,
            "seconds": cost.seconds,
        },
    })
}

fn tensor_json(tensor: &TensorInfo) -> Value {
    json!({
        "name": tensor.name,
        "shape": tensor.shape,
        "dtype": tensor.dtype,
        "order": tensor.order.to_string(),
    })
}
