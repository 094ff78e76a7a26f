//! The project's own tasks: `cargo xtask test` and its parts, `files`, `bench`, `fuzz`, `faults` and others.

mod bench;
mod browser;
mod checks;
mod dependencies;
mod environment;
mod faults;
mod files;
mod fuzz;
mod limits;
mod memcheck;
mod models;
mod outcome;
mod python;
mod release;
mod site;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

const USAGE: &str = "\
usage: cargo xtask test         run every check: sources, formatting, clippy, tests, documentation, Python
       cargo xtask test --peers what needs large packages: other parts of Python, the page in a browser
       cargo xtask dependencies the sources alone: no cycle between modules, no arrow upwards
       cargo xtask files        write the table of all source files in docs/architecture.md
       cargo xtask memcheck     tests of the kernels under valgrind
       cargo xtask package      the crates as they would be published, each compiled from its package
       cargo xtask page         the pages of `lnz paper report` and of --report in a headless browser, alone
       cargo xtask release      everything that a release needs, without publishing it: see RELEASING.md
       cargo xtask site         the documentation site, into target/site: tutorials run, links are followed
       cargo xtask python       the Python package alone: wheel, fresh environment, pytest
       cargo xtask bench        measure lnz against its peers, into docs/benchmarks.md
       cargo xtask calibrate    run auto over models of known log Z and write docs/calibration.md;
                                with options, print the report only (`calibrate --help` lists them)
       cargo xtask fuzz         feed every parser with damaged files; --minutes N, --target NAME, --seed N
       cargo xtask faults       kill, fill the disk, take the memory away: what does the tool do?
       cargo xtask limits       whether --max-seconds and Ctrl-C are bounds, on large models
       cargo xtask models       train the built-in models again; needs --mnist FILE and --web FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => checks::run(),
        ["test", "--peers"] => checks::run_peers(),
        // What `test` starts beside its own tests.
        [checks::BESIDE] => checks::run_beside(),
        ["dependencies"] => checks::run_one("dependencies", checks::dependencies),
        ["files"] => {
            checks::run_one("table of source files", || checks::outcome(files::write(top())))
        }
        ["memcheck"] => checks::run_one("kernels under valgrind", memcheck::test),
        ["package"] => checks::run_one("packages of the crates", checks::packages),
        ["page"] => checks::run_one("pages in a browser", browser::test),
        ["release"] => checks::run_one("release, without publishing anything", release::dry_run),
        ["site"] => checks::run_one("documentation site", site::test),
        ["python"] => checks::run_one("Python package", python::test),
        ["bench", ref options @ ..] => bench::main(options),
        ["fuzz", ref options @ ..] => fuzz::main(options),
        ["faults"] => faults::main(),
        ["limits"] => limits::main(),
        ["models", ref options @ ..] => models::main(options),
        ["calibrate"] => calibrate(&["--output", "docs/calibration.md"]),
        ["calibrate", ref options @ ..] => calibrate(options),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs the example `calibrate` of the library in the release profile: this program itself has no
/// dependencies, and need not be optimised.
fn calibrate(options: &[&str]) -> ExitCode {
    let run = ["run", "--release", "--quiet", "--package", "lnz", "--example", "calibrate", "--"];
    match cargo().args(run).args(options).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("FAILED: cargo cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The cargo that runs this program, at the top of the workspace.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    command.current_dir(top());
    command
}

/// The top of the workspace.
fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn in_seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
