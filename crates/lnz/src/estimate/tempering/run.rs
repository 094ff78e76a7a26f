//! A run of parallel tempering: places the rungs of a ladder, and goes round after round.

use super::agreement::{largest_r_hat, times};
use super::columns::Advance;
use super::ladder::{Ladder, Seen, add};
use super::{Tempering, orders};
use crate::chains::Engine;
use crate::check::{columns_disagree, few_round_trips};
use crate::estimate::auto::{Fitting, student_95};
use crate::estimate::decided::decided;
use crate::estimate::statistics::jackknife_error;
use crate::observer::{Observer, Phase, Progress};
use crate::{Result, Schedule};
use lnz_kernels::random::{Purpose, Random, stream_seed};
use std::sync::OnceLock;

/// Rungs of the first ladder.
const FIRST_RUNGS: usize = 24;
/// Iterations between one placement of the rungs and the next, and to settle on the last.
const PLACEMENTS: [usize; 5] = [16, 32, 64, 128, 256];
const SETTLING: usize = 256;
/// Iterations of a round.
pub(super) const ROUND: usize = 256;
/// Rounds that are a result, where there is no time for more.
pub(super) const LEAST_FOR_A_RESULT: usize = 2;
/// Rounds before an error is believed.
const LEAST_ROUNDS: usize = 4;
/// Iterations from one state that is kept to the next.
pub(super) const KEEP: usize = 16;

/// A ladder whose rungs are placed, and what its columns have seen since.
pub(super) struct Run<'a> {
    engine: &'a dyn Engine,
    observer: &'a dyn Observer,
    seed: u64,
    pub(super) ladder: Ladder,
    pub(super) seen: Vec<Seen>,
    pub(super) rounds: usize,
    /// Advances so far: each has random numbers of its own.
    advances: u64,
    pub(super) chain_steps: u64,
    /// The hash of the model, once somebody wants it.
    hash: OnceLock<String>,
}

impl<'a> Run<'a> {
    /// Places the rungs, and forgets how it got there.
    pub(super) fn settled(
        settings: &Tempering,
        fitting: &Fitting,
        engine: &'a dyn Engine,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let Tempering { rungs, columns, seed, .. } = *settings;
        let betas = Schedule::linear(rungs.unwrap_or(FIRST_RUNGS) - 1)?.betas().to_vec();
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

    /// Some iterations of all columns, here or by a crew: what they have seen.
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

    /// One more round, which counts and keeps states.
    pub(super) fn round(&mut self) -> Result<()> {
        let more = self.advance(ROUND, Some(KEEP))?;
        add(&mut self.seen, more);
        self.rounds += 1;
        Ok(())
    }

    /// log Z and its error: of what is left without one column after the other (jackknife).
    pub(super) fn found(&self) -> (f64, f64) {
        let log_z = self.engine.path().log_z0() + self.ladder.log_ratio(&self.seen, None);
        let n = self.seen.len();
        let without: Vec<f64> =
            (0..n).map(|j| self.ladder.log_ratio(&self.seen, Some(j))).collect();
        (log_z, jackknife_error(&without))
    }

    /// The 95% interval: the error comes from the columns.
    pub(super) fn interval(&self, log_z: f64, error: f64) -> [f64; 2] {
        let reach = student_95(self.seen.len() as f64 - 1.0) * error;
        [log_z - reach, log_z + reach]
    }

    /// The error is small, or the next round would end too late: a crew is not stopped within a round, and
    /// remembers what was decided after it.
    pub(super) fn is_enough(
        &self,
        settings: &Tempering,
        fitting: &Fitting,
        round: f64,
    ) -> Result<bool> {
        let known = || self.is_known(settings, fitting);
        let late = || self.observer.seconds_left().is_some_and(|left| left < round);
        if self.observer.crew().is_none() || self.rounds < LEAST_FOR_A_RESULT {
            return Ok(known());
        }
        let hash = &self.hash.get_or_init(|| fitting.model.sha256())[..16];
        let name = format!("tempered-{hash}-{}", self.rounds);
        decided(self.observer, &name, || Ok(known() || late()))
    }

    /// The error is small, states travel, and columns agree.
    pub(super) fn is_known(&self, settings: &Tempering, fitting: &Fitting) -> bool {
        self.rounds >= LEAST_ROUNDS
            && self.found().1 <= settings.target_error
            && few_round_trips(self.round_trips(), self.seen.len()).is_none()
            && columns_disagree(largest_r_hat(&self.seen, &times(&self.seen, fitting))).is_none()
    }

    pub(super) fn round_trips(&self) -> usize {
        self.seen.iter().map(|seen| seen.round_trips).sum()
    }

    /// Tells the observer how far it is.
    pub(super) fn report(&self, settings: &Tempering) {
        let (log_z, error) = self.found();
        let by_error = (settings.target_error / error).powi(2);
        let part = by_error.max(self.rounds as f64 / settings.rounds as f64).clamp(0.0, 1.0);
        self.observer.progress(Progress {
            log_z: Some(log_z),
            interval: Some(self.interval(log_z, error)),
            ..Progress::new(Phase::Round, (1000.0 * part) as u64, 1000)
        });
    }
}
