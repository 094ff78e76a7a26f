//! `cargo xtask bench`: lnz and its peers side by side, written to docs/benchmarks.md.

mod annealing;
mod enumeration;
mod environment;
mod growth;
mod instructions;
mod models;
mod quartiles;
mod resources;
mod threads;
mod training;
mod worker;

use crate::environment::{self as surroundings, ROOT};
use environment::Built;
use models::Model;
use quartiles::Quartiles;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use worker::Worker;

pub(crate) const USAGE: &str = "usage: cargo xtask bench [--quick] [--weights FILE] [--mnist FILE] [SECTION...]

Measures lnz against PyTorch, numpy and rbms, which it installs into an environment of its own under
target/, and writes docs/benchmarks.md. Takes about half an hour on a machine that does nothing else.
Sections: annealing, threads, enumeration, training, growth, resources, instructions. With names, only
these are measured again; the others stay as they are in the file.

  --quick         three repetitions and fewer steps, a few minutes; writes below target/ only
  --weights FILE  784x500 weights to use in place of generated ones, such as mnistvh_CD25.mat
  --mnist FILE    train-images-idx3-ubyte.gz to train on in place of generated rows";

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
    /// Images of MNIST, if they are at hand.
    images: Option<PathBuf>,
    repetitions: usize,
    quick: bool,
    /// Time on the clock over processor time, of what a section measured on one thread.
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

/// A part of the page, which starts with its title.
type Section = fn(&mut Bench, &Subjects) -> Result<String, Problem>;

const SECTIONS: [(&str, Section); 7] = [
    ("annealing", |bench, on| annealing::compare(bench, &on.models)),
    ("threads", |bench, on| threads::report(bench, &on.models)),
    ("enumeration", |bench, on| enumeration::report(bench, &[on.named("784x20")?, on.small()?])),
    ("training", |bench, _| training::report(bench)),
    ("growth", |bench, on| growth::report(bench, on.flagship()?)),
    ("resources", |bench, on| resources::report(bench, &on.built, on.flagship()?, on.small()?)),
    ("instructions", |bench, on| {
        let models = [on.flagship()?, on.named("784x20")?, on.small()?];
        instructions::report(bench, &on.built, &models)
    }),
];

/// What is measured.
struct Subjects {
    built: Built,
    models: Vec<Model>,
}

impl Subjects {
    fn named(&self, name: &str) -> Result<&Model, Problem> {
        let found = self.models.iter().find(|model| model.name == name);
        found.ok_or_else(|| format!("there is no model {name}").into())
    }

    fn flagship(&self) -> Result<&Model, Problem> {
        self.named("784x500")
    }

    fn small(&self) -> Result<&Model, Problem> {
        self.named("180x20")
    }
}

