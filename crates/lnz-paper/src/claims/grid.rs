//! Claims on all combinations of strategy and parameters: Fig. 4.

use super::{Claim, Draft, Verdict};
use crate::experiments::fig4::{Tried, best, tried};
use crate::results::Results;
use crate::row::Row;
use crate::statistics::{Errors, THRESHOLD, per_cent};
use std::collections::HashMap;

pub(super) fn claims(results: &Results) -> Vec<Claim> {
    let tried = tried(results);
    let of = |kind: &str| -> Vec<&Tried<'_>> {
        tried.iter().filter(|t| t.uniform.problem.starts_with(kind)).collect()
    };
    let (artificial, blocks, trained) = (of("gwgm"), of("bms"), of("mnist"));
    let all: Vec<&Tried<'_>> = tried.iter().collect();
    let draft = |says, rule| Draft { experiment: "fig4", says, rule };
    vec![
        draft(
            "On the easy artificial model every combination works.",
            "at least 95% of all runs are within 5%; in part from 80%",
        )
        .judge(easy(&artificial)),
        draft(
            "The harder the model, the fewer combinations work.",
            "the share of runs within 5% falls from (a) to (b) and from (b) to (c)",
        )
        .judge(fewer(&artificial)),
        draft(
            "With these strategies the transposed artificial models are estimated better than the original ones, in almost all cases.",
            "on each of (b) and (c), at least 90% of the combinations have a smaller error transposed; in part if more than half have",
        )
        .judge(transposed_wins(artificial.get(1..).unwrap_or_default())),
        draft(
            "The same is true of the block system.",
            "the same rule for (d)",
        )
        .judge(transposed_wins(&blocks)),
        draft(
            "On MNIST-20h transposing leads to the same wrong value as the uniform start, whatever the combination.",
            "at least 80% of the transposed runs lie within one nat of the uniform start; in part from 50%",
        )
        .judge(stable_and_wrong(&trained)),
        draft(
            "On MNIST-20h the original orientation is the better one.",
            "its share of runs within 5% is the larger one",
        )
        .judge(original_wins(&trained)),
        draft(
            "For every problem some combination beats the uniform start.",
            "on each model the smallest error of the grid is below that of B = 0 in both orientations",
        )
        .judge(some_beats_uniform(results, &all)),
        draft(
            "Metropolis can do better than Gibbs, for the price of one parameter more.",
            "on at least half of the models the best Metropolis run has a smaller error than the best Gibbs run; in part if on any",
        )
        .judge(metropolis_wins(&all)),
        draft(
            "Mean-field and pseudoinverse are the most successful initial states.",
            "over all models they have the two highest shares of runs within 5%; in part if one of them is among the two",
        )
        .judge(initial_states(&all)),
        draft(
            "The cut-off ε matters.",
            "shares of runs within 5% differ by at least 5 points between values of ε; in part from 2",
        )
        .judge(cut_off(&all)),
        draft(
            "What works best depends on the problem.",
            "the best combination of at least one model fails (above 5%) on another",
        )
        .judge(depends(&all)),
    ]
}

type Found = Option<(String, Verdict)>;

/// Panels of the figure.
const MODELS: usize = 5;

