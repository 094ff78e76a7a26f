//! `lnz bounds`: a floor and a ceiling of log Z that hold without statistics.

use crate::args::BoundsArgs;
use crate::failure::usage;
use crate::progress::Watch;
use crate::terminal::{self, Table, value};
use crate::threads::on_threads;
use anyhow::Result;
use lnz::{Bounds, ProvenBounds, proven_bounds};
use lnz_app::numbers::{count, duration, plural};
use lnz_app::report::ModelSummary;
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn run(args: &BoundsArgs) -> Result<ExitCode> {
    let settings = Bounds { entries: args.entries, passes: args.passes };
    let source = args.model.load()?;
    let watch = Watch::new(args.run.quiet);
    let clock = Instant::now();
    let found =
        on_threads(args.run.threads, || Ok(proven_bounds(source.model(), &settings, &watch)?));
    watch.finish();
    let seconds = clock.elapsed().as_secs_f64();
    let Some(found) = found? else {
        return Err(usage(format!(
            "{} has too many weights for bounds that say something: they are for sparse models; see `lnz estimate`",
            source.name
        )));
    };
    let model = ModelSummary::new(&source.name, source.stored());
    if args.run.json {
        let ProvenBounds { floor, ceiling, width, cuts, .. } = found;
        terminal::print_json(&json!({
            "schema": lnz_app::schema::VERSION, "proven": [floor, ceiling], "width": width, "cuts": cuts, "model": model,
            "settings": {"entries": settings.entries, "passes": settings.passes},
            "cost": {"seconds": seconds, "threads": rayon::current_num_threads()},
        }))?;
    } else {
        terminal::print(&to_text(&model, &found, seconds))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(model: &ModelSummary, found: &ProvenBounds, seconds: f64) -> String {
    let mut table = Table::default();
    table.line("model", model.to_text());
    let range = format!("[{:.3}, {:.3}]", found.floor, found.ceiling);
    let gap = found.ceiling - found.floor;
    let about = match found.cuts {
        0 => "no table had to be cut, so this is log Z up to rounding".to_owned(),
        cuts => format!(
            "{gap:.3} apart; {} of {} cut, tables of {} at most",
            plural(cuts, "unit"),
            count(model.visible + model.hidden),
            plural(found.width, "unit")
        ),
    };
    table.line("proven", format!("{}\n{about}", value().apply_to(range)));
    table.line("cost", duration(seconds));
    table.text()
}
