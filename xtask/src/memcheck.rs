//! `cargo xtask memcheck`: tests of the kernels under valgrind, which sees every read and write out of bounds.
//!
//! Valgrind knows no AVX-512, so that detection finds the portable level and AVX2. It is about fifty times as
//! slow as the machine: random cases are few, and tests that take long without it are left out.

use crate::cargo;
use crate::outcome::Outcome;
use std::process::{Command, Stdio};

/// Parts of the names of the tests that are run. The long ones of the annealing engine are left out.
const TESTS: [&str; 6] = [
    "aligned::",
    "elementwise_kernels",
    "every_instruction_set_and_product",
    "mixtures_and_flips",
    "learning::",
    "free_energy::rows",
];

/// Random cases of a test that does not say how many it needs.
const CASES: &str = "2";

pub(crate) fn test() -> Outcome {
    let mut valgrind = Command::new("valgrind");
    let found = valgrind.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Outcome::Failed("valgrind cannot be started: install it".into());
    }
    let runner = "target.'cfg(all())'.runner = ['valgrind', '--quiet', '--error-exitcode=1']";
    // Compiled for development, which has the line numbers that valgrind reports.
    let arguments = ["test", "--package", "lnz-kernels", "--lib"];
    let mut tests = cargo();
    tests.args(arguments).args(["--config", runner, "--", "--test-threads", "1"]).args(TESTS);
    match tests.env("PROPTEST_CASES", CASES).status() {
        Ok(status) if status.success() => Outcome::Passed(String::new()),
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => Outcome::Failed(format!("cargo cannot be started: {error}")),
    }
}
