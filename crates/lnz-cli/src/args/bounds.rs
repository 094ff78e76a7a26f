//! Options of `lnz bounds`.

use super::values::{positive_number, prose};
use super::{ModelArgs, RunArgs};
use clap::Args;
use lnz::Bounds;

const EXAMPLES: &str = "\
Examples:
  lnz bounds grid.uai                          where exact values are out of reach
  lnz bounds grid.uai --entries 1e7            tighter, with tables of ten times the size
  lnz bounds model.npz --passes 200 --json     tighter, with the same tables

Units are summed out one after the other; tables that would be too large are cut, and the cuts are
chosen so that the bounds are as tight as they can be. Dense models need too many cuts for that.";

#[derive(Debug, Args)]
#[command(after_help = prose(EXAMPLES))]
pub(crate) struct BoundsArgs {
    /// Entries of all tables together, eight bytes each
    #[arg(long, value_name = "N", default_value_t = Bounds::default().entries, value_parser = positive_number)]
    pub(crate) entries: f64,
    /// Passes over the tables for each bound
    #[arg(long, value_name = "N", default_value_t = Bounds::default().passes)]
    pub(crate) passes: usize,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}
