//! The option for an answer file of the UAI competitions.

use anyhow::Result;
use clap::Args;
use lnz::io;
use std::path::PathBuf;

/// Whether an answer file is wanted.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Write log10 Z as the UAI competitions want it
    #[arg(
        id = "save_pr",
        long = "save-pr",
        value_name = "FILE.uai.PR",
        help_heading = "Run and output"
    )]
    path: Option<PathBuf>,
}

impl AnswerArgs {
    pub(crate) fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// Refuses a file that cannot be written, before the first second of work.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.path {
            Some(path) => Ok(io::check_npy_path(path)?),
            None => Ok(()),
        }
    }

    pub(crate) fn write(&self, log_z: f64) -> Result<()> {
        match &self.path {
            Some(path) => Ok(io::write_log_z(path, log_z)?),
            None => Ok(()),
        }
    }
}
