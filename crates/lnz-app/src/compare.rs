//! Several strategies side by side on one model.

use crate::numbers::{duration, short, with_decimals_of};
use crate::provenance::Provenance;
use crate::report::ModelSummary;
use crate::request::{AisPlan, AnnealingRequest, StartPlan};
use crate::{Result, schema};
use lnz::io::StoredModel;
use lnz::{Auto, Estimator, Exact, Finding, InitialState, Observer, Sampling, second_opinion};
use lnz_figures::{Cell, Table};
use serde_json::{Value, json};

/// A comparison as it is asked for.
#[derive(Debug, Clone, Default)]
pub struct CompareRequest {
    /// Do not compute the exact value.
    pub no_exact: bool,
    /// Do not search for mass that the strategies may have missed.
    pub no_check: bool,
    /// The annealing runs, but for their starts.
    pub annealing: AnnealingRequest,
}

/// A comparison that is ready to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ComparePlan {
    exact: bool,
    check: bool,
    seed: u64,
    strategies: Vec<(&'static str, AisPlan)>,
}

/// A strategy and what it found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// Its start.
    pub name: &'static str,
    /// On the exchanged layers.
    pub transpose: bool,
    /// What it found.
    pub finding: Finding,
}

/// What several strategies found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Comparison {
    /// The model in numbers.
    pub model: ModelSummary,
    /// The truth, where it is cheap.
    pub exact: Option<Finding>,
    /// The strategies.
    pub rows: Vec<Row>,
}

impl CompareRequest {
    /// The classical start and the paper's two recommended ones, in both orientations.
    pub fn plan(&self) -> Result<ComparePlan> {
        let gibbs = |initial| StartPlan::Sampled(Sampling { initial, ..Sampling::default() });
        let starts = [
            ("uniform", StartPlan::Uniform),
            ("gibbs mf", gibbs(InitialState::MeanField)),
            ("gibbs ps", gibbs(InitialState::Pseudoinverse)),
        ];
        let mut strategies = Vec::new();
        for (name, start) in starts {
            for transpose in [false, true] {
                let plan = AisPlan::with_start(start.clone(), &self.annealing, transpose)?;
                strategies.push((name, plan));
            }
        }
        let (exact, check, seed) = (!self.no_exact, !self.no_check, self.annealing.seed);
        Ok(ComparePlan { exact, check, seed, strategies })
    }
}

/// Runs one strategy after the other and announces each through `begin`; after the observer asks to
/// stop, what has been finished is what there is.
pub fn compare(
    stored: &StoredModel,
    name: &str,
    plan: &ComparePlan,
    begin: &dyn Fn(&str),
    observer: &dyn Observer,
) -> Result<Comparison> {
    let model = ModelSummary::new(name, stored);
    let wanted = plan.exact && Auto::default().sums_exactly(&stored.model)?;
    let exact = wanted.then(|| Exact::default().estimate(&stored.model, observer)).transpose()?;
    // One opinion for all of them; a search that was stopped, or cannot be made, has none.
    let opinion = match plan.check {
        true => second_opinion(&stored.model, plan.seed, observer).ok(),
        false => None,
    };
    let mut rows = Vec::new();
    for (i, (name, strategy)) in plan.strategies.iter().enumerate() {
        // Without hidden units there is nothing to exchange.
        if strategy.transpose && stored.model.hidden() == 0 {
            continue;
        }
        begin(&format!("{} of {}: {name}", i + 1, plan.strategies.len()));
        let ais = strategy.estimator(stored)?;
        match ais.estimate_against(opinion.as_ref(), &stored.model, observer) {
            Ok(finding) => rows.push(Row { name, transpose: strategy.transpose, finding }),
            Err(lnz::Error::Cancelled { .. }) if !rows.is_empty() => break,
            Err(error) => return Err(error.into()),
        }
        if observer.cancelled() {
            break;
        }
    }
    Ok(Comparison { model, exact, rows })
}

impl Comparison {
    /// What the strategies are measured against: the exact value, or else the highest estimate,
    /// because estimates of log Z err on the low side.
    pub fn reference(&self) -> f64 {
        match &self.exact {
            Some(exact) => exact.log_z,
            None => self.rows.iter().map(|row| row.finding.log_z).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The object for programs; the names of its fields are a contract.
    pub fn to_json(&self) -> Value {
        let reference = self.reference();
        json!({
            "schema": schema::VERSION,
            "model": self.model,
            "exact": self.exact.as_ref().map(|exact| exact.log_z),
            "reference": if self.exact.is_some() { "exact" } else { "highest" },
            "strategies": self.rows.iter().map(|row| row.to_json(reference)).collect::<Vec<_>>(),
            "run": Provenance::now(),
        })
    }

    /// All strategies, one line each.
    pub fn table(&self) -> Table {
        let against = if self.exact.is_some() { "off by" } else { "below best" };
        let head = [
            "start",
            "orientation",
            "log Z",
            "error",
            against,
            "%",
            "effective",
            "time",
            "verdict",
        ];
        let mut table = Table::new("Strategies side by side", &head);
        let reference = self.reference();
        table.rows = self.rows.iter().map(|row| row.cells(reference)).collect();
        table
    }

    /// What to know when there is no exact value.
    pub fn note(&self) -> Option<&'static str> {
        self.exact.is_none().then_some(
            "No exact value to compare with. Estimates of log Z err on the low side, so the highest is the best guess; differences far beyond the errors mean that the lower ones missed modes.",
        )
    }
}

impl Row {
    fn cells(&self, reference: f64) -> Vec<Cell> {
        let Finding { log_z, std_error, ess, cost, .. } = &self.finding;
        let round = |x: &f64| Cell::number(*x, with_decimals_of(*std_error, *x));
        let difference = log_z - reference;
        let share = 100.0 * difference / reference.abs();
        let (ess, seconds) =
            (ess.unwrap_or_default(), cost.start_seconds.unwrap_or_default() + cost.seconds);
        vec![
            Cell::text(self.name),
            Cell::text(if self.transpose { "transposed" } else { "original" }),
            round(log_z),
            round(std_error),
            Cell::number(difference, format!("{difference:+.2}")),
            Cell::number(share, format!("{share:+.2}")),
            Cell::number(ess, short(ess)),
            Cell::number(seconds, duration(seconds)),
            Cell::text(self.finding.diagnosis.verdict.name()),
        ]
    }

    fn to_json(&self, reference: f64) -> Value {
        let Finding { log_z, diagnosis, cost, .. } = &self.finding;
        json!({
            "start": self.name,
            "transpose": self.transpose,
            "estimate": self.finding.ais().map(|run| &run.statistics),
            "difference": log_z - reference,
            "verdict": diagnosis.verdict,
            "warnings": diagnosis.warnings.iter().map(|w| w.kind()).collect::<Vec<_>>(),
            "cost": {
                "chain_steps": cost.chain_steps,
                "seconds": cost.seconds,
                "start_seconds": cost.start_seconds,
            },
        })
    }
}
