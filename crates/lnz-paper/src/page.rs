//! The page: claims, evidence, figures, tables and costs, as HTML and in short as Markdown.

mod decisions;
mod html;
mod markdown;
mod tables;

use crate::claims::{Claim, Verdict, claims};
use crate::error::Result;
use crate::experiments::{EXPERIMENTS, Experiment, fig7};
use crate::record::Record;
use crate::results::Results;
use lnz_figures::{Figure, Table};
use std::path::PathBuf;

/// All that the page shows.
#[derive(Debug)]
pub struct Page {
    claims: Vec<Claim>,
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
#[derive(Debug)]
struct Section {
    experiment: &'static Experiment,
    figure: Figure,
    tables: Vec<Table>,
}

impl Page {
    /// Gathers what a folder has.
    pub fn new(results: &Results) -> Self {
        let sections = EXPERIMENTS
            .iter()
            .filter(|experiment| !results.rows(experiment.name).is_empty())
            .map(|experiment| Section {
                experiment,
                figure: experiment.draw(results),
                tables: tables::of(experiment.name, results),
            });
        Self {
            claims: claims(results),
            sections: sections.collect(),
            auto: tables::auto(results),
            auto_limits: auto_limits(results),
            costs: tables::costs(results),
            origin: origin(results),
        }
    }

    /// The whole page as one HTML document.
    pub fn html(&self) -> String {
        html::html(self)
    }

    /// The page in short, for readers of a repository.
    pub fn markdown(&self) -> String {
        markdown::markdown(self)
    }

    /// Writes both into the folder; returns the two files.
    pub fn write(&self, results: &Results) -> Result<[PathBuf; 2]> {
        Ok([
            results.write("report.html", self.html().as_bytes())?,
            results.write("README.md", self.markdown().as_bytes())?,
        ])
    }

    /// Number of claims with this verdict.
    fn count(&self, verdict: Verdict) -> usize {
        self.claims.iter().filter(|claim| claim.verdict == verdict).count()
    }

    /// `24 hold, 3 hold in part, ...`.
    pub fn summary(&self) -> String {
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
fn auto_limits(results: &Results) -> String {
    let mut limits = String::new();
    for name in fig7::TRAINED {
        let along = fig7::along(results, name);
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

fn origin(results: &Results) -> String {
    let records: Vec<Record> = EXPERIMENTS
        .iter()
        .map(|experiment| Record::read(results, experiment.name))
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
