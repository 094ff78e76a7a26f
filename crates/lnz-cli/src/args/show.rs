//! Options of commands that show models.

use super::help;
use super::{ModelArgs, TableArgs};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
}
