//! The page of an estimate of log Z.

use super::{Page, Words, interval, interval_words, real, settings, styles, with_error};
use crate::report::Report;
use lnz::Details;
use lnz_figures::{Axis, Errors, Figure, Panel, Rule, Series, Style, verbatim};
use maud::{Markup, html};
use serde_json::Value;

/// Phases that are drawn, the largest first.
const MOST_PHASES: usize = 12;
/// Bins of a histogram.
const BINS: usize = 40;

/// What a result has to show besides its JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The log weights of the chains; none where several parts were sampled.
    pub log_weights: Vec<f64>,
    /// (beta, estimate of log Z there) along the annealing of plain AIS.
    pub path: Vec<(f64, f64)>,
    /// (seconds, log Z, both ends of its interval) after each round of the default method.
    pub rounds: Vec<[f64; 4]>,
}

impl Report {
    /// What the result has to show besides its JSON.
    pub fn trace(&self) -> Trace {
        let (log_weights, path) = match &self.finding.details {
            Details::Ais(run) => (run.annealed.samples.clone(), run.annealed.path.clone()),
            Details::Auto(run) => match run.sampled.as_slice() {
                // What was summed exactly is added, so that the weights are those of the whole.
                [part] => {
                    let rest = self.finding.log_z - part.log_z;
                    (part.log_weights.iter().map(|weight| weight + rest).collect(), vec![])
                }
                _ => (vec![], vec![]),
            },
            _ => (vec![], vec![]),
        };
        Trace { log_weights, path, rounds: self.rounds.clone() }
    }
}

/// The page of an estimate: `json` is what `--json` prints.
pub fn estimate(json: &Value, words: &[Words], trace: &Trace, command: &str) -> String {
    let name = json["model"]["name"].as_str().unwrap_or("a model");
    let (log_z, error) = (real(&json["log_z"]).unwrap_or(f64::NAN), real(&json["std_error"]));
    Page {
        title: format!("log Z of {name}"),
        heading: html! { "log Z of " (name) },
        answer: html! {
            (with_error(log_z, error)) " "
            @if let Some(error) = error.filter(|error| *error > 0.0 && error.is_finite()) {
                (interval_words(&json["interval"], error))
            }
        },
        verdict: json["verdict"].as_str(),
        words,
        figures: figures(json, trace),
        settings: settings(json),
        command,
        json,
    }
    .html()
}

/// All figures that an estimate has; none for an exact value.
pub(super) fn figures(json: &Value, trace: &Trace) -> Markup {
    let named = [
        ("where", "Where log Z lies", comparison(json)),
        ("weights", "The weights of the chains", weights(json, trace)),
        ("path", "Along the annealing", path(json, trace)),
        ("rounds", "Round by round", rounds(json, trace)),
        ("ladder", "The ladder of temperatures", ladder(json)),
        ("phases", "The phases of the model", phases(json)),
    ];
    html! {
        @for (id, title, figure) in named {
            @if let Some(figure) = figure { section id=(id) { h2 { (title) } (figure.html(id)) } }
        }
    }
}

/// One row of a figure of intervals.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) interval: [f64; 2],
    pub(super) style: Style,
    /// What the legend calls rows of this style.
    pub(super) meaning: &'static str,
}

/// Rows of intervals, the first on top.
pub(super) fn intervals(title: impl Into<String>, x: Axis, rows: &[Row]) -> Panel {
    let height = |i: usize| (rows.len() - i) as f64;
    let ticks = rows.iter().enumerate().map(|(i, row)| (height(i), row.label.clone())).collect();
    let y = Axis::linear("").between(0.3, rows.len() as f64 + 0.7).ticks(ticks);
    // Rows of one meaning are one series, so that they have one size.
    let mut series: Vec<Series> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let point = [row.value, height(i)];
        match series.iter_mut().find(|series| series.name == row.meaning) {
            Some(Series { points, errors: Errors::X(ends), .. }) => {
                points.push(point);
                ends.push(row.interval);
            }
            _ => series.push(
                Series::new(row.meaning, vec![point], row.style)
                    .errors(Errors::X(vec![row.interval])),
            ),
        }
    }
    series.into_iter().fold(Panel::new(title, x, y), Panel::with)
}

/// The result, what was found on the way to it, and what is proven.
fn comparison(json: &Value) -> Option<Figure> {
    let verdict = json["verdict"].as_str()?;
    let log_z = real(&json["log_z"]).filter(|_| verdict != "exact")?;
    let mut rows = vec![Row {
        label: "result".to_owned(),
        value: log_z,
        interval: interval(&json["interval"]),
        style: styles::of_verdict(verdict),
        meaning: if verdict == "suspect" { "result, suspect" } else { "result" },
    }];
    let parts = json["sampled"].as_array().map_or(&[][..], Vec::as_slice);
    if let [part] = parts {
        let rest = log_z - real(&part["log_z"]).unwrap_or(log_z);
        if let Some(reverse) = real(&part["log_reverse"]).map(|reverse| reverse + rest) {
            rows.push(Row {
                label: "with chains back".to_owned(),
                value: reverse,
                interval: [reverse; 2],
                style: styles::TRIAL,
                meaning: "on the way to it",
            });
        }
        for family in part["families"].as_array().into_iter().flatten() {
            let Some(value) = real(&family["trial_log_z"]).map(|value| value + rest) else {
                continue;
            };
            let reach = 2.0 * real(&family["trial_error"]).unwrap_or(f64::INFINITY);
            rows.push(Row {
                label: format!("trial, {}", family["family"].as_str().unwrap_or_default()),
                value,
                interval: [value - reach, value + reach],
                style: styles::TRIAL,
                meaning: "on the way to it",
            });
        }
    }
    let mut panel = intervals("", Axis::linear("log Z"), &rows);
    let proven = &json["proven"];
    let floor = real(&proven[0]).or(real(&json["lower_bound"]));
    if let Some(floor) = floor.filter(|floor| floor.is_finite()) {
        panel =
            panel.with_rule(Rule::upright("floor: log Z is not below it", floor, styles::FLOOR));
    }
    if let Some(ceiling) = real(&proven[1]) {
        let name = "ceiling: log Z is not above it";
        panel = panel.with_rule(Rule::upright(name, ceiling, styles::CEILING));
    }
    let note = "Bars are 95% intervals; those of trials are two standard errors on both sides.";
    Some(Figure { note: note.to_owned(), ..Figure::new(vec![panel]) })
}

