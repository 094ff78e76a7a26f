//! `lnz inspect`: what is in a model file and how it was understood.

use crate::args::InspectArgs;
use crate::terminal::{self, Table};
use anyhow::Result;
use lnz::io::{ModelFile, TensorInfo};
use lnz::{ExactCost, exact_cost};
use lnz_app::numbers::{about, count, exact, short};
use lnz_app::report::ModelSummary;
use lnz_app::{Origin, Source, schema};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(args: &InspectArgs) -> Result<ExitCode> {
    let source = match args.model.load() {
        Ok(source) => source,
        Err(error) => {
            // What is in a file that is not understood helps to name its parts.
            if !args.json
                && let Ok((format, tensors)) = lnz::io::list_tensors(&args.model.model)
            {
                let mut table = Table::default();
                let lines: Vec<String> =
                    tensors.iter().take(MOST_LINES).map(describe_tensor).collect();
                table.line(
                    "file",
                    format!("{format}\n{}{}", lines.join("\n"), more_than(tensors.len())),
                );
                terminal::print(&table.text())?;
            }
            return Err(error.into());
        }
    };
    let model = ModelSummary::new(&source.name, source.stored());
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
    let tensors: Vec<String> = file.tensors.iter().take(MOST_LINES).map(describe_tensor).collect();
    let more = more_than(file.tensors.len());
    table.line("file", format!("{}\n{}{more}", file.format, tensors.join("\n")));
    table.line("read as", file.understood.join("\n"));
    for note in &file.stored.notes {
        table.line("mind", note.to_string());
    }
}

/// Tensors that are listed; checkpoints may have thousands.
const MOST_LINES: usize = 60;

fn more_than(count: usize) -> String {
    match count.saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("\nand {more} more"),
    }
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
    let states = match (cost.free_units, cost.width) {
        (0, None) => "no states to sum over".to_owned(),
        (0, Some(width)) => format!("elimination of width {width}"),
        (n, Some(width)) => format!("2^{n} states, and elimination of width {width}"),
        (n, None) if cost.states > (n as f64).exp2() => {
            format!("{} states, 2^{n} of them in the largest component", short(cost.states))
        }
        (n, None) => format!("2^{n} states"),
    };
    let memory = match cost.bytes {
        // Less is not worth a word, and more is out of the question anyway.
        bytes if (1e9..1e13).contains(&bytes) => format!(" and {:.1} GB", bytes / 1e9),
        _ => String::new(),
    };
    format!("{states}, {}{memory} on this machine", about(cost.seconds))
}

fn to_json(source: &Source, model: &ModelSummary, cost: &ExactCost) -> Value {
    let stored = source.stored();
    let file = match &source.origin {
        Origin::BuiltIn(..) => Value::Null,
        Origin::File(file) => json!({
            "format": file.format.to_string(),
            "tensors": file.tensors.iter().map(tensor_json).collect::<Vec<_>>(),
            "understood": file.understood,
            "notes": file.stored.notes.iter().map(|note| note.to_string()).collect::<Vec<_>>(),
            "updates": file.updates,
        }),
    };
    json!({
        "schema": schema::VERSION,
        "model": model,
        "file": file,
        "constant": stored.model.constant(),
        "has_data_means": stored.data_means.is_some(),
        "exact_log_z": stored.exact_log_z,
        "metadata": stored.metadata,
        "exact_cost": {
            "free_units": cost.free_units,
            "width": cost.width,
            "states": schema::count(cost.states),
            "bytes": schema::count(cost.bytes),
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
