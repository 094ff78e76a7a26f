//! `lnz train`: a folder of models, a history of the run and a state to go on from.

mod history;

use crate::args::{BinarizeArg, TrainArgs};
use crate::data_sets;
use crate::failure::usage;
use crate::progress::Watch;
use crate::terminal::{self, Table};
use crate::threads::on_threads;
use anyhow::{Context, Result};
use history::{History, Row};
use lnz::data::{Binarize, DataOptions};
use lnz::io::{self, Float};
use lnz::train::{Examples, Tracking, Trainer};
use lnz_app::numbers;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const STATE: &str = "state.safetensors";

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    check(args)?;
    let watch = Watch::new(args.run.quiet);
    let outcome = on_threads(args.run.threads, || train(args, &watch));
    watch.finish();
    let summary = outcome.map_err(|error| what_is_kept(error, args))?;
    if args.run.json {
        terminal::print_json(&summary.json())?
    } else {
        summary.print()?
    }
    Ok(ExitCode::SUCCESS)
}

/// What can be said before any data is read.
fn check(args: &TrainArgs) -> Result<()> {
    for (flag, epochs) in [("--save-at", &args.save_at), ("--track", &args.tracking.track)] {
        if let Some(last) = epochs.last().filter(|last| *last > args.epochs) {
            return Err(usage(format!(
                "{flag} names epoch {last}, but --epochs is {}; raise it or name earlier epochs",
                args.epochs
            )));
        }
    }
    if args.tracking.track.is_empty() && args.tracking.validation.is_some() {
        return Err(usage("--validation needs --track, the epochs whose likelihood is wanted"));
    }
    if !(args.tracking.track_effort > 0.0 && args.tracking.track_effort <= 1e6) {
        let found = args.tracking.track_effort;
        return Err(usage(format!("--track-effort is {found}; expected above 0, up to 1000000")));
    }
    let state = args.out.join(STATE);
    match (args.resume, state.exists()) {
        (false, true) => Err(usage(format!(
            "{} holds a training run already; add --resume to go on with it, or choose another --out",
            args.out.display()
        ))),
        (true, false) => Err(usage(format!(
            "--resume found no {STATE} in {}; drop it to start from the beginning",
            args.out.display()
        ))),
        _ => Ok(()),
    }
}

/// A run that ends early leaves something to go on from.
fn what_is_kept(error: anyhow::Error, args: &TrainArgs) -> anyhow::Error {
    use lnz::Error::{Cancelled, Diverged, Write};
    let state = args.out.join(STATE);
    let kept = format!("the last whole epoch is kept in {}", state.display());
    match error.downcast_ref::<lnz::Error>() {
        Some(Cancelled { .. }) if state.exists() => {
            error.context(format!("{kept}, --resume goes on from there"))
        }
        Some(Diverged { .. } | Write { .. }) if state.exists() => error.context(kept),
        _ => error,
    }
}

fn read(path: &Path, binarize: BinarizeArg, width: Option<usize>) -> Result<Examples> {
    // Values that are drawn are drawn by the trainer, in every epoch anew.
    let binarize = match binarize {
        BinarizeArg::Threshold => Binarize::Threshold,
        BinarizeArg::None | BinarizeArg::Bernoulli => Binarize::None,
    };
    let path = &data_sets::resolve(path)?;
    Ok(Examples::read(path, DataOptions { width, binarize, seed: 0 })?)
}

fn train(args: &TrainArgs, watch: &Watch) -> Result<Summary> {
    let settings = args.settings();
    let examples = read(&args.data, args.binarize, None)?;
    let width = Some(examples.width());
    let validation = args.tracking.validation.as_deref();
    let validation = validation.map(|path| read(path, args.binarize, width)).transpose()?;
    let state = args.out.join(STATE);
    let mut trainer = match args.resume {
        true => Trainer::resume(&examples, settings, &state)?,
        false => Trainer::new(&examples, settings)?,
    };
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("--out {}: the folder cannot be made", args.out.display()))?;
    let mut history = History::open(&args.out, trainer.epoch())?;
    let tracking = Tracking { effort: args.tracking.track_effort, ..Tracking::default() };
    let mut saved = Vec::new();
    let mut row = (trainer.epoch() == 0).then(|| Row::before(&trainer));
    loop {
        let epoch = trainer.epoch();
        if let Some(mut row) = row.take() {
            if args.tracking.track.contains(epoch) {
                let clock = Instant::now();
                row.tracked =
                    Some(trainer.track(&tracking, validation.as_ref(), &Untold(watch))?);
                row.track_seconds = clock.elapsed().as_secs_f64();
            }
            watch.note(row.note());
            if epoch > 0 || row.tracked.is_some() {
                history.add(row)?;
            }
            if epoch > 0 && (args.save_at.contains(epoch) || epoch == settings.epochs) {
                let path = args.out.join(format!("epoch-{epoch}.safetensors"));
                io::write_safetensors(&path, &trainer.checkpoint()?, Float::F32)?;
                saved.push(path);
            }
            // Last, so that a resumed run never misses what belongs to an epoch.
            if epoch > 0 {
                trainer.save_state(&state)?;
            }
        }
        if epoch >= settings.epochs {
            break;
        }
        let clock = Instant::now();
        let report = trainer.run_epoch(watch)?;
        row = Some(Row::after(&report, clock.elapsed().as_secs_f64()));
    }
    let plot = history.plot()?;
    Ok(Summary { examples: examples.len(), width: examples.width(), history, saved, plot })
}

/// Ctrl-C reaches the work; its progress would hide that of the training.
struct Untold<'a>(&'a Watch);

impl lnz::Observer for Untold<'_> {
    fn cancelled(&self) -> bool {
        lnz::Observer::cancelled(self.0)
    }
}

struct Summary {
    examples: usize,
    width: usize,
    history: History,
    saved: Vec<PathBuf>,
    plot: Option<PathBuf>,
}

impl Summary {
    fn names(&self) -> Vec<String> {
        self.saved.iter().map(|path| path.display().to_string()).collect()
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "schema": 1,
            "examples": self.examples,
            "visible": self.width,
            "saved": self.names(),
            "history": self.history.path().display().to_string(),
            "plot": self.plot.as_ref().map(|path| path.display().to_string()),
            "epochs": self.history.rows().iter().map(Row::json).collect::<Vec<_>>(),
        })
    }

    fn print(&self) -> Result<()> {
        let mut table = Table::default();
        let (n, width) = (numbers::count(self.examples), self.width);
        table.line("data", format!("{n} examples of {width} values"));
        let Some(last) = self.history.rows().last() else {
            table.line("epochs", "none left to do");
            return terminal::print(&table.text());
        };
        table.line("epoch", last.in_words());
        if let Some(tracked) = self.history.rows().iter().rev().find_map(Row::likelihood_in_words) {
            table.line("tracked", tracked);
        }
        let seconds: f64 = self.history.rows().iter().map(|row| row.seconds).sum();
        let tracking: f64 = self.history.rows().iter().map(|row| row.track_seconds).sum();
        let extra = match tracking > 0.0 {
            true => format!(", and {} of tracking", numbers::duration(tracking)),
            false => String::new(),
        };
        table.line("cost", format!("{} of training{extra}", numbers::duration(seconds)));
        let mut files = self.names();
        files.push(self.history.path().display().to_string());
        files.extend(self.plot.as_ref().map(|path| path.display().to_string()));
        table.line("written", files.join("\n"));
        terminal::print(&table.text())
    }
}
