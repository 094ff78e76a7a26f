//! Options of commands whose result has a verdict.

use super::{ReportArgs, RunArgs};
use crate::failure::DOUBTFUL;
use crate::interrupt;
use clap::{Args, ValueEnum};
use std::process::ExitCode;

/// How a command runs that judges its result, and what it prints.
#[derive(Debug, Args)]
pub(crate) struct JudgedArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl JudgedArgs {
    /// The exit code of a result with this verdict, or of one that a signal has cut short.
    pub(crate) fn exit_code(&self, stopped: bool, verdict: &str) -> ExitCode {
        match stopped {
            true => ExitCode::from(interrupt::code()),
            false => self.verdict.exit_code(verdict),
        }
    }
}

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
