//! Options of the run itself, which several commands share.

use super::help;
use super::values::{seconds, threads};
use clap::Args;
use lnz::Auto;

/// How long an estimate may take.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    #[arg(long, value_name = "TIME", value_parser = seconds,
        help = format!(
            "Time that the command may take, in seconds or as 5m or 1h30m, from reading the files on; \
             with AIS, as many chains as fit into it [default: {} with auto, none otherwise]",
            Auto::default().max_seconds
        ))]
    pub(crate) max_seconds: Option<f64>,
}

/// A table for other programs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct TableArgs {
    /// Print the table as Markdown
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) markdown: bool,
    /// Print the table as CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// How a long command runs and what it prints.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct RunArgs {
    /// Number of threads [default: all]; results are the same bits for any number
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
    #[arg(long, short, help = help::QUIET)]
    pub(crate) quiet: bool,
}