fn weights(json: &Value, trace: &Trace) -> Option<Figure> {
    if trace.log_weights.is_empty() {
        return None;
    }
    let x = Axis::linear("log weight of a chain: its own estimate of log Z");
    let mut panel = Panel::new("", x, Axis::linear("chains")).with(Series::histogram(
        "chains",
        &trace.log_weights,
        BINS,
        Style { marker: lnz_figures::Marker::None, ..styles::AUTO },
    ));
    if let Some(log_z) = real(&json["log_z"]) {
        panel = panel.with_rule(Rule::upright("log Z: their log-mean-exp", log_z, styles::EXACT));
    }
    let note = "Z is the mean of the weights. Where log Z lies far to the right of most chains, a few of \
                them decide it.";
    Some(Figure { note: note.to_owned(), ..Figure::new(vec![panel]) })
}

fn path(json: &Value, trace: &Trace) -> Option<Figure> {
    if trace.path.len() < 2 {
        return None;
    }
    let points = trace.path.iter().map(|&(beta, log_z)| [beta, log_z]).collect();
    let line = Style { marker: lnz_figures::Marker::None, ..styles::AUTO };
    let mut panel =
        Panel::new("", Axis::linear("β"), Axis::linear("log Z at β")).with(Series::new(
            "estimate on the way from the start (β = 0) to the model (β = 1)",
            points,
            line,
        ));
    // The floor is one of the model itself, and not of what is on the way to it.
    if let Some(floor) = real(&json["lower_bound"]).filter(|floor| floor.is_finite()) {
        let points = vec![[0.95, floor], [1.0, floor]];
        let name = "floor: at β = 1, log Z is not below it";
        panel = panel.with(Series::new(name, points, styles::FLOOR));
    }
    Some(Figure::new(vec![panel]))
}

fn rounds(json: &Value, trace: &Trace) -> Option<Figure> {
    if trace.rounds.len() < 2 {
        return None;
    }
    let points = trace.rounds.iter().map(|&[seconds, log_z, ..]| [seconds, log_z]).collect();
    let ends = trace.rounds.iter().map(|&[_, _, low, high]| [low, high]).collect();
    let style = Style { dash: lnz_figures::Dash::Solid, ..styles::TRUSTED };
    let mut panel = Panel::new("", Axis::linear("seconds"), Axis::linear("log Z")).with(
        Series::new("after each round, with its 95% interval", points, style)
            .errors(Errors::Y(ends)),
    );
    if let Some(floor) = real(&json["lower_bound"]) {
        panel = panel.with_rule(Rule::new("floor: log Z is not below it", floor, styles::FLOOR));
    }
    Some(Figure::new(vec![panel]))
}

/// How often neighbouring rungs of parallel tempering exchange their states.
fn ladder(json: &Value) -> Option<Figure> {
    let run = &json["tempering"];
    let reals = |field: &str| -> Option<Vec<f64>> {
        run[field].as_array()?.iter().map(real).collect::<Option<Vec<f64>>>()
    };
    let (betas, rejections) = (reals("betas")?, reals("rejections")?);
    let middle = betas.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    let points = middle.zip(&rejections).map(|(beta, rejected)| [beta, 1.0 - rejected]).collect();
    let y = Axis::linear("exchanges that are accepted").between(0.0, 1.0);
    let panel = Panel::new("", Axis::linear("β"), y).with(Series::new(
        "pairs of neighbouring rungs",
        points,
        styles::AUTO,
    ));
    let note = format!(
        "{} round trips from the start to the model and back; the barrier is {:.1}.",
        run["round_trips"],
        real(&run["barrier"]).unwrap_or(f64::NAN)
    );
    Some(Figure { note, ..Figure::new(vec![panel]) })
}

fn phases(json: &Value) -> Option<Figure> {
    let [part] = json["sampled"].as_array()?.as_slice() else { return None };
    let phases = part["phases"].as_array().filter(|phases| phases.len() > 1)?;
    let row = |(i, phase): (usize, &Value)| {
        let share = 100.0 * real(&phase["share"]).unwrap_or(f64::NAN);
        let reach = 2.0 * share * real(&phase["relative_error"]).unwrap_or(0.0);
        let by: Vec<&str> =
            phase["found_by"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        Row {
            label: verbatim(&format!("{}: {}", i + 1, by.first().copied().unwrap_or("?"))),
            value: share,
            interval: [share - reach, share + reach],
            style: styles::TRUSTED,
            meaning: "share of Z, two standard errors on both sides",
        }
    };
    let rows: Vec<Row> = phases.iter().take(MOST_PHASES).enumerate().map(row).collect();
    let panel = intervals("", Axis::linear("share of Z in %"), &rows);
    let mut note = "A phase is a group of states that sweeps do not leave; beside its number stands a kind of \
                    first state that leads there."
        .to_owned();
    if phases.len() > MOST_PHASES {
        note += &format!(" {} more are not drawn.", phases.len() - MOST_PHASES);
    }
    Some(Figure { note, ..Figure::new(vec![panel]) })
}
