//! The report: how often the intervals held the truth, as Markdown.

use crate::environment::{processor, today};
use crate::methods::{BETAS, CHAINS, Method};
use crate::options::{Options, Part};
use crate::outcome::{Outcome, RIGHT, STRETCH, WRONG};
use lnz::Auto;
use std::fmt::Write;
use std::time::Duration;

pub(crate) fn markdown(outcomes: &[Outcome], options: &Options, took: Duration) -> String {
    let of_auto: Vec<&Outcome> = outcomes.iter().filter(|o| o.method == Method::Auto).collect();
    let mut text = introduction(&of_auto, options, took);
    text += "\n## All models\n\n";
    text += &head("models of");
    for part in Part::ALL {
        text += &row(part.name(), of_auto.iter().filter(|o| o.part == part));
    }
    text += &row("both", of_auto.iter());
    text += "\n## By kind\n\n";
    text += &head("kind");
    for kind in distinct(of_auto.iter().map(|o| o.kind.as_str())) {
        text += &row(kind, of_auto.iter().filter(|o| o.kind == kind));
    }
    text += "\n## By family\n\n";
    text += &head("family");
    for family in distinct(of_auto.iter().map(|o| o.family.as_str())) {
        text += &row(family, of_auto.iter().filter(|o| o.family == family));
    }
    let misses = of_auto.iter().filter(|o| o.is_miss() || o.is_falsely_confident());
    text += &named(
        "Misses",
        &format!("Errors above {WRONG} nats, or a truth outside the interval"),
        misses,
    );
    let alarms = of_auto.iter().filter(|o| o.is_false_alarm());
    text += &named("False alarms", &format!("A warning on an error below {RIGHT} nats"), alarms);
    if options.peers {
        text += &peers(outcomes);
    }
    text
}

fn introduction(outcomes: &[&Outcome], options: &Options, took: Duration) -> String {
    let Auto { target_error, .. } = Auto::default();
    let threads = rayon::current_num_threads();
    let shared = match options.jobs {
        1 => String::new(),
        jobs => {
            format!("; {jobs} models at a time share the processor, and seconds are the longer")
        }
    };
    format!(
        "# Calibration

{} seeded models whose log Z is known, most of them made to break `auto`. None of the truths come from
the library: they are sums over occupation numbers, states of the smaller layer, messages, transfer
matrices and Kaufman's formula, written apart from it and checked against it on small models. `auto`
runs as by default, but without its shortcuts, so that it has to sample what it could sum.

| kind | models | log Z by |
|---|---|---|
| gaussian | Gaussian weights of the paper, from weak to its hardest | enumeration |
| prototypes, trained | few hidden units as patterns, drawn or trained by contrastive divergence | enumeration |
| banded | hidden units that see a window of the visible ones | transfer matrix |
| blocks | shuffled models of other families side by side | sum |
| curie-weiss | equal weights, two phases: mirrored, weighted 50 to 99.9%, or with 90 to 99.9% hidden where annealing does not go | occupation numbers |
| groups | weights that are constant between groups of units: groups agree in two phases, or compete | occupation numbers |
| hub | blocks of Curie-Weiss units with hidden phases, joined by a weak hub | occupation numbers given the hub |
| branches | such blocks joined two by two: in a chain, a star or a tree | messages between numbers of units that are on |
| collective | two phases of all units together, in small groups that each have phases of their own | occupation numbers |
| planted | Hopfield models: few patterns, once or in copies | enumeration, occupation numbers |
| ising | squares on a torus or a tube, around the critical point | Kaufman's formula, transfer matrix |
| glass | spin glasses on strips, signs or Gaussian | transfer matrix |
| tree | trees with strong couplings | messages |
| strokes | 784 pixels, trained on drawings by CD and PCD at several rates | enumeration |
| pendants | models of other families with units that hang on one other in both layers | the same, as those are summed out |

Where it makes a difference, units are relabelled 0/1, shuffled and layers exchanged at random;
\"rough\" means lognormal weights and random biases. Not among them are needles and codes: a single
state that holds the mass and that nothing around it points to. No sampler finds those.

- **Coverage**: share of 95% intervals that hold the truth.
- **5 errors**: share of errors within five of the standard errors that were claimed.
- **False confidence**: no warning, and an error above {WRONG} nats or a truth outside of the interval
  with arms {STRETCH} times as long.
- **False alarms**: a warning on an error below {RIGHT} nats.
- Errors are in nats, median and worst by size; steps (in 10^6 chain-steps) and seconds are means.
- Half of the seeds of each family served for tuning; the others were held out.

- Rerun: `{options}` ({})
- Settings of `auto`: target error {target_error}, at most {} s, seed {}
- Machine: {}, {threads} threads{shared}; {}
",
        outcomes.len(),
        lnz::in_words(took.as_secs_f64()),
        options.max_seconds,
        options.seed_of_run,
        processor(),
        today(),
    )
}

