//! What tasks need around them: where things are, and a Python environment.

use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The profile that the checks are compiled with: see Cargo.toml.
pub(crate) const PROFILE: &str = "checks";

/// What cargo is told to compile all that tests need. One command for all of it: other selections of packages have
/// other features of the same dependencies, and would compile them again. This program is compiled already, with other
/// features, and need not be replaced while it runs.
pub(crate) const COMPILE: [&str; 9] = [
    "build",
    "--profile",
    PROFILE,
    "--workspace",
    "--exclude",
    "xtask",
    "--lib",
    "--bins",
    "--tests",
];

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Runs a command to its end and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{shown} cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown} failed ({}): {}", output.status, said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be run, and ends well; what it prints is not shown.
pub(crate) fn starts(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Tries to install one of the system's packages, where we may; says so.
pub(crate) fn install_package(package: &str) -> bool {
    println!("      no {package}; trying apt-get install {package}");
    let words: &[&str] = match starts(Command::new("sudo").args(["-n", "true"])) {
        true => &["sudo", "-n", "apt-get"],
        false => &["apt-get"],
    };
    starts(Command::new(words[0]).args(&words[1..]).args(["install", "-y", package]))
}

/// Where cargo puts its results.
pub(crate) fn target_folder() -> Result<PathBuf, String> {
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let metadata = output(cargo().args(arguments))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target directory".into())
}

/// What the tests run, compiled: a program or a library of this workspace, by the name of its file.
pub(crate) fn compiled(target: &Path, file: &str) -> Result<PathBuf, String> {
    output(cargo().args(COMPILE).arg("--quiet"))?;
    Ok(target.join(PROFILE).join(file))
}

/// The command-line tool as the tests have it.
pub(crate) fn tool(target: &Path) -> Result<PathBuf, String> {
    compiled(target, &format!("lnz{}", std::env::consts::EXE_SUFFIX))
}

/// What an environment is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The tests of the Python package.
    Tests,
    /// Wheels for other systems than this one.
    Release,
    /// All tests of the Python package, the site, and the peers of the benchmark, which are large.
    Peers,
}

impl Needs {
    fn folder(self) -> &'static str {
        match self {
            Needs::Tests => "python",
            Needs::Release => "python-release",
            Needs::Peers => "python-peers",
        }
    }

    fn files(self) -> &'static [&'static str] {
        match self {
            Needs::Tests => &["python/requirements-test.txt"],
            Needs::Release => &["packaging/requirements.txt"],
            Needs::Peers => &[
                "bench/requirements.txt",
                "docs/site/requirements.txt",
                "python/requirements-peers.txt",
                "python/requirements-test.txt",
            ],
        }
    }
}

/// The Python of an environment below `target` that has all requirements; made when it is not there
/// or when they have changed.
pub(crate) fn python(target: &Path, needs: Needs) -> Result<PathBuf, String> {
    let files: Vec<PathBuf> = needs.files().iter().map(|f| Path::new(ROOT).join(f)).collect();
    let wanted = files.iter().map(|file| read(file)).collect::<Result<String, String>>()?;
    let environment = target.join(needs.folder());
    let python = python_of(&environment);
    let done = environment.join("installed.txt");
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    println!("      making a Python environment in {}", environment.display());
    if needs == Needs::Peers {
        println!("      (once; torch is large, and takes some minutes)");
    }
    let system = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let remedy = "This needs Python 3.10 or later with venv and pip, and access to a package index; \
                  set PYTHON to choose the interpreter.";
    output(Command::new(system).args(["-m", "venv", "--clear"]).arg(&environment))
        .map_err(|error| format!("{error}\n{remedy}"))?;
    let mut install = Command::new(&python);
    // Without compiled copies of every module, which take a fifth of the room.
    install.args(["-m", "pip", "install", "--quiet", "--no-compile"]);
    files.iter().for_each(|file| {
        install.arg("-r").arg(file);
    });
    output(&mut install).map_err(|error| format!("{error}\n{remedy}"))?;
    if needs == Needs::Tests {
        // Nothing more is installed there, and the installer takes a quarter of the room.
        let installers = ["-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip"];
        output(Command::new(&python).args(installers))?;
    }
    std::fs::write(&done, wanted).map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(python)
}

/// The interpreter of an environment.
pub(crate) fn python_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
