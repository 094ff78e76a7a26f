//! Fig. 4 and the paper's first table: every strategy, initial state and parameter, in both orientations.

use super::chart;
use super::fig1::{hardest, uniform_rows};
use crate::job::{INITIAL_STATES, Job, Strategy, gibbs, metropolis};
use crate::problem::{Problem, blocks_name, family_name};
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use crate::statistics::THRESHOLD;
use lnz::Flips;
use lnz_app::page::styles;
use lnz_figures::{Axis, Dash, Figure, Marker, Panel, Rule, Series, Style};

/// Errors of the uniform start by which the paper chose its three models, from easy to hard.
const CHOSEN_BY: [f64; 3] = [0.06, 0.55, 0.92];
/// The same for the blocks of its block system.
const BLOCKS_BY: [f64; 3] = [0.923, 0.922, 0.904];
/// The trained model of the last panel.
const TRAINED: Problem = Problem::Trained { name: "mnist-20h", epoch: 500 };

pub(super) fn plan(scale: &Scale, results: &Results) -> Vec<Job> {
    // First of all the errors by which models are chosen.
    let family = hardest(180);
    let mut jobs: Vec<Job> = (0..scale.instances)
        .map(|seed| Job::new(Problem::Gwgm { family, seed }, Strategy::Uniform))
        .collect();
    let mut problems = vec![TRAINED];
    let errors = uniform_rows(scale, results, &family);
    if !errors.is_empty() {
        let chosen = |wanted: &[f64]| closest(&errors, wanted);
        problems.extend(chosen(&CHOSEN_BY).into_iter().map(|seed| Problem::Gwgm { family, seed }));
        problems.push(Problem::Blocks { family, seeds: chosen(&BLOCKS_BY) });
    }
    for problem in problems {
        jobs.extend(jobs_on(scale, &problem));
    }
    jobs
}

fn jobs_on(scale: &Scale, problem: &Problem) -> Vec<Job> {
    let job = |method, transposed| Job::new(problem.clone(), method).oriented(transposed);
    let mut jobs = vec![
        job(Strategy::Uniform, false),
        job(Strategy::Uniform, true),
        job(Strategy::Auto, false),
    ];
    for transposed in [false, true] {
        jobs.extend(grid(scale, problem, transposed).into_iter().map(|m| job(m, transposed)));
    }
    jobs
}

/// The table's combinations for one problem and orientation.
fn grid(scale: &Scale, problem: &Problem, transposed: bool) -> Vec<Strategy> {
    let (visible, hidden) = problem.shape();
    let units = if transposed { hidden } else { visible };
    let flips: Vec<Flips> = match problem {
        // More units than there are cannot be flipped: then all are, once.
        Problem::Trained { .. } => {
            let mut counts: Vec<usize> = scale.units.iter().map(|&n| n.min(units)).collect();
            counts.dedup();
            counts.into_iter().map(Flips::Units).collect()
        }
        _ => scale.percents.iter().map(|&p| Flips::Percent(p)).collect(),
    };
    let mut methods = Vec::new();
    for initial in INITIAL_STATES {
        for &steps in scale.gibbs_steps {
            methods.extend(scale.epsilons.iter().map(|&epsilon| gibbs(initial, steps, epsilon)));
        }
    }
    for initial in INITIAL_STATES {
        for &steps in scale.metropolis_steps {
            for &flips in &flips {
                let one = |&epsilon: &f64| metropolis(initial, steps, flips, epsilon);
                methods.extend(scale.epsilons.iter().map(one));
            }
        }
    }
    methods
}

/// Seeds of the models whose errors are closest to these, each model once.
fn closest(rows: &[&Row], wanted: &[f64]) -> Vec<u64> {
    let mut left: Vec<(f64, u64)> =
        rows.iter().filter_map(|row| Some((row.xi?, row.instance.parse().ok()?))).collect();
    let mut seeds = Vec::new();
    for target in wanted {
        let distance = |i: &usize| (left[*i].0 - target).abs();
        let nearest = (0..left.len()).min_by(|i, j| distance(i).total_cmp(&distance(j)));
        if let Some(i) = nearest {
            seeds.push(left.remove(i).1);
        }
    }
    seeds
}

/// The results on one model: panel (a) to (e).
pub(crate) struct Tried<'a> {
    pub(crate) title: String,
    /// AIS from B = 0, original.
    pub(crate) uniform: &'a Row,
    /// Every combination, in both orientations.
    pub(crate) grid: Vec<&'a Row>,
    pub(crate) auto: Option<&'a Row>,
}

