//! Fig. 1: the uniform start on models of known log Z, and on blocks of them.

use super::chart::{self, AUTO, UNIFORM};
use crate::job::{Job, Strategy};
use crate::problem::{Problem, blocks_name, family_name, parameters};
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use lnz::Gwgm;
use lnz_figures::{Axis, Figure, Panel, Series, Style};

/// Hidden units of the two sizes of artificial models.
pub(crate) const SIZES: [usize; 2] = [60, 180];

/// Epochs of the small trained models.
pub(crate) const EPOCHS: [usize; 7] = [10, 50, 100, 200, 300, 400, 500];

/// The small trained models.
pub(crate) const TRAINED: [&str; 2] = ["mnist-20h", "web-20h"];

/// Blocks of a block system, as in the paper's.
const BLOCKS: usize = 3;

/// Parameter sets from easy to the paper's hardest; the paper names the last one in its text.
pub(crate) fn families(hidden: usize) -> [Gwgm; 4] {
    [0.01, 0.1, 0.3, 1.0].map(|factor| Gwgm {
        hidden,
        mu_mu: Gwgm::HARDEST.mu_mu * factor,
        sigma_mu: Gwgm::HARDEST.sigma_mu * factor,
        mu_sigma: Gwgm::HARDEST.mu_sigma * factor,
        sigma_sigma: Gwgm::HARDEST.sigma_sigma * factor,
        ..Gwgm::HARDEST
    })
}

/// The family with the paper's largest weights.
pub(crate) fn hardest(hidden: usize) -> Gwgm {
    Gwgm { hidden, ..Gwgm::HARDEST }
}

pub(super) fn plan(scale: &Scale, results: &Results) -> Vec<Job> {
    let mut jobs = Vec::new();
    for hidden in SIZES {
        for family in families(hidden).into_iter().rev().take(scale.families).rev() {
            for seed in 0..scale.instances {
                for method in [Strategy::Uniform, Strategy::Auto] {
                    jobs.push(Job::new(Problem::Gwgm { family, seed }, method));
                }
            }
        }
    }
    for name in TRAINED {
        for epoch in EPOCHS {
            for method in [Strategy::Uniform, Strategy::Auto] {
                jobs.push(Job::new(Problem::Trained { name, epoch }, method));
            }
        }
    }
    for hidden in SIZES {
        let family = hardest(hidden);
        for seeds in packed(&uniform_rows(scale, results, &family)) {
            for method in [Strategy::Uniform, Strategy::Auto] {
                jobs.push(Job::new(Problem::Blocks { family, seeds: seeds.clone() }, method));
            }
        }
    }
    jobs
}

/// Rows of the uniform start on the original models of a family; empty until all are there.
pub(crate) fn uniform_rows<'a>(scale: &Scale, results: &'a Results, family: &Gwgm) -> Vec<&'a Row> {
    let known = results.by_key();
    let rows = (0..scale.instances).map(|seed| {
        let job = Job::new(Problem::Gwgm { family: *family, seed }, Strategy::Uniform);
        known.get(&job.settings().key()).copied()
    });
    rows.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Seeds of models with neighbouring errors, three by three.
fn packed(rows: &[&Row]) -> Vec<Vec<u64>> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.xi.unwrap_or(0.0).total_cmp(&b.xi.unwrap_or(0.0)));
    let seeds: Vec<u64> = rows.iter().filter_map(|row| row.instance.parse().ok()).collect();
    seeds.chunks_exact(BLOCKS).map(<[u64]>::to_vec).collect()
}

/// For each block system: the mean error of its blocks, and its own.
pub(crate) fn packing(results: &Results, family: &Gwgm) -> Vec<(f64, f64)> {
    let rows = results.rows("fig1");
    let error = |seed: &str| {
        let name = family_name(family);
        let of =
            |row: &&Row| row.method == "uniform" && row.problem == name && row.instance == seed;
        rows.iter().find(of)?.xi
    };
    let mut pairs: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.method == "uniform" && row.problem == blocks_name(family))
        .filter_map(|row| {
            let parts: Vec<f64> = row.instance.split('+').map(error).collect::<Option<_>>()?;
            Some((parts.iter().sum::<f64>() / parts.len() as f64, row.xi?))
        })
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}

pub(super) fn figure(results: &Results) -> Figure {
    let rows = results.rows("fig1");
    let of = |problem: String, method: &'static str| {
        rows.iter().filter(move |row| row.problem == problem && row.method == method)
    };
    let mut panels = Vec::new();
    for (hidden, letter) in SIZES.into_iter().zip(["a", "b"]) {
        let mut panel = chart::sorted_panel(format!("({letter}) GWGM 20 × {hidden}"));
        for (i, family) in families(hidden).iter().enumerate() {
            let name = uniform_name(family);
            // The style of the uniform start elsewhere is that of the hardest family here.
            let style = Style::new([5, 6, 2, 1][i]);
            panel = panel.with(chart::sorted(name, of(family_name(family), "uniform"), style));
        }
        let auto = of(family_name(&hardest(hidden)), "auto");
        panels.push(panel.with(chart::sorted("auto", auto, AUTO)));
    }
    for (name, title) in TRAINED.into_iter().zip(["(c) MNIST-20h", "(d) Web-20h"]) {
        panels.push(
            chart::epoch_panel(title)
                .with(chart::by_epoch("uniform", of(name.into(), "uniform"), UNIFORM))
                .with(chart::by_epoch("auto", of(name.into(), "auto"), AUTO)),
        );
    }
    for (hidden, letter) in SIZES.into_iter().zip(["e", "f"]) {
        panels.push(block_panel(results, hidden, letter));
    }
    let note = format!(
        "{} auto in (a) and (b): the hardest family.{}",
        chart::SMALL_PRINT,
        chart::auto_cost(rows.iter())
    );
    Figure { note, ..Figure::new(panels) }
}

/// The uniform start with the parameters of a family.
fn uniform_name(family: &Gwgm) -> String {
    format!("uniform, {}", parameters(family).replace('-', "−"))
}

fn block_panel(results: &Results, hidden: usize, letter: &str) -> Panel {
    let pairs = packing(results, &hardest(hidden));
    let curve = |name: &str, value: fn(&(f64, f64)) -> f64, style| {
        let points = pairs.iter().enumerate();
        Series::new(
            name,
            points.map(|(i, p)| [(i + 1) as f64, chart::drawn(value(p))]).collect(),
            style,
        )
    };
    let auto: Vec<&Row> = results
        .rows("fig1")
        .iter()
        .filter(|row| row.method == "auto" && row.problem == blocks_name(&hardest(hidden)))
        .collect();
    chart::xi_panel(
        format!("({letter}) three blocks of 20 × {hidden} with similar ξ"),
        Axis::linear("block system, sorted by the mean ξ of its blocks"),
    )
    .with(curve("mean ξ of the blocks alone", |pair| pair.0, Style::new(3)))
    .with(curve(&uniform_name(&hardest(hidden)), |pair| pair.1, UNIFORM))
    .with(chart::sorted("auto", auto.into_iter(), AUTO))
}
