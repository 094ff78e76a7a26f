//! The result of `lnz score`, for programs and for people.

use crate::args::{BinarizeArg, ScoreArgs};
use crate::log_z::{LogZ, WarningText};
use crate::terminal::{self, Table, bad, value};
use anyhow::Result;
use lnz::Scores;
use lnz_app::numbers::{self, count, duration, exact, with_decimals_of};
use lnz_app::report::ModelSummary;
use serde::Serialize;
use serde_json::Value;

/// The object that `--json` prints; the names of its fields are a contract. Numbers that do not apply,
/// or are infinite, are null.
#[derive(Debug, Serialize)]
pub(super) struct ScoreReport {
    schema: u32,
    mean_log_likelihood: f64,
    /// That of log Z: it holds for these examples.
    std_error: Option<f64>,
    interval: Option<[f64; 2]>,
    /// Standard error of the mean over other examples of the same kind; independent of `std_error`.
    sampling_error: f64,
    examples: usize,
    quantiles: Quantiles,
    mean_log_marginal: f64,
    pub(super) log_z: f64,
    /// That of log Z.
    verdict: Option<String>,
    warnings: Vec<WarningText>,
    model: ModelSummary,
    data: DataSettings,
    /// The result that log Z comes from.
    estimate: Value,
    seconds: f64,
    #[serde(skip)]
    log_z_origin: String,
    #[serde(skip)]
    log_z_interval: Option<[f64; 2]>,
}

/// Of the log-likelihood over the examples.
#[derive(Debug, Serialize)]
struct Quantiles {
    min: f64,
    q05: f64,
    q25: f64,
    median: f64,
    q75: f64,
    q95: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
struct DataSettings {
    name: String,
    binarize: &'static str,
    /// Of the binarisation.
    seed: Option<u64>,
    /// Share of values that are neither 0 nor 1.
    grey_share: f64,
}

impl ScoreReport {
    pub(super) fn new(
        args: &ScoreArgs,
        model: ModelSummary,
        scores: &Scores,
        log_z: LogZ,
        seconds: f64,
    ) -> Self {
        let LogZ { value: log_z, known, origin, result } = log_z;
        let (std_error, interval) = known
            .as_ref()
            .map_or((f64::NAN, [f64::NAN; 2]), |known| (known.std_error, known.interval));
        let likelihood = scores.likelihood(log_z, std_error, interval);
        let [min, q05, q25, median, q75, q95, max] =
            scores.quantiles([0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]).map(|f| f - log_z);
        let mut warnings = Vec::new();
        let mut verdict = known.as_ref().map(|known| known.verdict.clone());
        if max > 0.0 {
            verdict = Some("suspect".to_owned());
            warnings.push(above_one(max));
        }
        warnings.extend(known.iter().flat_map(|known| known.warnings.clone()));
        warnings.extend((scores.grey_share > 0.0).then(|| grey_values(scores.grey_share)));
        Self {
            schema: 1,
            mean_log_likelihood: likelihood.mean,
            std_error: known.as_ref().map(|_| likelihood.std_error),
            interval: known.as_ref().map(|_| likelihood.interval),
            sampling_error: likelihood.sampling_error,
            examples: scores.log_marginals.len(),
            quantiles: Quantiles { min, q05, q25, median, q75, q95, max },
            mean_log_marginal: scores.mean,
            log_z,
            verdict,
            warnings,
            model,
            data: DataSettings {
                name: args.data.display().to_string(),
                binarize: args.binarize.name(),
                seed: (args.binarize == BinarizeArg::Bernoulli).then_some(args.seed),
                grey_share: scores.grey_share,
            },
            estimate: result,
            seconds,
            log_z_origin: origin,
            log_z_interval: known.map(|known| known.interval),
        }
    }

    /// LIBSVM text leaves out zeros, so that a data set for a smaller model cannot be refused.
    pub(super) fn mention_width(&mut self, data_means: &[f64]) {
        let used = data_means.iter().rposition(|&mean| mean > 0.0).map_or(0, |last| last + 1);
        if used < data_means.len() {
            let message = format!(
                "the largest index in the file is {used}, but the model has {} visible units; the others count as 0",
                data_means.len()
            );
            self.warnings.push(WarningText { kind: NARROW_DATA.to_owned(), message });
        }
    }

    pub(super) fn print(&self, json: bool) -> Result<()> {
        if json {
            return terminal::print_json(self);
        }
        terminal::print(&self.to_text())
    }

