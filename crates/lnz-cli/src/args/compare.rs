//! Options of `lnz compare`.

use super::values::prose;
use super::{AnnealingArgs, ModelArgs, ReportArgs, RunArgs, TableArgs};
use clap::Args;
use lnz_app::compare::CompareRequest;

const EXAMPLES: &str = "\
Examples:
  lnz compare gwgm-hard
  lnz compare model.npz --betas 4096 --chains 256 --json";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct CompareArgs {
    /// Do not compute the exact value
    #[arg(long)]
    pub(crate) no_exact: bool,
    /// Do not search for mass that the strategies may have missed
    #[arg(long)]
    pub(crate) no_check: bool,
    #[command(flatten)]
    pub(crate) annealing: AnnealingArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

impl CompareArgs {
    pub(crate) fn request(&self) -> CompareRequest {
        CompareRequest {
            no_exact: self.no_exact,
            no_check: self.no_check,
            annealing: self.annealing.request(),
        }
    }
}
