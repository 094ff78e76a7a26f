//! log Z along a training run: bridges from checkpoint to checkpoint, held against independent estimates.
//!
//! The first checkpoint has an estimate of its own, from which the way begins. Bridges lead on from there
//! ([`lnz::Follower`]). Where one does not hold, at the last checkpoint and wherever it is wanted, another
//! independent estimate says how far the way is off. A bridge that does not hold ends a stretch: the
//! next one begins with that estimate.

mod checkpoints;
mod row;
mod shown;

pub use checkpoints::{Checkpoint, Checkpoints};
pub use row::{Independent, Origin, Row};

use crate::request::Plan;
use crate::{Result, run};
use lnz::io::StoredModel;
use lnz::train::{Examples, mean_log_marginal};
use lnz::{Deadline, Finding, Follower, Following, Observer, Rbm, Verdict};
use std::time::Instant;

/// An exact value is taken where it is predicted to need at most this many seconds.
const EXACT_SECONDS: f64 = 1.0;
/// A bridge and an independent estimate disagree beyond so many errors.
const MOST_ERRORS: f64 = 3.0;

/// What is asked for along a training run.
#[derive(Debug, Clone)]
pub struct TrackRequest {
    /// How bridges are made.
    pub following: Following,
    /// How independent estimates are made.
    pub plan: Plan,
    /// Never the exact value.
    pub no_exact: bool,
    /// Every so many checkpoints have an independent estimate, besides the first and the last.
    pub check_every: Option<usize>,
    /// Time for everything, in seconds: what is known by then is the result.
    pub max_seconds: Option<f64>,
}

/// log Z along a training run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Track {
    /// What the numbers of the checkpoints count.
    pub unit: &'static str,
    /// The checkpoints in order.
    pub rows: Vec<Row>,
    /// How many there are in the run.
    pub checkpoints: usize,
    /// What was asked for.
    pub request: TrackRequest,
    /// The observer asked to stop before the last one.
    pub stopped: bool,
}

/// Goes along the checkpoints and announces each through `begin`. After the observer asks to stop, what has
/// been finished is what there is. With `data`, each has its mean log-likelihood, too.
pub fn track(
    checkpoints: &Checkpoints,
    data: Option<&Examples>,
    request: &TrackRequest,
    begin: &dyn Fn(&str),
    observer: &dyn Observer,
) -> Result<Track> {
    request.following.check()?;
    crate::request::check_seconds(request.max_seconds)?;
    let deadline = Deadline::after(request.max_seconds.unwrap_or(f64::INFINITY), observer);
    let (all, unit) = (&checkpoints.all, checkpoints.unit);
    let (request, rows) = (request.clone(), Vec::new());
    let mut track = Track { unit, rows, checkpoints: all.len(), request, stopped: false };
    let mut way = Way { stretch: None, shape: None };
    for (k, checkpoint) in all.iter().enumerate() {
        begin(&format!("{} of {}, {unit} {}", k + 1, all.len(), checkpoint.at));
        let clock = Instant::now();
        let stored = checkpoint.load()?;
        way.check_shape(checkpoint, &stored.model)?;
        let log_marginal = data.map(|data| mean_log_marginal(&stored.model, data)).transpose()?;
        let wants_check = track.request.check_every.is_some_and(|every| k % every == 0);
        let wants_check = wants_check || k + 1 == all.len();
        let found = way.go(checkpoint, stored, wants_check, &track.request, &deadline);
        let mut row = match found {
            Ok(row) => row,
            Err(error) if deadline.cancelled() && is_stop(&error) && !track.rows.is_empty() => {
                track.stopped = true;
                break;
            }
            Err(error) => return Err(error.at(&deadline)),
        };
        row.log_likelihood = log_marginal.map(|mean| mean - row.log_z);
        row.seconds = clock.elapsed().as_secs_f64();
        track.rows.push(row);
    }
    row::judge(&mut track.rows);
    Ok(track)
}

fn is_stop(error: &crate::Error) -> bool {
    use lnz::Error::{Cancelled, OutOfTime, TooSlow};
    matches!(error, crate::Error::Library(Cancelled { .. } | OutOfTime { .. } | TooSlow { .. }))
}

