//! `lnz data`: looks into data files and downloads well-known ones.

mod fetch;
mod info;

use crate::args::{DataArgs, DataCommand};
use anyhow::Result;
use std::process::ExitCode;

pub(crate) fn run(args: &DataArgs) -> Result<ExitCode> {
    match &args.command {
        DataCommand::Info(args) => info::run(args),
        DataCommand::Fetch(args) => fetch::run(args),
    }
}
