//! `lnz paper`: the paper's experiments, their figures, and a page that judges its claims.

use crate::args::{DataFiles, PaperAction, PaperArgs, ResultsArgs, WhichArgs};
use crate::failure::usage;
use crate::interrupt;
use crate::progress::{JobBar, Watch};
use crate::terminal::{self, bad, label, value};
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::data_sets;
use lnz_app::numbers::{count, duration};
use lnz_paper::{
    EXPERIMENTS, Experiment, Outcome, Page, Results, RunObserver, Scale, TrainingObserver,
};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &PaperArgs) -> Result<ExitCode> {
    match &args.action {
        PaperAction::List { results, json } => list(results, *json),
        PaperAction::Run { which, results, data, threads, quiet } => {
            let chosen = chosen(which)?;
            on_threads(*threads, || {
                train(&chosen, results, data, *quiet)?;
                compute(&chosen, results, *quiet)
            })
        }
        PaperAction::Plot { which, results } => draw(&chosen(which)?, results),
        PaperAction::Report { results } => report(results),
    }
}

impl ResultsArgs {
    fn scale(&self) -> Scale {
        match (self.quick, self.tiny) {
            (true, _) => Scale::QUICK,
            (_, true) => Scale::TINY,
            _ => Scale::FULL,
        }
    }

    fn open(&self) -> Result<Results> {
        let folder = self.scale().folder(&self.out);
        if folder.exists() && !folder.is_dir() {
            return Err(usage(format!("--out {} is not a folder", folder.display())));
        }
        Results::open(&folder).map_err(explained)
    }
}

/// The error of an experiment as the tool has it: what was typed wrong is told from what has failed.
fn explained(error: lnz_paper::Error) -> anyhow::Error {
    match error {
        lnz_paper::Error::Library(error) => error.into(),
        lnz_paper::Error::Run { run, error } => explained(*error).context(run),
        lnz_paper::Error::Folder { .. } => usage(format!("--out {error}")),
        error if error.is_bad_input() => usage(error.to_string()),
        error => error.into(),
    }
}

impl RunObserver for JobBar {
    fn expect(&self, runs: usize, cost: f64) {
        JobBar::expect(self, runs, cost);
    }

    fn advance(&self, cost: f64) {
        JobBar::advance(self, cost);
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl TrainingObserver for Watch {
    fn begin(&self, work: &str) {
        Watch::begin(self, work);
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

fn list(args: &ResultsArgs, json: bool) -> Result<ExitCode> {
    let (scale, results) = (args.scale(), args.open()?);
    let rows = EXPERIMENTS.iter().map(|experiment| {
        let (there, planned) = experiment.progress(&scale, &results);
        (experiment, there, planned)
    });
    if json {
        let experiments: Vec<_> = rows
            .map(|(experiment, there, planned)| {
                json!({"name": experiment.name, "title": experiment.title, "runs": there,
                    "planned": planned, "needs": experiment.needs})
            })
            .collect();
        let folder = results.folder().display().to_string();
        terminal::print_json(
            &json!({"schema": lnz_app::schema::VERSION, "folder": folder, "scale": scale.name,
            "experiments": experiments}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "  {}\n",
        label().apply_to(format!(
            "{} scale, results in {}",
            scale.name,
            results.folder().display()
        ))
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
    args: &ResultsArgs,
    data: &DataFiles,
    quiet: bool,
) -> Result<()> {
    let is_wanted = chosen.iter().any(|experiment| experiment.name == "fig7");
    if !is_wanted && (data.mnist.is_some() || data.web.is_some()) {
        return Err(usage("--mnist and --web are for fig7, which is not among the experiments"));
    }
    let file = |typed: &Option<PathBuf>| typed.as_deref().map(data_sets::resolve).transpose();
    let files = [file(&data.mnist)?, file(&data.web)?];
    let watch = Watch::new(quiet);
    let outcome = lnz_paper::train_missing(&args.open()?, &files, &watch);
    watch.finish();
    outcome.map_err(explained)
}

fn compute(chosen: &[&'static Experiment], args: &ResultsArgs, quiet: bool) -> Result<ExitCode> {
    let (scale, mut results) = (args.scale(), args.open()?);
    let bar = JobBar::new(quiet);
    for experiment in lnz_paper::with_needs(chosen) {
        bar.begin(experiment.name);
        let clock = Instant::now();
        let outcome = lnz_paper::complete(experiment, &scale, &mut results, &bar);
        bar.finish();
        let outcome = outcome.map_err(explained)?;
        terminal::print(&line(experiment, &outcome, clock.elapsed().as_secs_f64()))?;
        for (problem, left_out) in &outcome.missing {
            let warning = format!(
                "{problem} at epoch {} is not available in this build: {} runs left out",
                left_out.epochs.join(", "),
                left_out.runs
            );
            eprintln!("  {} {warning}", bad().apply_to("warning:"));
        }
        if outcome.stopped {
            eprintln!("stopped; the same command goes on from here");
            return Ok(ExitCode::from(interrupt::code()));
        }
    }
    Ok(ExitCode::SUCCESS)
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

fn draw(chosen: &[&'static Experiment], args: &ResultsArgs) -> Result<ExitCode> {
    let results = args.open()?;
    let is_empty = |experiment: &Experiment| !results.has(experiment.name);
    if let Some(missing) = chosen.iter().find(|experiment| is_empty(experiment))
        && (chosen.len() < EXPERIMENTS.len() || chosen.iter().all(|e| is_empty(e)))
    {
        return Err(usage(format!(
            "{} has no results of {name}; run `lnz paper run {name}` first",
            results.folder().display(),
            name = missing.name
        )));
    }
    for experiment in chosen {
        if is_empty(experiment) {
            terminal::print(&format!("  {} has no results yet\n", experiment.name))?;
            continue;
        }
        for path in experiment.write_figure(&results).map_err(explained)? {
            terminal::print(&format!("  {}\n", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(args: &ResultsArgs) -> Result<ExitCode> {
    let results = args.open()?;
    if EXPERIMENTS.iter().all(|experiment| !results.has(experiment.name)) {
        return Err(usage(format!(
            "{} has no results; run `lnz paper run all{}` first",
            results.folder().display(),
            if args.quick { " --quick" } else { "" }
        )));
    }
    let page = Page::new(&results);
    let mut text = format!("  {}\n", page.summary());
    for path in page.write(&results).map_err(explained)? {
        text += &format!("  {}\n", path.display());
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
