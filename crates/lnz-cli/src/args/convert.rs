//! Options of `lnz convert`.

use super::ModelArgs;
use super::choice::choice;
use super::help;
use super::values::prose;
use clap::Args;
use lnz::io::Float;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lnz convert rbm.mat rbm.npz
  lnz convert ising.npz ising.safetensors --units spin    the result has units 0 and 1
  lnz convert rbm.npz small.safetensors --float f16       a quarter of the size, three digits";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct ConvertArgs {
    #[arg(value_name = "OUT", index = 2, help = help::NEW_MODEL)]
    pub(crate) output: PathBuf,
    /// Type of weights and biases in a .safetensors file [default: f64]
    #[arg(long, value_parser = choice::<Float>())]
    pub(crate) float: Option<Float>,
    /// Compute log Z exactly, of the numbers as they are written, and store it too
    #[arg(long)]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}
