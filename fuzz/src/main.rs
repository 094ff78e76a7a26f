//! Feeds all targets in turn for some time: `fuzz [--minutes N] [--target NAME] [--seed N]`.

use lnz_fuzz::{Driver, TARGETS, Target, hash_of, read_inputs};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// An input that makes a parser take more than this ends the process, and is then found in the file that
/// the first line names.
#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 512 << 20);

/// Inputs between two looks at the clock.
const BETWEEN_LOOKS: u64 = 1000;

struct Options {
    minutes: f64,
    target: Option<String>,
    seed: u64,
}

fn main() -> ExitCode {
    let options = match read_options() {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\nusage: fuzz [--minutes N] [--target NAME] [--seed N]");
            return ExitCode::from(2);
        }
    };
    let wanted = |target: &&Target| options.target.as_ref().is_none_or(|name| target.name == name);
    let targets: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    if targets.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("no such target; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    // Panics are caught and counted: their messages would bury the report.
    std::panic::set_hook(Box::new(|_| ()));
    let share = Duration::from_secs_f64(60.0 * options.minutes / targets.len() as f64);
    let (mut executions, mut faults) = (0, 0);
    let last = last_input();
    println!("the input of the moment is in {}", last.display());
    for target in targets {
        let (clock, file) = (Instant::now(), File::create(&last).ok());
        let report = feed(target, options.seed, share, file);
        println!(
            "{:<20} {:>12} executions, {:>7.0} each second, {:>4} answers, {} faults",
            target.name,
            report.executions,
            report.executions as f64 / clock.elapsed().as_secs_f64(),
            report.answers,
            report.faults.len()
        );
        executions += report.executions;
        faults += report.faults.len();
        for (what, input) in report.faults.iter().take(20) {
            println!("    {what}: {}", keep(target, input));
        }
    }
    let _ = std::fs::remove_file(&last);
    println!("{executions} executions in all, seed {}, {faults} faults", options.seed);
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// In memory, where there is such a place.
fn last_input() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    place.join(format!("lnz-fuzz-{}", std::process::id()))
}

fn feed(target: &Target, seed: u64, time: Duration, last: Option<File>) -> lnz_fuzz::Report {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of = |kind: &str| read_inputs(&top.join(kind).join(target.name));
    let mut driver = Driver::new(target, [of("seeds"), of("regressions")].concat(), seed, last);
    let clock = Instant::now();
    while clock.elapsed() < time && driver.faults() < 100 {
        driver.run(BETWEEN_LOOKS);
    }
    driver.report()
}

/// Writes an input that shows a fault, and says where.
fn keep(target: &Target, input: &[u8]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target.name);
    let path: PathBuf = folder.join(format!("{:016x}", hash_of(0, input)));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    match written {
        Ok(()) => path.display().to_string(),
        Err(error) => format!("cannot be kept: {error}"),
    }
}

fn read_options() -> Result<Options, String> {
    let mut options = Options { minutes: 1.0, target: None, seed: 0 };
    let mut words = std::env::args().skip(1);
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
        let number = || value.parse::<f64>().map_err(|_| format!("{option} {value}: no number"));
        match option.as_str() {
            "--minutes" => options.minutes = number()?.clamp(0.0, 1e6),
            "--seed" => options.seed = number()? as u64,
            "--target" => options.target = Some(value),
            _ => return Err(format!("unknown option {option}")),
        }
    }
    Ok(options)
}
