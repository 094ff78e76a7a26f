//! Fig. 7: models with 500 hidden units along learning, against a long run from the data.

use super::chart::{self, AUTO, MF, PS, UNIFORM};
use super::fig6::{gibbs_mf, gibbs_ps};
use crate::job::{CHAINS, Job, Strategy};
use crate::problem::Problem;
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use lnz_app::page::styles;
use lnz_figures::{Axis, Errors, Figure, Panel, Series, Style};

/// The paper's epochs.
pub(crate) fn epochs() -> impl Iterator<Item = usize> {
    (1..=20).chain([40, 100, 200, 300, 400, 500])
}

/// The large trained models.
pub(crate) const TRAINED: [&str; 2] = ["mnist-500h", "web-500h"];

pub(super) fn plan(scale: &Scale, _: &Results) -> Vec<Job> {
    let (chains, betas) = scale.reference;
    let mut jobs = Vec::new();
    for name in TRAINED {
        for epoch in epochs() {
            let problem = Problem::Trained { name, epoch };
            jobs.push(Job { chains, betas, ..Job::new(problem.clone(), Strategy::Data) });
            for method in [Strategy::Uniform, gibbs_mf(), gibbs_ps(), Strategy::Auto] {
                jobs.push(Job::new(problem.clone(), method));
            }
        }
    }
    jobs
}

/// The results on the model of one epoch.
pub(crate) struct Epoch<'a> {
    pub(crate) epoch: usize,
    pub(crate) reference: &'a Row,
    pub(crate) uniform: &'a Row,
    pub(crate) mf: &'a Row,
    pub(crate) ps: &'a Row,
    pub(crate) auto: &'a Row,
}

/// Epochs of a problem for which all runs are there.
pub(crate) fn along<'a>(results: &'a Results, problem: &str) -> Vec<Epoch<'a>> {
    let rows = results.rows("fig7");
    epochs()
        .filter_map(|epoch| {
            let of = |method: &str, init: &str| {
                let instance = epoch.to_string();
                rows.iter().find(|row| {
                    row.problem == problem
                        && row.instance == instance
                        && row.method == method
                        && row.init == init
                })
            };
            Some(Epoch {
                epoch,
                reference: of("data", "")?,
                uniform: of("uniform", "")?,
                mf: of("gibbs", "mf")?,
                ps: of("gibbs", "ps")?,
                auto: of("auto", "")?,
            })
        })
        .collect()
}

type Pick = for<'a, 'b> fn(&'b Epoch<'a>) -> &'a Row;

fn series() -> [(&'static str, Pick, Style); 5] {
    let reference = styles::REFERENCE;
    [
        ("reference: data start", |e| e.reference, reference),
        ("uniform", |e| e.uniform, UNIFORM),
        ("Gibbs_{mf}", |e| e.mf, MF),
        ("Gibbs_{ps}", |e| e.ps, PS),
        ("auto", |e| e.auto, AUTO),
    ]
}

pub(super) fn figure(results: &Results) -> Figure {
    let mut panels = Vec::new();
    for ((problem, title), letters) in
        TRAINED.into_iter().zip(["MNIST-500h", "Web-500h"]).zip([["a", "b"], ["c", "d"]])
    {
        let along = along(results, problem);
        let axis = || epoch_axis(&along);
        let mut values =
            Panel::new(format!("({}) {title}", letters[0]), axis(), Axis::linear("log Z"));
        let mut differences = Panel::new(
            format!("({}) {title}, difference from the reference", letters[1]),
            axis(),
            Axis::linear("nats"),
        );
        for (name, pick, style) in series() {
            let point = |e: &Epoch<'_>| [e.epoch as f64, pick(e).log_z];
            let difference = |e: &Epoch<'_>| [e.epoch as f64, pick(e).log_z - e.reference.log_z];
            let two_errors = |row: &Row, value: f64| {
                let reach = 2.0 * row.std_error;
                [value - reach, value + reach]
            };
            let errors = along.iter().map(|e| two_errors(pick(e), point(e)[1]));
            let series = Series::new(name, along.iter().map(point).collect(), style);
            values = values.with(series.errors(Errors::Y(errors.collect())));
            let errors = along.iter().map(|e| two_errors(pick(e), difference(e)[1]));
            let series = Series::new(name, along.iter().map(difference).collect(), style);
            differences = differences.with(series.errors(Errors::Y(errors.collect())));
        }
        panels.extend([values, differences]);
    }
    Figure { note: note(results), ..Figure::new(panels) }
}

fn epoch_axis(along: &[Epoch<'_>]) -> Axis {
    let labelled = [1, 2, 3, 5, 10, 20, 40, 100, 200, 500];
    let (first, last) = match (along.first(), along.last()) {
        (Some(first), Some(last)) => (first.epoch as f64, last.epoch as f64),
        _ => (1.0, 500.0),
    };
    Axis::log("epoch")
        .between(0.85 * first, 1.2 * last)
        .ticks(labelled.map(|epoch: usize| (epoch as f64, epoch.to_string())).to_vec())
}

/// The epochs, those in a row as a range.
fn in_words(along: &[Epoch<'_>]) -> String {
    let in_a_row = along.chunk_by(|a, b| a.epoch + 1 == b.epoch);
    let words = in_a_row.map(|row| match row {
        [first, _, .., last] => format!("{} to {}", first.epoch, last.epoch),
        _ => row.iter().map(|e| e.epoch.to_string()).collect::<Vec<_>>().join(", "),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Which epochs there are, and what the reference is.
fn note(results: &Results) -> String {
    let mut note = String::new();
    for (name, title) in TRAINED.into_iter().zip(["MNIST-500h", "Web-500h"]) {
        let along = along(results, name);
        if let Some(last) = along.last() {
            let (chains, betas) = (last.reference.chains, last.reference.betas);
            if note.is_empty() {
                note = format!(
                    "Reference: start from the means of the data, N_s = {}, N_β = {} (the paper: 1024, 2^{{20}}). Others: N_s = N_β = {CHAINS}.",
                    chains.unwrap_or(0),
                    betas.unwrap_or(0)
                );
            }
            note += &format!(" {title}: epochs {}.", in_words(&along));
        }
    }
    note += " Bars are two standard errors on both sides.";
    note + &chart::auto_cost(results.rows("fig7").iter())
}
