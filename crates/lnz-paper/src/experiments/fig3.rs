//! Fig. 3: the uniform start on the original and on the transposed model.

use super::chart::{self, AUTO, TRANSPOSED, UNIFORM};
use super::fig1::{EPOCHS, SIZES, TRAINED, hardest};
use crate::job::{Job, Strategy};
use crate::problem::{Problem, family_name};
use crate::results::Results;
use crate::scale::Scale;
use lnz_figures::Figure;

pub(super) fn plan(scale: &Scale, _: &Results) -> Vec<Job> {
    let artificial = SIZES.into_iter().flat_map(|hidden| {
        (0..scale.instances).map(move |seed| Problem::Gwgm { family: hardest(hidden), seed })
    });
    let trained = TRAINED
        .into_iter()
        .flat_map(|name| EPOCHS.into_iter().map(move |epoch| Problem::Trained { name, epoch }));
    artificial
        .chain(trained)
        .flat_map(|problem| {
            [
                Job::new(problem.clone(), Strategy::Uniform),
                Job::new(problem.clone(), Strategy::Uniform).transposed(),
                Job::new(problem, Strategy::Auto),
            ]
        })
        .collect()
}

pub(super) fn figure(results: &Results) -> Figure {
    let rows = results.rows("fig3");
    let of = |problem: String, method: &'static str, transposed: bool| {
        rows.iter().filter(move |row| {
            row.problem == problem && row.method == method && row.is_transposed() == transposed
        })
    };
    let mut panels = Vec::new();
    for (hidden, letter) in SIZES.into_iter().zip(["a", "b"]) {
        let name = family_name(&hardest(hidden));
        panels.push(
            chart::sorted_panel(format!("({letter}) GWGM 20 × {hidden}, (−10 10 20 10 0.1)"))
                .with(chart::sorted("original", of(name.clone(), "uniform", false), UNIFORM))
                .with(chart::sorted("transposed", of(name.clone(), "uniform", true), TRANSPOSED))
                .with(chart::sorted("auto", of(name, "auto", false), AUTO)),
        );
    }
    for (name, title) in TRAINED.into_iter().zip(["(c) MNIST-20h", "(d) Web-20h"]) {
        panels.push(
            chart::epoch_panel(title)
                .with(chart::by_epoch("original", of(name.into(), "uniform", false), UNIFORM))
                .with(chart::by_epoch("transposed", of(name.into(), "uniform", true), TRANSPOSED))
                .with(chart::by_epoch("auto", of(name.into(), "auto", false), AUTO)),
        );
    }
    let note =
        format!("Uniform start, B = 0. {}{}", chart::SMALL_PRINT, chart::auto_cost(rows.iter()));
    Figure { note, ..Figure::new(panels) }
}
