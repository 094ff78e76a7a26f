//! Options of `lnz score`.

use super::choice::choice;
use super::help;
use super::values::prose;
use super::{AutoArgs, GreyArgs, JudgedArgs, LimitArgs, ModelArgs};
use clap::Args;
use lnz::Method;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz score rbm.npz --data test.npy                         log Z is computed or estimated first
  lnz score rbm.mat --data t10k-images-idx3-ubyte.gz --binarize bernoulli --log-z 451.28
  lnz score rbm.npz --data mnist-test --binarize threshold  a data set that `lnz data fetch` got

  lnz estimate rbm.npz --max-seconds 600 --json > z.json    log Z once,
  lnz score rbm.npz --data train.npy --result z.json        for many data sets
  lnz score rbm.npz --data test.npy --result z.json --out test.csv

The standard error and the interval are those of log Z: they hold for the given examples. How far
the mean over other examples of the same kind may lie is the sampling error, printed beside them.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct ScoreArgs {
    /// The data set: IDX, LIBSVM (also .gz or .xz), .npy, .npz, or the name of one that was fetched
    #[arg(long, value_name = "FILE")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) grey: GreyArgs,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) log_z: LogZArgs,
    #[command(flatten)]
    pub(crate) limit: LimitArgs,
    #[command(flatten)]
    pub(crate) auto: AutoArgs,
    #[command(flatten)]
    pub(crate) judged: JudgedArgs,
    /// Write the log-likelihood of each example; the extension chooses .npy, .csv or .txt
    #[arg(long, value_name = "FILE", help_heading = "Run and output")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// Where log Z comes from.
#[derive(Debug, Args)]
#[command(next_help_heading = "log Z")]
pub(crate) struct LogZArgs {
    /// Take this value, as if it were exact
    #[arg(long = "log-z", value_name = "Z", allow_hyphen_values = true, conflicts_with = "result")]
    pub(crate) given: Option<f64>,
    /// Take it, with its interval and verdict, from the saved output of `lnz estimate --json`
    #[arg(long, value_name = "RESULT.json")]
    pub(crate) result: Option<PathBuf>,
    /// How to obtain it otherwise [default: auto]
    #[arg(long, value_parser = choice::<Method>())]
    pub(crate) method: Option<Method>,
    #[arg(long, help = help::NO_EXACT)]
    pub(crate) no_exact: bool,
}
