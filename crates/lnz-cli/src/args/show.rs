//! Options of commands that show models.

use super::{ModelArgs, TableArgs};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
