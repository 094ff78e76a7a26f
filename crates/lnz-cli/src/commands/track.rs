//! `lnz track`: log Z along a training run.

use crate::args::TrackArgs;
use crate::interrupt;
use crate::progress::Watch;
use crate::report;
use crate::terminal::{self, bad};
use crate::threads::on_threads;
use anyhow::Result;
use lnz::data::DataOptions;
use lnz::io;
use lnz::train::Examples;
use lnz_app::request::{AnnealingRequest, Request};
use lnz_app::track::{Checkpoints, Track, TrackRequest, track};
use lnz_app::{data_sets, page};
use std::process::ExitCode;

pub(crate) fn run(args: &TrackArgs) -> Result<ExitCode> {
    let request = request(args)?;
    if let Some(path) = &args.csv {
        io::check_npy_path(path)?;
    }
    args.judged.report.check()?;
    let checkpoints = Checkpoints::of_files(&args.models, &args.reading.read_options())?;
    let watch = Watch::new(args.judged.run.quiet);
    let outcome = on_threads(args.judged.run.threads, || {
        let data = examples(args)?;
        let begin = |name: &str| watch.begin(name);
        Ok(track(&checkpoints, data.as_ref(), &request, &begin, &watch)?)
    });
    watch.finish();
    let found = outcome?;
    let json = found.to_json();
    let words = page::words(&found.lines());
    args.judged.report.write(|command| page::track(&json, &words, command))?;
    if let Some(path) = &args.csv {
        io::write_file(path, found.to_csv().as_bytes())?;
    }
    match args.judged.run.json {
        true => terminal::print_json(&json)?,
        false => print(&found)?,
    }
    Ok(args.judged.exit_code(interrupt::requested(), found.verdict().name()))
}

fn request(args: &TrackArgs) -> Result<TrackRequest> {
    let following = args.bridges.following();
    following.check()?;
    let estimate = Request {
        no_exact: args.no_exact,
        auto: args.auto.request(),
        annealing: AnnealingRequest { seed: args.bridges.seed, ..Default::default() },
        ..Request::default()
    };
    lnz_app::request::check_seconds(args.max_seconds)?;
    Ok(TrackRequest {
        following,
        plan: estimate.plan()?,
        no_exact: args.no_exact,
        check_every: args.check_every,
        max_seconds: args.max_seconds,
    })
}

fn examples(args: &TrackArgs) -> Result<Option<Examples>> {
    let Some(path) = &args.data else { return Ok(None) };
    let path = data_sets::resolve(path)?;
    let (binarize, seed) = (args.grey.binarize, args.bridges.seed);
    Ok(Some(Examples::read(&path, DataOptions { width: None, binarize, seed })?))
}

fn print(found: &Track) -> Result<()> {
    let rows = terminal::fitted(&found.table());
    let rows = ["suspect", "unchecked"]
        .iter()
        .fold(rows, |rows, doubt| rows.replace(doubt, &bad().apply_to(doubt).to_string()));
    terminal::print(&format!("{rows}\n"))?;
    report::print_lines(found.lines())
}
