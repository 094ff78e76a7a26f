//! `lnz convert`: the same model in another format.

use crate::args::ConvertArgs;
use crate::failure::usage;
use crate::progress::Watch;
use crate::terminal;
use anyhow::Result;
use lnz::io::{self, Float, Format};
use lnz::{Estimator, Exact};
use std::process::ExitCode;

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let source = args.model.load()?;
    let float = args.float.unwrap_or(Float::F64);
    let mut stored = source.stored().clone();
    if float != Float::F64 {
        if Format::to_write(&args.output)? != Format::Safetensors {
            return Err(usage(
                "--float is for .safetensors files; choose that extension, or drop it",
            ));
        }
        stored = float.rounded(&stored)?;
    }
    io::check_model_path(&args.output)?;
    if args.exact {
        let watch = Watch::new(false);
        let exact = Exact::default().estimate(&stored.model, &watch);
        watch.finish();
        stored.exact_log_z = Some(exact?.log_z);
    }
    match float {
        Float::F64 => io::write_model(&args.output, &stored)?,
        _ => io::write_safetensors(&args.output, &stored, float)?,
    }
    let model = source.model();
    terminal::print(&format!(
        "{}: {} visible x {} hidden, units 0 and 1\n",
        args.output.display(),
        model.visible(),
        model.hidden()
    ))?;
    Ok(ExitCode::SUCCESS)
}
