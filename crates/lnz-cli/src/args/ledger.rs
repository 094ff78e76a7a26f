//! Options for tables of many models.

use clap::Args;
use std::path::PathBuf;

/// A table of many models.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many models")]
pub(crate) struct LedgerArgs {
    /// Append a row for each model to this file; models that it has with the same settings are skipped
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) csv: Option<PathBuf>,
    /// The same, a JSON object on each line
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "csv")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Let the search of each model begin also in the phases of the model before it, for checkpoints of a
    /// training run in their order; what is handed on is kept beside the file of rows, in FILE.starts
    #[arg(long)]
    pub(crate) share_starts: bool,
}
