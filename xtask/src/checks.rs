//! `cargo xtask test`: runs every check, and names in its last line what was not run.

use crate::environment::{COMPILE, PROFILE};
use crate::outcome::Outcome;
use crate::{browser, cargo, dependencies, environment, files, in_seconds, python, site, top};
use std::fs::File;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

/// One check: what it is called, and how it is made.
struct Check {
    name: &'static str,
    run: fn() -> Outcome,
}

/// What every change must pass.
const CHECKS: [Check; 6] = [
    Check { name: "dependencies between crates and modules", run: dependencies },
    Check { name: "table of source files", run: files },
    Check { name: "formatting", run: || cargo_passes(&["fmt", "--all", "--check"], &[]) },
    Check { name: "clippy, warnings denied", run: clippy },
    Check { name: "all that the tests need, compiled", run: || cargo_passes(&COMPILE, &[]) },
    Check {
        name: "unit, property and command-line tests; beside them documentation, Python",
        run: tests,
    },
];

/// What every change must pass as well, in a process of its own beside the tests: both wait now and then, and rarely
/// for each other.
const CHECKS_BESIDE: [Check; 3] = [
    Check { name: "examples in the documentation", run: doc_tests },
    Check { name: "documentation, warnings denied", run: documentation },
    Check { name: "Python package in a fresh environment", run: || python::test() },
];

/// The command that runs those.
pub(crate) const BESIDE: &str = "beside-the-tests";

/// What needs much more than Rust and a small Python environment.
const PEERS: [Check; 3] = [
    Check {
        name: "Python package: the wheel, with all that needs large packages",
        run: || python::test_with_peers(),
    },
    Check { name: "pages in a browser", run: browser::test },
    Check { name: "documentation site", run: || site::test() },
];

/// Every check but those with peers.
pub(crate) fn run() -> ExitCode {
    let components = [("rustfmt", "fmt"), ("clippy", "clippy")];
    let missing: Vec<&str> = components
        .iter()
        .filter(|(_, cargo)| !is_installed(cargo))
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(" ");
        eprintln!("FAILED: {missing} not installed; run `rustup component add {missing}`");
        return ExitCode::FAILURE;
    }
    let peers = "torch, rbms, scikit-learn, figures, data frames, types and notebook in Python, the page in a browser \
                 (`cargo xtask test --peers` has them)";
    run_all(&CHECKS, &[peers])
}

/// The checks with peers.
pub(crate) fn run_peers() -> ExitCode {
    run_all(&PEERS, &[])
}

/// The checks that run beside the tests.
pub(crate) fn run_beside() -> ExitCode {
    run_all(&CHECKS_BESIDE, &[])
}

/// One check alone.
pub(crate) fn run_one(name: &'static str, run: fn() -> Outcome) -> ExitCode {
    run_all(&[Check { name, run }], &[])
}

fn run_all(checks: &[Check], left_out: &[&str]) -> ExitCode {
    let clock = Instant::now();
    let mut not_run: Vec<String> = left_out.iter().map(|what| (*what).to_owned()).collect();
    for (i, check) in checks.iter().enumerate() {
        println!("[{}/{}] {}", i + 1, checks.len(), check.name);
        let step = Instant::now();
        let outcome = (check.run)();
        let time = in_seconds(step.elapsed());
        match outcome {
            Outcome::Passed(said) if said.is_empty() => println!("      ok, {time}"),
            Outcome::Passed(said) => println!("      ok, {time}: {said}"),
            Outcome::Skipped(reason) => {
                eprintln!("SKIPPED: {}: {reason}", check.name);
                not_run.push(format!("{} ({reason})", check.name));
            }
            Outcome::Failed(reason) => {
                eprintln!("FAILED: {} ({time}): {reason}", check.name);
                return ExitCode::FAILURE;
            }
        }
    }
    let time = in_seconds(clock.elapsed());
    match not_run.is_empty() {
        true => println!("all checks passed, {time}"),
        false => println!("all checks passed, {time}; NOT RUN: {}", not_run.join("; ")),
    }
    ExitCode::SUCCESS
}

