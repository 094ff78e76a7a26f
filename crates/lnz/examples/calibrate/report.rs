//! The report: what share of the models each method got right, as Markdown.

use crate::methods::{BETAS, CHAINS, Method, Outcome, WRONG};
use crate::options::Options;
use lnz::Auto;
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HEAD: &str = "\
| family | method | models | within 0.1% | 1% | 5% | largest error (nats) | coverage | false confidence | 10^6 chain-steps | seconds |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
";

pub(crate) fn markdown(outcomes: &[Outcome], options: &Options, took: Duration) -> String {
    let mut families: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !families.contains(&outcome.family.as_str()) {
            families.push(&outcome.family);
        }
    }
    let mut text = introduction(outcomes, options, took);
    text += "\n## All models\n\n";
    text += HEAD;
    Method::all().into_iter().for_each(|method| text += &row("all", method, outcomes.iter()));
    text += "\n## By family\n\n";
    text += HEAD;
    for family in families {
        for method in Method::all() {
            text += &row(family, method, outcomes.iter().filter(|o| o.family == family));
        }
    }
    text += "\n## Where `auto` missed\n\n";
    let notable: Vec<&Outcome> = outcomes.iter().filter(|o| o.is_notable()).collect();
    if notable.is_empty() {
        text += "No error above 0.3 nats, and every interval holds the truth.\n";
        return text;
    }
    text += "Errors above 0.3 nats, or a truth outside the interval:\n\n";
    for outcome in notable {
        let _ = writeln!(text, "- {}", outcome.line().lines().next().unwrap_or_default());
    }
    text
}

fn introduction(outcomes: &[Outcome], options: &Options, took: Duration) -> String {
    let models = outcomes.iter().filter(|o| o.method == Method::all()[0]).count();
    let Auto { core, target_error, .. } = Auto::default();
    format!(
        "# Calibration

{models} seeded models whose log Z is known by another way: Gaussian families of the paper and
models with few hidden units (enumeration), shuffled blocks (sum over components), and bands of
weights (transfer matrix). `auto` runs without its shortcuts, so that it has to sample them all.
Percentages are errors of log Z; coverage is the share of 95% intervals that hold the truth; false
confidence counts errors above {WRONG} nats that came without a warning. Steps and seconds are means.

- Rerun: `{}` ({})
- Settings of `auto`: core {core}, target error {target_error}, at most {} s; of plain annealing (AIS):
  {CHAINS} chains, {BETAS} betas, linear; Gibbs MF starts on the larger layer
- Machine: {}, {} threads; {}
",
        options,
        lnz::in_words(took.as_secs_f64()),
        options.max_seconds,
        processor(),
        rayon::current_num_threads(),
        today(),
    )
}

fn row<'a>(family: &str, method: Method, outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let outcomes: Vec<&Outcome> = outcomes.filter(|o| o.method == method).collect();
    if outcomes.is_empty() {
        return String::new();
    }
    let n = outcomes.len() as f64;
    let share = |holds: &dyn Fn(&Outcome) -> bool| {
        let count = outcomes.iter().filter(|o| holds(o)).count();
        // Rounded down: 100% means all.
        format!("{}%", (100.0 * count as f64 / n).floor())
    };
    let mean = |value: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(|o| value(o)).sum::<f64>() / n;
    let largest = outcomes
        .iter()
        .map(|o| o.error())
        .fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    format!(
        "| {family} | {} | {n} | {} | {} | {} | {largest:+.2} | {} | {} | {:.2} | {:.2} |\n",
        method.name(),
        share(&|o| o.relative_error() <= 0.001),
        share(&|o| o.relative_error() <= 0.01),
        share(&|o| o.relative_error() <= 0.05),
        share(&|o| o.is_covered()),
        outcomes.iter().filter(|o| o.is_falsely_confident()).count(),
        mean(&|o| o.chain_steps as f64 * 1e-6),
        mean(&|o| o.seconds),
    )
}

/// The processor's name where the system tells it.
fn processor() -> String {
    let name = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    name.unwrap_or_else(|| std::env::consts::ARCH.into())
}

/// Today's date, from the days since 1970-01-01.
fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut day, mut year) = (days, 1970);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}
