//! Options of `lnz data`.

use super::help;
use super::values::prose;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use lnz_app::data_sets;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz data fetch mnist                          into the cache; `--data mnist` then finds it
  lnz data info mnist-test
  lnz data info train.npy --json";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Show what is in a data file
    Info(InfoArgs),
    /// Download a well-known data set
    Fetch(FetchArgs),
}

const INFO_EXAMPLES: &str = "\
Examples:
  lnz data info train-images-idx3-ubyte.gz
  lnz data info w8a.xz --json";

#[derive(Debug, Args)]
#[command(after_help = prose(INFO_EXAMPLES))]
pub(crate) struct InfoArgs {
    /// IDX, LIBSVM (also .gz or .xz), .npy, .npz, or the name of a data set that was fetched
    pub(crate) file: PathBuf,
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
    #[arg(long, short, help = help::QUIET)]
    pub(crate) quiet: bool,
}

const FETCH_EXAMPLES: &str = "\
Examples:
  lnz data fetch mnist
  lnz data fetch web --dir data
  lnz data fetch mnist --url http://mirror.example/mnist

A download that was cut or stopped is continued by the same command. Contents are checked against
known SHA-256 sums; files that are there already are checked and kept. Without a network, put the
files into the folder by hand. The cache is $LNZ_CACHE, else the user's (on Linux ~/.cache/lnz).";

#[derive(Debug, Args)]
#[command(after_help = prose(FETCH_EXAMPLES))]
pub(crate) struct FetchArgs {
    /// The data set: `mnist` (handwritten digits) or `web` (w8a of the LIBSVM collection)
    #[arg(value_name = "mnist|web", value_parser = PossibleValuesParser::new(data_sets::SETS.iter().map(|set| set.name)))]
    pub(crate) set: String,
    /// Folder to put the files into [default: the cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Folder on the network to get them from [default: the well-known one]
    #[arg(long, value_name = "BASE")]
    pub(crate) url: Option<String>,
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
    #[arg(long, short, help = help::QUIET)]
    pub(crate) quiet: bool,
}
