//! `lnz schema`: what the JSON of every command looks like.

use crate::terminal;
use anyhow::Result;
use lnz_app::schema;
use std::process::ExitCode;

pub(crate) fn run() -> Result<ExitCode> {
    terminal::print(schema::TEXT)?;
    Ok(ExitCode::SUCCESS)
}
