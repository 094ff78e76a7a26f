//! `lnz bench suite`: methods held against models of known log Z.

mod page;
mod peers;

use crate::args::{BenchAction, BenchArgs, SuiteArgs};
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal;
use crate::threads::on_threads;
use anyhow::Result;
use lnz::io;
use lnz_app::league::{Problem, Row, Standing, problems, tap};
use page::League;
use peers::Peer;
use serde_json::json;
use std::process::ExitCode;

/// Published values have six digits.
const DIGITS: f64 = 2e-3;

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    let BenchAction::Suite(args) = &args.action;
    // What can be refused is refused before the first second of work.
    if let Some(path) = &args.output {
        io::check_npy_path(path)?;
    }
    let (problems, left_out) = problems(&args.folder)?;
    let (peers, missing) = peers::chosen(args)?;
    let watch = Watch::new(args.quiet);
    let rows = on_threads(args.threads, || play(args, &problems, &peers, &watch));
    watch.finish();
    let rows = rows?;
    let league = League {
        standings: peers.iter().map(|peer| Standing::of(peer.name, &rows, DIGITS)).collect(),
        peers,
        rows,
        missing,
        left_out,
        machine: machine(args),
        settings: format!(
            "time limit {} s; plain AIS with {} betas and {} chains; seed {}",
            args.timeout, args.betas, args.chains, args.seed
        ),
    };
    if args.json {
        terminal::print_json(&json!({
            "schema": 1,
            "standings": league.standings,
            "rows": league.rows,
            "missing_peers": league.missing,
            "left_out": league.left_out,
            "machine": league.machine,
            "settings": league.settings,
        }))?;
    } else if args.table.markdown {
        terminal::print(&league.markdown())?;
    } else if args.table.csv {
        terminal::print(&league.csv())?;
    } else {
        terminal::print(&league.text())?;
    }
    if let Some(path) = &args.output {
        io::write_file(path, league.html().as_bytes())?;
        if !args.json && !args.table.markdown && !args.table.csv {
            terminal::print(&format!("\n  {}\n", path.display()))?;
        }
    }
    Ok(if interrupt::requested() { ExitCode::from(interrupt::code()) } else { ExitCode::SUCCESS })
}

/// Every peer on every model, one after the other, so that each has the machine for itself.
fn play(args: &SuiteArgs, problems: &[Problem], peers: &[Peer], watch: &Watch) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let runs = problems.len() * peers.len();
    for problem in problems {
        for peer in peers {
            watch.begin(&format!(
                "{} of {runs}: {} by {}",
                rows.len() + 1,
                problem.name,
                peer.name
            ));
            let answer = peer.answer(&problem.stored, args, watch)?;
            if interrupt::requested() {
                return Ok(rows);
            }
            let found = answer.as_ref().ok();
            rows.push(Row {
                model: problem.name.clone(),
                visible: problem.stored.model.visible(),
                hidden: problem.stored.model.hidden(),
                known: problem.log_z,
                peer: peer.name.to_owned(),
                tap: tap(found.map(|a| (a.log_z - problem.log_z, a.seconds)), args.timeout),
                answer,
            });
        }
    }
    Ok(rows)
}

/// What the times depend on.
fn machine(args: &SuiteArgs) -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let processor = name.map_or("unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = args.threads.unwrap_or(cores);
    format!("{processor}, {threads} of {cores} cores, {}", lnz::instruction_set())
}
