//! Options of commands whose result has a verdict.

use crate::failure::DOUBTFUL;
use clap::{Args, ValueEnum};
use std::process::ExitCode;

/// Which verdicts are failures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct VerdictArgs {
    /// End with exit code 3 if the verdict is this, or worse: unchecked, then suspect
    #[arg(long, value_name = "VERDICT", value_enum)]
    pub(crate) fail_on: Option<FailOn>,
}

/// A verdict that is a failure, with those that are worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum FailOn {
    /// The tests were off, or one found a problem
    Unchecked,
    /// A test found a problem
    Suspect,
}

impl VerdictArgs {
    /// The exit code of a result with this verdict.
    pub(crate) fn exit_code(&self, verdict: &str) -> ExitCode {
        let worst = match verdict {
            "unchecked" => Some(FailOn::Unchecked),
            "suspect" => Some(FailOn::Suspect),
            _ => None,
        };
        match (self.fail_on, worst) {
            (Some(limit), Some(worst)) if worst >= limit => ExitCode::from(DOUBTFUL),
            _ => ExitCode::SUCCESS,
        }
    }
}
