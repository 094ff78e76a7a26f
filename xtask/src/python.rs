//! The Python package in a fresh environment, tested there: as the other tests have compiled it, or its wheel.

use crate::environment::{self, Needs, PROFILE, ROOT, output};
use crate::outcome::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs what the other tests have compiled, and tests it; what pytest says goes to the terminal.
pub(crate) fn test() -> Outcome {
    let tested = || {
        let target = environment::target_folder()?;
        let tools = environment::python(&target, Needs::Tests)?;
        let python = environment_without_package(&tools, &target)?;
        copy_package(&target, &folder_of_packages(&python)?.join("lnz"))?;
        pytest(&python, &target, &[])
    };
    outcome(tested())
}

/// Installs the wheel, and tests it with all that the tests can make use of: other packages for RBMs, figures, data
/// frames, types and the notebook. Nothing may be left out.
pub(crate) fn test_with_peers() -> Outcome {
    // Without it the test of MPI says that it was not run.
    if !environment::starts(Command::new("mpiexec").arg("--version")) {
        environment::install_package("openmpi-bin");
    }
    let tested = || {
        let target = environment::target_folder()?;
        let tools = environment::python(&target, Needs::Peers)?;
        let wheel = build_wheel(&tools, &target)?;
        let python = install(&tools, &target, &wheel)?;
        without_rust(&python)?;
        pytest(&python, &target, &[("LNZ_TEST_ALL", "1")])
    };
    outcome(tested())
}

fn outcome(result: Result<(), String>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed(String::new()),
        Err(reason) => Outcome::Failed(reason),
    }
}

fn pytest(python: &Path, target: &Path, variables: &[(&str, &str)]) -> Result<(), String> {
    let tool = environment::tool(target)?;
    let package = Path::new(ROOT).join("python");
    let status = Command::new(python)
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-c"])
        .arg(package.join("pyproject.toml"))
        .arg(package.join("tests"))
        // Elsewhere, so that `lnz` is the installed package and not its source.
        .current_dir(target)
        .env("LNZ_TOOL", tool)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(variables.iter().copied())
        .status()
        .map_err(|error| format!("{} cannot be started: {error}", python.display()))?;
    if status.success() { Ok(()) } else { Err(format!("pytest: {status}")) }
}

/// The package works for somebody who has no compiler, and no other program either.
pub(crate) fn without_rust(python: &Path) -> Result<String, String> {
    let program = "import shutil, lnz\n\
                   assert shutil.which('cargo') is None and shutil.which('cc') is None\n\
                   result = lnz.estimate('gwgm-hard')\n\
                   assert result.verdict == 'exact', result\n\
                   print(lnz.__version__)";
    output(Command::new(python).args(["-c", program]).env_clear().env("PATH", "/nowhere"))
}

/// The only wheel in a folder of its own.
pub(crate) fn build_wheel(tools: &Path, target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("wheels");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let manifest = Path::new(ROOT).join("python/Cargo.toml");
    // The profile of the other checks: most of it is compiled already.
    let arguments = ["-m", "maturin", "build", "--profile", PROFILE, "--locked", "--manifest-path"];
    let mut build = Command::new(tools);
    build.args(arguments).arg(manifest).arg("--out").arg(&folder).arg("--interpreter").arg(tools);
    output(&mut build)?;
    let wheels = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let wheel = wheels.flatten().map(|entry| entry.path()).next();
    wheel.ok_or_else(|| format!("{}: maturin has left no wheel", folder.display()))
}

/// An environment that has the wheel, and sees what the tests need in the other one.
pub(crate) fn install(tools: &Path, target: &Path, wheel: &Path) -> Result<PathBuf, String> {
    let python = environment_without_package(tools, target)?;
    let mut pip = Command::new(tools);
    pip.args(["-m", "pip", "--python"]).arg(&python);
    output(pip.args(["install", "--quiet", "--no-index", "--no-deps"]).arg(wheel))?;
    Ok(python)
}

/// A fresh environment that sees what the tests need in the other one.
fn environment_without_package(tools: &Path, target: &Path) -> Result<PathBuf, String> {
    let fresh = target.join("python-fresh");
    let venv = ["-m", "venv", "--clear", "--without-pip"];
    output(Command::new(tools).args(venv).arg(&fresh))?;
    let python = environment::python_of(&fresh);
    let link = folder_of_packages(&python)?.join("tools.pth");
    let others = folder_of_packages(tools)?;
    std::fs::write(&link, others.display().to_string())
        .map_err(|error| format!("{}: {error}", link.display()))?;
    Ok(python)
}

/// Where an interpreter keeps its packages.
fn folder_of_packages(python: &Path) -> Result<PathBuf, String> {
    let folder = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
    Ok(output(Command::new(python).args(folder))?.trim().into())
}

/// The package as a wheel has it: its Python files, and the compiled half under the name that Python looks for.
fn copy_package(target: &Path, folder: &Path) -> Result<(), String> {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let compiled = environment::compiled(target, &format!("{prefix}_lnz{suffix}"))?;
    let name = if cfg!(windows) { "_lnz.pyd" } else { "_lnz.abi3.so" };
    let source = Path::new(ROOT).join("python/lnz");
    let copied = || {
        std::fs::create_dir(folder)?;
        for file in std::fs::read_dir(source)? {
            let file = file?;
            if file.file_type()?.is_file() {
                std::fs::copy(file.path(), folder.join(file.file_name()))?;
            }
        }
        // One file by two names where that can be: it is large.
        let name = folder.join(name);
        std::fs::hard_link(&compiled, &name).or_else(|_| std::fs::copy(&compiled, &name).map(drop))
    };
    copied().map_err(|error| format!("{}: {error}", folder.display()))
}