/// Who uses whom, from the sources.
pub(crate) fn dependencies() -> Outcome {
    outcome(dependencies::check(top()))
}

/// Every source file has a sentence, and the documentation has all of them.
fn files() -> Outcome {
    outcome(files::check(top()))
}

/// What a check that reads sources has said.
pub(crate) fn outcome(said: Result<String, String>) -> Outcome {
    match said {
        Ok(said) => Outcome::Passed(said),
        Err(problems) => Outcome::Failed(format!("\n{problems}")),
    }
}

fn clippy() -> Outcome {
    let arguments = ["clippy", "--profile", PROFILE, "--workspace", "--all-targets", "--"];
    cargo_passes(&[&arguments[..], &["-D", "warnings"]].concat(), &[])
}

/// Run without a line for each test, while other checks run beside them; what these print is shown when both are
/// done. Examples and benchmarks are left to clippy: nothing in them is a test.
fn tests() -> Outcome {
    let beside = match Beside::start() {
        Ok(beside) => beside,
        Err(reason) => return Outcome::Failed(reason),
    };
    let tests = ["test", "--profile", PROFILE, "--workspace", "--exclude", "xtask", "--tests"];
    let own = ["test", "--profile", PROFILE, "--package", "xtask"];
    let quiet = ["--quiet", "--no-fail-fast"];
    let ours = [&tests[..], &own[..]].map(|tests| cargo_passes(&[tests, &quiet].concat(), &[]));
    // Also after a failure, so that one run shows all of them.
    let theirs = beside.finish();
    let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    ours.into_iter().chain([theirs]).find(failed).unwrap_or(Outcome::Passed(String::new()))
}

/// The checks beside the tests, while they run.
struct Beside {
    process: Child,
    said: std::path::PathBuf,
}

impl Beside {
    fn start() -> Result<Beside, String> {
        let said = environment::target_folder()?.join("beside-the-tests.txt");
        let start = || {
            let file = File::create(&said)?;
            let errors = file.try_clone()?;
            let mut command = Command::new(std::env::current_exe()?);
            command.arg(BESIDE).stdin(Stdio::null()).stdout(file).stderr(errors).spawn()
        };
        match start() {
            Ok(process) => Ok(Beside { process, said }),
            Err(error) => Err(format!("the checks beside the tests cannot be started: {error}")),
        }
    }

    fn finish(mut self) -> Outcome {
        let status = self.process.wait();
        println!("      beside the tests:");
        print!("{}", std::fs::read_to_string(&self.said).unwrap_or_default());
        match status {
            Ok(status) if status.success() => Outcome::Passed(String::new()),
            Ok(status) => Outcome::Failed(format!("of the checks beside the tests: {status}")),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }
}

fn doc_tests() -> Outcome {
    cargo_passes(
        &["test", "--profile", PROFILE, "--workspace", "--exclude", "xtask", "--doc", "--quiet"],
        &[],
    )
}

fn documentation() -> Outcome {
    let arguments = ["doc", "--profile", PROFILE, "--workspace", "--no-deps"];
    cargo_passes(&arguments, &[("RUSTDOCFLAGS", "-D warnings")])
}

/// Every crate that is published, compiled from its package against the packages of the others: none of them
/// need be in a registry.
pub(crate) fn packages() -> Outcome {
    let not_published = ["xtask", "lnz-python", "lnz-fuzz"].map(|name| ["--exclude", name]);
    // They are compiled to see that nothing is missing, and never run.
    let in_haste = [("CARGO_PROFILE_DEV_OPT_LEVEL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "false")];
    cargo_passes(&[&["package", "--workspace"], not_published.as_flattened()].concat(), &in_haste)
}

fn cargo_passes(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    println!("      cargo {}", arguments.join(" "));
    match cargo().args(arguments).envs(environment.iter().copied()).status() {
        Ok(status) if status.success() => Outcome::Passed(String::new()),
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => Outcome::Failed(format!("cargo cannot be started: {error}")),
    }
}

fn is_installed(subcommand: &str) -> bool {
    let mut command: Command = cargo();
    command.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
