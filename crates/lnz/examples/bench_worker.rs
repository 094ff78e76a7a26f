//! The lnz side of `cargo xtask bench`: reads requests as JSON lines and answers with seconds.
//!
//! Its twin for the peers is `bench/peers.py`. One request per line on standard input, or a single
//! one as the argument (for valgrind).

use lnz::data::DataOptions;
use lnz::train::{Examples, LearningRate, Trainer, Training, VisibleBias};
use lnz::{Annealing, Estimate, Precision, Rbm, Schedule, Start, anneal, exact_log_z, io};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    /// What this build is.
    Versions,
    /// Rewrites a model file in the format that the extension of `to` names.
    Convert { from: PathBuf, to: PathBuf },
    /// Annealed importance sampling from B = 0.
    Ais { model: PathBuf, how: String, chains: usize, steps: usize, threads: usize },
    /// log Z by enumeration.
    Enumerate { model: PathBuf, threads: usize },
    /// One epoch of contrastive divergence.
    Train { data: PathBuf, hidden: usize, persistent: bool, from_zero: bool, threads: usize },
    /// The most memory this process has had so far.
    Memory,
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(request) = std::env::args().nth(1) {
        println!("{}", answer(serde_json::from_str(&request)?)?);
        return Ok(());
    }
    for line in std::io::stdin().lock().lines() {
        let reply = serde_json::from_str(&line?)
            .map_err(Into::into)
            .and_then(answer)
            .unwrap_or_else(|error| json!({ "error": error.to_string() }));
        println!("{reply}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn answer(request: Request) -> Result<Value, Box<dyn Error>> {
    Ok(match request {
        Request::Versions => json!({
            "lnz": env!("CARGO_PKG_VERSION"),
            "instruction_set": lnz::instruction_set(),
        }),
        Request::Convert { from, to } => {
            io::write_model(&to, &io::read_model(&from, None)?.stored)?;
            json!({})
        }
        Request::Ais { model, how, chains, steps, threads } => {
            let precision = match how.as_str() {
                "i16" => Precision::I16,
                "i32" => Precision::I32,
                _ => return Err(format!("no precision is called {how}").into()),
            };
            let model = read(&model)?;
            let start = Start::uniform(model.visible());
            let schedule = Schedule::linear(steps)?;
            let settings = Annealing { chains, seed: 1, precision };
            let (run, seconds, cpu) =
                timed(threads, || anneal(&model, &start, &schedule, &settings, &()))?;
            let run = run?;
            let log_z = Estimate::from_samples(&run.samples).log_z;
            json!({ "seconds": seconds, "cpu": cpu, "log_z": log_z, "how": run.precision })
        }
        Request::Enumerate { model, threads } => {
            let model = read(&model)?;
            let (log_z, seconds, cpu) = timed(threads, || exact_log_z(&model, &()))?;
            let states = 2f64.powi(model.visible().min(model.hidden()) as i32);
            json!({ "seconds": seconds, "cpu": cpu, "log_z": log_z?, "states": states })
        }
        Request::Train { data, hidden, persistent, from_zero, threads } => {
            let examples = Examples::read(&data, DataOptions::default())?;
            let learning_rate = LearningRate::Constant(0.01);
            let visible_bias = if from_zero { VisibleBias::Zero } else { VisibleBias::Data };
            let default = Training::default();
            let settings = Training { hidden, persistent, learning_rate, visible_bias, ..default };
            let mut trainer = Trainer::new(&examples, settings)?;
            let (epoch, seconds, cpu) = timed(threads, || trainer.run_epoch(&()))?;
            json!({ "seconds": seconds, "cpu": cpu, "weight_rms": epoch?.weight_rms })
        }
        Request::Memory => json!({ "bytes": peak_memory() }),
    })
}

fn read(path: &Path) -> lnz::Result<Rbm> {
    Ok(io::read_model(path, None)?.stored.model)
}

/// Runs `work` on `threads` threads; with its seconds on the clock and of processor time.
fn timed<R: Send>(
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<(R, f64, Option<f64>), rayon::ThreadPoolBuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    Ok(pool.install(|| {
        let (cpu, clock) = (processor_seconds(), Instant::now());
        let result = work();
        let (seconds, cpu_end) = (clock.elapsed().as_secs_f64(), processor_seconds());
        (result, seconds, cpu.zip(cpu_end).map(|(start, end)| end - start))
    }))
}

/// Processor time of all threads that are alive; `None` where Linux does not tell.
fn processor_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split(' ').next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds * 1e-9)
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
