//! `lnz convert`: the same model in another format.

use crate::args::ConvertArgs;
use crate::terminal;
use anyhow::Result;
use lnz::io;
use std::process::ExitCode;

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let source = args.model.load()?;
    io::write_model(&args.output, source.stored())?;
    let model = source.model();
    terminal::print(&format!(
        "{}: {} visible x {} hidden, units 0 and 1\n",
        args.output.display(),
        model.visible(),
        model.hidden()
    ))?;
    Ok(ExitCode::SUCCESS)
}