    fn to_text(&self) -> String {
        let mut table = Table::default();
        // The reason to distrust a number comes before the number.
        let suspect = self.verdict.as_deref() == Some("suspect");
        let (notes, reasons): (Vec<_>, Vec<_>) =
            self.warnings.iter().partition(|w| [GREY_VALUES, NARROW_DATA].contains(&&*w.kind));
        for (i, warning) in reasons.iter().enumerate() {
            let label = if i == 0 { "verdict" } else { "" };
            let suspect = if suspect { "log Z is suspect:" } else { "log Z:" };
            table.line(label, format!("{} {}", bad().apply_to(suspect), warning.message));
        }
        table.line("model", self.model.to_text());
        table.line("data", self.data_text());
        for note in notes {
            table.line("", format!("{} {}", bad().apply_to("note:"), note.message));
        }
        table.line("log p", self.likelihood_text());
        let q = &self.quantiles;
        table.line(
            "spread",
            format!(
                "5% {:.2}   25% {:.2}   median {:.2}   75% {:.2}   95% {:.2}\nlowest {:.2}, highest {:.2}",
                q.q05, q.q25, q.median, q.q75, q.q95, q.min, q.max
            ),
        );
        table.line("log Z", self.log_z_text());
        table.line(
            "mean F",
            format!("{:.6}, computed in {}", self.mean_log_marginal, duration(self.seconds)),
        );
        table.text()
    }

    fn data_text(&self) -> String {
        let treated = match (self.data.binarize, self.data.seed) {
            ("threshold", _) => ", values above 1/2 as 1, others as 0".to_owned(),
            (_, Some(seed)) => format!(", each value drawn as 0 or 1 (seed {seed})"),
            _ => String::new(),
        };
        let examples = match self.examples {
            1 => "one example".to_owned(),
            n => format!("{} examples", count(n)),
        };
        format!("{}: {examples}{treated}", self.data.name)
    }

    fn likelihood_text(&self) -> String {
        let mean = self.mean_log_likelihood;
        let own = match (self.std_error, self.interval) {
            (Some(error), Some([low, high])) if error > 0.0 => {
                let round = |x| with_decimals_of(error, x);
                let mean = value().apply_to(round(mean));
                if error.is_finite() {
                    format!(
                        "{mean} ± {} per example   95% interval [{}, {}], from log Z",
                        numbers::error(error),
                        round(low),
                        round(high)
                    )
                } else {
                    format!("{mean} per example; the error of log Z is not known")
                }
            }
            (Some(_), _) => format!("{} per example", value().apply_to(exact(mean))),
            (None, _) => format!("{} per example", value().apply_to(format!("{mean:.6}"))),
        };
        if self.sampling_error.is_finite() {
            let error = numbers::error(self.sampling_error);
            return format!(
                "{own}\nsampling error {error}: how far other examples of the kind may lead"
            );
        }
        own
    }

    fn log_z_text(&self) -> String {
        match (self.std_error, self.log_z_interval) {
            (Some(error), Some([low, high])) if error > 0.0 && error.is_finite() => {
                let round = |x| with_decimals_of(error, x);
                format!(
                    "{} ± {}   95% interval [{}, {}]\n{}",
                    round(self.log_z),
                    numbers::error(error),
                    round(low),
                    round(high),
                    self.log_z_origin
                )
            }
            (Some(0.0), _) => format!("{}, {}", exact(self.log_z), self.log_z_origin),
            _ => format!("{}, {}", self.log_z, self.log_z_origin),
        }
    }
}

/// Kinds of warnings that are about the data.
const GREY_VALUES: &str = "grey_values";
const NARROW_DATA: &str = "narrow_data";

fn grey_values(share: f64) -> WarningText {
    WarningText {
        kind: GREY_VALUES.to_owned(),
        message: format!(
            "{:.1}% of the values are neither 0 nor 1, but the model gives probabilities to zeros and ones only; the result is below the mean over their random binarisations: use --binarize bernoulli or threshold",
            100.0 * share
        ),
    }
}

/// F is convex, so its largest value is at a state of zeros and ones, one term of Z.
fn above_one(highest: f64) -> WarningText {
    WarningText {
        kind: "above_one".to_owned(),
        message: format!(
            "an example has the log-likelihood {highest:.2}, but no probability is above 1: log Z is too low by at least as much, or not that of this model"
        ),
    }
}