fn easy(models: &[&Tried<'_>]) -> Found {
    let errors = Errors::of(models.first()?.grid.iter().copied());
    let evidence = format!(
        "{:.1}% of {} runs are within 5%; the largest error is {}.",
        errors.within(THRESHOLD),
        errors.count(),
        per_cent(errors.largest())
    );
    Some((evidence, Verdict::at_least(errors.within(THRESHOLD), 95.0, 80.0)))
}

fn share(tried: &Tried<'_>) -> f64 {
    Errors::of(tried.grid.iter().copied()).within(THRESHOLD)
}

fn fewer(models: &[&Tried<'_>]) -> Found {
    let [a, b, c] = models else { return None };
    let shares = [share(a), share(b), share(c)];
    let errors = [a, b, c].map(|t| t.uniform.xi.unwrap_or(f64::NAN));
    let evidence = format!(
        "Within 5%: {:.0}%, {:.0}% and {:.0}% of the runs on models where B = 0 has ξ = {:.2}, {:.2} and {:.2}.",
        shares[0], shares[1], shares[2], errors[0], errors[1], errors[2]
    );
    Some((evidence, Verdict::of(&[shares[0] > shares[1], shares[1] > shares[2]])))
}

/// Pairs of errors of the same combination, original and transposed.
fn pairs(tried: &Tried<'_>) -> Vec<(f64, f64)> {
    let transposed: HashMap<String, f64> = tried
        .grid
        .iter()
        .filter(|row| row.is_transposed())
        .filter_map(|row| Some((row.strategy(), row.xi?)))
        .collect();
    let original = tried.grid.iter().filter(|row| !row.is_transposed());
    original.filter_map(|row| Some((row.xi?, *transposed.get(&row.strategy())?))).collect()
}

fn transposed_wins(models: &[&Tried<'_>]) -> Found {
    let mut shares = Vec::new();
    let mut evidence = Vec::new();
    for tried in models {
        let pairs = pairs(tried);
        let better = pairs.iter().filter(|(original, transposed)| transposed < original).count();
        let better = 100.0 * better as f64 / pairs.len().max(1) as f64;
        let within = |transposed: bool| {
            let rows = tried.grid.iter().copied().filter(|r| r.is_transposed() == transposed);
            Errors::of(rows).within(THRESHOLD)
        };
        evidence.push(format!(
            "{}: {better:.0}% of {} combinations are better transposed; within 5% are {:.0}% original, {:.0}% transposed",
            tried.title,
            pairs.len(),
            within(false),
            within(true)
        ));
        shares.push(better);
    }
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let verdict = Verdict::at_least(least, 90.0, 50.0);
    (!shares.is_empty()).then(|| (evidence.join(". ") + ".", verdict))
}

fn stable_and_wrong(models: &[&Tried<'_>]) -> Found {
    let tried = models.first()?;
    let transposed: Vec<&Row> =
        tried.grid.iter().copied().filter(|row| row.is_transposed()).collect();
    let near = |row: &&&Row| (row.log_z - tried.uniform.log_z).abs() <= 1.0;
    let near = 100.0 * transposed.iter().filter(near).count() as f64 / transposed.len() as f64;
    let lowest = transposed.iter().map(|row| row.log_z).fold(f64::INFINITY, f64::min);
    let highest = transposed.iter().map(|row| row.log_z).fold(f64::NEG_INFINITY, f64::max);
    let evidence = format!(
        "{near:.0}% of {} transposed runs lie within one nat of the {:.2} of B = 0; they range from {lowest:.2} to {highest:.2}; exact is {:.2}.",
        transposed.len(),
        tried.uniform.log_z,
        tried.uniform.exact_log_z?
    );
    Some((evidence, Verdict::at_least(near, 80.0, 50.0)))
}

fn original_wins(models: &[&Tried<'_>]) -> Found {
    let tried = models.first()?;
    let of = |transposed: bool| {
        Errors::of(tried.grid.iter().copied().filter(|row| row.is_transposed() == transposed))
    };
    let (original, transposed) = (of(false), of(true));
    let evidence = format!(
        "Within 5%: {:.0}% original, {:.0}% transposed; medians {} and {}.",
        original.within(THRESHOLD),
        transposed.within(THRESHOLD),
        per_cent(original.median()),
        per_cent(transposed.median())
    );
    Some((evidence, Verdict::of(&[original.within(THRESHOLD) > transposed.within(THRESHOLD)])))
}

fn some_beats_uniform(results: &Results, models: &[&Tried<'_>]) -> Found {
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    for tried in models {
        let uniform = Errors::of(results.rows("fig4").iter().filter(|row| {
            row.method == "uniform"
                && row.problem == tried.uniform.problem
                && row.instance == tried.uniform.instance
        }));
        let grid = Errors::of(tried.grid.iter().copied());
        tests.push(grid.smallest() < uniform.smallest());
        evidence.push(format!(
            "{}: {} against {}",
            tried.title,
            per_cent(grid.smallest()),
            per_cent(uniform.smallest())
        ));
    }
    let text = format!("Smallest errors, grid against B = 0. {}.", evidence.join("; "));
    (!tests.is_empty()).then(|| (text, Verdict::of(&tests).capped(models.len() == MODELS)))
}

fn metropolis_wins(models: &[&Tried<'_>]) -> Found {
    let (mut wins, mut evidence) = (0, Vec::new());
    for tried in models {
        let of = |method: &str| {
            Errors::of(tried.grid.iter().copied().filter(|row| row.method == method)).smallest()
        };
        let (gibbs, metropolis) = (of("gibbs"), of("metropolis"));
        wins += usize::from(metropolis < gibbs);
        evidence.push(format!(
            "{}: {} against {}",
            tried.title,
            per_cent(metropolis),
            per_cent(gibbs)
        ));
    }
    let text = format!("Smallest errors, Metropolis against Gibbs. {}.", evidence.join("; "));
    let verdict = match wins {
        0 => Verdict::Not,
        n if 2 * n >= models.len() => Verdict::Holds,
        _ => Verdict::InPart,
    };
    (!models.is_empty()).then_some((text, verdict))
}

/// Shares of runs within 5% by a property of the row, over models on which not everything works.
fn shares_by(models: &[&Tried<'_>], property: impl Fn(&Row) -> String) -> Vec<(String, f64)> {
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in models.iter().flat_map(|tried| tried.grid.iter().copied()) {
        let name = property(row);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    let mut shares: Vec<(String, f64)> =
        groups.into_iter().map(|(name, rows)| (name, Errors::of(rows).within(THRESHOLD))).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

fn list(shares: &[(String, f64)]) -> String {
    shares.iter().map(|(name, share)| format!("{name} {share:.0}%")).collect::<Vec<_>>().join(", ")
}

fn initial_states(models: &[&Tried<'_>]) -> Found {
    let shares = shares_by(models, |row| row.init.clone());
    let best: Vec<&str> = shares.iter().take(2).map(|(name, _)| name.as_str()).collect();
    let among = ["mf", "ps"].iter().filter(|name| best.contains(name)).count();
    let evidence = format!("Runs within 5% by initial state: {}.", list(&shares));
    let verdict = match among {
        2 => Verdict::Holds,
        1 => Verdict::InPart,
        _ => Verdict::Not,
    };
    (!shares.is_empty()).then_some((evidence, verdict))
}

fn cut_off(models: &[&Tried<'_>]) -> Found {
    let shares = shares_by(models, |row| row.epsilon.map_or(String::new(), |e| e.to_string()));
    if shares.len() < 2 {
        return None;
    }
    let difference = shares.first()?.1 - shares.last()?.1;
    let evidence = format!("Runs within 5% by ε: {}.", list(&shares));
    Some((evidence, Verdict::at_least(difference, 5.0, 2.0)))
}

fn depends(models: &[&Tried<'_>]) -> Found {
    let mut failures = Vec::new();
    for tried in models {
        let bests = [false, true].into_iter().flat_map(|transposed| {
            ["gibbs", "metropolis"].map(|method| best(&[*tried], method, transposed))
        });
        let Some((row, xi)) = bests.flatten().min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        for other in models {
            let same = |r: &&&Row| {
                r.strategy() == row.strategy() && r.is_transposed() == row.is_transposed()
            };
            if let Some(there) = other.grid.iter().find(same)
                && there.xi? > THRESHOLD
            {
                failures.push(format!(
                    "the best on {} ({}) has {} on {}",
                    tried.title,
                    per_cent(xi),
                    per_cent(there.xi?),
                    other.title
                ));
            }
        }
    }
    let evidence = match failures.as_slice() {
        [] => "The best combination of each model stays within 5% on the others.".to_owned(),
        failures => format!("For example {}.", failures[0]),
    };
    (!models.is_empty()).then(|| (evidence, Verdict::of(&[!failures.is_empty()])))
}
