//! The options for a folder that keeps what a run has done.

use super::values::positive_number;
use clap::Args;
use std::path::PathBuf;

/// Where a run keeps what is done.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct FolderArgs {
    /// Keep what is done in this folder; the same command goes on there after any kind of end, to the
    /// same bits
    #[arg(id = "run", long = "run", value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// With --run: work that one core does in fewer seconds is not split
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = positive_number)]
    pub(crate) split_above: f64,
}
