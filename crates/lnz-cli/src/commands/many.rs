//! `lnz estimate` with many models: a row for each, as soon as it is there.

use crate::args::EstimateArgs;
use crate::failure;
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal::{self, label};
use crate::threads::on_threads;
use anyhow::Result;
use lnz_app::batch::{self, Kind, Ledger, Row, Sharing};
use lnz_app::request::Plan;
use lnz_app::run::{self, Outcome};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// More than one model is meant, or a table.
pub(crate) fn are_meant(args: &EstimateArgs) -> bool {
    let table = args.table.csv.is_some() || args.table.jsonl.is_some();
    table || args.models.len() > 1 || args.models.iter().any(|name| batch::is_plural(name))
}

pub(crate) fn run(args: &EstimateArgs, plan: &Plan) -> Result<ExitCode> {
    let models = batch::expand(&args.models)?;
    if args.table.share_starts {
        plan.clone().with_similar_means(vec![], "share_starts")?;
    }
    let settings = batch::settings_hash(&args.request()?);
    let mut ledger = match (&args.table.csv, &args.table.jsonl) {
        (Some(path), _) => Some(Ledger::open(path, Kind::Csv)?),
        (_, Some(path)) => Some(Ledger::open(path, Kind::JsonLines)?),
        (None, None) => None,
    };
    let table = args.table.csv.as_deref().or(args.table.jsonl.as_deref());
    let mut sharing = args.table.share_starts.then(|| Sharing::beside(table)).transpose()?;
    let width = models.iter().map(|name| name.display().to_string().chars().count()).max();
    let width = width.unwrap_or(0).clamp(5, 48);
    let titles = Row::titles(width);
    let has_room = terminal::width().is_none_or(|columns| 2 + titles.len() <= columns);
    let shown = |row: &Row| if has_room { row.to_text(width) } else { row.to_record() };
    if !args.judged.run.json && has_room {
        terminal::print(&format!("  {}\n", label().apply_to(titles)))?;
    }
    let watch = Watch::new(args.judged.run.quiet);
    let (mut failed, mut skipped, mut worst) = (Vec::new(), 0, ExitCode::SUCCESS);
    for model in &models {
        if interrupt::requested() {
            break;
        }
        watch.begin(&model.display().to_string());
        let done = on_threads(args.judged.run.threads, || {
            one(args, plan, model, &settings, ledger.as_mut(), sharing.as_mut(), &watch)
        });
        watch.finish();
        match done {
            Ok(Done::New(row, object)) => {
                let text = match &object {
                    Some(object) => format!("{object}\n"),
                    None => format!("  {}\n", shown(&row)),
                };
                terminal::print(&text)?;
                let code = args.judged.verdict.exit_code(&row.verdict);
                worst = if code == ExitCode::SUCCESS { worst } else { code };
            }
            Ok(Done::Before(row)) => {
                skipped += 1;
                if !args.judged.run.json {
                    terminal::print(&format!("  {}  (from the file)\n", shown(&row)))?;
                }
            }
            Ok(Done::Stopped) => break,
            Err(_) if interrupt::requested() => break,
            Err(error) => {
                failure::explain(&error);
                failed.push(model.display().to_string());
            }
        }
    }
    if interrupt::requested() {
        return Ok(ExitCode::from(interrupt::code()));
    }
    if skipped > 0 && !args.judged.run.json && !args.judged.run.quiet {
        terminal::print(&format!("  {skipped} of {} were in the file\n", models.len()))?;
    }
    if !failed.is_empty() {
        let (count, all) = (failed.len(), models.len());
        anyhow::bail!("{count} of {all} models have no result: {}", failed.join(", "));
    }
    Ok(worst)
}

/// How it went with a model.
enum Done {
    /// With the object for programs, where that is wanted.
    New(Row, Option<serde_json::Value>),
    /// It is in the file.
    Before(Row),
    Stopped,
}

fn one(
    args: &EstimateArgs,
    plan: &Plan,
    model: &Path,
    settings: &str,
    ledger: Option<&mut Ledger>,
    mut sharing: Option<&mut Sharing>,
    watch: &Watch,
) -> Result<Done> {
    let started = Instant::now();
    let source = args.reading.load(model)?;
    let (model, sha256) = (source.model(), source.model().sha256());
    let settings = match &sharing {
        Some(sharing) => &sharing.settings(settings, model),
        None => settings,
    };
    if let Some(ledger) = &ledger
        && let Some(row) = ledger.row(&sha256, settings)
        // A row whose start is lost is computed again: the next model depends on it.
        && sharing.as_mut().is_none_or(|s| s.goes_on_from(model, &sha256, settings))
    {
        let mut row = row.clone();
        row.name.clone_from(&source.name);
        return Ok(Done::Before(row));
    }
    let plan = match &sharing {
        Some(sharing) => &sharing.plan(plan, model)?,
        None => plan,
    };
    let Outcome { report, stopped, .. } =
        run::estimate(source.stored(), &source.name, plan, started, watch)?;
    if stopped {
        return Ok(Done::Stopped);
    }
    if let Some(sharing) = sharing {
        sharing.hand_on(model, &sha256, settings, report.finding.starts())?;
    }
    let row = Row::new(&report, settings, started.elapsed().as_secs_f64());
    if let Some(ledger) = ledger {
        ledger.add(&row, &report)?;
    }
    let object = args.judged.run.json.then(|| batch::to_json(&row, &report));
    Ok(Done::New(row, object))
}
