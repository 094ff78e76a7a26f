//! Options of `lnz exact` and `lnz bounds`.

use super::values::{bytes, positive_number, prose, seconds};
use super::{FolderArgs, ModelArgs, ReportArgs, RunArgs};
use clap::Args;
use lnz::Bounds;
use lnz_app::request::ExactRequest;
use std::path::PathBuf;

const EXACT_EXAMPLES: &str = "\
Examples:
  lnz exact bms-3                60 x 540, but three independent blocks
  lnz exact model.npz --force    however long it takes";

#[derive(Debug, Args)]
#[command(after_help = prose(EXACT_EXAMPLES))]
pub(crate) struct ExactArgs {
    /// Start even if it will take long
    #[arg(long)]
    pub(crate) force: bool,
    /// Time that the command may take, in seconds or as 5m; more is refused, or ends without a result
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// Memory for tables, such as 2GB [default: a quarter of the machine's]; with less, some units take
    /// their states one after the other, which takes longer
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) max_memory: Option<f64>,
    /// Write log10 Z as the UAI competitions want it
    #[arg(long, value_name = "FILE.uai.PR", help_heading = "Run and output")]
    pub(crate) save_pr: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

impl ExactArgs {
    pub(crate) fn request(&self) -> ExactRequest {
        let &Self { force, max_seconds, max_memory, .. } = self;
        ExactRequest { force, max_seconds, max_memory }
    }
}

const BOUNDS_EXAMPLES: &str = "\
Examples:
  lnz bounds grid.uai                          where exact values are out of reach
  lnz bounds grid.uai --entries 1e7            tighter, with tables of ten times the size
  lnz bounds model.npz --passes 200 --json     tighter, with the same tables

Units are summed out one after the other; tables that would be too large are cut, and the cuts are
chosen so that the bounds are as tight as they can be. Dense models need too many cuts for that.";

#[derive(Debug, Args)]
#[command(after_help = prose(BOUNDS_EXAMPLES))]
pub(crate) struct BoundsArgs {
    /// Entries of all tables together, eight bytes each
    #[arg(long, value_name = "N", default_value_t = Bounds::default().entries, value_parser = positive_number)]
    pub(crate) entries: f64,
    /// Passes over the tables for each bound
    #[arg(long, value_name = "N", default_value_t = Bounds::default().passes)]
    pub(crate) passes: usize,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}
