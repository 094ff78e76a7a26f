//! `lnz version`: what this program is and what it was built with.

use crate::args::VersionArgs;
use crate::terminal::{self, Table};
use anyhow::Result;
use lnz::{BUILT_IN, BuiltIn};
use lnz_app::provenance::Provenance;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(args: &VersionArgs) -> Result<ExitCode> {
    let here = Provenance::now();
    let machine = &here.machine;
    let models = BUILT_IN.iter().copied().filter(BuiltIn::is_included).count();
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    if args.json {
        terminal::print_json(&json!({
            "schema": lnz_app::schema::VERSION,
            "lnz": here.lnz,
            "target": target,
            "machine": machine,
            "built_in_models": models,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::default();
    table.line("lnz", here.lnz);
    table.line("target", target);
    table.line("kernels", format!("{}, on {}", machine.instruction_set, machine.processor));
    table.line("threads", machine.cores.to_string());
    table.line("models", format!("{models} built in; `lnz models` lists them"));
    terminal::print(&table.text())?;
    Ok(ExitCode::SUCCESS)
}
