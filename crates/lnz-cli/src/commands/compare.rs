//! `lnz compare`: several strategies side by side on one model.

use crate::args::CompareArgs;
use crate::failure::INTERRUPTED;
use crate::interrupt;
use crate::model_source::Source;
use crate::numbers::{duration, exact, short, with_decimals_of};
use crate::plan::{AisPlan, StartPlan};
use crate::progress::Watch;
use crate::report::ModelSummary;
use crate::run::{self, AisRun, ExactRun, Patience};
use crate::terminal::{self, Table, bad, label, value};
use anyhow::Result;
use lnz::{Error, InitialState, Sampling, Verdict};
use serde_json::{Value, json};
use std::process::ExitCode;

/// A strategy and what it found.
struct Row {
    name: &'static str,
    transpose: bool,
    run: AisRun,
}

struct Comparison {
    model: ModelSummary,
    exact: Option<ExactRun>,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let plans = plans(args)?;
    let source = Source::load(&args.model)?;
    let watch = Watch::new(args.run.quiet);
    let comparison = run::on_threads(args.run.threads, || compare(args, &source, &plans, &watch));
    watch.finish();
    let comparison = comparison?;
    if args.run.json {
        terminal::print_json(&comparison.to_json())?;
    } else {
        terminal::print(&comparison.to_text())?;
    }
    Ok(if interrupt::requested() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The classical start and the paper's two recommended ones.
fn plans(args: &CompareArgs) -> Result<Vec<(&'static str, AisPlan)>> {
    let gibbs = |initial| StartPlan::Sampled(Sampling { initial, ..Sampling::default() });
    let starts = [
        ("uniform", StartPlan::Uniform),
        ("gibbs mf", gibbs(InitialState::MeanField)),
        ("gibbs ps", gibbs(InitialState::Pseudoinverse)),
    ];
    let mut plans = Vec::new();
    for (name, start) in starts {
        for transpose in [false, true] {
            plans.push((name, AisPlan::with_start(start.clone(), &args.annealing, transpose)?));
        }
    }
    Ok(plans)
}

/// Runs one after the other; after Ctrl-C, what has been finished is what there is.
fn compare(
    args: &CompareArgs,
    source: &Source,
    plans: &[(&'static str, AisPlan)],
    watch: &Watch,
) -> Result<Comparison> {
    let model = ModelSummary::new(&source.name, source.model());
    let wanted = !args.no_exact && run::exact_is_cheap(source.model())?;
    let exact = wanted.then(|| run::exact(source.model(), Patience::Limited, watch)).transpose()?;
    let opinion = match args.no_check {
        true => None,
        false => run::opinion(source, args.annealing.seed, watch),
    };
    let mut rows = Vec::new();
    for (i, (name, plan)) in plans.iter().enumerate() {
        // Without hidden units there is nothing to exchange.
        if plan.transpose && source.model().hidden() == 0 {
            continue;
        }
        watch.begin(&format!("{} of {}: {name}", i + 1, plans.len()));
        match run::ais(source, plan, opinion.as_ref(), watch) {
            Ok(run) => rows.push(Row { name, transpose: plan.transpose, run }),
            Err(error) if is_stop(&error) && !rows.is_empty() => break,
            Err(error) => return Err(error),
        }
        if interrupt::requested() {
            break;
        }
    }
    Ok(Comparison { model, exact, rows })
}

fn is_stop(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Cancelled { .. }))
}

impl Comparison {
    /// What the others are measured against: the exact value, or else the highest estimate, because
    /// estimates of log Z err on the low side.
    fn reference(&self) -> f64 {
        match &self.exact {
            Some(exact) => exact.log_z,
            None => {
                self.rows.iter().map(|row| row.run.estimate.log_z).fold(f64::NEG_INFINITY, f64::max)
            }
        }
    }

    fn to_text(&self) -> String {
        let mut head = Table::default();
        head.line("model", self.model.to_text());
        if let Some(exact_run) = &self.exact {
            let log_z = value().apply_to(exact(exact_run.log_z));
            head.line("exact", format!("{log_z}, {}", duration(exact_run.seconds)));
        }
        let against = if self.exact.is_some() { "off by" } else { "below best" };
        let mut text = head.text() + "\n";
        let titles = format!(
            "  {:<9} {:<11} {:>12} {:>8} {:>13} {:>9} {:>9}  {:>8}",
            "start", "orientation", "log Z", "error", against, "", "effective", "time"
        );
        text += &format!("{}\n", label().apply_to(titles));
        let reference = self.reference();
        for row in &self.rows {
            text += &row.to_text(reference);
        }
        if self.exact.is_none() {
            text += "\n  No exact value to compare with. Estimates of log Z err on the low side, so the highest is\n  the best guess; differences far beyond the errors mean that the lower ones missed modes.\n";
        }
        text
    }

    fn to_json(&self) -> Value {
        let reference = self.reference();
        json!({
            "schema": 1,
            "model": self.model,
            "exact": self.exact.as_ref().map(|exact| exact.log_z),
            "reference": if self.exact.is_some() { "exact" } else { "highest" },
            "strategies": self.rows.iter().map(|row| row.to_json(reference)).collect::<Vec<_>>(),
        })
    }
}

impl Row {
    fn to_text(&self, reference: f64) -> String {
        let estimate = &self.run.estimate;
        let round = |x| with_decimals_of(estimate.std_error, x);
        let difference = estimate.log_z - reference;
        let line = format!(
            "  {:<9} {:<11} {:>12} {:>8} {:>13} {:>9} {:>9}  {:>8}",
            self.name,
            if self.transpose { "transposed" } else { "original" },
            round(estimate.log_z),
            round(estimate.std_error),
            format!("{:+.2}", difference),
            format!("{:+.2}%", 100.0 * difference / reference.abs()),
            short(estimate.ess),
            duration(self.run.start_seconds + self.run.seconds)
        );
        match self.run.diagnosis.verdict {
            Verdict::Suspect => format!("{line}  {}\n", bad().apply_to("suspect")),
            _ => line + "\n",
        }
    }

    fn to_json(&self, reference: f64) -> Value {
        let run = &self.run;
        json!({
            "start": self.name,
            "transpose": self.transpose,
            "estimate": run.estimate,
            "difference": run.estimate.log_z - reference,
            "verdict": run.diagnosis.verdict,
            "warnings": run.diagnosis.warnings.iter().map(|w| w.kind()).collect::<Vec<_>>(),
            "cost": {
                "chain_steps": run.chain_steps,
                "seconds": run.seconds,
                "start_seconds": run.start_seconds,
            },
        })
    }
}
