//! Options of the start distribution.

use super::values::positive;
use anyhow::Result;
use clap::{Args, ValueEnum};
use lnz::{ChainLayout, Flips, InitialState, Sampling};
use lnz_app::data_sets;
use lnz_app::request::{DataSource, StartKind, StartRequest};
use std::path::PathBuf;

/// Where annealing starts. Everything is optional, so that what was typed can be told from defaults.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Start distribution")]
pub(crate) struct StartArgs {
    /// Where the means of the start come from [default: gibbs, or data with --data]
    #[arg(long, value_enum)]
    pub(crate) start: Option<StartArg>,
    /// First state of the chains that sample the means [default: mf]
    #[arg(long, value_enum)]
    pub(crate) init: Option<InitArg>,
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
    #[arg(long, value_enum)]
    pub(crate) chain_layout: Option<LayoutArg>,
    /// Data set for --start data: IDX, LIBSVM (also .gz or .xz), .npy, .npz, or the name of a fetched one
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// What to do with grey values of --data [default: none]
    #[arg(long, value_enum)]
    pub(crate) binarize: Option<BinarizeArg>,
}

impl StartArgs {
    pub(crate) fn request(&self) -> Result<StartRequest> {
        let data = self.data.as_deref().map(data_sets::resolve).transpose()?;
        Ok(StartRequest {
            start: self.start.map(Into::into),
            init: self.init.map(Into::into),
            epsilon: self.epsilon,
            samples: self.samples,
            steps: self.steps,
            flips: self.flips,
            chain_layout: self.chain_layout.map(Into::into),
            data: data.map(DataSource::File),
            binarize: self.binarize.map(Into::into),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartArg {
    /// All states equally likely (B = 0)
    Uniform,
    /// Means of a data set
    Data,
    /// Means of Gibbs samples of the model
    Gibbs,
    /// Means of Metropolis samples of the model
    Metropolis,
}

impl From<StartArg> for StartKind {
    fn from(start: StartArg) -> Self {
        match start {
            StartArg::Uniform => StartKind::Uniform,
            StartArg::Data => StartKind::Data,
            StartArg::Gibbs => StartKind::Gibbs,
            StartArg::Metropolis => StartKind::Metropolis,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitArg {
    /// All units off
    Zero,
    /// All units on
    One,
    /// Each unit on with probability 1/2
    Random,
    /// Mean field: the sign of each row sum
    Mf,
    /// Pseudoinverse of the weights
    Ps,
}

impl From<InitArg> for InitialState {
    fn from(init: InitArg) -> Self {
        match init {
            InitArg::Zero => InitialState::Zero,
            InitArg::One => InitialState::One,
            InitArg::Random => InitialState::Random,
            InitArg::Mf => InitialState::MeanField,
            InitArg::Ps => InitialState::Pseudoinverse,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutArg {
    /// Many chains, one sample each
    Parallel,
    /// One chain, `steps` moves between samples
    Single,
}

impl From<LayoutArg> for ChainLayout {
    fn from(layout: LayoutArg) -> Self {
        match layout {
            LayoutArg::Parallel => ChainLayout::Parallel,
            LayoutArg::Single => ChainLayout::Single,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BinarizeArg {
    /// Keep values in [0, 1]
    None,
    /// 1 above 1/2
    Threshold,
    /// 1 with the value as its probability
    Bernoulli,
}

impl From<BinarizeArg> for lnz::data::Binarize {
    fn from(arg: BinarizeArg) -> Self {
        match arg {
            BinarizeArg::None => Self::None,
            BinarizeArg::Threshold => Self::Threshold,
            BinarizeArg::Bernoulli => Self::Bernoulli,
        }
    }
}
