//! Parallel tempering: ladders of chains between a fitted start and the model that exchange their states.
//!
//! Each ladder, a column, visits the model for as long as it runs, so that phases are left and found again
//! by way of the start. log Z is a sum of Bennett's ratios between neighbouring rungs. Unlike annealing it
//! has no preferred side: an estimate may be too high as well as too low.

mod columns;
mod ladder;
mod orders;
mod samples;

pub(super) use orders::{KIND, carry_out};
pub use samples::{Samples, sample};

use super::auto::{Fitting, fit_model};
use super::decided::decided;
use super::statistics::jackknife_error;
use crate::Warning;
use crate::chains::{Engine, Held, engine};
use crate::check::{Measured, columns_disagree, few_round_trips, large_error, missed_mass};
use crate::check::{below_known_sum, rare_exchanges};
use crate::json::real;
use crate::observer::{Observer, Phase, Progress};
use crate::path::Path;
use crate::{Cost, Details, Diagnosis, Effort, Error, Estimator, Finding, Precision, Rbm, Result};
use columns::Advance;
use ladder::{Ladder, Seen, add};
use lnz_kernels::Flips;
use lnz_kernels::random::{Purpose, Random, stream_seed};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Instant;

/// Settings of parallel tempering.
#[derive(Debug, Clone, PartialEq)]
pub struct Tempering {
    /// Rungs of a ladder; `None` for twice as many as the barrier asks for.
    pub rungs: Option<usize>,
    /// Ladders that run side by side and do not know of each other: two at least, for an error.
    pub columns: usize,
    /// Standard error of log Z at which it ends.
    pub target_error: f64,
    /// Rounds at most.
    pub rounds: usize,
    /// Resolution of the weights that the chains see.
    pub precision: Precision,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Verdicts without the tests of travel are `unchecked`.
    pub check: bool,
}

impl Default for Tempering {
    fn default() -> Self {
        Self {
            rungs: None,
            // Errors from 32 columns are themselves known to an eighth.
            columns: 32,
            target_error: 0.03,
            // A minute on models of 784 x 500 units.
            rounds: 64,
            precision: Precision::default(),
            seed: 0,
            check: true,
        }
    }
}

/// Rungs of the first ladder.
const FIRST_RUNGS: usize = 24;
/// Iterations between one placement of the rungs and the next, and to settle on the last.
const PLACEMENTS: [usize; 5] = [16, 32, 64, 128, 256];
const SETTLING: usize = 256;
/// Iterations of a round.
const ROUND: usize = 256;
/// Rounds that are a result, where there is no time for more.
const LEAST_FOR_A_RESULT: usize = 2;
/// Rounds before an error is believed.
const LEAST_ROUNDS: usize = 4;
/// Iterations from one state that is kept to the next.
const KEEP: usize = 16;

/// What parallel tempering has to tell besides log Z.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TemperingRun {
    /// Rungs of a ladder.
    pub rungs: usize,
    /// Ladders side by side.
    pub columns: usize,
    /// Iterations that count: a sweep of every chain and one round of exchanges.
    pub iterations: usize,
    /// The betas of the rungs.
    pub betas: Vec<f64>,
    /// Probability that a pair of neighbouring rungs does not exchange.
    pub rejections: Vec<f64>,
    /// Their sum: how hard it is to get from the start to the model.
    pub barrier: f64,
    /// Times that a state has gone from the start to the model and back, in all columns.
    pub round_trips: usize,
    /// How much columns differ in their energy at the model or in the phase they are in: 1 if they are
    /// alike (Gelman and Rubin).
    #[serde(serialize_with = "real")]
    pub r_hat: f64,
    /// Part of the time at the model that was spent in each phase, the largest first, with its error.
    pub phases: Vec<Visited>,
}

/// A phase as the ladders have visited it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Visited {
    /// Part of the time.
    pub share: f64,
    /// Its error, from the differences between columns.
    pub std_error: f64,
}

