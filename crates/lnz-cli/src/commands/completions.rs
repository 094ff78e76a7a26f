//! `lnz completions`: a completion script for a shell, which knows the built-in models.

use crate::args::{Cli, CompletionsArgs};
use crate::terminal;
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use lnz::{BUILT_IN, BuiltIn};
use std::process::ExitCode;

pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    terminal::print(&script(args.shell))?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> String {
    let names: Vec<&str> =
        BUILT_IN.iter().filter(|model| model.is_included()).map(|model| model.name).collect();
    let families: Vec<&str> =
        BUILT_IN.iter().filter(|model| model.is_included()).map(BuiltIn::family).collect();
    let mut words = [families, names].concat();
    words.sort_unstable();
    words.dedup();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut with_models(Cli::command(), &words), "lnz", &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    match shell {
        Shell::Zsh => or_files(&text, &words),
        _ => text,
    }
}

/// For zsh, what is one of a few words is no file: here it may be either.
fn or_files(text: &str, words: &[&str]) -> String {
    let either = format!(
        "\n_lnz_models() {{\n    _alternative 'models:built-in model:({0})' 'files:file:_files'\n}}\n",
        words.join(" ")
    );
    let text = text.replace(&format!("({})", words.join(" ")), "_lnz_models");
    match text.split_once('\n') {
        Some((first, rest)) => format!("{first}\n{either}{rest}"),
        None => text,
    }
}

/// The command with the names of models as the values of every MODEL.
fn with_models(command: Command, words: &[&'static str]) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |inner| with_models(inner, words))
    });
    let has_model = command.get_positionals().any(|argument| argument.get_id() == "model");
    match has_model {
        true => command.mut_arg("model", |argument| {
            argument.value_parser(PossibleValuesParser::new(words.to_vec()))
        }),
        false => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_knows_the_models_and_still_takes_files() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let script = script(shell);
            if matches!(shell, Shell::Bash | Shell::Zsh) {
                assert!(script.contains("gwgm-hard"), "{shell}: {script}");
            }
        }
        let zsh = script(Shell::Zsh);
        assert_eq!(zsh.matches("gwgm-hard").count(), 1, "{zsh}");
        assert!(zsh.contains(":_lnz_models'"), "{zsh}");
        assert!(zsh.contains("'files:file:_files'"), "{zsh}");
        assert!(script(Shell::Bash).contains("-o bashdefault -o default"));
    }
}
