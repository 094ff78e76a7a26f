//! The options for the model that a command is about.

use super::choice::choice;
use clap::Args;
use lnz::io::{Layout, ReadOptions, Units};
use std::path::{Path, PathBuf};

/// The model that a command is about. The last of its fields, because the heading of how a file is read
/// would be that of all that follows.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// A model file (- for standard input), or the name of a built-in model (see `lnz models`)
    #[arg(help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How a model file is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading the file")]
pub(crate) struct ReadingArgs {
    /// Values of the units in the file [default: what the file says, else binary]
    #[arg(long, value_parser = choice::<Units>())]
    pub(crate) units: Option<Units>,
    #[command(flatten)]
    pub(crate) parts: PartArgs,
}

/// What a model file does not say itself.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// The tensor with the weights, by its name in the file; or a file of its own
    #[arg(long, value_name = "NAME")]
    weights: Option<String>,
    /// The same for the visible bias; none for zero
    #[arg(long, value_name = "NAME")]
    visible_bias: Option<String>,
    /// The same for the hidden bias
    #[arg(long, value_name = "NAME")]
    hidden_bias: Option<String>,
    /// Which way round the weights are stored, where their shape does not tell
    #[arg(long, value_parser = choice::<Layout>())]
    layout: Option<Layout>,
    /// Which update of a training run of `rbms` [default: the last]
    #[arg(long, value_name = "N")]
    update: Option<u64>,
}

impl ModelArgs {
    /// Finds and reads the model.
    pub(crate) fn load(&self) -> lnz_app::Result<lnz_app::Source> {
        self.reading.load(&self.model)
    }
}

impl ReadingArgs {
    /// Finds and reads a model.
    pub(crate) fn load(&self, model: &Path) -> lnz_app::Result<lnz_app::Source> {
        lnz_app::Source::load_with(model, &self.read_options())
    }

    pub(crate) fn read_options(&self) -> ReadOptions {
        let mut options = ReadOptions::with_units(self.units);
        options.weights = self.parts.weights.clone();
        options.visible_bias = self.parts.visible_bias.clone();
        options.hidden_bias = self.parts.hidden_bias.clone();
        options.layout = self.parts.layout;
        options.update = self.parts.update;
        options
    }
}
