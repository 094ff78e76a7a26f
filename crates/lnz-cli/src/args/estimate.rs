//! Options of `lnz estimate`.

use super::choice::choice;
use super::help;
use super::values::prose;
use super::{
    AnnealingArgs, AnswerArgs, AutoArgs, FolderArgs, JudgedArgs, LedgerArgs, LimitArgs,
    ReadingArgs, StartArgs,
};
use crate::failure::usage;
use clap::Args;
use lnz::Method;
use lnz_app::request::Request;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz estimate gwgm-hard
  lnz estimate gwgm-hard --no-exact                    the same by sampling
  lnz estimate gwgm-hard --start uniform               the classical start, 70% off here
  lnz estimate gwgm-hard --start gibbs --transpose     the paper's remedy
  lnz estimate rbm.npz --report run.html               a page with figures, to keep or to send
  lnz estimate rbm.mat --data train-images-idx3-ubyte.gz --betas 4096
  lnz estimate rbm.npz --start metropolis --flips 15% --init ps --chain-layout single
  lnz estimate a.npz b.safetensors 'models/*.pt' --csv log-z.csv
  lnz estimate rbm.npz --betas 1000000 --run folder    goes on there after Ctrl-C or kill -9

Without --method, what can be summed over in a few seconds is, and the rest is sampled from several
starts; options that only plain AIS understands select it. Fields of --json that do not apply are null,
and infinite numbers the words \"Infinity\" and \"-Infinity\"; `lnz schema` has all of them.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct EstimateArgs {
    /// A model file (- for standard input), or the name of a built-in model (see `lnz models`); several,
    /// folders and patterns such as 'models/*.pt' make a table
    #[arg(value_name = "MODEL", required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// How to obtain log Z
    #[arg(long, value_parser = choice::<Method>(), default_value = Method::default().name())]
    pub(crate) method: Method,
    #[arg(long, help = help::NO_EXACT)]
    pub(crate) no_exact: bool,
    /// With AIS: do not search for mass that it may have missed
    #[arg(long)]
    pub(crate) no_check: bool,
    #[command(flatten)]
    pub(crate) limit: LimitArgs,
    #[command(flatten)]
    pub(crate) auto: AutoArgs,
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) annealing: AnnealingArgs,
    /// Exchange the layers: the same Z, a different run
    #[arg(long, help_heading = "Annealing")]
    pub(crate) transpose: bool,
    #[command(flatten)]
    pub(crate) judged: JudgedArgs,
    /// Write the samples s_i, whose log-mean-exp is log Z, as a numpy array; selects AIS, which alone
    /// has them
    #[arg(long, value_name = "FILE.npy", help_heading = "Run and output")]
    pub(crate) save_weights: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) table: LedgerArgs,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

impl EstimateArgs {
    /// One model has none before it.
    pub(crate) fn refuse_sharing(&self) -> anyhow::Result<()> {
        match self.table.share_starts {
            true => Err(usage(
                "{share_starts} is for several models, whose starts go from one to the next; name them in their order, or drop it",
            )),
            false => Ok(()),
        }
    }

    pub(crate) fn request(&self) -> anyhow::Result<Request> {
        Ok(Request {
            method: self.method,
            no_exact: self.no_exact,
            no_check: self.no_check,
            max_seconds: self.limit.max_seconds,
            auto: self.auto.request(),
            start: self.start.request()?,
            annealing: self.annealing.request(),
            transpose: self.transpose,
            save_weights: self.save_weights.is_some(),
        })
    }
}
