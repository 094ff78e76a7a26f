//! The page: claims, evidence, figures, tables and costs, as HTML and in short as Markdown.

mod decisions;
mod html;
mod markdown;
mod table;
mod tables;

pub(crate) use html::html;
pub(crate) use markdown::markdown;

use super::claims::{Claim, Verdict, claims};
use super::record::Record;
use super::shelf::Shelf;
use super::{EXPERIMENTS, Experiment, fig7};
use table::Table;

/// All that the page shows.
pub(crate) struct Page {
    pub(crate) claims: Vec<Claim>,
    sections: Vec<Section>,
    /// What `auto` does on the same problems.
    auto: Table,
    /// Where `auto` fails, in words.
    auto_limits: String,
    costs: Table,
    /// Scale, machine and date of the last run.
    origin: String,
}

/// One experiment on the page.
struct Section {
    experiment: &'static Experiment,
    svg: String,
    tables: Vec<Table>,
}

impl Page {
    /// Gathers what a folder has.
    pub(crate) fn new(shelf: &Shelf) -> Self {
        let sections = EXPERIMENTS
            .iter()
            .filter(|experiment| !shelf.rows(experiment.name).is_empty())
            .map(|experiment| Section {
                experiment,
                svg: experiment.draw(shelf).svg(experiment.name),
                tables: tables::of(experiment.name, shelf),
            });
        Self {
            claims: claims(shelf),
            sections: sections.collect(),
            auto: tables::auto(shelf),
            auto_limits: auto_limits(shelf),
            costs: tables::costs(shelf),
            origin: origin(shelf),
        }
    }

    /// Number of claims with this verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.claims.iter().filter(|claim| claim.verdict == verdict).count()
    }

    /// `24 hold, 3 hold in part, ...`.
    pub(crate) fn summary(&self) -> String {
        let counts = [
            (Verdict::Holds, "hold"),
            (Verdict::InPart, "hold in part"),
            (Verdict::Not, "do not hold here"),
            (Verdict::Untested, "could not be tested with these results"),
        ];
        let said = counts.into_iter().filter_map(|(verdict, words)| match self.count(verdict) {
            0 => None,
            n => Some(format!("{n} {words}")),
        });
        format!("Of {} claims {}.", self.claims.len(), said.collect::<Vec<_>>().join(", "))
    }
}

/// The large models on which `auto` lies more than a nat below another estimate, which cannot be far
/// too high.
fn auto_limits(shelf: &Shelf) -> String {
    let mut limits = String::new();
    for name in fig7::TRAINED {
        let along = fig7::along(shelf, name);
        let short = |epoch: &fig7::Epoch<'_>| {
            let others = [epoch.reference, epoch.uniform, epoch.mf, epoch.ps];
            let highest = others.iter().map(|row| row.log_z).fold(f64::NEG_INFINITY, f64::max);
            let missing = highest - epoch.auto.log_z;
            let verdict = &epoch.auto.verdict;
            (missing > 1.0).then(|| format!("epoch {}: {missing:.1} nats ({verdict})", epoch.epoch))
        };
        let found: Vec<String> = along.iter().filter_map(short).collect();
        if !found.is_empty() {
            limits += &format!(
                "On {name} auto misses mass that another start finds, with the verdict that it gave: {}. ",
                found.join(", ")
            );
        }
    }
    limits
}

fn origin(shelf: &Shelf) -> String {
    let records: Vec<Record> = EXPERIMENTS
        .iter()
        .map(|experiment| Record::read(shelf, experiment.name))
        .filter(|record| !record.date.is_empty())
        .collect();
    match records.iter().max_by(|a, b| a.date.cmp(&b.date)) {
        Some(last) => format!(
            "lnz {}, {} scale, {} ({}), {}",
            last.lnz, last.scale, last.machine, last.instruction_set, last.date
        ),
        None => format!("lnz {}", env!("CARGO_PKG_VERSION")),
    }
}
