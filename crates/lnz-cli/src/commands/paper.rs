//! `lnz paper`: the paper's experiments, their figures, and a page that judges its claims.

use crate::args::{DataFiles, PaperAction, PaperArgs, ShelfArgs, WhichArgs};
use crate::failure::{INTERRUPTED, usage};
use crate::paper::{self, EXPERIMENTS, Experiment, Outcome, Page, Scale, Shelf};
use crate::plot;
use crate::progress::{JobBar, Watch};
use crate::terminal::{self, bad, label, value};
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::numbers::{count, duration};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &PaperArgs) -> Result<ExitCode> {
    match &args.action {
        PaperAction::List { shelf, json } => list(shelf, *json),
        PaperAction::Run { which, shelf, data, threads, quiet } => {
            let chosen = chosen(which)?;
            on_threads(*threads, || {
                train(&chosen, shelf, data, *quiet)?;
                compute(&chosen, shelf, *quiet)
            })
        }
        PaperAction::Plot { which, shelf } => draw(&chosen(which)?, shelf),
        PaperAction::Report { shelf } => report(shelf),
    }
}

impl ShelfArgs {
    fn scale(&self) -> Scale {
        match (self.quick, self.tiny) {
            (true, _) => Scale::QUICK,
            (_, true) => Scale::TINY,
            _ => Scale::FULL,
        }
    }

    fn open(&self) -> Result<Shelf> {
        let folder = match self.scale() {
            Scale::FULL => self.out.clone(),
            scale => self.out.join(scale.name),
        };
        if folder.exists() && !folder.is_dir() {
            return Err(usage(format!("--out {} is not a folder", folder.display())));
        }
        Shelf::open(&folder, EXPERIMENTS.iter().map(|experiment| experiment.name))
    }
}

/// The experiments of these names, in the order of the paper.
fn chosen(which: &WhichArgs) -> Result<Vec<&'static Experiment>> {
    if let Some(unknown) =
        which.names.iter().find(|name| *name != "all" && Experiment::named(name).is_none())
    {
        return Err(usage(unknown_name(unknown)));
    }
    let wanted = |experiment: &&Experiment| {
        which.names.iter().any(|name| name == "all" || name == experiment.name)
    };
    Ok(EXPERIMENTS.iter().filter(wanted).collect())
}

fn unknown_name(name: &str) -> String {
    let names = EXPERIMENTS.iter().map(|experiment| experiment.name).chain(["all"]);
    let near = names
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, near)) => format!(
            "`{name}` is not an experiment; did you mean `{near}`? (`lnz paper list` lists them)"
        ),
        None => format!("`{name}` is not an experiment; `lnz paper list` lists them"),
    }
}

