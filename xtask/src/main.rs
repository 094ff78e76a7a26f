//! The project's own tasks: `cargo xtask test` and its parts, `bench`, `calibrate` and `models`.

mod bench;
mod browser;
mod dependencies;
mod environment;
mod models;
mod python;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// One check: what it is called, and the cargo command that makes it.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    /// The rustup component it needs beyond the compiler, and the cargo subcommand that shows it is there.
    component: Option<(&'static str, &'static str)>,
    environment: Option<(&'static str, &'static str)>,
}

const STEPS: [Step; 5] = [
    Step {
        name: "formatting",
        arguments: &["fmt", "--all", "--check"],
        component: Some(("rustfmt", "fmt")),
        environment: None,
    },
    Step {
        name: "clippy, warnings denied",
        arguments: &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        component: Some(("clippy", "clippy")),
        environment: None,
    },
    Step {
        name: "unit, property and command-line tests",
        arguments: &["test", "--workspace", "--all-targets", "--quiet"],
        component: None,
        environment: None,
    },
    Step {
        name: "examples in the documentation",
        arguments: &["test", "--workspace", "--doc", "--quiet"],
        component: None,
        environment: None,
    },
    Step {
        name: "documentation, warnings denied",
        arguments: &["doc", "--workspace", "--no-deps", "--quiet"],
        component: None,
        environment: Some(("RUSTDOCFLAGS", "-D warnings")),
    },
];

const USAGE: &str = "\
usage: cargo xtask test         run every check: dependencies, formatting, clippy, tests, documentation, page, Python
       cargo xtask dependencies the sources alone: no cycle between modules, no arrow upwards
       cargo xtask page         the page of `lnz paper report` in a headless browser, alone
       cargo xtask python       the last of them alone: wheel, fresh environment, pytest
       cargo xtask bench        measure lnz against its peers, into docs/benchmarks.md
       cargo xtask calibrate    run auto over models of known log Z and write docs/calibration.md;
                                with options, print the report only (`calibrate --help` lists them)
       cargo xtask models       train the built-in models again; needs --mnist FILE and --web FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test(),
        ["python"] => python_alone(),
        ["dependencies"] => match dependencies_pass() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
        ["page"] => match page_passes() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
        ["bench", ref options @ ..] => bench::main(options),
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

fn test() -> ExitCode {
    let missing: Vec<&str> = STEPS
        .iter()
        .filter_map(|step| step.component)
        .filter(|(_, subcommand)| !is_installed(subcommand))
        .map(|(component, _)| component)
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(" ");
        eprintln!("FAILED: {missing} not installed; run `rustup component add {missing}`");
        return ExitCode::FAILURE;
    }
    let clock = Instant::now();
    let count = STEPS.len() + 3;
    println!("[1/{count}] dependencies between crates and modules");
    if !dependencies_pass() {
        return ExitCode::FAILURE;
    }
    for (i, step) in STEPS.iter().enumerate() {
        println!("[{}/{count}] {}: cargo {}", i + 2, step.name, step.arguments.join(" "));
        let step_clock = Instant::now();
        if let Err(reason) = step.run() {
            eprintln!("FAILED: {} ({reason}, {})", step.name, in_seconds(step_clock.elapsed()));
            return ExitCode::FAILURE;
        }
        println!("      ok, {}", in_seconds(step_clock.elapsed()));
    }
    println!("[{}/{count}] the page of `lnz paper report` in a browser", count - 1);
    if !page_passes() {
        return ExitCode::FAILURE;
    }
    println!("[{count}/{count}] Python package: wheel, fresh environment, pytest");
    let step_clock = Instant::now();
    if let Err(reason) = python::test() {
        eprintln!("FAILED: Python package ({}): {reason}", in_seconds(step_clock.elapsed()));
        return ExitCode::FAILURE;
    }
    println!("      ok, {}", in_seconds(step_clock.elapsed()));
    println!("all checks passed, {}", in_seconds(clock.elapsed()));
    ExitCode::SUCCESS
}

/// Who uses whom, from the sources.
fn dependencies_pass() -> bool {
    let clock = Instant::now();
    match dependencies::check(top()) {
        Ok(said) => {
            println!("      ok, {}: {said}", in_seconds(clock.elapsed()));
            true
        }
        Err(problems) => {
            eprintln!("{problems}\nFAILED: dependencies between crates and modules");
            false
        }
    }
}

/// The page in a browser; where there is none, that is said loudly.
fn page_passes() -> bool {
    let clock = Instant::now();
    match browser::test() {
        Ok(browser::Outcome::Passed(said)) => {
            println!("      ok, {}: {said}", in_seconds(clock.elapsed()));
            true
        }
        Ok(browser::Outcome::Skipped(reason)) => {
            eprintln!("SKIPPED: the page was not tested: {reason}");
            true
        }
        Err(reason) => {
            eprintln!("FAILED: the page in a browser: {reason}");
            false
        }
    }
}

/// The tests of the Python package alone.
fn python_alone() -> ExitCode {
    match python::test() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("FAILED: Python package: {reason}");
            ExitCode::FAILURE
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

impl Step {
    fn run(&self) -> Result<(), String> {
        let status = cargo()
            .args(self.arguments)
            .envs(self.environment)
            .status()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    }
}

fn is_installed(subcommand: &str) -> bool {
    cargo()
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
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
