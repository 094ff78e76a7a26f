//! Options of the annealing run itself.

use super::values::positive;
use clap::{Args, ValueEnum};
use lnz::{Annealing, Precision};
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

/// The paper's N_beta, also for the command line.
pub(crate) const DEFAULT_BETAS: usize = 1024;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Annealing")]
pub(crate) struct AnnealingArgs {
    #[arg(long, value_name = "N", value_parser = positive,
        help = format!("Intervals of the linear schedule [default: {DEFAULT_BETAS}]"))]
    pub(crate) betas: Option<usize>,
    #[arg(long, value_name = "N", value_parser = positive,
        help = format!("Independent chains [default: {}]", Annealing::default().chains))]
    pub(crate) chains: Option<usize>,
    /// `linear`, or a text file of betas that rise from 0 to 1 [default: linear]
    #[arg(long, value_name = "linear|FILE")]
    pub(crate) schedule: Option<ScheduleArg>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = Annealing::default().seed)]
    pub(crate) seed: u64,
    /// Resolution of the weights that the chains see; all are unbiased [default: i16]
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScheduleArg {
    Linear,
    File(PathBuf),
}

impl FromStr for ScheduleArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "linear" { ScheduleArg::Linear } else { ScheduleArg::File(text.into()) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// 16 bits, the fastest; 32 where that is too coarse
    I16,
    /// 32 bits
    I32,
    /// Floating point: slow, for checking
    F64,
}

impl From<PrecisionArg> for Precision {
    fn from(precision: PrecisionArg) -> Self {
        match precision {
            PrecisionArg::I32 => Precision::I32,
            PrecisionArg::I16 => Precision::I16,
            PrecisionArg::F64 => Precision::F64,
        }
    }
}