/// Where the way has come to.
struct Way {
    stretch: Option<Stretch>,
    /// The name of the first checkpoint, and its units.
    shape: Option<(String, [usize; 2])>,
}

/// A part of the way that hangs on one independent estimate.
struct Stretch {
    anchor: Finding,
    chains: Chains,
}

/// The chains of a stretch: drawn when the first bridge needs them.
enum Chains {
    At(Box<Rbm>),
    Following(Box<Follower>),
}

impl Way {
    fn check_shape(&mut self, checkpoint: &Checkpoint, model: &Rbm) -> Result<()> {
        let found = [model.visible(), model.hidden()];
        let (name, shape) = self.shape.get_or_insert((checkpoint.name.clone(), found));
        match found == *shape {
            true => Ok(()),
            false => Err(crate::Error::options(format!(
                "{} has {} x {} units, but {} has {} x {}; the models of a run must have the same shape",
                crate::spelling::verbatim(&checkpoint.name),
                found[0],
                found[1],
                crate::spelling::verbatim(name),
                shape[0],
                shape[1],
            ))),
        }
    }

    /// The row of the next checkpoint.
    fn go(
        &mut self,
        checkpoint: &Checkpoint,
        stored: StoredModel,
        wants_check: bool,
        request: &TrackRequest,
        observer: &dyn Observer,
    ) -> Result<Row> {
        let sha256 = stored.model.sha256();
        let row = |log_z, std_error, interval, origin| {
            Row::new(checkpoint, sha256, log_z, std_error, interval, origin)
        };
        let exact = lnz::exact_cost(&stored.model)?.seconds <= EXACT_SECONDS;
        if exact && !request.no_exact {
            let log_z = lnz::exact_log_z(&stored.model, observer)?;
            self.stretch = None;
            return Ok(row(log_z, 0.0, [log_z; 2], Origin::Exact));
        }
        let independent = |stored: &StoredModel| -> Result<Finding> {
            let started = Instant::now();
            let plan = &request.plan;
            Ok(run::estimate(stored, &checkpoint.name, plan, started, observer)?.report.finding)
        };
        let Some(stretch) = self.stretch.take() else {
            let anchor = independent(&stored)?;
            let row = row(anchor.log_z, anchor.std_error, anchor.interval, Origin::Estimate);
            let row = row.with(Independent::new(&anchor, None));
            self.stretch = Some(Stretch { anchor, chains: Chains::At(Box::new(stored.model)) });
            return Ok(row);
        };
        let Stretch { anchor, chains } = stretch;
        let mut follower = match chains {
            Chains::Following(follower) => follower,
            Chains::At(model) => Box::new(Follower::begin(*model, &request.following, observer)?),
        };
        let span = follower.follow(stored.model.clone(), observer)?;
        let log_z = anchor.log_z + follower.log_ratio();
        let std_error = anchor.std_error.hypot(follower.std_error());
        let reach = |arm: f64| arm.hypot(follower.reach());
        let interval = [
            log_z - reach(anchor.log_z - anchor.interval[0]),
            log_z + reach(anchor.interval[1] - anchor.log_z),
        ];
        let holds = span.holds();
        let check = match wants_check || !holds {
            true => Some(independent(&stored)?),
            false => None,
        };
        let bridged = row(log_z, std_error, interval, Origin::Bridge);
        let is_settled = follower.first_states() != Verdict::Suspect;
        let bridged = bridged.across(span, is_settled);
        Ok(match check {
            Some(found) if !holds => {
                let check = Independent::new(&found, Some([log_z, std_error]));
                let row = bridged.replaced_by(&found).with(check);
                let chains = Chains::At(Box::new(stored.model));
                self.stretch = Some(Stretch { anchor: found, chains });
                row
            }
            check => {
                self.stretch = Some(Stretch { anchor, chains: Chains::Following(follower) });
                match check {
                    Some(found) => bridged.with(Independent::new(&found, Some([log_z, std_error]))),
                    None => bridged,
                }
            }
        })
    }
}
