//! `lnz`, the command-line tool: arguments, one command, an exit code.

mod args;
mod commands;
mod failure;
mod fetch;
mod interrupt;
mod memory;
mod progress;
mod report;
mod terminal;
mod threads;
mod usage;

use args::Command;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::survive_file_limits();
    terminal::respect_no_color();
    let cli = match usage::parse() {
        Ok(cli) => cli,
        Err(error) => return usage::explain(error),
    };
    let outcome = match cli.command {
        Command::Estimate(args) => commands::estimate::run(&args),
        Command::Exact(args) => commands::exact::run(&args),
        Command::Bounds(args) => commands::bounds::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Plan(args) => commands::folder::plan(&args),
        Command::Work(args) => commands::folder::work(&args),
        Command::Merge(args) => commands::folder::merge(&args),
        Command::Status(args) => commands::folder::status(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Track(args) => commands::track::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Models(args) => commands::models::run(&args),
        Command::Paper(args) => commands::paper::run(&args),
        Command::Sample(args) => commands::sample::run(&args),
        Command::Score(args) => commands::score::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Schema => commands::schema::run(),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Version(args) => commands::version::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => failure::explain(&error),
    }
}
