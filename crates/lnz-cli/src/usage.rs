//! Arguments that cannot be understood, and the help that was asked for.

use crate::args::Cli;
use crate::terminal;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use std::io::Write;
use std::process::ExitCode;

/// What was typed.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let matches = with_negative_numbers(Cli::command()).try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// `--seed -1` is a bad number, and not an option of its own.
fn with_negative_numbers(command: Command) -> Command {
    let takes_values = |arg: &Arg| arg.get_action().takes_values() && !arg.is_positional();
    command
        .mut_args(|arg| match takes_values(&arg) {
            true => arg.allow_negative_numbers(true),
            false => arg,
        })
        .mut_subcommands(with_negative_numbers)
}

/// Prints what is wrong with the arguments, or the help that was asked for; bad numbers in our words.
pub(crate) fn explain(error: clap::Error) -> ExitCode {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    let is_help = matches!(
        error.kind(),
        DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand | DisplayVersion
    );
    // Nobody to tell if the stream is gone.
    let _ = match is_help {
        true => error.print(),
        false => std::io::stderr().write_all(refusal(&error).as_bytes()),
    };
    ExitCode::from(error.exit_code() as u8)
}

/// What is wrong, wrapped to the terminal.
fn refusal(error: &clap::Error) -> String {
    let rendered = error.render();
    let said = match console::colors_enabled_stderr() {
        true => rendered.ansi().to_string(),
        false => rendered.to_string(),
    };
    let (first, rest) = said.split_once('\n').unwrap_or((&said, ""));
    let first = match (bad_number(error), first.split_once("error:")) {
        (Some(expected), Some((before, after))) => {
            // clap ends the sentence with words of the standard library.
            let kept = after.rsplit_once(": ").map_or(after, |(kept, _)| kept);
            format!("{before}error:{kept}: expected {expected}")
        }
        _ => first.to_owned(),
    };
    let lines = std::iter::once(first.as_str()).chain(rest.lines());
    lines.map(|line| terminal::wrapped_for_stderr(line) + "\n").collect()
}

/// What was expected where a number does not parse.
fn bad_number(error: &clap::Error) -> Option<&'static str> {
    let is_text = |kind| matches!(error.get(kind), Some(ContextValue::String(_)));
    if !is_text(ContextKind::InvalidArg) || !is_text(ContextKind::InvalidValue) {
        return None;
    }
    match std::error::Error::source(error)?.to_string().as_str() {
        "invalid float literal" | "cannot parse float from empty string" => Some("a number"),
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            Some("a whole number from 0 on")
        }
        "number would be zero for non-zero type" => Some("a whole number from 1 on"),
        "number too large to fit in target type" => Some("a smaller number"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let command = with_negative_numbers(Cli::command());
        let error = command.try_get_matches_from(line.split(' ')).unwrap_err();
        refusal(&error).lines().next().unwrap().to_owned()
    }

    #[test]
    fn bad_numbers_are_named_with_what_was_expected() {
        let bad = [
            (
                "lnz estimate m --seed abc",
                "'abc' for '--seed <N>': expected a whole number from 0 on",
            ),
            (
                "lnz estimate m --seed -1",
                "'-1' for '--seed <N>': expected a whole number from 0 on",
            ),
            (
                "lnz estimate m --target-error x",
                "'x' for '--target-error <NATS>': expected a number",
            ),
            ("lnz work d --part 0", "'0' for '--part <N>': expected a whole number from 1 on"),
            (
                "lnz estimate m --betas -3",
                "'-3' for '--betas <N>': expected a whole number from 1 to",
            ),
        ];
        for (line, expected) in bad {
            assert!(said(line).contains(expected), "{line}: {}", said(line));
        }
    }
}
