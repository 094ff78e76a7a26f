//! Fig. 6: the two recommended strategies, Gibbs_mf and Gibbs_ps.

use super::chart::{self, AUTO, MF, PS, THIRD, UNIFORM};
use super::fig1::TRAINED;
use super::fig5::{models, problems, rows_of};
use crate::job::{Job, Strategy, gibbs};
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use lnz::{ChainLayout, InitialState, Sampling};
use lnz_figures::{Figure, Style};

pub(crate) fn gibbs_mf() -> Strategy {
    gibbs(InitialState::MeanField, 100, 0.05)
}

pub(crate) fn gibbs_ps() -> Strategy {
    gibbs(InitialState::Pseudoinverse, 100, 0.05)
}

/// The other reading of "sampling": one chain, 100 sweeps between samples.
pub(crate) fn one_chain() -> Strategy {
    Strategy::Sampled(Sampling { layout: ChainLayout::Single, ..Sampling::default() })
}

/// Name, method, whether it follows the orientation of the panel, style.
fn series() -> [(&'static str, Strategy, bool, Style); 5] {
    [
        ("uniform", Strategy::Uniform, false, UNIFORM),
        ("Gibbs_{mf}", gibbs_mf(), true, MF),
        ("Gibbs_{ps}", gibbs_ps(), true, PS),
        ("Gibbs_{mf}, one long chain", one_chain(), true, THIRD),
        ("auto", Strategy::Auto, false, AUTO),
    ]
}

pub(super) fn plan(scale: &Scale, _: &Results) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (problem, _, transposed) in problems() {
        for model in models(scale, &problem) {
            for (_, method, follows, _) in series() {
                jobs.push(Job::new(model.clone(), method).oriented(follows && transposed));
            }
        }
    }
    jobs
}

pub(super) fn figure(results: &Results) -> Figure {
    let mut panels = Vec::new();
    for (problem, title, transposed) in problems() {
        let is_artificial = !TRAINED.contains(&problem.as_str());
        let mut panel = match is_artificial {
            true => chart::sorted_panel(title),
            false => chart::epoch_panel(title),
        };
        for (name, method, follows, style) in series() {
            let rows: Vec<&Row> = rows_of(results, "fig6", &problem, method, follows && transposed);
            panel = panel.with(match is_artificial {
                true => chart::sorted(name, rows.into_iter(), style),
                false => chart::by_epoch(name, rows.into_iter(), style),
            });
        }
        panels.push(panel);
    }
    let note = format!(
        "Means of 1024 states after 100 Gibbs sweeps, ε = 0.05; chains are parallel unless stated. {}{}",
        chart::SMALL_PRINT,
        chart::auto_cost(results.rows("fig6").iter())
    );
    Figure { columns: 3, note, ..Figure::new(panels) }
}
