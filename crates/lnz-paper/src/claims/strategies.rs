//! Claims on the selected strategies: Fig. 5 with its table, and Fig. 6.

use super::{Claim, Draft, Verdict};
use crate::experiments::fig1::{EPOCHS, TRAINED, hardest};
use crate::experiments::fig5::{rows_of, table};
use crate::experiments::fig6::{gibbs_mf, gibbs_ps, one_chain};
use crate::job::Strategy;
use crate::problem::family_name;
use crate::results::Results;
use crate::row::Row;
use crate::statistics::{Errors, per_cent};

pub(super) fn claims(results: &Results) -> Vec<Claim> {
    let draft = |experiment, says, rule| Draft { experiment, says, rule };
    vec![
        draft(
            "fig5",
            "On the hardest family the selected strategies leave fewer estimates above 5% than the uniform start.",
            "each of the four has a smaller share above 5%",
        )
        .judge(artificial(results, Errors::above)),
        draft(
            "fig5",
            "There, the errors that remain above 5% are smaller, too.",
            "for each of the four, the median of the errors above 5% is smaller",
        )
        .judge(artificial(results, |errors| 100.0 * errors.median_above())),
        draft(
            "fig5",
            "MNIST-20h is well reproduced by the selected strategies, also at the last epochs where the uniform start fails.",
            "each of the four is within 5% at every epoch, while the uniform start is not at epoch 500",
        )
        .judge(mnist(results)),
        draft(
            "fig5",
            "On Web-20h the selected strategies work very well, as does the uniform start.",
            "all five are within 5% at every epoch",
        )
        .judge(web(results)),
        draft(
            "fig6",
            "Gibbs_mf improves on the uniform start for the hardest family in both ways: fewer errors above 5%, and smaller ones.",
            "share above 5% and median of the errors above 5% are smaller",
        )
        .judge(both_ways(results)),
        draft(
            "fig6",
            "Gibbs_ps has more cases above 5% there, but most of them are lower than with the uniform start.",
            "its share above 5% is larger; the median of its errors above 5% is smaller",
        )
        .judge(pseudoinverse(results)),
        draft(
            "fig6",
            "Of the two, Gibbs_mf is to be preferred.",
            "its share above 5% on the hardest family is smaller by at least 5 points; in part if smaller at all",
        )
        .judge(mean_field_wins(results)),
        draft(
            "fig6",
            "Both do well on MNIST-20h and Web-20h, and better than the uniform start.",
            "for each problem and each of the two: all epochs within 5%, and a smaller largest error than the uniform start",
        )
        .judge(trained(results)),
        draft(
            "fig6",
            "Building B costs little compared with the annealing.",
            "sampling for B takes at most 20% of the chain-steps of the annealing",
        )
        .judge(cost(results)),
    ]
}

type Found = Option<(String, Verdict)>;

fn family() -> String {
    family_name(&hardest(180))
}

fn errors(
    results: &Results,
    experiment: &str,
    problem: &str,
    method: Strategy,
    transposed: bool,
) -> Option<Errors> {
    let errors = Errors::of(rows_of(results, experiment, problem, method, transposed));
    (errors.count() > 0).then_some(errors)
}

fn artificial(results: &Results, value: fn(&Errors) -> f64) -> Found {
    let uniform = value(&errors(results, "fig5", &family(), Strategy::Uniform, false)?);
    let (mut tests, mut evidence) = (Vec::new(), vec![format!("uniform {uniform:.0}%")]);
    for entry in table(&family()) {
        let found = value(&errors(results, "fig5", &family(), entry.method, true)?);
        tests.push(found < uniform);
        evidence.push(format!("{} {found:.0}%", entry.name));
    }
    Some((evidence.join(", ") + ".", Verdict::of(&tests)))
}

/// Largest errors of the uniform start and of the table's strategies on a trained problem.
fn largest(results: &Results, problem: &str) -> Option<(f64, Vec<(String, f64)>)> {
    let uniform = rows_of(results, "fig5", problem, Strategy::Uniform, false);
    if uniform.len() < EPOCHS.len() {
        return None;
    }
    let of = |entry: crate::experiments::fig5::Entry| {
        let errors = errors(results, "fig5", problem, entry.method, false)?;
        Some((entry.name, errors.largest()))
    };
    let entries = table(problem).into_iter().map(of).collect::<Option<Vec<_>>>()?;
    Some((Errors::of(uniform).largest(), entries))
}

