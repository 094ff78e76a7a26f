//! Options of `lnz sample`.

use super::values::{positive, prose, seconds};
use super::{ModelArgs, RunArgs, VerdictArgs};
use clap::Args;
use std::path::PathBuf;

const SAMPLE_EXAMPLES: &str = "\
Examples:
  lnz sample mnist-20h -n 1000 -o states.npz        visible, hidden and phase, a byte each
  lnz sample model.pt -n 50000 -o states.npy --chains 64

Ladders of chains run between a fitted start and the model and exchange their states, so that phases are
left and found again. What is printed is log Z of the same run: a suspect verdict is one on the states, too.";

#[derive(Debug, Args)]
#[command(after_help = prose(SAMPLE_EXAMPLES))]
pub(crate) struct SampleArgs {
    /// States to draw
    #[arg(long, short = 'n', value_name = "N", value_parser = positive)]
    pub(crate) count: usize,
    /// File for the states: .npz (visible, hidden, phase), or .npy or .csv (visible)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Ladders side by side [default: 32]
    #[arg(long, value_name = "N")]
    pub(crate) chains: Option<usize>,
    /// Rungs of a ladder [default: twice the barrier between start and model]
    #[arg(long, value_name = "N")]
    pub(crate) rungs: Option<usize>,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Seconds that the command may take; it fails if they do not suffice
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}
