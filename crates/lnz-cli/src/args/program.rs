//! Options of commands about the program itself.

use super::help;
use super::values::prose;
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  lnz completions bash > ~/.local/share/bash-completion/completions/lnz
  lnz completions fish > ~/.config/fish/completions/lnz.fish";

#[derive(Debug, Args)]
#[command(after_help = prose(COMPLETIONS_EXAMPLES))]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  lnz man | man -l -                                read it
  lnz man estimate > lnz-estimate.1                 of one command
  lnz man --out ~/.local/share/man/man1             all of them, for `man lnz-estimate`";

#[derive(Debug, Args)]
#[command(after_help = prose(MAN_EXAMPLES))]
pub(crate) struct ManArgs {
    /// The command [default: the whole program]
    pub(crate) command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    #[arg(long, help = help::JSON)]
    pub(crate) json: bool,
}
