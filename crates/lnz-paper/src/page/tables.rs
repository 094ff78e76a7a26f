//! The tables of the page, all of them made from the rows.

use crate::experiments::fig1::{TRAINED, hardest};
use crate::experiments::fig4::{Tried, tried};
use crate::experiments::fig5::rows_of;
use crate::experiments::fig6::{gibbs_mf, gibbs_ps};
use crate::experiments::{EXPERIMENTS, fig7};
use crate::job::Strategy;
use crate::problem::family_name;
use crate::record::Record;
use crate::results::Results;
use crate::row::Row;
use crate::statistics::{Errors, THRESHOLD, per_cent};
use lnz_app::numbers::{count, duration, short};
use lnz_figures::{Cell, Table};

/// The tables of an experiment.
pub(super) fn of(name: &str, results: &Results) -> Vec<Table> {
    let rows = results.rows(name);
    match name {
        "fig2" => vec![runs(rows)],
        "fig4" => vec![grid(&tried(results)), combinations(&tried(results))],
        "fig7" => fig7::TRAINED.iter().map(|problem| epochs(results, problem)).collect(),
        _ => vec![summary(rows)],
    }
}

/// A strategy in words: `metropolis mf, 10 steps, 15%, ε 0.05`.
fn strategy(row: &Row) -> String {
    let mut words = row.method.clone();
    if !row.init.is_empty() {
        words += &format!(" {}", row.init);
    }
    if let Some(steps) = row.steps {
        words += &format!(", {steps} steps");
    }
    if !row.flips.is_empty() {
        words += &format!(", flips {}", row.flips);
    }
    if let Some(epsilon) = row.epsilon {
        words += &format!(", ε {epsilon}");
    }
    if row.layout == "single" {
        words += ", one chain";
    }
    words
}

fn share(errors: &Errors, limit: f64) -> Cell {
    Cell::number(errors.within(limit), format!("{:.0}%", errors.within(limit)))
}

fn error(xi: f64) -> Cell {
    Cell::number(xi, per_cent(xi))
}

fn steps(mean: f64) -> Cell {
    Cell::number(mean, short(mean))
}

fn mean_steps(rows: &[&Row]) -> f64 {
    let sum: u64 = rows.iter().map(|row| row.chain_steps + row.start_steps).sum();
    sum as f64 / rows.len().max(1) as f64
}

/// Rows with the same key together, in the order of their first.
fn grouped<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    key: impl Fn(&Row) -> String,
) -> Vec<Vec<&'a Row>> {
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in rows {
        let key = key(row);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Errors by problem and strategy.
fn summary(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Relative errors ξ by problem and strategy; steps are chain-steps and sweeps for B, on average",
        &[
            "problem",
            "strategy",
            "orientation",
            "models",
            "within 5%",
            "within 1%",
            "median",
            "largest",
            "steps",
        ],
    );
    let key = |row: &Row| format!("{}|{}|{}", row.problem, strategy(row), row.orientation);
    for group in grouped(rows, key) {
        let errors = Errors::of(group.iter().copied());
        table.rows.push(vec![
            Cell::text(&group[0].problem),
            Cell::text(strategy(group[0])),
            Cell::text(&group[0].orientation),
            Cell::number(errors.count() as f64, count(errors.count())),
            share(&errors, THRESHOLD),
            share(&errors, 0.01),
            error(errors.median()),
            error(errors.largest()),
            steps(mean_steps(&group)),
        ]);
    }
    table
}

/// Every run, for experiments with few of them.
fn runs(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "All runs",
        &[
            "problem",
            "method",
            "N_beta",
            "N_s",
            "log Z",
            "error",
            "mean of samples",
            "deviation",
            "exact",
            "ξ",
        ],
    );
    let whole = |value: Option<usize>| match value {
        Some(n) => Cell::number(n as f64, count(n)),
        None => Cell::text("–"),
    };
    let optional = |value: Option<f64>| match value {
        Some(x) => Cell::number(x, format!("{x:.2}")),
        None => Cell::text("–"),
    };
    for row in rows {
        table.rows.push(vec![
            Cell::text(format!("{}, {}", row.problem, row.orientation)),
            Cell::text(&row.method),
            whole(row.betas),
            whole(row.chains),
            Cell::number(row.log_z, format!("{:.2}", row.log_z)),
            Cell::number(row.std_error, format!("{:.3}", row.std_error)),
            optional(row.mean_sample),
            optional(row.std_sample),
            optional(row.exact_log_z),
            row.xi.map_or_else(|| Cell::text("–"), error),
        ]);
    }
    table
}

