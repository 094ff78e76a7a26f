//! Options of `lnz track`.

use super::values::{positive, prose, seconds};
use super::{AutoArgs, GreyArgs, JudgedArgs, ReadingArgs};
use clap::Args;
use lnz::Following;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz track runs/mnist                               the checkpoints of `lnz train`, epoch by epoch
  lnz track RBM.h5 --report run.html                 the updates of a run of rbms, with a figure
  lnz track e1.npz e2.npz e5.npz --csv log-z.csv     any models of one shape, in this order
  lnz track runs/mnist --data mnist-test --binarize threshold

The first checkpoint has an estimate of its own. Chains then go from each checkpoint to the next and back,
and both directions together give the ratio of the partition functions; how far they are apart (the gap)
says whether this bridge holds. The last checkpoint, and each to which no bridge holds, has an independent
estimate as well. Where exact values are cheap they are taken instead.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct TrackArgs {
    /// A folder of checkpoints, an HDF5 file of rbms, or model files in the order of training
    #[arg(value_name = "RUN", required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// Independent estimates at every N-th checkpoint, besides the first and the last
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) check_every: Option<usize>,
    /// Build bridges even if the models can be summed exactly
    #[arg(long)]
    pub(crate) no_exact: bool,
    /// Time that the command may take, in seconds or as 5m or 1h30m; what is known by then is the result
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// Data whose mean log-likelihood is wanted at each checkpoint: as for `lnz score`
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) grey: GreyArgs,
    #[command(flatten)]
    pub(crate) bridges: BridgeArgs,
    #[command(flatten)]
    pub(crate) auto: AutoArgs,
    #[command(flatten)]
    pub(crate) judged: JudgedArgs,
    /// Write the table with all its digits
    #[arg(long, value_name = "FILE.csv", help_heading = "Run and output")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How bridges are built.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bridges")]
pub(crate) struct BridgeArgs {
    /// Chains that are carried along, a multiple of 256
    #[arg(long, value_name = "N", default_value_t = Following::default().chains, value_parser = positive)]
    chains: usize,
    /// Sweeps of each checkpoint before the way goes on
    #[arg(long, value_name = "N", default_value_t = Following::default().sweeps)]
    sweeps: usize,
    /// Steps from one checkpoint to the next, at most
    #[arg(long, value_name = "N", default_value_t = Following::default().most_betas, value_parser = positive)]
    betas: usize,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

impl BridgeArgs {
    pub(crate) fn following(&self) -> Following {
        Following {
            chains: self.chains,
            sweeps: self.sweeps,
            most_betas: self.betas,
            seed: self.seed,
            ..Following::default()
        }
    }
}
