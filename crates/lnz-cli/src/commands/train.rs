//! `lnz train`: writes models, the history of the run, and a state from which it can be resumed.

mod plot;

use crate::args::TrainArgs;
use crate::progress::Watch;
use crate::terminal::{self, Table};
use crate::threads::on_threads;
use anyhow::Result;
use lnz::Deadline;
use lnz_app::history::Row;
use lnz_app::numbers;
use lnz_app::request::check_seconds;
use lnz_app::session::{Session, Trained, read_examples};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    let started = Instant::now();
    check_seconds(args.max_seconds)?;
    let session = args.session();
    session.check(args.tracking.validation.is_some())?;
    let watch = Watch::new(args.run.quiet);
    let outcome = on_threads(args.run.threads, || train(args, &session, started, &watch));
    watch.finish();
    let trained = outcome.map_err(|error| what_is_kept(error, &session))?;
    let plot = plot::draw(trained.history.rows(), &args.out)?;
    if args.run.json {
        terminal::print_json(&trained.to_json(plot.as_deref()))?
    } else {
        print(&trained, plot)?
    }
    Ok(ExitCode::SUCCESS)
}

fn train(args: &TrainArgs, session: &Session, started: Instant, watch: &Watch) -> Result<Trained> {
    let read = |path: &Path, width| read_examples(path, args.binarize, width);
    let examples = read(&args.data, None)?;
    let width = Some(examples.width());
    let validation = args.tracking.validation.as_deref();
    let validation = validation.map(|path| read(path, width)).transpose()?;
    let told = |row: &Row| watch.note(format!("  {}", row.in_words()));
    let limit = args.max_seconds.unwrap_or(f64::INFINITY);
    let deadline = Deadline::since(started, limit, watch);
    Ok(session
        .run(&examples, validation.as_ref(), &told, &deadline)
        .map_err(|e| e.at(&deadline))?)
}

/// A run that ends early leaves something to go on from.
fn what_is_kept(error: anyhow::Error, session: &Session) -> anyhow::Error {
    use lnz::Error::{Cancelled, Diverged, OutOfTime, Write};
    let (Some(lnz_app::Error::Library(cause)), Some(state)) =
        (error.downcast_ref(), session.state())
    else {
        return error;
    };
    let kept = format!("the last whole epoch is kept in {}", state.display());
    match cause {
        Cancelled { .. } | OutOfTime { .. } => {
            error.context(format!("{kept}, --resume goes on from there"))
        }
        Diverged { .. } | Write { .. } => error.context(kept),
        _ => error,
    }
}

fn print(trained: &Trained, plot: Option<PathBuf>) -> Result<()> {
    let mut table = Table::default();
    let (n, width) = (numbers::count(trained.examples), trained.width);
    table.line("data", format!("{n} examples of {width} values"));
    if let Some(note) = trained.grey_note() {
        table.line("note", note);
    }
    let rows = trained.history.rows();
    let Some(last) = rows.last() else {
        table.line("epochs", "none left to do");
        return terminal::print(&table.text());
    };
    table.line("epoch", last.in_words());
    if trained.out_of_time {
        let text = "the time is over; --resume with more --max-seconds goes on from here";
        table.line("stopped", text);
    }
    if let Some(tracked) = rows.iter().rev().find_map(Row::likelihood_in_words) {
        table.line("tracked", tracked);
    }
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let tracking: f64 = rows.iter().map(|row| row.track_seconds).sum();
    let extra = match tracking > 0.0 {
        true => format!(", and {} of tracking", numbers::duration(tracking)),
        false => String::new(),
    };
    table.line("cost", format!("{} of training{extra}", numbers::duration(seconds)));
    let files = trained.saved.iter().map(PathBuf::as_path).chain(trained.history.path());
    let files = files.chain(plot.as_deref()).map(|path| path.display().to_string());
    table.line("written", files.collect::<Vec<_>>().join("\n"));
    terminal::print(&table.text())
}
