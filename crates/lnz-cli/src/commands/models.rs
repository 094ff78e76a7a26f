//! `lnz models`: the built-in models.

use crate::args::ModelsArgs;
use crate::terminal;
use anyhow::Result;
use lnz::BUILT_IN;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(args: &ModelsArgs) -> Result<ExitCode> {
    if args.json {
        let models: Vec<_> = BUILT_IN
            .iter()
            .map(|entry| {
                let (visible, hidden) = entry.shape();
                json!({"name": entry.name, "visible": visible, "hidden": hidden, "description": entry.description})
            })
            .collect();
        terminal::print_json(&json!({"schema": 1, "models": models}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for entry in BUILT_IN {
        let (visible, hidden) = entry.shape();
        let name = terminal::value().apply_to(format!("{:<10}", entry.name));
        let shape = format!("{visible} x {hidden}");
        text += &format!("  {name}  {shape:<9}  {}\n", entry.description);
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
