//! Options of `lnz bench`.

use super::TableArgs;
use super::help;
use super::values::{positive_number, prose, threads};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz generate suite -o league                     models like those of the UAI competitions
  lnz bench suite league                           all methods on all of them, as a table
  lnz bench suite league -o league.html            the same as a page
  lnz bench suite league --peers lnz,ais           some methods only
  lnz bench suite uai14 --python venv/bin/python   a folder of .uai and .uai.PR files

A folder has model files. log Z of grid.uai is in grid.uai.PR (log10, as in the competitions), in a
table log_z.tsv or log_z.csv with the columns name and log_z, or in the model's own file. Peers that
are not installed are named and left out.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) action: BenchAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchAction {
    /// Hold methods against models of known log Z
    Suite(SuiteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// Folder of models with known log Z
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Which methods to run: lnz (the default method), ais (plain AIS of lnz), rbms, torch
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "lnz,ais,rbms,torch")]
    pub(crate) peers: Vec<String>,
    /// The Python that has the peers in Python
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub(crate) python: PathBuf,
    /// Seconds that a method may take for a model; more counts as no answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive_number)]
    pub(crate) timeout: f64,
    /// Inverse temperatures of plain AIS, of lnz and of the peers
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) betas: usize,
    /// Chains of plain AIS
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) chains: usize,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write an HTML page that needs no other file
    #[arg(long, short, value_name = "PAGE.html")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
    /// Number of threads [default: all]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    #[arg(long, short, help = help::QUIET)]
    pub(crate) quiet: bool,
}
