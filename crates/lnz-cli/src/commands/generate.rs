//! `lnz generate`: an artificial model in a file, with its exact log Z where that is cheap.

use crate::args::{FamilyArgs, GenerateArgs, GenerateKind};
use crate::failure::usage;
use crate::numbers;
use crate::progress::Watch;
use crate::report::ModelSummary;
use crate::run::{self, Patience};
use crate::terminal::{self, Table};
use anyhow::Result;
use lnz::io::{self, StoredModel};
use lnz::{Rbm, block_system};
use std::process::ExitCode;

/// Weights of 8 GB: past it a typing error is more likely than a wish.
const MOST_WEIGHTS: usize = 1 << 30;

pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode> {
    let (family, blocks, shuffle) = match &args.kind {
        GenerateKind::Gwgm { family } => (family, None, false),
        GenerateKind::Bms { blocks, shuffle, family } => (family, Some(*blocks), *shuffle),
    };
    check_size(family, blocks.unwrap_or(1))?;
    io::check_model_path(&family.output)?;
    let model = match blocks {
        None => family.family().generate(family.seed)?,
        Some(blocks) => block_system(&family.family(), blocks, shuffle, family.seed)?,
    };
    let mut stored = StoredModel::from(model);
    stored.metadata.insert("generated_by".into(), recipe(family, blocks, shuffle));
    stored.exact_log_z = exact_if_cheap(&stored.model, family)?;
    io::write_model(&family.output, &stored)?;
    terminal::print(&summary(family, &stored))?;
    Ok(ExitCode::SUCCESS)
}

fn check_size(family: &FamilyArgs, blocks: usize) -> Result<()> {
    let side = |units: usize| units.checked_mul(blocks);
    let weights = side(family.visible).zip(side(family.hidden)).and_then(|(v, h)| v.checked_mul(h));
    match weights {
        Some(n) if n <= MOST_WEIGHTS => Ok(()),
        _ => Err(usage(format!(
            "--visible {} and --hidden {} make more than {} weights; choose a smaller model",
            family.visible,
            family.hidden,
            numbers::count(MOST_WEIGHTS)
        ))),
    }
}

fn exact_if_cheap(model: &Rbm, family: &FamilyArgs) -> Result<Option<f64>> {
    if family.no_exact || !run::exact_is_cheap(model)? {
        return Ok(None);
    }
    let watch = Watch::new(family.quiet);
    let exact = run::exact(model, Patience::Limited, &watch);
    watch.finish();
    Ok(Some(exact?.log_z))
}

/// The command that makes the same model again.
fn recipe(args: &FamilyArgs, blocks: Option<usize>, shuffle: bool) -> String {
    let kind = match blocks {
        None => "gwgm".to_owned(),
        Some(n) => format!("bms --blocks {n}{}", if shuffle { " --shuffle" } else { "" }),
    };
    format!(
        "lnz generate {kind} --visible {} --hidden {} --mu-mu {} --sigma-mu {} --mu-sigma {} --sigma-sigma {} --lambda {} --seed {}",
        args.visible,
        args.hidden,
        args.mu_mu,
        args.sigma_mu,
        args.mu_sigma,
        args.sigma_sigma,
        args.lambda,
        args.seed
    )
}

fn summary(args: &FamilyArgs, stored: &StoredModel) -> String {
    let mut table = Table::default();
    let name = args.output.display().to_string();
    table.line("model", ModelSummary::new(&name, &stored.model).to_text());
    let log_z = match stored.exact_log_z {
        Some(log_z) => format!("{}, exact, stored in the file", numbers::exact(log_z)),
        None if args.no_exact => "not computed (--no-exact)".to_owned(),
        None => "not computed: summing over all states would take too long".to_owned(),
    };
    table.line("log Z", log_z);
    table.text()
}
