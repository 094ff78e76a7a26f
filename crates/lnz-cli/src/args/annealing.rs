//! Options of the annealing run itself.

use super::choice::choice;
use super::values::positive;
use clap::Args;
use lnz::{Annealing, DEFAULT_BETAS, Precision};
use lnz_app::request::{AnnealingRequest, ScheduleRequest};
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
    #[arg(long, value_parser = choice::<Precision>())]
    pub(crate) precision: Option<Precision>,
}

impl AnnealingArgs {
    pub(crate) fn request(&self) -> AnnealingRequest {
        AnnealingRequest {
            betas: self.betas,
            chains: self.chains,
            schedule: self.schedule.clone(),
            seed: self.seed,
            precision: self.precision,
        }
    }
}

fn schedule(text: &str) -> Result<ScheduleRequest, Infallible> {
    Ok(match text {
        "linear" => ScheduleRequest::Linear,
        path => ScheduleRequest::File(path.into()),
    })
}