pub(crate) fn main(arguments: &[&str]) -> ExitCode {
    let mut quick = false;
    let (mut weights, mut images) = (None, None);
    let mut wanted = Vec::new();
    let mut left = arguments.iter();
    while let Some(&argument) = left.next() {
        match argument {
            "--quick" => quick = true,
            "--weights" if left.len() > 0 => weights = left.next().map(PathBuf::from),
            "--mnist" if left.len() > 0 => images = left.next().map(PathBuf::from),
            name if SECTIONS.iter().any(|(section, _)| *section == name) => wanted.push(name),
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    match run(quick, weights.as_deref(), images, &wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("FAILED: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(
    quick: bool,
    weights: Option<&Path>,
    images: Option<PathBuf>,
    wanted: &[&str],
) -> Result<(), Problem> {
    let target = surroundings::target_folder()?;
    let folder = target.join("bench");
    std::fs::create_dir_all(&folder)?;
    println!("building lnz for release");
    let built = environment::build(&target)?;
    let python = surroundings::python(&target, surroundings::Needs::Peers)?;
    let peers = Path::new(ROOT).join("bench/peers.py");
    let mut bench = Bench {
        lnz: Worker::start(&mut Command::new(&built.worker))?,
        // PyTorch is told its threads with every request; numpy's products listen to this only.
        peers: Worker::start(
            Command::new(python).args(["-W", "ignore"]).arg(peers).env("OPENBLAS_NUM_THREADS", "1"),
        )?,
        folder,
        images,
        repetitions: if quick { 3 } else { 5 },
        quick,
        waiting: Vec::new(),
    };
    let path = if quick {
        bench.folder.join("benchmarks-quick.md")
    } else {
        Path::new(ROOT).join("docs/benchmarks.md")
    };
    let models = models::all(&mut bench, weights)?;
    let subjects = Subjects { built, models };
    let mut page = if wanted.is_empty() { Page::default() } else { Page::read(&path) };
    for (name, section) in SECTIONS {
        if wanted.is_empty() || wanted.contains(&name) {
            let clock = Instant::now();
            let text = section(&mut bench, &subjects)?;
            let text = page.put(&text, &origin(&mut bench, clock));
            // Each part is shown as soon as it is there.
            println!("\n{text}");
        }
    }
    std::fs::write(&path, heading(&mut bench)? + &page.sections.concat())?;
    println!("written to {}", path.display());
    Ok(())
}

/// The sections of the page.
#[derive(Default)]
struct Page {
    /// Each starts with an empty line and its title.
    sections: Vec<String>,
}

impl Page {
    /// What there is already.
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let sections = text.split("\n## ").skip(1).map(|section| format!("\n## {section}"));
        Self { sections: sections.collect() }
    }

    /// Puts a section where the one of its title is, or at the end; `origin` goes below the title.
    fn put(&mut self, text: &str, origin: &str) -> &str {
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let new = format!("\n{title}\n\n{origin}\n\n{}\n", rest.trim());
        let titled = format!("\n{title}\n");
        let place = self.sections.iter().position(|section| section.starts_with(&titled));
        let place = place.unwrap_or_else(|| {
            self.sections.push(String::new());
            self.sections.len() - 1
        });
        self.sections[place] = new;
        &self.sections[place]
    }
}

/// When a section was measured, and whether the machine was quiet.
fn origin(bench: &mut Bench, clock: Instant) -> String {
    let minutes = (clock.elapsed().as_secs_f64() / 60.0).ceil();
    let mut text = format!("*{}, {minutes:.0} min.", environment::today());
    if let Some(waiting) = Quartiles::of(bench.waiting.drain(..)) {
        let _ = write!(
            text,
            " Time on the clock over processor time, one thread: median {:.3}, upper quartile {:.3}.",
            waiting.median, waiting.high
        );
        if waiting.high > QUIET {
            println!("WARNING: the machine was busy, the figures are not worth keeping");
            text += " **The machine was busy: do not trust these figures.**";
        }
    }
    text + "*"
}

/// What was measured, where and how.
fn heading(bench: &mut Bench) -> Result<String, Problem> {
    let lnz = bench.lnz.ask(&json!({ "do": "versions" }))?;
    let peers = bench.peers.ask(&json!({ "do": "versions" }))?;
    let version = |reply: &Value, name: &str| {
        format!("{name} {}", reply[name].as_str().unwrap_or("of unknown version"))
    };
    let peers: Vec<String> = ["torch", "numpy", "rbms", "scikit-learn", "python"]
        .iter()
        .map(|name| version(&peers, name))
        .collect();
    let quick = if bench.quick { " (`--quick`: for a first impression only)" } else { "" };
    Ok(format!(
        "# Benchmarks{quick}\n\n\
         Written by `cargo xtask bench`: change nothing here, run it again, or one section of it. It needs\n\
         Python 3.10 or later; the peers are installed into an environment of their own below `target/`.\n\
         lnz and the peers take turns within each of {} repetitions, and the machine should do nothing\n\
         else: time on the clock over processor time is then 1. What other machines of the same host do\n\
         does not show in it.\n\n\
         - machine: {}; lnz uses {}\n- {}; {}\n",
        bench.repetitions,
        environment::processor(),
        lnz["instruction_set"].as_str().unwrap_or("an unknown instruction set"),
        version(&lnz, "lnz"),
        peers.join(", "),
    ))
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_section_takes_the_place_of_its_older_self() {
        let sections = ["\n## One\n\na\n", "\n## Two\n\nb\n\n### Part\n\nc\n"];
        let mut page = Page { sections: sections.map(str::to_owned).into() };
        page.put("## Two\n\nnew\n\n", "*today*");
        page.put("## Three\n\nlast\n", "*today*");
        let text = page.sections.concat();
        assert_eq!(
            text,
            "\n## One\n\na\n\n## Two\n\n*today*\n\nnew\n\n## Three\n\n*today*\n\nlast\n"
        );
    }
}
