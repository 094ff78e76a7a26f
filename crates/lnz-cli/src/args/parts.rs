//! Options of commands on run folders.

use super::help;
use super::values::prose;
use super::{EstimateArgs, RunArgs};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const PLAN_EXAMPLES: &str = "\
Examples:
  lnz plan model.npz --betas 100000 --chains 4096 --parts 100 --run folder
  lnz work folder --part 17       on any machine that sees the folder; $SLURM_ARRAY_TASK_ID will do
  lnz status folder
  lnz merge folder                the bits of `lnz estimate` with the same options

Every option of `lnz estimate` decides the same here. Each command may be repeated at any time.";

#[derive(Debug, Args)]
#[command(after_help = prose(PLAN_EXAMPLES))]
pub(crate) struct PlanArgs {
    /// Parts that each task is split into
    #[arg(long, value_name = "N")]
    pub(crate) parts: NonZeroUsize,
    #[command(flatten)]
    pub(crate) estimate: EstimateArgs,
}

const WORK_EXAMPLES: &str = "\
Examples:
  lnz work folder --part 17         one part, from 1 on
  lnz work folder                   all that is missing and that nobody else computes just now
  lnz work folder --part 3 --wait   goes on with the next round when the others have done theirs";

#[derive(Debug, Args)]
#[command(after_help = prose(WORK_EXAMPLES))]
pub(crate) struct WorkArgs {
    #[arg(value_name = "DIR", help = help::RUN_FOLDER)]
    pub(crate) folder: PathBuf,
    /// The part to compute, from 1 on [default: $SLURM_ARRAY_TASK_ID, else whatever is missing]
    #[arg(long, value_name = "N")]
    pub(crate) part: Option<NonZeroUsize>,
    /// Wait for the other parts, and go on with the next task
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  lnz merge folder
  lnz merge folder --json";

#[derive(Debug, Args)]
#[command(after_help = prose(MERGE_EXAMPLES))]
pub(crate) struct MergeArgs {
    #[arg(value_name = "DIR", help = help::RUN_FOLDER)]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

const STATUS_EXAMPLES: &str = "\
Examples:
  lnz status folder
  lnz status folder --json";

#[derive(Debug, Args)]
#[command(after_help = prose(STATUS_EXAMPLES))]
pub(crate) struct StatusArgs {
    #[arg(value_name = "DIR", help = help::RUN_FOLDER)]
    pub(crate) folder: PathBuf,
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
}
