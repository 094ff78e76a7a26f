//! The option for grey values of data.

use super::choice::choice;
use clap::Args;
use lnz::data::Binarize;

#[derive(Debug, Args)]
pub(crate) struct GreyArgs {
    /// What to do with grey values
    #[arg(long, value_parser = choice::<Binarize>(), default_value = Binarize::default().name())]
    pub(crate) binarize: Binarize,
}
