//! log Z along a training run as it is shown: JSON, CSV, a table and lines for people.

use super::row::{Independent, Row};
use super::{Origin, Track};
use crate::numbers::{count, duration, error, exact, plural, with_decimals_of};
use crate::provenance::Provenance;
use crate::report::{Line, Tone};
use crate::schema;
use lnz::{Span, Verdict};
use lnz_figures::{Cell, Table};
use serde_json::{Value, json};

const CSV_HEADER: &str = "name,sha256,log_z,std_error,interval_low,interval_high,from,verdict,\
    log_ratio,ratio_error,bracket_low,bracket_high,disagreement,betas,\
    independent_log_z,independent_error,independent_verdict,off_by,off_in_errors,log_likelihood,seconds";

impl Track {
    /// The worst verdict of all checkpoints.
    pub fn verdict(&self) -> Verdict {
        let badness = |verdict: Verdict| match verdict {
            Verdict::Exact => 0,
            Verdict::Consistent => 1,
            Verdict::Unchecked => 2,
            _ => 3,
        };
        let worst = self.rows.iter().map(|row| row.verdict).max_by_key(|v| badness(*v));
        worst.unwrap_or(Verdict::Unchecked)
    }

    /// The object for programs; the names of its fields are a contract.
    pub fn to_json(&self) -> Value {
        let request = &self.request;
        json!({
            "schema": schema::VERSION,
            "unit": self.unit,
            "verdict": self.verdict(),
            "checkpoints": self.checkpoints,
            "stopped": self.stopped,
            "rows": self.rows.iter().map(row_json).collect::<Vec<_>>(),
            "settings": {
                "chains": request.following.chains,
                "sweeps": request.following.sweeps,
                "betas": request.following.most_betas,
                "seed": request.following.seed,
                "check_every": request.check_every,
                "no_exact": request.no_exact,
                "max_seconds": request.max_seconds,
            },
            "run": Provenance::now(),
        })
    }

    /// A title and a line for each checkpoint; what does not apply is empty.
    pub fn to_csv(&self) -> String {
        let lines = self.rows.iter().map(csv_line);
        std::iter::once(format!("{},{CSV_HEADER}\n", self.unit)).chain(lines).collect()
    }

    /// The checkpoints, one line each.
    pub fn table(&self) -> Table {
        let with_data = self.rows.iter().any(|row| row.log_likelihood.is_some());
        let mut head =
            vec![self.unit, "log Z", "95% interval", "from", "gap", "independent", "off"];
        if with_data {
            head.push("log-likelihood");
        }
        head.extend(["verdict", "time"]);
        let mut table = Table::new("log Z along the run", &head);
        table.rows = self.rows.iter().map(|row| cells(row, with_data)).collect();
        table
    }

    /// What is to be said besides the table: reasons for distrust first.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let verdict = self.verdict();
        for (k, reason) in self.reasons().into_iter().enumerate() {
            let label = if k == 0 { "verdict" } else { "" };
            let lead = Some((Tone::Bad, format!("{}:", verdict.name())));
            lines.push(Line { label, lead, text: format!(" {reason}") });
        }
        if lines.is_empty() {
            let tone = if verdict == Verdict::Unchecked { Tone::Bad } else { Tone::Good };
            let text = match verdict {
                Verdict::Exact => ": sums over all states",
                Verdict::Consistent if self.rows.iter().all(|row| row.span.is_none()) => {
                    ": estimates of their own; there was no bridge yet"
                }
                Verdict::Consistent => {
                    ": every bridge holds in both directions, and leads to the independent estimates"
                }
                _ => ": no independent estimate follows on the last bridges",
            };
            let lead = Some((tone, verdict.name().to_owned()));
            lines.push(Line { label: "verdict", lead, text: text.to_owned() });
        }
        let plain = |label, text| Line { label, lead: None, text };
        for row in &self.rows {
            let Some(span) = row.span.as_ref().filter(|span| !span.holds()) else { continue };
            let text = format!(
                "the bridge to {} {} does not hold: {}; log Z there is the independent estimate, and the way goes on from it",
                self.unit,
                row.at,
                why(span)
            );
            lines.push(plain("bridge", text));
        }
        if self.stopped {
            let (done, all) = (self.rows.len(), self.checkpoints);
            lines.push(plain("stopped", format!("after {done} of {all} checkpoints")));
        }
        lines.push(plain("cost", self.cost()));
        lines
    }

    fn reasons(&self) -> Vec<String> {
        let off = |row: &Row| {
            let check = row.independent.filter(Independent::disagrees)?;
            let [off, errors] = check.off?;
            // Where the bridge did not hold, that is said, and its value not used.
            (row.origin == Origin::Bridge).then(|| {
                format!(
                    "at {} {} the bridges are {} off the independent estimate, {:.1} times the error of both",
                    self.unit,
                    row.at,
                    with_decimals_of(off.abs() / 10.0, off),
                    errors.abs()
                )
            })
        };
        let mut reasons: Vec<String> = self.rows.iter().filter_map(off).collect();
        let doubtful = |row: &&Row| {
            row.verdict == Verdict::Suspect
                && row.independent.is_some_and(|check| check.verdict == Verdict::Suspect)
        };
        if let Some(row) = self.rows.iter().find(doubtful).filter(|_| reasons.is_empty()) {
            reasons.push(format!(
                "the independent estimate at {} {} is suspect itself; `lnz estimate` says why",
                self.unit, row.at
            ));
        }
        if reasons.is_empty() && self.verdict() == Verdict::Suspect {
            reasons.push("the states that the chains began in are suspect".to_owned());
        }
        reasons
    }

    fn cost(&self) -> String {
        let of = |origin: &dyn Fn(&&Row) -> bool| {
            let rows = self.rows.iter().filter(origin);
            rows.fold((0, 0.0), |(n, sum), row| (n + 1, sum + row.seconds))
        };
        let (bridges, across) = of(&|row| row.independent.is_none() && row.span.is_some());
        let (sums, summing) = of(&|row| row.origin == Origin::Exact);
        let (estimates, estimating) = of(&|row| row.independent.is_some());
        let steps: u64 =
            self.rows.iter().filter_map(|row| Some(row.span.as_ref()?.chain_steps)).sum();
        let mut parts = Vec::new();
        if sums > 0 {
            parts.push(format!("{} in {}", plural(sums, "exact value"), duration(summing)));
        }
        if bridges > 0 {
            parts.push(format!("{} in {}", plural(bridges, "bridge"), duration(across)));
        }
        if estimates > 0 {
            let each = plural(estimates, "checkpoint");
            parts.push(format!("{each} with an independent estimate in {}", duration(estimating)));
        }
        if steps > 0 {
            parts.push(format!("{} chain-steps on bridges", count(steps as usize)));
        }
        parts.join(", ")
    }
}

