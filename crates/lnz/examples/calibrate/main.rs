//! Calibration: `cargo xtask calibrate` runs `auto` over models of known log Z.

mod environment;
mod files;
#[path = "../../tests/known/families.rs"]
mod known;
mod methods;
mod options;
mod outcome;
mod report;
mod run;

use known::{Family, families};
use options::{Options, Part};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--help") {
        println!("{}", options::USAGE);
        return ExitCode::SUCCESS;
    }
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let chosen = chosen(&options);
    if chosen.is_empty() {
        eprintln!("no family has such a name; without --family all of them are run");
        return ExitCode::from(2);
    }
    let done = match &options.write {
        Some(directory) => files::write(&chosen, directory),
        None => calibrate(&chosen, &options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("FAILED: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the methods and tells what came of it.
fn calibrate(chosen: &[Chosen], options: &Options) -> Result<(), String> {
    let clock = Instant::now();
    let outcomes = run::run(chosen, options)?;
    let report = report::markdown(&outcomes, options, clock.elapsed());
    println!("{report}");
    match &options.output {
        Some(path) => std::fs::write(path, report)
            .map_err(|error| format!("{} cannot be written: {error}", path.display())),
        None => Ok(()),
    }
}

/// A model that was asked for.
struct Chosen {
    family: Family,
    part: Part,
    seed: u64,
}

fn chosen(options: &Options) -> Vec<Chosen> {
    let of_family = |family: Family| {
        let seeds = options.seeds_of(&family);
        seeds.into_iter().map(move |(part, seed)| Chosen { family: family.clone(), part, seed })
    };
    families().into_iter().filter(|family| options.includes(family)).flat_map(of_family).collect()
}
