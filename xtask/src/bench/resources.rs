//! What a run takes besides its steps: memory, and the start of the program.

use super::environment::Built;
use super::models::Model;
use super::quartiles::{Quartiles, digits};
use super::worker::Worker;
use super::{Bench, Problem};
use crate::environment::output;
use serde_json::json;
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

const MIB: f64 = 1024.0 * 1024.0;

pub(super) fn report(
    bench: &Bench,
    built: &Built,
    flagship: &Model,
    small: &Model,
) -> Result<String, Problem> {
    let mut text = String::from("## Memory\n\n");
    let weights = (flagship.visible * flagship.hidden * 4) as f64 / MIB;
    writeln!(
        text,
        "Peak resident memory of a process that reads the {} model and anneals 1024 chains. The bound \
         is 64 MiB plus three times the weights in float32: {:.1} MiB.\n\n\
         | asked for | used | threads | MiB |\n|---|---|---|---|",
        flagship.name,
        64.0 + 3.0 * weights
    )?;
    for how in ["i16", "i32"] {
        for threads in [1, 2] {
            let mut fresh = Worker::start(&mut Command::new(&built.worker))?;
            let file = &flagship.file;
            let run = fresh.ask(&json!({
                "do": "ais", "model": file, "how": how, "chains": 1024, "steps": 64, "threads": threads,
            }))?;
            let peak = fresh.ask(&json!({ "do": "memory" }))?["bytes"].as_f64();
            let peak = peak.map_or("unknown on this system".into(), |b| format!("{:.1}", b / MIB));
            let used = run["how"].as_str().unwrap_or("unknown");
            writeln!(text, "| {how} | {used} | {threads} | {peak} |")?;
        }
    }

    text += "\n## Start-up\n\n";
    // A program that ends without having read the model would be fast, too.
    let inspect = || {
        let said = output(Command::new(&built.lnz).arg("inspect").arg(&small.file))?;
        let sizes = [small.visible, small.hidden].map(|units| units.to_string());
        let read_it = sizes.iter().all(|size| said.contains(size));
        if read_it { Ok(()) } else { Err(format!("it does not name the sizes: {said:?}")) }
    };
    if let Err(problem) = inspect() {
        println!("SKIPPED: start-up time, because `lnz inspect` does not work: {problem}");
        text += "Not measured: `lnz inspect` does not work in this build.\n\n";
        return Ok(text);
    }
    let mut times = Vec::new();
    for _ in 0..4 * bench.repetitions {
        let clock = Instant::now();
        inspect()?;
        times.push(clock.elapsed().as_secs_f64() * 1e3);
    }
    let time = Quartiles::of(times).ok_or("no repetitions")?;
    writeln!(
        text,
        "`lnz inspect` on the {} model, from start to end of the process: {} ms (quartiles {} to {}).\n",
        small.name,
        digits(time.median),
        digits(time.low),
        digits(time.high)
    )?;
    Ok(text)
}
