//! Options of `lnz exact`.

use super::values::{bytes, prose, seconds};
use super::{AnswerArgs, FolderArgs, ModelArgs, ReportArgs, RunArgs};
use clap::Args;
use lnz_app::request::ExactRequest;

const EXAMPLES: &str = "\
Examples:
  lnz exact bms-3                60 x 540, but three independent blocks
  lnz exact model.npz --force    however long it takes";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
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
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
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
