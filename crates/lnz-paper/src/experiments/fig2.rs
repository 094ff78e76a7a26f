//! Fig. 2: the estimate, the mean of the samples and their spread against N_beta, and against N_s.

use super::chart::{self, MF, UNIFORM};
use super::fig1::hardest;
use crate::job::{BETAS, CHAINS, Job, Strategy};
use crate::problem::Problem;
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use lnz_figures::{Axis, Figure, Panel, Series, Style};

/// Fewer chains than this have no meaningful spread.
const FEWEST_CHAINS: usize = 16;

/// The paper's problem, and one artificial model that fails in the same way: the built-in `gwgm-hard`,
/// transposed, whose runs look healthiest.
pub(crate) fn problems() -> [(Problem, bool, &'static str); 2] {
    [
        (Problem::Trained { name: "mnist-20h", epoch: 500 }, false, "MNIST-20h, epoch 500"),
        (Problem::Gwgm { family: hardest(180), seed: 0 }, true, "gwgm-hard, transposed"),
    ]
}

pub(super) fn plan(scale: &Scale, _: &Results) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (problem, transposed, _) in problems() {
        let job = |betas, chains| Job {
            betas,
            chains,
            ..Job::new(problem.clone(), Strategy::Uniform).oriented(transposed)
        };
        for exponent in 1..=scale.log_betas {
            let betas = 1 << exponent;
            jobs.push(job(betas, (scale.most_steps / betas).clamp(FEWEST_CHAINS, CHAINS)));
        }
        let mut chains = FEWEST_CHAINS;
        while chains * BETAS <= scale.most_steps {
            jobs.push(job(BETAS, chains));
            chains *= 2;
        }
        jobs.push(Job::new(problem.clone(), Strategy::Auto));
    }
    jobs
}

/// The two sweeps over one problem.
pub(crate) struct Sweeps<'a> {
    /// Rising N_beta, with 1024 chains as long as that was affordable.
    pub(crate) betas: Vec<&'a Row>,
    /// Rising N_s at N_beta = 1024.
    pub(crate) chains: Vec<&'a Row>,
    pub(crate) auto: Option<&'a Row>,
}

pub(crate) fn sweeps<'a>(results: &'a Results, problem: &Problem) -> Sweeps<'a> {
    let of = |row: &&Row| row.problem == problem.name() && row.instance == problem.instance();
    let rows: Vec<&Row> = results.rows("fig2").iter().filter(of).collect();
    let uniform = || rows.iter().copied().filter(|row| row.method == "uniform");
    // Every number of betas once, with the most chains that are not more than the paper's.
    let mut betas: Vec<&Row> =
        uniform().filter(|row| row.chains.is_some_and(|chains| chains <= CHAINS)).collect();
    betas.sort_by_key(|row| (row.betas, std::cmp::Reverse(row.chains)));
    betas.dedup_by_key(|row| row.betas);
    let mut chains: Vec<&Row> = uniform().filter(|row| row.betas == Some(BETAS)).collect();
    chains.sort_by_key(|row| row.chains);
    Sweeps { betas, chains, auto: rows.iter().copied().find(|row| row.method == "auto") }
}

pub(super) fn figure(results: &Results) -> Figure {
    let mut panels = Vec::new();
    let letters = [["a", "b", "c"], ["d", "e", "f"]];
    for ((problem, _, title), letters) in problems().iter().zip(letters) {
        let sweeps = sweeps(results, problem);
        let betas = |value: fn(&Row) -> Option<f64>| points(&sweeps.betas, |row| row.betas, value);
        let chains =
            |value: fn(&Row) -> Option<f64>| points(&sweeps.chains, |row| row.chains, value);
        let log_z = |title: String, x| Panel::new(title, x, Axis::linear("log Z"));
        let estimate = log_z(format!("({}) {title}", letters[0]), Axis::log2("N_β"))
            .with(Series::new("log Z_{AIS}, uniform start", betas(|row| Some(row.log_z)), UNIFORM))
            .with(Series::new("mean of the samples", betas(|row| row.mean_sample), MF));
        let spread = Panel::new(
            format!("({}) {title}", letters[1]),
            Axis::log2("N_β"),
            Axis::linear("standard deviation of the samples"),
        )
        .with(Series::new(
            "standard deviation",
            betas(|row| row.std_sample),
            Style::new(2),
        ));
        let more = log_z(format!("({}) {title}, N_β = 1024", letters[2]), Axis::log2("N_s"))
            .with(Series::new("log Z_{AIS}, uniform start", chains(|row| Some(row.log_z)), UNIFORM))
            .with(Series::new("mean of the samples", chains(|row| row.mean_sample), MF));
        panels.extend([ruled(estimate, &sweeps), spread, ruled(more, &sweeps)]);
    }
    Figure { columns: 3, note: note(results), ..Figure::new(panels) }
}

fn points(
    rows: &[&Row],
    x: fn(&Row) -> Option<usize>,
    y: fn(&Row) -> Option<f64>,
) -> Vec<[f64; 2]> {
    rows.iter().filter_map(|row| Some([x(row)? as f64, y(row)?])).collect()
}

/// The truth and what `auto` says.
fn ruled(panel: Panel, sweeps: &Sweeps<'_>) -> Panel {
    let Some(auto) = sweeps.auto else { return panel };
    let panel = panel.with_rule(chart::auto_rule(auto));
    match chart::exact_rule(auto) {
        Some(rule) => panel.with_rule(rule),
        None => panel,
    }
}

/// The runs that had fewer chains than the paper's.
fn note(results: &Results) -> String {
    let [(problem, ..), (other, ..)] = problems();
    let sweeps = [sweeps(results, &problem), sweeps(results, &other)];
    let fewer: Vec<String> = sweeps[1]
        .betas
        .iter()
        .filter_map(|row| Some((row.betas?, row.chains?)))
        .filter(|(_, chains)| *chains < CHAINS)
        .map(|(betas, chains)| format!("2^{{{}}}: {chains}", betas.ilog2()))
        .collect();
    let chains = match fewer.as_slice() {
        [] => "N_s = 1024 throughout.".to_owned(),
        fewer => format!("N_s = 1024, but fewer at the largest N_β ({}).", fewer.join(", ")),
    };
    let auto: Vec<&Row> = sweeps.iter().filter_map(|s| s.auto).collect();
    format!("{chains}{}", chart::auto_cost(auto.into_iter()))
}