impl Tempering {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<()> {
        if self.columns < 2 {
            return Err(Error::setting(
                "chains",
                self.columns,
                "at least 2 for parallel tempering",
            ));
        }
        if self.rungs.is_some_and(|rungs| rungs < 2) {
            return Err(Error::setting("betas", self.rungs.unwrap_or(0), "at least 2 rungs"));
        }
        match self.target_error > 0.0 {
            true => Ok(()),
            false => Err(Error::setting("target_error", self.target_error, "a number above 0")),
        }
    }
}

impl Estimator for Tempering {
    fn estimate(&self, model: &Rbm, observer: &dyn Observer) -> Result<Finding> {
        self.check()?;
        if model.hidden() == 0 {
            return super::Exact::FORCED.estimate(model, observer);
        }
        let clock = Instant::now();
        let fitting = fit_model(model, self.precision, self.seed, observer)?;
        let start_seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let engine = self.engine(&fitting, observer)?;
        let mut run = Run::settled(self, &fitting, &*engine, observer)?;
        let mut stopped = false;
        let mut round_seconds = 0.0;
        while run.rounds < self.rounds && !run.is_enough(self, &fitting, round_seconds)? {
            let clock = Instant::now();
            match run.round(None) {
                Ok(()) => run.report(self),
                // A crew keeps what was done, and the run goes on another time.
                Err(error) if observer.crew().is_some() => return Err(error),
                Err(_) if run.rounds >= LEAST_FOR_A_RESULT => {
                    stopped = true;
                    break;
                }
                Err(error) => return Err(error),
            }
            round_seconds = clock.elapsed().as_secs_f64();
        }
        let seconds = clock.elapsed().as_secs_f64();
        Ok(run.finding(self, &fitting, stopped, [start_seconds, seconds]))
    }
}

impl Tempering {
    fn engine<'m>(
        &self,
        fitting: &'m Fitting,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Engine + 'm>> {
        let path = Path::new(Cow::Borrowed(&fitting.model), &fitting.start);
        let held = Held::new(&fitting.model, self.precision, observer)?;
        Ok(engine(path, Flips::default(), &held))
    }
}

/// A ladder whose rungs are placed, and what its columns have seen since.
struct Run<'a> {
    engine: &'a dyn Engine,
    observer: &'a dyn Observer,
    seed: u64,
    ladder: Ladder,
    seen: Vec<Seen>,
    rounds: usize,
    /// Advances so far: each has random numbers of its own.
    advances: u64,
    chain_steps: u64,
    /// The hash of the model, once somebody wants it.
    hash: OnceLock<String>,
}

impl<'a> Run<'a> {
    /// Places the rungs, and forgets how it got there.
    fn settled(
        settings: &Tempering,
        fitting: &Fitting,
        engine: &'a dyn Engine,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let Tempering { rungs, columns, seed, .. } = *settings;
        let first = rungs.unwrap_or(FIRST_RUNGS);
        let betas = (0..first).map(|k| k as f64 / (first - 1) as f64).collect();
        let mut random = Random::stream(seed, Purpose::Resample, u64::MAX);
        let ladder = Ladder::new(betas, fitting.first_states(columns, &mut random));
        let seen = vec![Seen::default(); columns];
        let (rounds, advances, chain_steps) = (0, 0, 0);
        let hash = OnceLock::new();
        let mut run =
            Self { engine, observer, seed, ladder, seen, rounds, advances, chain_steps, hash };
        let total = PLACEMENTS.len() as u64 + 1;
        for (done, iterations) in PLACEMENTS.into_iter().enumerate() {
            run.stage(done as u64, total);
            let seen = run.advance(iterations, None)?;
            run.ladder.respace(&seen, rungs);
        }
        run.stage(total - 1, total);
        let seen = run.advance(SETTLING, None)?;
        run.ladder.guess(&seen);
        Ok(run)
    }

    fn stage(&self, done: u64, total: u64) {
        self.observer.progress(Progress::new(Phase::Prepare, done, total));
    }