/// The models of Fig. 4: how many combinations work, and the best.
fn grid(tried: &[Tried<'_>]) -> Table {
    let mut table = Table::new(
        "Every combination on every model: how many work, and the best",
        &[
            "model",
            "ξ of B = 0",
            "orientation",
            "combinations",
            "within 5%",
            "median",
            "best",
            "its ξ",
        ],
    );
    for model in tried {
        for orientation in ["original", "transposed"] {
            let rows: Vec<&Row> =
                model.grid.iter().copied().filter(|r| r.orientation == orientation).collect();
            let errors = Errors::of(rows.iter().copied());
            let best = rows.iter().find(|row| row.xi == Some(errors.smallest()));
            table.rows.push(vec![
                Cell::text(&model.title),
                error(model.uniform.xi.unwrap_or(f64::NAN)),
                Cell::text(orientation),
                Cell::number(rows.len() as f64, count(rows.len())),
                share(&errors, THRESHOLD),
                error(errors.median()),
                Cell::text(best.map_or("–".into(), |row| strategy(row))),
                error(errors.smallest()),
            ]);
        }
    }
    table
}

/// The paper's first table, as it was run, with the share of runs that work.
fn combinations(tried: &[Tried<'_>]) -> Table {
    let mut table = Table::new(
        "The first table of the paper, as run here, with the share of runs within 5% on artificial and trained models",
        &["strategy", "samples", "steps", "flips", "runs", "artificial", "trained"],
    );
    let key = |row: &Row| format!("{}|{}|{}", row.method, row.steps.unwrap_or(0), row.flips);
    for rows in grouped(tried.iter().flat_map(|model| model.grid.iter().copied()), key) {
        let first = rows[0];
        let (steps, samples) = (first.steps.unwrap_or(0), first.samples.unwrap_or(0));
        let of = |trained: bool| {
            let is_trained = |row: &Row| TRAINED.contains(&row.problem.as_str());
            let errors = Errors::of(rows.iter().copied().filter(|row| is_trained(row) == trained));
            if errors.count() == 0 { Cell::text("–") } else { share(&errors, THRESHOLD) }
        };
        table.rows.push(vec![
            Cell::text(&first.method),
            Cell::number(samples as f64, count(samples)),
            Cell::number(steps as f64, count(steps)),
            Cell::text(if first.flips.is_empty() { "–" } else { &first.flips }),
            Cell::number(rows.len() as f64, count(rows.len())),
            of(false),
            of(true),
        ]);
    }
    table
}

/// The values of Fig. 7.
fn epochs(results: &Results, problem: &str) -> Table {
    let mut table = Table::new(
        format!("log Z of {problem} along learning, with standard errors"),
        &[
            "epoch",
            "weight rms",
            "reference",
            "uniform",
            "Gibbs_mf",
            "Gibbs_ps",
            "auto",
            "verdict of auto",
        ],
    );
    for epoch in fig7::along(results, problem) {
        let value =
            |row: &Row| Cell::number(row.log_z, format!("{:.2} ± {:.2}", row.log_z, row.std_error));
        table.rows.push(vec![
            Cell::number(epoch.epoch as f64, epoch.epoch.to_string()),
            Cell::number(epoch.uniform.weight_rms, format!("{:.2}", epoch.uniform.weight_rms)),
            value(epoch.reference),
            value(epoch.uniform),
            value(epoch.mf),
            value(epoch.ps),
            value(epoch.auto),
            Cell::text(&epoch.auto.verdict),
        ]);
    }
    table
}

/// `auto` compared with the paper's recommendations, on the problems of Fig. 6.
pub(super) fn auto(results: &Results) -> Table {
    let mut table = Table::new(
        "auto beside the uniform start and the two recommended strategies",
        &["problem", "method", "models", "within 5%", "within 0.1%", "largest ξ", "steps"],
    );
    let family = family_name(&hardest(180));
    let problems = [(family.as_str(), true), (TRAINED[0], false), (TRAINED[1], false)];
    let methods = [
        ("uniform", Strategy::Uniform, false),
        ("Gibbs_mf", gibbs_mf(), true),
        ("Gibbs_ps", gibbs_ps(), true),
        ("auto", Strategy::Auto, false),
    ];
    for (problem, transposed) in problems {
        for (name, method, follows) in methods {
            let rows = rows_of(results, "fig6", problem, method, follows && transposed);
            if rows.is_empty() {
                continue;
            }
            let errors = Errors::of(rows.iter().copied());
            table.rows.push(vec![
                Cell::text(problem),
                Cell::text(name),
                Cell::number(rows.len() as f64, count(rows.len())),
                share(&errors, THRESHOLD),
                share(&errors, 0.001),
                error(errors.largest()),
                steps(mean_steps(&rows)),
            ]);
        }
    }
    table
}

/// What each experiment took.
pub(super) fn costs(results: &Results) -> Table {
    let mut table = Table::new(
        "Cost of the experiments; rows that another experiment had already computed count there only",
        &["experiment", "rows", "chain-steps", "time", "seconds on one thread, by method", "date"],
    );
    for experiment in &EXPERIMENTS {
        let rows: Vec<&Row> = results.rows(experiment.name).iter().collect();
        let record = Record::read(results, experiment.name);
        let total = mean_steps(&rows) * rows.len() as f64;
        let methods: Vec<String> = record
            .methods
            .iter()
            .map(|(name, spent)| {
                format!("{name} {:.0} s / {} runs", spent.seconds, count(spent.runs))
            })
            .collect();
        table.rows.push(vec![
            Cell::text(experiment.name),
            Cell::number(rows.len() as f64, count(rows.len())),
            steps(total),
            Cell::number(record.seconds, duration(record.seconds)),
            Cell::text(methods.join(", ")),
            Cell::text(record.date),
        ]);
    }
    table
}
