//! `cargo xtask fuzz`: feeds every parser with damaged files for some time.

use crate::cargo;
use std::process::ExitCode;

/// Runs the driver in a build that checks for overflow; the options are its own.
pub(crate) fn main(options: &[&str]) -> ExitCode {
    let run =
        ["run", "--profile", "checks", "--quiet", "--package", "lnz-fuzz", "--bin", "fuzz", "--"];
    match cargo().args(run).args(options).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!(
                "FAILED: the driver ended with {status}; an input that ended it is in the file that its first line names"
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("FAILED: cargo cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}
