//! Options of the start distribution.

use super::choice::choice;
use super::values::positive;
use crate::data_sets;
use anyhow::Result;
use clap::Args;
use lnz::data::Binarize;
use lnz::{ChainLayout, Flips, InitialState, Sampling};
use lnz_app::request::{DataSource, StartKind, StartRequest};
use std::path::PathBuf;

/// Where annealing starts. Everything is optional, so that what was typed can be told from defaults.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Start distribution")]
pub(crate) struct StartArgs {
    /// Where the means of the start come from [default: gibbs, or data with --data]
    #[arg(long, value_parser = choice::<StartKind>())]
    pub(crate) start: Option<StartKind>,
    /// First state of the chains that sample the means [default: mf]
    #[arg(long, value_parser = choice::<InitialState>())]
    pub(crate) init: Option<InitialState>,
    #[arg(long, value_name = "EPS", allow_hyphen_values = true,
        help = format!("Pull means into [eps, 1 - eps], 0 <= eps < 0.5 [default: {}]", Sampling::default().epsilon))]
    pub(crate) epsilon: Option<f64>,
    #[arg(long, value_name = "N", value_parser = positive,
        help = format!("States that are averaged for the means [default: {}]", Sampling::default().samples))]
    pub(crate) samples: Option<usize>,
    #[arg(long, value_name = "N", value_parser = positive,
        help = format!("Sweeps or proposals before each of them [default: {}]", Sampling::default().steps))]
    pub(crate) steps: Option<usize>,
    /// Units that a Metropolis proposal flips: a number, or a share such as 15% [default: 100%]
    #[arg(long, value_name = "N|P%")]
    pub(crate) flips: Option<Flips>,
    /// One chain per sample, or one chain for all [default: parallel]
    #[arg(long, value_parser = choice::<ChainLayout>())]
    pub(crate) chain_layout: Option<ChainLayout>,
    /// Data set for --start data: IDX, LIBSVM (also .gz or .xz), .npy, .npz, or the name of a fetched one
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// What to do with grey values of --data [default: none]
    #[arg(long, value_parser = choice::<Binarize>())]
    pub(crate) binarize: Option<Binarize>,
}

impl StartArgs {
    pub(crate) fn request(&self) -> Result<StartRequest> {
        let data = self.data.as_deref().map(data_sets::resolve).transpose()?;
        Ok(StartRequest {
            start: self.start,
            init: self.init,
            epsilon: self.epsilon,
            samples: self.samples,
            steps: self.steps,
            flips: self.flips,
            chain_layout: self.chain_layout,
            data: data.map(DataSource::File),
            binarize: self.binarize,
        })
    }
}
