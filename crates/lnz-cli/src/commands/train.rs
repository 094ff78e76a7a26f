//! `lnz train`: writes models, the history of the run, and a state from which it can be resumed.

mod plot;

use crate::args::TrainArgs;
use crate::progress::Watch;
use crate::threads::on_threads;
use crate::{report, terminal};
use anyhow::Result;
use lnz::Deadline;
use lnz_app::history::Row;
use lnz_app::page;
use lnz_app::request::check_seconds;
use lnz_app::session::{Session, Trained, read_examples};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &TrainArgs) -> Result<ExitCode> {
    let started = Instant::now();
    check_seconds(args.max_seconds)?;
    args.report.check()?;
    let session = args.session();
    session.check(args.tracking.validation.is_some())?;
    let watch = Watch::new(args.run.quiet);
    let outcome = on_threads(args.run.threads, || train(args, &session, started, &watch));
    watch.finish();
    let trained = outcome.map_err(|error| what_is_kept(error, &session))?;
    let plot = plot::draw(&trained, &args.out)?;
    let json = trained.to_json(plot.as_deref());
    let lines = trained.lines(plot.as_deref());
    args.report
        .write(|command| page::train(&json, &page::words(&lines), trained.settings(), command))?;
    match args.run.json {
        true => terminal::print_json(&json)?,
        false => report::print_lines(lines)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn train(args: &TrainArgs, session: &Session, started: Instant, watch: &Watch) -> Result<Trained> {
    let read = |path: &Path, width| read_examples(path, args.binarize, width);
    let examples = read(&args.data, None)?;
    let width = Some(examples.width());
    let validation = args.tracking.validation.as_deref();
    let validation = validation.map(|path| read(path, width)).transpose()?;
    let on_row = |row: &Row| watch.note(row.in_words());
    let limit = args.max_seconds.unwrap_or(f64::INFINITY);
    let deadline = Deadline::since(started, limit, watch);
    Ok(session
        .run(&examples, validation.as_ref(), &on_row, &deadline)
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
