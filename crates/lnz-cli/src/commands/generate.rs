//! `lnz generate`: an artificial model in a file, with its exact log Z where that is cheap.

use crate::args::{FamilyArgs, GenerateArgs, GenerateKind, MadeArgs};
use crate::failure::usage;
use crate::progress::Watch;
use crate::terminal::{self, Table};
use anyhow::Result;
use lnz::Spins;
use lnz::io::{self, StoredModel};
use lnz_app::league::SUITE;
use lnz_app::report::ModelSummary;
use lnz_app::{Recipe, SpinRecipe, numbers};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode> {
    match &args.kind {
        GenerateKind::Gwgm { family } => gwgm(family, None, false),
        GenerateKind::Bms { blocks, shuffle, family } => gwgm(family, Some(*blocks), *shuffle),
        &GenerateKind::Grid { rows, columns, strength, wrap, ref made } => {
            spins(Spins::Grid { rows, columns, strength, wrap }, made)
        }
        &GenerateKind::Spins { visible, hidden, ferro: ferromagnetic, ref made } => {
            spins(Spins::Dense { visible, hidden, ferromagnetic }, made)
        }
        GenerateKind::Suite { seed, output, quiet } => suite(*seed, output, *quiet),
    }
}

fn gwgm(args: &FamilyArgs, blocks: Option<usize>, shuffle: bool) -> Result<ExitCode> {
    let recipe = Recipe { family: args.family(), blocks, shuffle, seed: args.made.seed };
    recipe.check_size()?;
    write(&args.made, |exact, watch| recipe.make(exact, watch))
}

fn spins(family: Spins, made: &MadeArgs) -> Result<ExitCode> {
    let recipe = SpinRecipe { family, seed: made.seed };
    recipe.check_size()?;
    write(made, |exact, watch| recipe.make(exact, watch))
}

/// Makes a model and writes it; whether to compute its log Z is the first argument of `make`.
fn write(
    args: &MadeArgs,
    make: impl FnOnce(bool, &Watch) -> lnz_app::Result<StoredModel>,
) -> Result<ExitCode> {
    io::check_model_path(&args.output)?;
    let watch = Watch::new(args.quiet);
    let stored = make(!args.no_exact, &watch);
    watch.finish();
    let stored = stored?;
    io::write_model(&args.output, &stored)?;
    terminal::print(&summary(args, &stored))?;
    Ok(ExitCode::SUCCESS)
}

/// The models of the league, each with its log Z beside it.
fn suite(seed: u64, folder: &Path, quiet: bool) -> Result<ExitCode> {
    std::fs::create_dir_all(folder)
        .map_err(|error| usage(format!("--output {}: {error}", folder.display())))?;
    let watch = Watch::new(quiet);
    let mut text = String::new();
    for (seed, family) in (seed..).zip(SUITE) {
        watch.begin(&family.name());
        let stored = SpinRecipe { family, seed }.make(true, &watch)?;
        let Some(log_z) = stored.exact_log_z else {
            return Err(anyhow::anyhow!("{} has no cheap exact value here", family.name()));
        };
        let name = format!("{}.uai", family.name());
        io::write_model(&folder.join(&name), &stored)?;
        io::write_log_z(&folder.join(format!("{name}.PR")), log_z)?;
        text += &format!("  {name:<24} log Z {}\n", numbers::exact(log_z));
    }
    watch.finish();
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn summary(args: &MadeArgs, stored: &StoredModel) -> String {
    let mut table = Table::default();
    let name = args.output.display().to_string();
    table.line("model", ModelSummary::new(&name, stored).to_text());
    let log_z = match stored.exact_log_z {
        Some(log_z) => format!("{}, exact, stored in the file", numbers::exact(log_z)),
        None if args.no_exact => "not computed (--no-exact)".to_owned(),
        None => "not computed: summing over all states would take too long".to_owned(),
    };
    table.line("log Z", log_z);
    table.text()
}
