//! Options of the annealing run itself.

use super::values::positive;
use clap::{Args, ValueEnum};
use lnz::{Annealing, Precision};
use lnz_app::request::{AnnealingRequest, DEFAULT_BETAS, ScheduleRequest};
use std::convert::Infallible;

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
    #[arg(long, value_name = "linear|FILE", value_parser = schedule)]
    pub(crate) schedule: Option<ScheduleRequest>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = Annealing::default().seed)]
    pub(crate) seed: u64,
    /// Resolution of the weights that the chains see; all are unbiased [default: i16]
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
}

impl AnnealingArgs {
    pub(crate) fn request(&self) -> AnnealingRequest {
        AnnealingRequest {
            betas: self.betas,
            chains: self.chains,
            schedule: self.schedule.clone(),
            seed: self.seed,
            precision: self.precision.map(Into::into),
        }
    }
}

fn schedule(text: &str) -> Result<ScheduleRequest, Infallible> {
    Ok(match text {
        "linear" => ScheduleRequest::Linear,
        path => ScheduleRequest::File(path.into()),
    })
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
