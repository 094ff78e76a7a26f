//! Instructions per chain and step, counted by callgrind: unlike times, they do not depend on what
//! else the machine does.

use super::environment::Built;
use super::models::Model;
use super::quartiles::digits;
use super::{Bench, Problem};
use crate::environment::output;
use serde_json::json;
use std::fmt::Write;
use std::process::Command;

const CHAINS: usize = 512;

pub(super) fn report(bench: &Bench, built: &Built, models: &[&Model]) -> Result<String, Problem> {
    let mut text = String::from("## Instructions\n\n");
    let version = match output(Command::new("valgrind").arg("--version")) {
        Ok(version) => version.trim().to_owned(),
        Err(problem) => {
            println!("SKIPPED: instruction counts, because valgrind is missing: {problem}");
            return Ok(text + "Not counted: valgrind was not installed.\n\n");
        }
    };
    // Few steps make large increments, which take a slower path.
    let steps = if bench.quick { 64 } else { 128 };
    writeln!(
        text,
        "Thousand instructions per chain and beta step, {CHAINS} chains on one thread, counted with \
         callgrind ({version}) as the difference between runs of {steps} steps and of half as many. Valgrind has \
         no AVX-512: these are counts of the AVX2 kernels.\n\n\
         | size | 16 bits asked for | 32 bits |\n|---|---|---|"
    )?;
    for model in models {
        println!("counting instructions: {}", model.name);
        let mut cells = String::new();
        for how in ["i16", "i32"] {
            let (many, used) = count(built, model, how, steps)?;
            let (half, _) = count(built, model, how, steps / 2)?;
            let difference = many - half;
            let per_step = difference / (steps / 2 * CHAINS) as f64;
            let note = if used == how { String::new() } else { format!(" (used {used})") };
            write!(cells, "| {}{note} ", digits(per_step * 1e-3))?;
        }
        writeln!(text, "| {} {cells}|", model.name)?;
    }
    Ok(text + "\n")
}

/// All instructions of a process that anneals once, and the precision it used.
fn count(built: &Built, model: &Model, how: &str, steps: usize) -> Result<(f64, String), Problem> {
    let file = &model.file;
    let request = json!({
        "do": "ais", "model": file, "how": how, "chains": CHAINS, "steps": steps, "threads": 1,
    });
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(&built.worker)
        .arg(request.to_string())
        .output()?;
    let said = String::from_utf8_lossy(&run.stderr);
    let counted = said
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .filter(|_| run.status.success())
        .ok_or_else(|| format!("callgrind failed ({}): {}", run.status, said.trim()))?;
    let reply: serde_json::Value = serde_json::from_slice(&run.stdout)?;
    Ok((counted, reply["how"].as_str().unwrap_or("unknown").to_owned()))
}
