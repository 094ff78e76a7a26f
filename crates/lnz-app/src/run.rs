//! Runs a plan on a model and reports.

use crate::Result;
use crate::report::Report;
use crate::request::{Plan, check_seconds};
use lnz::io::StoredModel;
use lnz::{Bounds, Deadline, Finding, Observer, Phase, Progress, Rbm, Samples, Tempering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What an estimate returns.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The result as it is shown.
    pub report: Report,
    /// The observer ended the run early.
    pub stopped: bool,
}

/// log Z of a model as planned; `name` is what the report calls the model. A limit of time counts from
/// `started`, so that reading the model is within it.
pub fn estimate(
    stored: &StoredModel,
    name: &str,
    plan: &Plan,
    started: Instant,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let clock = Instant::now();
    let estimator = plan.estimator(stored, started)?;
    let reading = clock.elapsed().as_secs_f64();
    let limit = plan.max_seconds().unwrap_or(f64::INFINITY);
    let rounds = Rounds { observer, started, seen: Mutex::new(Vec::new()) };
    let deadline = Deadline::since(started, limit, &rounds);
    let found = match plan {
        // It stops by itself, with a result.
        Plan::Auto { .. } => estimator.estimate(&stored.model, &rounds),
        // What others compute, or what is kept, has whole rounds.
        _ if observer.crew().is_some() => {
            let patient = Deadline::since(started, limit, &rounds).between_rounds();
            estimator.estimate(&stored.model, &patient)
        }
        _ => estimator.estimate(&stored.model, &deadline),
    };
    let mut finding = found.map_err(|error| deadline.explain(error))?;
    // To read data is a part of finding the start.
    if let Some(seconds) = &mut finding.cost.start_seconds {
        *seconds += reading;
    }
    if plan.wants_bounds() && is_sparse(&stored.model) && finding.std_error > 0.0 {
        prove(&mut finding, &stored.model, &deadline)?;
    }
    finding.respect_floor();
    let stopped = finding.stopped;
    let mut report = Report::new(name, stored, plan, finding);
    report.rounds = rounds.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Outcome { report, stopped })
}

/// Keeps what the default method tells of its rounds, which is its history.
struct Rounds<'a> {
    observer: &'a dyn Observer,
    started: Instant,
    seen: Mutex<Vec<[f64; 4]>>,
}

impl Observer for Rounds<'_> {
    fn behind(&self) -> Option<&dyn Observer> {
        Some(self.observer)
    }

    fn progress(&self, news: Progress) {
        if let (Phase::Round, Some(log_z), Some([low, high])) =
            (news.phase, news.log_z, news.interval)
        {
            let row = [self.started.elapsed().as_secs_f64(), log_z, low, high];
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
        self.observer.progress(news);
    }
}

/// States of a model, drawn by parallel tempering, and the report on the run that drew them. A limit of
/// time counts from `started`.
pub fn sample(
    stored: &StoredModel,
    name: &str,
    count: usize,
    settings: &Tempering,
    max_seconds: Option<f64>,
    started: Instant,
    observer: &dyn Observer,
) -> Result<(Samples, Report)> {
    check_seconds(max_seconds)?;
    let deadline = Deadline::since(started, max_seconds.unwrap_or(f64::INFINITY), observer);
    let drawn = lnz::sample(&stored.model, count, settings, &deadline);
    let samples = drawn.map_err(|error| deadline.explain(error))?;
    let estimator = Arc::new(settings.clone());
    let plan = Plan::Ready { estimator, max_seconds, no_check: !settings.check };
    let report = Report::new(name, stored, &plan, samples.finding.clone());
    Ok((samples, report))
}

/// Few enough weights that bounds are likely to say something.
fn is_sparse(model: &Rbm) -> bool {
    4 * model.coupled_pairs() <= model.visible() * model.hidden()
}

/// Adds proven bounds where they say something. Someone who does not want to wait for them keeps the
/// result all the same.
fn prove(finding: &mut Finding, model: &Rbm, observer: &dyn Observer) -> Result<()> {
    if observer.cancelled() {
        return Ok(());
    }
    match lnz::proven_bounds(model, &Bounds::default(), observer) {
        Ok(Some(bounds)) if bounds.say_something() => finding.hold_against(bounds),
        Ok(_) | Err(lnz::Error::Cancelled { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::request::{DataSource, Request};
    use ndarray::{Array1, Array2};

    #[test]
    fn means_that_an_exact_value_does_not_need_have_to_fit_all_the_same() {
        let model = Rbm::new(Array2::ones((3, 2)), Array1::zeros(3), Array1::zeros(2)).unwrap();
        let stored = StoredModel::from(model);
        let mut request = Request::default();
        for (means, fits) in [(3, true), (4, false)] {
            request.start.data = Some(DataSource::Means(Array1::from_elem(means, 0.5)));
            let found = estimate(&stored, "m", &request.plan().unwrap(), Instant::now(), &());
            match fits {
                true => assert_eq!(found.unwrap().report.finding.std_error, 0.0),
                false => {
                    use lnz::Error::Width;
                    assert!(matches!(
                        found,
                        Err(Error::Library(Width { found: 4, expected: 3, .. }))
                    ))
                }
            }
        }
    }
}