    fn advance(&mut self, iterations: usize, keep: Option<usize>) -> Result<Vec<Seen>> {
        let seed = stream_seed(self.seed, Purpose::Trial, self.advances);
        self.advances += 1;
        let &mut Self { engine, observer, ref ladder, .. } = self;
        let advance = Advance { engine, ladder, iterations, keep, seed, observer };
        let moved = match orders::by_crew(&advance, &self.hash) {
            Some(moved) => moved?,
            None => advance.compute(0..advance.groups())?,
        };
        self.chain_steps += (iterations * ladder.betas.len() * moved.seen.len()) as u64;
        self.ladder.states = moved.states;
        Ok(moved.seen)
    }

    /// One more round; every so many states are kept.
    fn round(&mut self, keep: Option<usize>) -> Result<()> {
        let more = self.advance(ROUND, Some(keep.unwrap_or(KEEP)))?;
        add(&mut self.seen, more);
        self.rounds += 1;
        Ok(())
    }

    /// log Z and its error: of what is left without one column after the other (jackknife).
    fn found(&self) -> (f64, f64) {
        let log_z = self.engine.path().log_z0() + self.ladder.log_ratio(&self.seen, None);
        let n = self.seen.len();
        let without: Vec<f64> =
            (0..n).map(|j| self.ladder.log_ratio(&self.seen, Some(j))).collect();
        (log_z, jackknife_error(&without))
    }

    /// The error is small, or the next round would end too late: a crew is not stopped within a round, and
    /// remembers what was decided after it.
    fn is_enough(&self, settings: &Tempering, fitting: &Fitting, round: f64) -> Result<bool> {
        let known = || self.is_known(settings, fitting);
        let late = || self.observer.seconds_left().is_some_and(|left| left < round);
        if self.observer.crew().is_none() || self.rounds < LEAST_FOR_A_RESULT {
            return Ok(known());
        }
        let hash = &self.hash.get_or_init(|| fitting.model.sha256())[..16];
        let name = format!("tempered-{hash}-{}", self.rounds);
        decided(self.observer, &name, || Ok(known() || late()))
    }

    fn is_known(&self, settings: &Tempering, fitting: &Fitting) -> bool {
        self.rounds >= LEAST_ROUNDS
            && self.found().1 <= settings.target_error
            && few_round_trips(self.round_trips(), self.seen.len()).is_none()
            && columns_disagree(self.r_hat(&self.times(fitting))).is_none()
    }

    fn round_trips(&self) -> usize {
        self.seen.iter().map(|seen| seen.round_trips).sum()
    }

    fn report(&self, settings: &Tempering) {
        let (log_z, error) = self.found();
        let by_error = (settings.target_error / error).powi(2);
        let part = by_error.max(self.rounds as f64 / settings.rounds as f64).clamp(0.0, 1.0);
        let reach = super::auto::student_95(self.seen.len() as f64 - 1.0) * error;
        self.observer.progress(Progress {
            log_z: Some(log_z),
            interval: Some([log_z - reach, log_z + reach]),
            ..Progress::new(Phase::Round, (1000.0 * part) as u64, 1000)
        });
    }

    /// How far columns are from agreeing, on the energy or on the time in a phase.
    fn r_hat(&self, times: &[Vec<f64>]) -> f64 {
        let n = self.seen[0].iterations as f64;
        let means: Vec<f64> = self.seen.iter().map(|seen| seen.height.0).collect();
        let within = self.seen.iter().map(|seen| seen.height.1).sum::<f64>() / means.len() as f64;
        let of_energy = r_hat(&means, within / (n - 1.0));
        let of_phase = |phase: usize| {
            let means: Vec<f64> = times.iter().map(|times| times[phase]).collect();
            let within = means.iter().map(|p| p * (1.0 - p)).sum::<f64>() / means.len() as f64;
            r_hat(&means, within)
        };
        (0..times[0].len()).map(of_phase).fold(of_energy, f64::max)
    }

