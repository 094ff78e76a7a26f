//! `lnz generate`: an artificial model in a file, with its exact log Z where that is cheap.

use crate::args::{FamilyArgs, GenerateArgs, GenerateKind};
use crate::progress::Watch;
use crate::terminal::{self, Table};
use anyhow::Result;
use lnz::io::{self, StoredModel};
use lnz_app::report::ModelSummary;
use lnz_app::{Recipe, numbers};
use std::process::ExitCode;

pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode> {
    let (family, blocks, shuffle) = match &args.kind {
        GenerateKind::Gwgm { family } => (family, None, false),
        GenerateKind::Bms { blocks, shuffle, family } => (family, Some(*blocks), *shuffle),
    };
    let recipe = Recipe { family: family.family(), blocks, shuffle, seed: family.seed };
    recipe.check_size()?;
    io::check_model_path(&family.output)?;
    let watch = Watch::new(family.quiet);
    let stored = recipe.make(!family.no_exact, &watch);
    watch.finish();
    let stored = stored?;
    io::write_model(&family.output, &stored)?;
    terminal::print(&summary(family, &stored))?;
    Ok(ExitCode::SUCCESS)
}

fn summary(args: &FamilyArgs, stored: &StoredModel) -> String {
    let mut table = Table::default();
    let name = args.output.display().to_string();
    table.line("model", ModelSummary::new(&name, &stored).to_text());
    let log_z = match stored.exact_log_z {
        Some(log_z) => format!("{}, exact, stored in the file", numbers::exact(log_z)),
        None if args.no_exact => "not computed (--no-exact)".to_owned(),
        None => "not computed: summing over all states would take too long".to_owned(),
    };
    table.line("log Z", log_z);
    table.text()
}
