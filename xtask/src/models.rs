//! `cargo xtask models`: trains the built-in models again, from the data to crates/lnz/models.

use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask models --mnist FILE --web FILE [NAME...]

Trains the built-in models (mnist-20h, web-20h, mnist-500h, web-500h, or those named) with `lnz train` and
writes them to crates/lnz/models in float16. FILE is train-images-idx3-ubyte.gz of MNIST and w8a (also
.gz or .xz) of the LIBSVM collection. An interrupted run goes on where it was; target/models has the rest.";

/// One training run and the epochs of it that are kept.
struct Run {
    name: &'static str,
    data: &'static str,
    epochs: &'static str,
    settings: &'static str,
}

/// The settings of `mnist-20h` were searched for the growth of the weights in the paper and for its
/// failure of the uniform start; docs/decisions.md has the figures.
const RUNS: [Run; 4] = [
    Run {
        name: "mnist-20h",
        data: "--mnist",
        epochs: "10,50,100,200,300,400,500",
        settings: "--hidden 20 --epochs 500 --learning-rate 0.0026 --initial-weights 0.1 --binarize threshold",
    },
    Run {
        name: "web-20h",
        data: "--web",
        epochs: "10,50,100,200,300,400,500",
        settings: "--hidden 20 --epochs 500 --learning-rate 0.0026 --initial-weights 0.1",
    },
    Run {
        name: "mnist-500h",
        data: "--mnist",
        epochs: "1,3,5,10,20,40,100,500",
        settings: "--hidden 500 --epochs 500 --learning-rate 0.01 --binarize threshold",
    },
    Run {
        name: "web-500h",
        data: "--web",
        epochs: "500",
        settings: "--hidden 500 --epochs 500 --learning-rate 0.01",
    },
];

pub(crate) fn main(options: &[&str]) -> ExitCode {
    match train(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn train(options: &[&str]) -> Result<(), String> {
    let value = |flag: &str| {
        let at = options.iter().position(|option| *option == flag);
        at.and_then(|at| options.get(at + 1)).map(PathBuf::from)
    };
    let named: Vec<&str> = options
        .iter()
        .copied()
        .filter(|option| RUNS.iter().any(|run| run.name == *option))
        .collect();
    let chosen: Vec<&Run> =
        RUNS.iter().filter(|run| named.is_empty() || named.contains(&run.name)).collect();
    // All data is asked for before anything is trained.
    let mut plan = Vec::new();
    for run in chosen {
        let data = value(run.data).ok_or(USAGE)?;
        let data = std::path::absolute(&data).map_err(|error| error.to_string())?;
        plan.push((run, data));
    }
    check(cargo().args(["build", "--release", "--package", "lnz-cli"]), "cargo build")?;
    let top = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for (run, data) in plan {
        let folder = top.join("target/models").join(run.name);
        let mut command = lnz();
        command.arg("train").arg("--data").arg(data).args(run.settings.split(' '));
        command.args(["--save-at", run.epochs, "--track", run.epochs, "--out"]).arg(&folder);
        if folder.join("state.safetensors").exists() {
            command.arg("--resume");
        }
        check(&mut command, run.name)?;
        for epoch in run.epochs.split(',') {
            let from = folder.join(format!("epoch-{epoch}.safetensors"));
            let to = top.join(format!("crates/lnz/models/{}-{epoch}.safetensors", run.name));
            let mut convert = lnz();
            convert.arg("convert").args([&from, &to]).args(["--float", "f16"]);
            if run.settings.starts_with("--hidden 20 ") {
                convert.arg("--exact");
            }
            check(&mut convert, run.name)?;
        }
    }
    Ok(())
}

/// The command-line tool, without building it again: it holds the models that are being made.
fn lnz() -> Command {
    let target = std::env::var("CARGO_TARGET_DIR").map_or_else(
        |_| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")).to_owned(),
        PathBuf::from,
    );
    Command::new(target.join("release").join(format!("lnz{}", std::env::consts::EXE_SUFFIX)))
}

fn check(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("FAILED: {what} ({status})")),
        Err(error) => Err(format!("FAILED: {what}: {error}")),
    }
}
