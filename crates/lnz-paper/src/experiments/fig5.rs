//! Fig. 5 and the paper's second table: the strategies that work best on each problem.

use super::chart::{self, AUTO, FOURTH, MF, PS, THIRD, UNIFORM};
use super::fig1::{EPOCHS, TRAINED, hardest};
use super::fig4;
use crate::job::{Job, Strategy, gibbs, metropolis};
use crate::problem::{Problem, family_name};
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use lnz::Flips::{Percent, Units};
use lnz::InitialState::{MeanField, Pseudoinverse, Zero};
use lnz_figures::{Dash, Figure, Marker, Style};

/// A strategy with its name in the paper's table and its style.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) method: Strategy,
    style: Style,
}

/// The three problems: name, title and orientation.
pub(crate) fn problems() -> [(String, &'static str, bool); 3] {
    [
        (family_name(&hardest(180)), "(a) GWGM 20 × 180, transposed", true),
        (TRAINED[0].to_owned(), "(b) MNIST-20h", false),
        (TRAINED[1].to_owned(), "(c) Web-20h", false),
    ]
}

/// The models of a problem.
pub(crate) fn models(scale: &Scale, problem: &str) -> Vec<Problem> {
    match TRAINED.iter().find(|name| **name == problem) {
        Some(&name) => EPOCHS.into_iter().map(|epoch| Problem::Trained { name, epoch }).collect(),
        None => {
            (0..scale.instances).map(|seed| Problem::Gwgm { family: hardest(180), seed }).collect()
        }
    }
}

/// The rows of the paper's second table.
pub(crate) fn table(problem: &str) -> Vec<Entry> {
    let entry = |name: &str, method, style| Entry { name: name.to_owned(), method, style };
    if !TRAINED.contains(&problem) {
        let zero = Style { marker: Marker::Ring, ..PS };
        return vec![
            entry("Gibbs MF", gibbs(MeanField, 1, 0.10), MF),
            entry("Gibbs ZERO", gibbs(Zero, 1, 0.10), zero),
            entry("Metropolis MF1", metropolis(MeanField, 10, Percent(15.0), 0.05), THIRD),
            entry("Metropolis MF2", metropolis(MeanField, 10, Percent(100.0), 0.10), FOURTH),
        ];
    }
    let last_epsilon = if problem == "web-20h" { 0.05 } else { 0.10 };
    let metropolis = |initial, epsilon| metropolis(initial, 100, Units(1), epsilon);
    let [third, fourth] = [(THIRD, Marker::Cross), (FOURTH, Marker::Triangle)]
        .map(|(style, marker)| Style { marker, dash: Dash::Dotted, ..style });
    vec![
        entry("Gibbs MF", gibbs(MeanField, 100, 0.05), MF),
        entry("Gibbs PS", gibbs(Pseudoinverse, 100, 0.05), PS),
        entry("Metropolis MF", metropolis(MeanField, 0.10), third),
        entry("Metropolis PS", metropolis(Pseudoinverse, last_epsilon), fourth),
    ]
}

/// The best Gibbs and the best Metropolis strategy of our own grid: for the artificial models by the
/// largest error over the three of Fig. 4, for the trained ones by the error on MNIST-20h.
pub(crate) fn own(results: &Results, problem: &str) -> Vec<Entry> {
    let tried = fig4::tried(results);
    let is_artificial = !TRAINED.contains(&problem);
    let judges: Vec<&fig4::Tried<'_>> = tried
        .iter()
        .filter(|t| match is_artificial {
            true => t.uniform.problem == problem,
            false => t.uniform.problem == TRAINED[0],
        })
        .collect();
    let grey = Style { colour: "#777777", marker: Marker::Square, dash: Dash::Dotted };
    [
        ("gibbs", "Gibbs, best of our grid", Style::new(5)),
        ("metropolis", "Metropolis, best of our grid", grey),
    ]
    .into_iter()
    .filter_map(|(method, name, style)| {
        let (row, _) = fig4::best(&judges, method, is_artificial)?;
        Some(Entry { name: name.to_owned(), method: Strategy::of_row(row)?, style })
    })
    .collect()
}

pub(super) fn plan(scale: &Scale, results: &Results) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (problem, _, transposed) in problems() {
        let entries: Vec<Entry> =
            table(&problem).into_iter().chain(own(results, &problem)).collect();
        for model in models(scale, &problem) {
            jobs.push(Job::new(model.clone(), Strategy::Uniform));
            jobs.push(Job::new(model.clone(), Strategy::Auto));
            let job = |entry: &Entry| Job::new(model.clone(), entry.method).oriented(transposed);
            jobs.extend(entries.iter().map(job));
        }
    }
    jobs
}

/// Rows of one strategy on all models of a problem.
pub(crate) fn rows_of<'a>(
    results: &'a Results,
    experiment: &str,
    problem: &str,
    method: Strategy,
    transposed: bool,
) -> Vec<&'a Row> {
    let settings = Job::new(Problem::Trained { name: "", epoch: 0 }, method).settings();
    let (strategy, problem) = (settings.strategy(), problem.to_owned());
    let of = |row: &&Row| {
        row.problem == problem && row.is_transposed() == transposed && row.strategy() == strategy
    };
    results.rows(experiment).iter().filter(of).collect()
}

pub(super) fn figure(results: &Results) -> Figure {
    let mut panels = Vec::new();
    for (problem, title, transposed) in problems() {
        let of =
            |method, transposed| rows_of(results, "fig5", &problem, method, transposed).into_iter();
        let is_artificial = !TRAINED.contains(&problem.as_str());
        let curve = |name: String, rows: std::vec::IntoIter<&Row>, style| match is_artificial {
            true => chart::sorted(name, rows, style),
            false => chart::by_epoch(name, rows, style),
        };
        let mut panel = match is_artificial {
            true => chart::sorted_panel(title),
            false => chart::epoch_panel(title),
        };
        panel = panel.with(curve("uniform".into(), of(Strategy::Uniform, false), UNIFORM));
        for entry in table(&problem).into_iter().chain(own(results, &problem)) {
            panel = panel.with(curve(entry.name, of(entry.method, transposed), entry.style));
        }
        panels.push(panel.with(curve("auto".into(), of(Strategy::Auto, false), AUTO)));
    }
    let note = format!(
        "Strategies of the paper's table; best of our grid: smallest largest error over the models of Fig. 4. {}{}",
        chart::SMALL_PRINT,
        chart::auto_cost(results.rows("fig5").iter())
    );
    Figure { columns: 3, note, ..Figure::new(panels) }
}
