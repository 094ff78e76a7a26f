//! `cargo xtask limits`: whether `--max-seconds` and Ctrl-C are bounds, on models of any shape.
//!
//! Times depend on what else the machine does, so this is a measurement and no test.

use crate::{cargo, top};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Visible and hidden units of the models.
const SHAPES: [(usize, usize); 4] = [(1000, 1000), (3000, 3000), (10_000, 2000), (100_000, 1)];

/// Limits that are set, in seconds.
const LIMITS: [f64; 2] = [1.0, 5.0];

/// What is run on each model.
const RUNS: [(&str, &[&str]); 5] = [
    ("auto", &["estimate", "--no-exact"]),
    ("ais", &["estimate", "--method", "ais", "--betas", "100"]),
    ("ais, no check", &["estimate", "--method", "ais", "--betas", "100", "--no-check"]),
    ("tempering", &["estimate", "--method", "tempering"]),
    ("exact", &["exact", "--force"]),
];

/// A run may take so much longer than its limit: half a second or 5%, whichever is more.
fn slack(limit: f64) -> f64 {
    (0.05 * limit).max(0.5)
}

pub(crate) fn main() -> ExitCode {
    match measure() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(late) => {
            println!("{late} runs were late");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("FAILED: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<usize, String> {
    let tool = release_tool()?;
    let folder = std::env::temp_dir().join(format!("lnz-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    println!("| model | run | limit | taken | exit code |\n|---|---|---|---|---|");
    let mut late = 0;
    for (visible, hidden) in SHAPES {
        let model = generate(&tool, &folder, visible, hidden)?;
        for (name, arguments) in RUNS {
            for limit in LIMITS {
                let mut command = Command::new(&tool);
                command.arg(arguments[0]).arg(&model).args(&arguments[1..]);
                command.args(["--max-seconds", &limit.to_string(), "--quiet"]);
                let (taken, code) = time(command, None)?;
                let mark = if taken > limit + slack(limit) { " LATE" } else { "" };
                late += usize::from(!mark.is_empty());
                println!(
                    "| {visible} x {hidden} | {name} | {limit} s | {taken:.2} s{mark} | {code} |"
                );
            }
            let mut command = Command::new(&tool);
            command.arg(arguments[0]).arg(&model).args(&arguments[1..]).arg("--quiet");
            // From the signal on, one second into the run.
            let (taken, code) = time(command, Some(Duration::from_secs(1)))?;
            let after = (taken - 1.0).max(0.0);
            let mark = if after > slack(0.0) { " LATE" } else { "" };
            late += usize::from(!mark.is_empty());
            println!(
                "| {visible} x {hidden} | {name} | Ctrl-C | {after:.2} s after{mark} | {code} |"
            );
        }
        std::fs::remove_file(&model).map_err(|error| error.to_string())?;
    }
    let _ = std::fs::remove_dir(&folder);
    Ok(late)
}

/// The tool in the release profile; or another one, which `LNZ_BINARY` names.
pub(crate) fn release_tool() -> Result<PathBuf, String> {
    let path = match std::env::var_os("LNZ_BINARY") {
        Some(path) => PathBuf::from(path),
        None => {
            let build = ["build", "--release", "--quiet", "--package", "lnz-cli"];
            let built = cargo().args(build).status().map_err(|error| error.to_string())?;
            if !built.success() {
                return Err("the tool cannot be built".into());
            }
            top().join("target/release/lnz")
        }
    };
    path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
}

fn generate(tool: &Path, folder: &Path, visible: usize, hidden: usize) -> Result<PathBuf, String> {
    let model = folder.join(format!("{visible}x{hidden}.npz"));
    let shape = [visible.to_string(), hidden.to_string()];
    let status = Command::new(tool)
        .args(["generate", "gwgm", "--visible", &shape[0], "--hidden", &shape[1], "-o"])
        .arg(&model)
        .stdout(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(model),
        Ok(status) => Err(format!("the model {visible} x {hidden} cannot be made: {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Seconds until a command has ended, and its exit code; with Ctrl-C after a while, if it is to be
/// interrupted.
fn time(mut command: Command, interrupt: Option<Duration>) -> Result<(f64, String), String> {
    let clock = Instant::now();
    let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = silent.spawn().map_err(|error| error.to_string())?;
    if let Some(delay) = interrupt {
        std::thread::sleep(delay);
        let id = child.id().to_string();
        let kill = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
        kill.map_err(|error| error.to_string())?;
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let code = status.code().map_or("killed".to_owned(), |code| code.to_string());
    Ok((clock.elapsed().as_secs_f64(), code))
}
