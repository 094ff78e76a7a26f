//! Calibration: `cargo xtask calibrate` runs `auto` over models of known log Z.

mod files;
#[path = "../../tests/known/families.rs"]
mod known;
mod options;

use known::{Family, families};
use options::{Options, Part};
use std::process::ExitCode;

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
    let done = match &options.write {
        Some(directory) => files::write(&chosen, directory),
        None => Err("run: not yet".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("FAILED: {message}");
            ExitCode::FAILURE
        }
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