    /// By column: the part of the time in each phase.
    fn times(&self, fitting: &Fitting) -> Vec<Vec<f64>> {
        let of_column = |seen: &Seen| {
            let mut times = vec![0.0; fitting.phases()];
            let part = 1.0 / seen.kept.len().max(1) as f64;
            seen.kept.iter().for_each(|state| times[fitting.phase(state)] += part);
            times
        };
        self.seen.iter().map(of_column).collect()
    }

    fn finding(
        &self,
        settings: &Tempering,
        fitting: &Fitting,
        was_stopped: bool,
        [start_seconds, seconds]: [f64; 2],
    ) -> Finding {
        let (log_z, std_error) = self.found();
        let rejections = Ladder::rejections(&self.seen);
        let times = self.times(fitting);
        let details = TemperingRun {
            rungs: self.ladder.betas.len(),
            columns: self.seen.len(),
            iterations: self.seen[0].iterations,
            betas: self.ladder.betas.clone(),
            barrier: rejections.iter().sum(),
            round_trips: self.round_trips(),
            r_hat: self.r_hat(&times),
            phases: visits(&times),
            rejections,
        };
        let reach = super::auto::student_95(self.seen.len() as f64 - 1.0) * std_error;
        let found = Measured { log_z, error: std_error };
        let mut warnings = Vec::new();
        warnings.extend(below_known_sum(found, fitting.opinion.lower_bound));
        warnings.extend(missed_mass(found, &fitting.opinion).filter(|_| warnings.is_empty()));
        warnings.extend(details.warnings(std_error, settings.target_error));
        warnings
            .extend(was_stopped.then_some(Warning::StoppedBetweenRounds { rounds: self.rounds }));
        let reason = "states travel between the start and the model, and the ladders agree";
        let mut finding = Finding {
            log_z,
            std_error,
            interval: [log_z - reach, log_z + reach],
            lower_bound: Some(fitting.opinion.lower_bound).filter(|floor| floor.is_finite()),
            proven: None,
            diagnosis: match settings.check {
                true => Diagnosis::new(warnings, reason),
                false => Diagnosis::unchecked(vec![], "the tests were off"),
            },
            ess: None,
            stopped: was_stopped,
            effort: Effort {
                betas: Some(details.rungs),
                chains: Some(details.columns),
                rounds: Some(self.rounds),
                seed: Some(settings.seed),
            },
            cost: Cost {
                chain_steps: Some(self.chain_steps + fitting.chain_steps),
                states: None,
                seconds,
                start_seconds: Some(start_seconds),
            },
            details: Details::Tempering(Box::new(details)),
        };
        finding.respect_floor();
        finding
    }
}

impl TemperingRun {
    fn warnings(&self, error: f64, target: f64) -> Vec<Warning> {
        let hardest = self.rejections.iter().copied().fold(0.0, f64::max);
        let found = [
            few_round_trips(self.round_trips, self.columns),
            columns_disagree(self.r_hat),
            rare_exchanges(hardest),
            large_error(error, target),
        ];
        found.into_iter().flatten().collect()
    }
}

/// The root of the ratio of two estimates of a variance: with the differences between columns, and without.
fn r_hat(means: &[f64], within: f64) -> f64 {
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let between = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    match (within > 0.0, between > 0.0) {
        (true, _) => ((within + between) / within).sqrt(),
        (false, true) => f64::INFINITY,
        (false, false) => 1.0,
    }
}

/// The part of the time in each phase, the largest first.
fn visits(times: &[Vec<f64>]) -> Vec<Visited> {
    let n = times.len() as f64;
    let visited = |phase: usize| {
        let share = times.iter().map(|times| times[phase]).sum::<f64>() / n;
        let squares = times.iter().map(|times| (times[phase] - share).powi(2)).sum::<f64>();
        Visited { share, std_error: (squares / n / (n - 1.0)).sqrt() }
    };
    let mut visits: Vec<Visited> = (0..times[0].len()).map(visited).collect();
    visits.sort_by(|a, b| b.share.total_cmp(&a.share));
    visits
}

fn stopped() -> Error {
    Error::Cancelled { reached: "while placing the rungs of the ladder".into() }
}
