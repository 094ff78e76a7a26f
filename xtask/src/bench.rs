//! `cargo xtask bench`: lnz and its peers side by side, written to docs/benchmarks.md.

mod annealing;
mod enumeration;
mod environment;
mod growth;
mod instructions;
mod models;
mod quartiles;
mod resources;
mod worker;

use crate::environment::{self as surroundings, ROOT};
use environment::Built;
use quartiles::Quartiles;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use worker::Worker;

pub(crate) const USAGE: &str = "usage: cargo xtask bench [--quick] [--weights FILE]

Measures lnz against PyTorch, numpy and rbms, which it installs into an environment of its own under
target/, and writes docs/benchmarks.md. Takes about ten minutes on a machine that does nothing else.

  --quick         three repetitions and fewer steps, under three minutes; writes below target/ only
  --weights FILE  784x500 weights to use in place of ../shared/data/rbm/mnistvh_CD25.mat";

/// A machine is quiet when work on one thread waits less than this for a processor.
const QUIET: f64 = 1.05;

type Problem = Box<dyn std::error::Error>;

/// The two processes that measure.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Lnz,
    Peers,
}

struct Bench {
    lnz: Worker,
    peers: Worker,
    /// Where models are written.
    folder: PathBuf,
    repetitions: usize,
    quick: bool,
    /// Time on the clock over processor time, of everything measured on one thread.
    waiting: Vec<f64>,
}

/// What a worker answered.
struct Answer {
    seconds: f64,
    reply: Value,
}

impl Bench {
    fn worker(&mut self, side: Side) -> &mut Worker {
        match side {
            Side::Lnz => &mut self.lnz,
            Side::Peers => &mut self.peers,
        }
    }

    fn measure(&mut self, side: Side, request: &Value) -> Result<Answer, Problem> {
        let reply = self.worker(side).ask(request)?;
        let seconds = reply["seconds"].as_f64().ok_or("an answer without seconds")?;
        if let (Some(cpu), Some(1)) = (reply["cpu"].as_f64(), request["threads"].as_u64()) {
            self.waiting.push(seconds / cpu);
        }
        Ok(Answer { seconds, reply })
    }
}

pub(crate) fn main(arguments: &[&str]) -> ExitCode {
    let mut quick = false;
    let mut weights = None;
    let mut left = arguments.iter();
    while let Some(&argument) = left.next() {
        match argument {
            "--quick" => quick = true,
            "--weights" if left.len() > 0 => weights = left.next().map(PathBuf::from),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    match run(quick, weights.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("FAILED: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(quick: bool, weights: Option<&Path>) -> Result<(), Problem> {
    let target = surroundings::target_folder()?;
    let folder = target.join("bench");
    std::fs::create_dir_all(&folder)?;
    println!("building lnz for release");
    let built = environment::build(&target)?;
    let python = surroundings::python(&target)?;
    let peers = Path::new(ROOT).join("bench/peers.py");
    let mut bench = Bench {
        lnz: Worker::start(&mut Command::new(&built.worker))?,
        // PyTorch is told its threads with every request; numpy's products listen to this only.
        peers: Worker::start(
            Command::new(python).args(["-W", "ignore"]).arg(peers).env("OPENBLAS_NUM_THREADS", "1"),
        )?,
        folder,
        repetitions: if quick { 3 } else { 5 },
        quick,
        waiting: Vec::new(),
    };
    let clock = Instant::now();
    let measured = measure(&mut bench, &built, weights)?;
    let heading = heading(&mut bench, clock.elapsed().as_secs_f64())?;
    println!("{heading}");
    let text = heading + &measured;
    let path = if quick {
        bench.folder.join("benchmarks-quick.md")
    } else {
        Path::new(ROOT).join("docs/benchmarks.md")
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, text.trim_end().to_owned() + "\n")?;
    println!("written to {}", path.display());
    Ok(())
}

fn measure(bench: &mut Bench, built: &Built, weights: Option<&Path>) -> Result<String, Problem> {
    let models = models::all(bench, weights)?;
    let named = |name: &str| models.iter().find(|model| model.name == name).ok_or("no such model");
    let (flagship, small) = (named("784x500")?, named("180x20")?);
    let mut text = String::new();
    // Each part is shown as soon as it is there.
    let mut add = |part: String| {
        println!("\n{part}");
        text += &part;
    };
    add(annealing::check(bench, small)?);
    add(annealing::compare(bench, &models)?);
    add(enumeration::report(bench, &[named("784x20")?, small])?);
    add(growth::report(bench, flagship)?);
    add(resources::report(bench, built, flagship, small)?);
    add(instructions::report(bench, built, &[flagship, named("784x20")?, small])?);
    Ok(text)
}

/// What was measured, where and how.
fn heading(bench: &mut Bench, seconds: f64) -> Result<String, Problem> {
    let lnz = bench.lnz.ask(&json!({ "do": "versions" }))?;
    let peers = bench.peers.ask(&json!({ "do": "versions" }))?;
    let version = |reply: &Value, name: &str| {
        format!("{name} {}", reply[name].as_str().unwrap_or("of unknown version"))
    };
    let peers: Vec<String> =
        ["torch", "numpy", "rbms", "python"].iter().map(|name| version(&peers, name)).collect();
    let waiting = match Quartiles::of(bench.waiting.iter().copied()) {
        Some(waiting) => {
            let busy = waiting.high > QUIET;
            if busy {
                println!("WARNING: the machine was busy, the figures are not worth keeping");
            }
            format!(
                "Time on the clock over processor time, one thread: median {:.3}, upper quartile \
                 {:.3} (1 when nothing else runs).{}",
                waiting.median,
                waiting.high,
                if busy { " **The machine was busy: do not trust these figures.**" } else { "" }
            )
        }
        None => "This system does not tell processor time.".into(),
    };
    let quick = if bench.quick { " (`--quick`: for a first impression only)" } else { "" };
    Ok(format!(
        "# Benchmarks{quick}\n\n\
         Written by `cargo xtask bench`: change nothing here, run it again. It needs Python 3.10 or\n\
         later; the peers are installed into an environment of their own below `target/`. lnz and the\n\
         peers take turns within each of {} repetitions, and the machine should do nothing else.\n\n\
         - machine: {}; lnz uses {}\n- date: {}, {:.0} minutes\n- {}; {}\n- {waiting}\n\n",
        bench.repetitions,
        environment::processor(),
        lnz["instruction_set"].as_str().unwrap_or("an unknown instruction set"),
        environment::today(),
        (seconds / 60.0).ceil(),
        version(&lnz, "lnz"),
        peers.join(", "),
    ))
}
