//! What went wrong, as one sentence on standard error and an exit code.

use crate::{interrupt, terminal};
use console::Style;
use lnz::Error;
use lnz_app::Spelling;
use lnz_app::numbers::duration;
use std::process::ExitCode;

/// Exit code of bad usage or input; the same as clap's.
const BAD_INPUT: u8 = 2;
/// Exit code of a result whose verdict --fail-on names.
pub(crate) const DOUBTFUL: u8 = 3;
/// Exit code of a failure that is nobody's typing error.
pub(crate) const FAILED: u8 = 1;

/// Options that do not go together, or input that only a command can judge; the text names the flag.
pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(lnz_app::Error::options(text))
}

/// Prints the error and chooses the exit code.
pub(crate) fn explain(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(print(error))
}

/// The same, at once and from any thread.
pub(crate) fn exit(error: &anyhow::Error) -> ! {
    std::process::exit(print(error).into())
}

fn print(error: &anyhow::Error) -> u8 {
    let code = exit_code(error);
    // Nobody to tell if standard error is gone too.
    use std::io::Write;
    let head = Style::new().for_stderr().red().bold().apply_to("error:");
    let said = format!("{head} {}", terminal::harmless(&sentence(error)));
    let said = terminal::wrapped_for_stderr(&said);
    let _ = writeln!(std::io::stderr(), "{said}");
    code
}

fn exit_code(error: &anyhow::Error) -> u8 {
    match of_library(error) {
        Some(Error::Cancelled { .. }) => interrupt::code(),
        Some(
            Error::Write { bad_path: false, .. }
            | Error::Diverged { .. }
            | Error::Memory { .. }
            | Error::OutOfTime { .. }
            | Error::TooSlow { .. }
            | Error::Orders { .. },
        ) => FAILED,
        Some(_) => BAD_INPUT,
        None if error.is::<lnz_app::Error>() => BAD_INPUT,
        None => FAILED,
    }
}

/// The library's own error, wherever it came through.
fn of_library(error: &anyhow::Error) -> Option<&Error> {
    match error.downcast_ref::<lnz_app::Error>() {
        Some(lnz_app::Error::Library(error)) => Some(error),
        Some(_) => None,
        None => error.downcast_ref::<Error>(),
    }
}

/// The library speaks of settings; here they are flags.
fn sentence(error: &anyhow::Error) -> String {
    use lnz_app::Error::{Options, SavedResult, UnknownModel};
    match error.downcast_ref::<lnz_app::Error>() {
        Some(Options { text }) => return Spelling::Flags.say(text),
        Some(SavedResult { path, problem }) => {
            let problem = Spelling::Flags.say(&format!("{{result}} {problem}"));
            return format!("{}: {problem}", path.display());
        }
        Some(UnknownModel { near: Some(_), .. }) => {
            return format!("{error} (`lnz models` lists them)");
        }
        Some(UnknownModel { .. }) => {
            return format!("{error}; `lnz models` lists those that are built in");
        }
        _ => (),
    }
    match of_library(error) {
        Some(Error::Setting { setting, found, expected }) => {
            format!("{} is {found}; expected {expected}", Spelling::Flags.name(setting))
        }
        Some(Error::OutOfTime { allowed, reached }) => format!(
            "--max-seconds {allowed} is not enough: stopped {reached}, before there was a result"
        ),
        Some(Error::TooSlow { allowed, least }) => format!(
            "--max-seconds {allowed} is not enough: the least that makes a result would take about {}; allow more time, or choose --method ais with fewer --betas",
            duration(*least)
        ),
        Some(Error::TooManyStates { free_units, seconds, .. }) => format!(
            "the exact value needs 2^{free_units} states, about {} on this machine; use `lnz estimate`, or wait for `lnz exact --force`",
            duration(*seconds)
        ),
        Some(Error::TooManyUnits { free_units, limit, seconds }) => format!(
            "the exact value needs 2^{free_units} states, about {} on this machine, and 2^{limit} is the limit; use `lnz estimate`",
            duration(*seconds)
        ),
        Some(Error::TooWide { width, seconds, .. }) => format!(
            "the exact value needs an elimination of width {width}, about {} on this machine; use `lnz estimate`, or wait for `lnz exact --force`",
            duration(*seconds)
        ),
        Some(Error::FarTooWide { width, seconds }) => format!(
            "the exact value needs an elimination of width {width}, about {} on this machine or more memory than it may take; use `lnz estimate`, or `lnz bounds` for a proven floor and ceiling",
            duration(*seconds)
        ),
        _ => chain(error),
    }
}

/// What went wrong, and what that came from.
fn chain(error: &anyhow::Error) -> String {
    let mut said = Vec::new();
    for cause in error.chain() {
        said.push(cause.to_string());
        // Sentences of the library have the reason in them, in better words than the system's.
        if cause.is::<Error>() || cause.is::<lnz_app::Error>() {
            break;
        }
    }
    said.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_flags() {
        let error = Error::Setting {
            setting: "sigma_mu",
            found: "NaN".into(),
            expected: "a finite number".into(),
        };
        let error = anyhow::Error::new(error);
        assert_eq!(sentence(&error), "--sigma-mu is NaN; expected a finite number");
        assert_eq!(exit_code(&error), BAD_INPUT);
    }

    #[test]
    fn the_reason_is_said_once() {
        let source = Some(std::io::Error::other("denied"));
        let (path, problem) = ("x".into(), "cannot be read: denied".into());
        let error = anyhow::Error::new(Error::File { path, problem, source });
        assert_eq!(sentence(&error), "x: cannot be read: denied");
        assert_eq!(
            sentence(&error.context("while resuming")),
            "while resuming: x: cannot be read: denied"
        );
    }

    #[test]
    fn a_full_disk_is_not_bad_usage() {
        let write = |bad_path| {
            let problem = "no space left".to_string();
            let write = Error::Write { path: "x".into(), problem, bad_path, source: None };
            exit_code(&anyhow::Error::new(write))
        };
        assert_eq!(write(false), FAILED);
        assert_eq!(write(true), BAD_INPUT);
        let stopped = Error::Cancelled { reached: "while annealing".into() };
        assert_eq!(exit_code(&anyhow::Error::new(stopped)), 130);
    }
}
