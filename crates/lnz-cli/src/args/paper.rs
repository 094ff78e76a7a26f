//! Options of `lnz paper`.

use super::help;
use super::values::{prose, threads};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz paper list                    the experiments, and how far they are
  lnz paper run all --quick         every figure with fewer models, in a few minutes
  lnz paper report --quick          one HTML page: each claim of the paper, evidence, verdict
  lnz paper run fig2 --out /tmp/r   one experiment in full, into another folder
  lnz paper plot fig2 --out /tmp/r  its figure, as SVG and PNG

Results are CSV files, one row per run. What is there already is not computed again, so an
interrupted run goes on where it was. Every run is seeded: the same rows on every machine.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct PaperArgs {
    #[command(subcommand)]
    pub(crate) action: PaperAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PaperAction {
    /// List the experiments and how much of each is there
    List {
        #[command(flatten)]
        results: ResultsArgs,
        #[arg(long, help = help::JSON)]
        json: bool,
    },
    /// Run experiments, as far as their results are not there yet
    Run {
        #[command(flatten)]
        which: WhichArgs,
        #[command(flatten)]
        results: ResultsArgs,
        #[command(flatten)]
        data: DataFiles,
        /// Number of runs at a time [default: one per core]; results are the same for any number
        #[arg(long, value_name = "N", value_parser = threads)]
        threads: Option<usize>,
        #[arg(long, short, help = help::QUIET)]
        quiet: bool,
    },
    /// Draw the figures of what is there, as SVG and PNG
    Plot {
        #[command(flatten)]
        which: WhichArgs,
        #[command(flatten)]
        results: ResultsArgs,
    },
    /// Write one HTML page: each claim of the paper, the evidence, and whether it holds
    Report {
        #[command(flatten)]
        results: ResultsArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WhichArgs {
    /// Names of experiments (see `lnz paper list`), or `all`
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

/// Data for epochs of Fig. 7 that do not come with the program.
#[derive(Debug, Args)]
pub(crate) struct DataFiles {
    /// MNIST training images: train the epochs of MNIST-500h that are not built in (takes long)
    #[arg(long, value_name = "FILE")]
    pub(crate) mnist: Option<PathBuf>,
    /// The Web data (w8a): train the epochs of Web-500h that are not built in (takes long)
    #[arg(long, value_name = "FILE")]
    pub(crate) web: Option<PathBuf>,
}

/// Which results.
#[derive(Debug, Args)]
pub(crate) struct ResultsArgs {
    /// Folder of the results
    #[arg(long, value_name = "FOLDER", default_value = "paper-results")]
    pub(crate) out: PathBuf,
    /// Fewer models and settings; results go to the subfolder `quick`
    #[arg(long)]
    pub(crate) quick: bool,
    /// Hardly anything, for tests; results go to the subfolder `tiny`
    #[arg(long, hide = true, conflicts_with = "quick")]
    pub(crate) tiny: bool,
}
