//! Calibration: `cargo xtask calibrate` runs `auto` and plain annealing over models of known log Z.

#[path = "../../tests/known/families.rs"]
mod known;
mod methods;
mod options;
mod report;

use known::{Family, families};
use methods::{Method, Outcome};
use options::Options;
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
    let clock = Instant::now();
    let chosen: Vec<Family> = families()
        .into_iter()
        .filter(|f| f.is_quick() || !options.quick)
        .filter(|f| options.family.as_ref().is_none_or(|part| f.name().contains(part)))
        .collect();
    let mut outcomes = Vec::new();
    for family in &chosen {
        for seed in options.seeds_of(family) {
            match calibrate(family, seed, &options) {
                Ok(of_model) => outcomes.extend(of_model),
                Err(error) => {
                    eprintln!("FAILED: {}, seed {seed}: {error}", family.name());
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    let report = report::markdown(&outcomes, &options, clock.elapsed());
    println!("{report}");
    if let Some(path) = &options.output
        && let Err(error) = std::fs::write(path, report)
    {
        eprintln!("FAILED: {} cannot be written: {error}", path.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// All methods on one model.
fn calibrate(family: &Family, seed: u64, options: &Options) -> lnz::Result<Vec<Outcome>> {
    let (model, log_z) = family.generate(seed)?;
    let mut outcomes = Vec::new();
    let methods = Method::all().into_iter().filter(|m| m.suits(family));
    for method in methods.filter(|m| m.is_auto() || !options.auto_only) {
        let outcome = Outcome {
            family: family.name(),
            seed,
            exact: log_z,
            ..method.run(&model, seed, options)?
        };
        eprintln!("{}", outcome.line());
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