fn head(first: &str) -> String {
    format!(
        "| {first} | models | coverage | 5 errors | false confidence | false alarms | median error | worst error | 10^6 steps | seconds |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"
    )
}

/// One row of a table; nothing where there are no models.
fn row<'a>(name: &str, outcomes: impl Iterator<Item = &'a &'a Outcome>) -> String {
    let outcomes: Vec<&Outcome> = outcomes.copied().collect();
    if outcomes.is_empty() {
        return String::new();
    }
    let n = outcomes.len();
    let count = |holds: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| holds(o)).count();
    let mean =
        |value: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(|o| value(o)).sum::<f64>() / n as f64;
    let mut errors: Vec<f64> = outcomes.iter().map(|o| o.error()).collect();
    errors.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let median = (errors[(n - 1) / 2].abs() + errors[n / 2].abs()) / 2.0;
    format!(
        "| {name} | {n} | {}% | {}% | {} | {} | {median:.3} | {:+.3} | {:.2} | {:.2} |\n",
        // Rounded down: 100% means all.
        100 * count(&|o| o.is_covered()) / n,
        100 * count(&|o| o.is_within(5.0)) / n,
        count(&|o| o.is_falsely_confident()),
        count(&|o| o.is_false_alarm()),
        errors[n - 1],
        mean(&|o| o.chain_steps as f64 * 1e-6),
        mean(&|o| o.seconds),
    )
}

/// A section that names models.
fn named<'a>(title: &str, what: &str, outcomes: impl Iterator<Item = &'a &'a Outcome>) -> String {
    let mut text = format!("\n## {title}\n\n");
    let mut rows = String::new();
    for o in outcomes {
        let [low, high] = o.interval;
        let _ = writeln!(
            rows,
            "| {} | {} | {} | {:.4} | {:.4} | {:+.4} | {low:.4} to {high:.4} | {}{} | {} |",
            o.family,
            o.part.name(),
            o.seed,
            o.truth,
            o.log_z,
            o.error(),
            o.verdict_in_a_word(),
            if o.is_falsely_confident() { ": **false**" } else { "" },
            o.warnings.join(", "),
        );
    }
    if rows.is_empty() {
        text += &format!("{what}: none.\n");
        return text;
    }
    text += &format!("{what}:\n\n");
    text += "| family | part | seed | truth | value | error | interval | verdict | warnings |\n";
    text += "|---|---|---:|---:|---:|---:|---|---|---|\n";
    text + &rows
}

/// Plain annealing on the same models.
fn peers(outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "\n## Plain annealing\n\nAnnealed importance sampling with {CHAINS} chains and {BETAS} betas, linear, without the check
that `lnz estimate --method ais` adds; Gibbs MF starts on the larger layer.\n"
    );
    for &method in Method::all(true).iter().filter(|method| **method != Method::Auto) {
        let of_method: Vec<&Outcome> = outcomes.iter().filter(|o| o.method == method).collect();
        let _ = write!(text, "\n### {}\n\n{}", method.name(), head("kind"));
        for kind in distinct(of_method.iter().map(|o| o.kind.as_str())) {
            text += &row(kind, of_method.iter().filter(|o| o.kind == kind));
        }
        text += &row("all", of_method.iter());
    }
    text
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