/// Why a bridge does not hold.
fn why(span: &Span) -> String {
    let gap = span.gap();
    match gap.is_finite() && span.disagreement.abs() <= 4.0 {
        true => format!("its directions are {gap:.2} nats apart"),
        false => format!(
            "its directions are {gap:.2} nats apart, and their results {:.1} errors",
            span.disagreement.abs()
        ),
    }
}

fn row_json(row: &Row) -> Value {
    let real = schema::real;
    json!({
        "at": row.at,
        "name": row.name,
        "sha256": row.sha256,
        "log_z": real(row.log_z),
        "std_error": real(row.std_error),
        "interval": row.interval.map(real),
        "from": row.origin.name(),
        "verdict": row.verdict,
        "bridge": row.span.as_ref().map(|span| json!({
            "log_ratio": real(span.log_ratio),
            "std_error": real(span.std_error),
            "bracket": span.bracket.map(real),
            "one_way": span.one_way.map(real),
            "disagreement": real(span.disagreement),
            "holds": span.holds(),
            "betas": span.betas,
            "chain_steps": span.chain_steps,
        })),
        "independent": row.independent.map(|check| json!({
            "log_z": check.log_z,
            "std_error": real(check.std_error),
            "interval": check.interval.map(real),
            "verdict": check.verdict,
            "off_by": check.off.map(|[off, _]| real(off)),
            "off_in_errors": check.off.map(|[_, errors]| real(errors)),
        })),
        "log_likelihood": row.log_likelihood.map(real),
        "seconds": row.seconds,
    })
}

fn csv_line(row: &Row) -> String {
    let quoted = match row.name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", row.name.replace('"', "\"\"")),
        false => row.name.clone(),
    };
    let mut fields = vec![row.at.to_string(), quoted, row.sha256.clone()];
    let mut add = |value: Option<String>| fields.push(value.unwrap_or_default());
    let number = |value: f64| (!value.is_nan()).then(|| value.to_string());
    for value in [row.log_z, row.std_error, row.interval[0], row.interval[1]] {
        add(number(value));
    }
    add(Some(row.origin.name().to_owned()));
    add(Some(row.verdict.name().to_owned()));
    let (span, check) = (row.span.as_ref(), row.independent.as_ref());
    add(span.and_then(|span| number(span.log_ratio)));
    add(span.and_then(|span| number(span.std_error)));
    add(span.and_then(|span| number(span.bracket[0])));
    add(span.and_then(|span| number(span.bracket[1])));
    add(span.and_then(|span| number(span.disagreement)));
    add(span.map(|span| span.betas.to_string()));
    add(check.and_then(|check| number(check.log_z)));
    add(check.and_then(|check| number(check.std_error)));
    add(check.map(|check| check.verdict.name().to_owned()));
    add(check.and_then(|check| number(check.off?[0])));
    add(check.and_then(|check| number(check.off?[1])));
    add(row.log_likelihood.and_then(number));
    add(Some(format!("{:.4}", row.seconds)));
    fields.join(",") + "\n"
}

fn cells(row: &Row, with_data: bool) -> Vec<Cell> {
    let nothing = || Cell::text("–");
    let is_exact = row.std_error == 0.0;
    let shown = |value: f64| match is_exact {
        true => exact(value),
        false => with_decimals_of(row.std_error, value),
    };
    let interval = match is_exact {
        true => String::new(),
        false => format!("[{}, {}]", shown(row.interval[0]), shown(row.interval[1])),
    };
    let gap = row.span.as_ref().map(Span::gap);
    let check = row.independent.as_ref();
    let mut cells = vec![
        Cell::number(row.at as f64, row.at.to_string()),
        Cell::number(row.log_z, shown(row.log_z)),
        Cell::text(interval),
        Cell::text(row.origin.name()),
        gap.map_or_else(nothing, |gap| Cell::number(gap, format!("{gap:.2}"))),
        check.map_or_else(nothing, |check| {
            let value = with_decimals_of(check.std_error, check.log_z);
            Cell::number(check.log_z, format!("{value} ± {}", error(check.std_error)))
        }),
        check.and_then(|check| check.off).map_or_else(nothing, |[_, errors]| {
            Cell::number(errors, format!("{errors:+.1} errors"))
        }),
    ];
    if with_data {
        cells.push(row.log_likelihood.map_or_else(nothing, |mean| Cell::number(mean, shown(mean))));
    }
    cells.push(Cell::text(row.verdict.name()));
    cells.push(Cell::number(row.seconds, duration(row.seconds)));
    cells
}