/// The models of the figure, easy ones first.
pub(crate) fn tried(results: &Results) -> Vec<Tried<'_>> {
    let rows = results.rows("fig4");
    let is_grid = |row: &&Row| row.method == "gibbs" || row.method == "metropolis";
    let mut models: Vec<(&str, &str)> = Vec::new();
    for row in rows.iter().filter(is_grid) {
        if !models.contains(&(&row.problem, &row.instance)) {
            models.push((&row.problem, &row.instance));
        }
    }
    let mut tried: Vec<Tried<'_>> = models
        .into_iter()
        .filter_map(|(problem, instance)| {
            let of = || rows.iter().filter(move |r| r.problem == problem && r.instance == instance);
            Some(Tried {
                title: title(problem, instance),
                uniform: of().find(|row| row.method == "uniform" && !row.is_transposed())?,
                grid: of().filter(is_grid).collect(),
                auto: of().find(|row| row.method == "auto"),
            })
        })
        .collect();
    let order = |tried: &Tried<'_>| match &tried.uniform.problem {
        problem if *problem == family_name(&hardest(180)) => 0,
        problem if *problem == blocks_name(&hardest(180)) => 1,
        _ => 2,
    };
    let error = |tried: &Tried<'_>| tried.uniform.xi.unwrap_or(0.0);
    tried.sort_by(|a, b| order(a).cmp(&order(b)).then(error(a).total_cmp(&error(b))));
    tried
}

fn title(problem: &str, instance: &str) -> String {
    match problem {
        p if p.starts_with("gwgm") => format!("GWGM 20 × 180, seed {instance}"),
        p if p.starts_with("bms") => format!("BMS of seeds {}", instance.replace('+', ", ")),
        p => format!("{}, epoch {instance}", p.replace("mnist", "MNIST")),
    }
}

/// The combination whose largest error over these models is smallest, and that error.
pub(crate) fn best<'a>(
    tried: &[&Tried<'a>],
    method: &str,
    transposed: bool,
) -> Option<(&'a Row, f64)> {
    let (first, _) = tried.split_first()?;
    let candidates =
        first.grid.iter().filter(|r| r.method == method && r.is_transposed() == transposed);
    let worst = |row: &Row| {
        let strategy = row.strategy();
        let of = |t: &&Tried<'_>| {
            let same = |r: &&&Row| r.is_transposed() == transposed && r.strategy() == strategy;
            t.grid.iter().find(same).and_then(|r| r.xi)
        };
        let errors = tried.iter().map(of).collect::<Option<Vec<f64>>>()?;
        Some(errors.into_iter().fold(0.0, f64::max))
    };
    candidates.filter_map(|row| Some((*row, worst(row)?))).min_by(|a, b| a.1.total_cmp(&b.1))
}

pub(super) fn figure(results: &Results) -> Figure {
    let tried = tried(results);
    let panels = tried.iter().zip(["a", "b", "c", "d", "e"]).map(|(t, letter)| panel(t, letter));
    let note = format!(
        "Combinations in the order of the table: Gibbs, then Metropolis; initial states 0, 1, random, MF, PS; steps; flips; ε. In the title: the error of B = 0. {}{}",
        chart::SMALL_PRINT.split(". ").next().unwrap_or_default().to_owned() + ".",
        chart::auto_cost(tried.iter().filter_map(|t| t.auto))
    );
    Figure { note, ..Figure::new(panels.collect()) }
}

fn panel(tried: &Tried<'_>, letter: &str) -> Panel {
    let crosses = Style { marker: Marker::Cross, dash: Dash::None, ..chart::FOURTH };
    let rings = Style { marker: Marker::Ring, dash: Dash::None, ..chart::TRANSPOSED };
    let points = |transposed: bool| -> Vec<[f64; 2]> {
        let of = tried.grid.iter().filter(|row| row.is_transposed() == transposed);
        of.enumerate().map(|(i, row)| [(i + 1) as f64, row.log_z]).collect()
    };
    let error = tried.uniform.xi.unwrap_or(f64::NAN);
    let title = format!("({letter}) {}: ξ_{{B=0}} = {error:.3}", tried.title);
    let mut panel = Panel::new(title, Axis::linear("combination"), Axis::linear("log Z"))
        .with(Series::new("original", points(false), crosses))
        .with(Series::new("transposed", points(true), rings));
    if let Some(auto) = tried.auto {
        panel = panel.with_rule(chart::auto_rule(auto));
    }
    if let Some(exact) = tried.uniform.exact_log_z {
        let limit = exact - THRESHOLD * exact.abs();
        panel = panel.with_rule(Rule::new("ξ = 5%", limit, styles::THRESHOLD));
    }
    match chart::exact_rule(tried.uniform) {
        Some(rule) => panel.with_rule(rule),
        None => panel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_that_of_the_table() {
        let artificial = Problem::Gwgm { family: hardest(180), seed: 0 };
        for transposed in [false, true] {
            assert_eq!(grid(&Scale::FULL, &artificial, transposed).len(), 5 * (3 + 2 * 6) * 4);
        }
        assert_eq!(grid(&Scale::FULL, &TRAINED, false).len(), 5 * (3 + 2 * 4) * 4);
        // Of 20 units, 40 and 80 flips are the same.
        assert_eq!(grid(&Scale::FULL, &TRAINED, true).len(), 5 * (3 + 2 * 3) * 4);
    }

    #[test]
    fn models_are_chosen_once_by_the_closest_error() {
        let row =
            |instance: &str, xi| Row { instance: instance.into(), xi: Some(xi), ..Row::default() };
        let rows = [row("3", 0.9), row("5", 0.91), row("8", 0.1)];
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(closest(&rows, &[0.92, 0.92, 0.92]), [5, 3, 8]);
    }
}
