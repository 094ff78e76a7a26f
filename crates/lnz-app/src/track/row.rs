//! A checkpoint with its log Z, where that comes from, and how far to trust it.

use super::{Checkpoint, MOST_ERRORS};
use lnz::{Finding, Span, Verdict};

/// A checkpoint and its log Z.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Its epoch or update, or its place among the others.
    pub at: u64,
    /// The hash of its parameters.
    pub sha256: String,
    /// log Z.
    pub log_z: f64,
    /// Its standard error: that of the estimate that the way began with, and those of all bridges since.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// Where log Z comes from.
    pub origin: Origin,
    /// How far to trust it.
    pub verdict: Verdict,
    /// The bridge from the checkpoint before.
    pub span: Option<Span>,
    /// The chains of the bridge began in states that can be trusted.
    pub(super) is_settled: bool,
    /// An independent estimate of the same checkpoint.
    pub independent: Option<Independent>,
    /// Mean log-likelihood of the data, in nats.
    pub log_likelihood: Option<f64>,
    /// Time that it took.
    pub seconds: f64,
}

/// Where a log Z comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A sum over all states.
    Exact,
    /// An independent estimate.
    Estimate,
    /// The last checkpoint, and the bridge from there.
    Bridge,
}

impl Origin {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Exact => "exact",
            Origin::Estimate => "estimate",
            Origin::Bridge => "bridge",
        }
    }
}

/// An estimate that knows nothing of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Independent {
    /// log Z.
    pub log_z: f64,
    /// Its standard error.
    pub std_error: f64,
    /// 95% interval.
    pub interval: [f64; 2],
    /// How far to trust it alone.
    pub verdict: Verdict,
    /// The log Z of the bridge less this one, and the same in units of its error; none where no bridge
    /// leads to.
    pub off: Option<[f64; 2]>,
}

impl Independent {
    /// `bridged` is log Z by way of the bridge, and its error.
    pub(super) fn new(found: &Finding, bridged: Option<[f64; 2]>) -> Self {
        let Finding { log_z, std_error, interval, .. } = *found;
        let off = bridged.map(|[value, error]| {
            let off = value - log_z;
            [off, off / error.hypot(std_error)]
        });
        Self { log_z, std_error, interval, verdict: found.diagnosis.verdict, off }
    }

    /// The bridge leads elsewhere.
    pub fn disagrees(&self) -> bool {
        // Two exact values that are equal are zero errors apart, and no number.
        self.off.is_some_and(|[off, errors]| {
            off != 0.0 && (errors.is_nan() || errors.abs() > MOST_ERRORS)
        })
    }
}

impl Row {
    pub(super) fn new(
        checkpoint: &Checkpoint,
        sha256: String,
        log_z: f64,
        std_error: f64,
        interval: [f64; 2],
        origin: Origin,
    ) -> Self {
        let verdict = if origin == Origin::Exact { Verdict::Exact } else { Verdict::Unchecked };
        Self {
            name: checkpoint.name.clone(),
            at: checkpoint.at,
            sha256,
            log_z,
            std_error,
            interval,
            origin,
            verdict,
            span: None,
            is_settled: true,
            independent: None,
            log_likelihood: None,
            seconds: 0.0,
        }
    }

    pub(super) fn across(self, span: Span, is_settled: bool) -> Self {
        Self { span: Some(span), is_settled, ..self }
    }

    pub(super) fn with(self, independent: Independent) -> Self {
        Self { independent: Some(independent), ..self }
    }

    /// The bridge did not hold: log Z is that of an independent estimate.
    pub(super) fn replaced_by(self, found: &Finding) -> Self {
        let Finding { log_z, std_error, interval, .. } = *found;
        Self { log_z, std_error, interval, origin: Origin::Estimate, ..self }
    }
}

/// Judges the rows, stretch by stretch: each begins with an independent estimate, on which all of its values
/// hang.
pub(super) fn judge(rows: &mut [Row]) {
    let begins = |row: &Row| row.origin != Origin::Bridge;
    let mut first = 0;
    while first < rows.len() {
        let length = rows[first + 1..].iter().position(begins).unwrap_or(rows.len() - first - 1);
        judge_stretch(&mut rows[first..=first + length]);
        first += length + 1;
    }
}

/// A check that disagrees says that something is wrong, and not where. A check that agrees speaks for all
/// rows before it: they led there. Rows after the last one are unchecked.
fn judge_stretch(rows: &mut [Row]) {
    if rows[0].origin == Origin::Exact {
        return;
    }
    let is_good =
        |row: &Row| row.independent.is_some_and(|check| check.verdict != Verdict::Suspect);
    let disagrees =
        rows[1..].iter().any(|row| row.independent.is_some_and(|check| check.disagrees()));
    let last_good = rows.iter().skip(1).rposition(is_good).map_or(0, |k| k + 1);
    let anchored = is_good(&rows[0]) || last_good > 0;
    for (k, row) in rows.iter_mut().enumerate() {
        row.verdict = match k {
            _ if disagrees || !anchored => Verdict::Suspect,
            0 => Verdict::Consistent,
            k if k <= last_good => Verdict::Consistent,
            _ if !row.is_settled => Verdict::Suspect,
            _ => Verdict::Unchecked,
        };
    }
}