fn list(args: &ShelfArgs, json: bool) -> Result<ExitCode> {
    let (scale, shelf) = (args.scale(), args.open()?);
    let rows = EXPERIMENTS.iter().map(|experiment| {
        let (there, planned) = experiment.progress(&scale, &shelf);
        (experiment, there, planned)
    });
    if json {
        let experiments: Vec<_> = rows
            .map(|(experiment, there, planned)| {
                json!({"name": experiment.name, "title": experiment.title, "runs": there,
                    "planned": planned, "needs": experiment.needs})
            })
            .collect();
        let folder = shelf.folder().display().to_string();
        terminal::print_json(&json!({"schema": 1, "folder": folder, "scale": scale.name,
            "experiments": experiments}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "  {}\n",
        label().apply_to(format!("{} scale, results in {}", scale.name, shelf.folder().display()))
    );
    for (experiment, there, planned) in rows {
        let state = match (there, planned) {
            (0, _) => "not run".to_owned(),
            (there, planned) if there == planned => format!("{} runs", count(there)),
            (there, planned) => format!("{} of {} runs", count(there), count(planned)),
        };
        let name = value().apply_to(experiment.name);
        text += &format!("  {name}  {:<64}  {state}\n", experiment.title);
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Models of Fig. 7 that are not built in, from the data that was given.
fn train(
    chosen: &[&'static Experiment],
    args: &ShelfArgs,
    data: &DataFiles,
    quiet: bool,
) -> Result<()> {
    let is_wanted = chosen.iter().any(|experiment| experiment.name == "fig7");
    if !is_wanted && (data.mnist.is_some() || data.web.is_some()) {
        return Err(usage("--mnist and --web are for fig7, which is not among the experiments"));
    }
    let watch = Watch::new(quiet);
    let files = [data.mnist.clone(), data.web.clone()];
    let outcome = paper::train_missing(&args.open()?, &files, &watch);
    watch.finish();
    outcome
}

fn compute(chosen: &[&'static Experiment], args: &ShelfArgs, quiet: bool) -> Result<ExitCode> {
    let (scale, mut shelf) = (args.scale(), args.open()?);
    let bar = JobBar::new(quiet);
    for experiment in with_needs(chosen) {
        bar.begin(experiment.name);
        let clock = Instant::now();
        let outcome = paper::complete(experiment, &scale, &mut shelf, &bar);
        bar.finish();
        let outcome = outcome?;
        terminal::print(&line(experiment, &outcome, clock.elapsed().as_secs_f64()))?;
        for (problem, (epochs, runs)) in &outcome.missing {
            let warning = format!(
                "{problem} at epoch {} is not available in this build: {runs} runs left out",
                epochs.join(", ")
            );
            eprintln!("  {} {warning}", bad().apply_to("warning:"));
        }
        if outcome.stopped {
            eprintln!("stopped; the same command goes on from here");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What an experiment builds on comes before it.
fn with_needs(chosen: &[&'static Experiment]) -> Vec<&'static Experiment> {
    let is_wanted = |experiment: &&Experiment| {
        chosen.iter().any(|c| c.name == experiment.name || c.needs.contains(&experiment.name))
    };
    EXPERIMENTS.iter().filter(is_wanted).collect()
}

fn line(experiment: &Experiment, outcome: &Outcome, seconds: f64) -> String {
    let name = value().apply_to(experiment.name);
    let state = match outcome.computed {
        0 => format!("{} runs, all there already", count(outcome.present)),
        n if n == outcome.present => format!("{} runs in {}", count(n), duration(seconds)),
        n => format!(
            "{} runs, {} of them now in {}",
            count(outcome.present),
            count(n),
            duration(seconds)
        ),
    };
    format!("  {name}  {state}\n")
}

fn draw(chosen: &[&'static Experiment], args: &ShelfArgs) -> Result<ExitCode> {
    let shelf = args.open()?;
    let is_empty = |experiment: &Experiment| shelf.rows(experiment.name).is_empty();
    if let Some(missing) = chosen.iter().find(|experiment| is_empty(experiment))
        && (chosen.len() < EXPERIMENTS.len() || chosen.iter().all(|e| is_empty(e)))
    {
        return Err(usage(format!(
            "{} has no results of {name}; run `lnz paper run {name}` first",
            shelf.folder().display(),
            name = missing.name
        )));
    }
    for experiment in chosen {
        if is_empty(experiment) {
            terminal::print(&format!("  {} has no results yet\n", experiment.name))?;
            continue;
        }
        let svg = experiment.draw(&shelf).svg(experiment.name);
        for (extension, content) in [("svg", svg.clone().into_bytes()), ("png", plot::png(&svg)?)] {
            let file = format!("{}.{extension}", experiment.name);
            shelf.write(&file, &content)?;
            terminal::print(&format!("  {}\n", shelf.path(&file).display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(args: &ShelfArgs) -> Result<ExitCode> {
    let shelf = args.open()?;
    if EXPERIMENTS.iter().all(|experiment| shelf.rows(experiment.name).is_empty()) {
        return Err(usage(format!(
            "{} has no results; run `lnz paper run all{}` first",
            shelf.folder().display(),
            if args.quick { " --quick" } else { "" }
        )));
    }
    let page = Page::new(&shelf);
    let files = [("report.html", paper::html(&page)), ("README.md", paper::markdown(&page))];
    let mut text = format!("  {}\n", page.summary());
    for (file, content) in files {
        shelf.write(file, content.as_bytes())?;
        text += &format!("  {}\n", shelf.path(file).display());
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