fn listed(uniform: f64, entries: &[(String, f64)]) -> String {
    let list: Vec<String> =
        entries.iter().map(|(name, xi)| format!("{name} {}", per_cent(*xi))).collect();
    format!("Largest errors over the epochs: uniform {}, {}.", per_cent(uniform), list.join(", "))
}

fn mnist(results: &Results) -> Found {
    let (uniform, entries) = largest(results, TRAINED[0])?;
    let last = rows_of(results, "fig5", TRAINED[0], Strategy::Uniform, false).last()?.xi?;
    let mut tests: Vec<bool> = entries.iter().map(|(_, xi)| *xi <= 0.05).collect();
    tests.push(last > 0.05);
    Some((listed(uniform, &entries), Verdict::of(&tests)))
}

fn web(results: &Results) -> Found {
    let (uniform, entries) = largest(results, TRAINED[1])?;
    let mut tests: Vec<bool> = entries.iter().map(|(_, xi)| *xi <= 0.05).collect();
    tests.push(uniform <= 0.05);
    Some((listed(uniform, &entries), Verdict::of(&tests)))
}

/// Uniform start, Gibbs_mf and Gibbs_ps on the hardest family.
fn three(results: &Results) -> Option<[Errors; 3]> {
    Some([
        errors(results, "fig6", &family(), Strategy::Uniform, false)?,
        errors(results, "fig6", &family(), gibbs_mf(), true)?,
        errors(results, "fig6", &family(), gibbs_ps(), true)?,
    ])
}

fn in_words(name: &str, errors: &Errors) -> String {
    format!(
        "{name}: {:.0}% above 5%, their median {}",
        errors.above(),
        per_cent(errors.median_above())
    )
}

fn both_ways(results: &Results) -> Found {
    let [uniform, mf, _] = three(results)?;
    let single = errors(results, "fig6", &family(), one_chain(), true)?;
    let evidence = format!(
        "{}; {}; {}.",
        in_words("uniform", &uniform),
        in_words("Gibbs_mf", &mf),
        in_words("Gibbs_mf with one long chain", &single)
    );
    let tests = [mf.above() < uniform.above(), mf.median_above() < uniform.median_above()];
    Some((evidence, Verdict::of(&tests)))
}

fn pseudoinverse(results: &Results) -> Found {
    let [uniform, _, ps] = three(results)?;
    let evidence = format!("{}; {}.", in_words("uniform", &uniform), in_words("Gibbs_ps", &ps));
    let tests = [ps.above() > uniform.above(), ps.median_above() < uniform.median_above()];
    Some((evidence, Verdict::of(&tests)))
}

fn mean_field_wins(results: &Results) -> Found {
    let [_, mf, ps] = three(results)?;
    let evidence = format!(
        "{}; {}. Medians of all errors: {} and {}.",
        in_words("Gibbs_mf", &mf),
        in_words("Gibbs_ps", &ps),
        per_cent(mf.median()),
        per_cent(ps.median())
    );
    let gain = ps.above() - mf.above();
    Some((evidence, Verdict::at_least(gain, 5.0, f64::MIN_POSITIVE)))
}

fn trained(results: &Results) -> Found {
    let (mut tests, mut evidence) = (Vec::new(), Vec::new());
    for problem in TRAINED {
        let uniform = errors(results, "fig6", problem, Strategy::Uniform, false)?.largest();
        evidence.push(format!("{problem}: uniform {}", per_cent(uniform)));
        for (name, method) in [("Gibbs_mf", gibbs_mf()), ("Gibbs_ps", gibbs_ps())] {
            let found = errors(results, "fig6", problem, method, false)?.largest();
            tests.push(found <= 0.05 && found < uniform);
            evidence.push(format!("{name} {}", per_cent(found)));
        }
    }
    let text = format!("Largest errors over the epochs. {}.", evidence.join(", "));
    Some((text, Verdict::of(&tests)))
}

fn cost(results: &Results) -> Found {
    let rows: Vec<&Row> = rows_of(results, "fig6", &family(), gibbs_mf(), true);
    let row = rows.first()?;
    let share = 100.0 * row.start_steps as f64 / row.chain_steps as f64;
    let evidence = format!(
        "Gibbs_mf: {} sweeps for B, {} annealing steps, {share:.0}%.",
        lnz_app::numbers::count(row.start_steps as usize),
        lnz_app::numbers::count(row.chain_steps as usize)
    );
    Some((evidence, Verdict::of(&[share <= 20.0])))
}
