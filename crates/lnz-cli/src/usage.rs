//! Arguments that cannot be understood, and the help that was asked for.

use crate::args::Cli;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::process::ExitCode;

/// Prints what is wrong with the arguments, or the help that was asked for; bad numbers in our words.
pub(crate) fn explain(error: clap::Error) -> ExitCode {
    let error = match bad_number(&error) {
        Some(text) => Cli::command().error(ErrorKind::ValueValidation, text),
        None => error,
    };
    // Nobody to tell if the stream is gone.
    let _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}

/// What was expected where a number does not parse.
fn bad_number(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.as_str()),
        _ => None,
    };
    let expected = match std::error::Error::source(error)?.to_string().as_str() {
        "invalid float literal" | "cannot parse float from empty string" => "a number",
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "a whole number from 0 on"
        }
        "number too large to fit in target type" => "a smaller number",
        _ => return None,
    };
    let (option, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    Some(format!("invalid value '{value}' for '{option}': expected {expected}"))
}
