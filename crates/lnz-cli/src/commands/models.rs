//! `lnz models`: the built-in models.

use crate::args::ModelsArgs;
use crate::{report, terminal};
use anyhow::Result;
use lnz::{BUILT_IN, BuiltIn};
use lnz_figures::{Cell, Table};
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(args: &ModelsArgs) -> Result<ExitCode> {
    let here: Vec<BuiltIn> = BUILT_IN.iter().copied().filter(BuiltIn::is_included).collect();
    if args.json {
        let models: Vec<_> = here
            .iter()
            .map(|entry| {
                let (visible, hidden) = entry.shape;
                json!({"name": entry.name, "visible": visible, "hidden": hidden, "epoch": entry.epoch(), "description": entry.description})
            })
            .collect();
        terminal::print_json(&json!({"schema": lnz_app::schema::VERSION, "models": models}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new("", &["name", "units", "what it is"]);
    for family in here.chunk_by(|a, b| a.family() == b.family()) {
        let (visible, hidden) = family[0].shape;
        let about = match &family.iter().filter_map(BuiltIn::epoch).collect::<Vec<_>>()[..] {
            [] => family[0].description.to_owned(),
            [epoch] => format!("trained with CD-1, epoch {epoch}"),
            [earlier @ .., last] => {
                let each: Vec<String> = earlier.iter().map(usize::to_string).collect();
                format!(
                    "trained with CD-1, epoch {last}; epochs {} as {}@{} and so on",
                    each.join(", "),
                    family[0].family(),
                    earlier[0]
                )
            }
        };
        let shape = format!("{visible} x {hidden}");
        table.rows.push(vec![Cell::text(family[0].family()), Cell::text(shape), Cell::text(about)]);
    }
    terminal::print(&report::table(&table, &args.table))?;
    Ok(ExitCode::SUCCESS)
}
