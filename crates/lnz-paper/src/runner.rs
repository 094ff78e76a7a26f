//! Runs the jobs of an experiment that have no result yet.

use crate::error::{Error, Result};
use crate::experiments::Experiment;
use crate::job::Job;
use crate::observer::RunObserver;
use crate::problem::Loaded;
use crate::record::Record;
use crate::results::Results;
use crate::row::Row;
use crate::scale::Scale;
use lnz::Observer;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// What came of an experiment.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Runs that were computed now.
    pub computed: usize,
    /// Runs that are there.
    pub present: usize,
    /// The observer has stopped it; the next call goes on from here.
    pub stopped: bool,
    /// Problems of which this build does not have all models, by name.
    pub missing: BTreeMap<String, LeftOut>,
}

/// What was left out of a problem because its models are not there.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Epochs without a model.
    pub epochs: Vec<String>,
    /// Runs that would have needed one.
    pub runs: usize,
}

/// Between two looks for results of other processes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Runs what is missing until the plan is fulfilled: later parts of a plan may depend on the results
/// of earlier ones. Processes that do so at the same time share the runs, and wait for each other.
pub fn complete(
    experiment: &Experiment,
    scale: &Scale,
    results: &mut Results,
    observer: &dyn RunObserver,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut spent = Record::default();
    let clock = Instant::now();
    let mut expected = 0;
    loop {
        let all: Vec<Job> = unique((experiment.plan)(scale, results));
        let models = results.models();
        let is_available = |job: &Job| job.problem.is_available(&models);
        outcome.missing = unavailable(all.iter().filter(|job| !is_available(job)));
        let plan: Vec<Job> = all.into_iter().filter(is_available).collect();
        let known = results.by_key();
        let rows = plan.iter().filter_map(|job| Some((*known.get(&job.settings().key())?).clone()));
        // In the order of the plan, whatever order they were finished in.
        let rows: Vec<Row> = rows.collect();
        let is_missing = |job: &Job| !known.contains_key(&job.settings().key());
        let missing: Vec<Job> = plan.into_iter().filter(is_missing).collect();
        outcome.present = rows.len();
        outcome.stopped = observer.cancelled();
        let done = missing.is_empty();
        if done {
            results.make_folder()?;
            if !rows.is_empty() && rows != results.rows(experiment.name) {
                results.replace(experiment.name, rows)?;
            }
        }
        if done || outcome.stopped {
            if outcome.computed > 0 {
                let _mine = results.change(experiment.name)?;
                let mut record = Record::read(results, experiment.name);
                record.finish(scale, clock.elapsed().as_secs_f64(), &spent);
                record.write(results, experiment.name)?;
            }
            return Ok(outcome);
        }
        // While others are at all that is missing, nothing changes.
        if expected != missing.len() {
            expected = missing.len();
            observer.expect(missing.len(), missing.iter().map(Job::cost).sum());
        }
        let computed = run_all(missing, results, experiment.name, observer, &mut spent)?;
        outcome.computed += computed;
        if computed == 0 && !observer.cancelled() {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        results.read_again(experiment.name)?;
    }
}

fn unique(jobs: Vec<Job>) -> Vec<Job> {
    let mut seen = HashSet::new();
    jobs.into_iter().filter(|job| seen.insert(job.settings().key())).collect()
}

fn unavailable<'a>(jobs: impl Iterator<Item = &'a Job>) -> BTreeMap<String, LeftOut> {
    let mut missing: BTreeMap<String, LeftOut> = BTreeMap::new();
    for job in jobs {
        let left_out = missing.entry(job.problem.name()).or_default();
        let epoch = job.problem.instance();
        if !left_out.epochs.contains(&epoch) {
            left_out.epochs.push(epoch);
        }
        left_out.runs += 1;
    }
    missing
}

/// Only passes on that it should stop: many runs go on at the same time.
struct Silent<'a>(&'a dyn RunObserver);

impl Observer for Silent<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Each thread takes whole runs, the longest first; a run has one thread, so that its time means
/// something. Returns how many were computed here.
fn run_all(
    mut jobs: Vec<Job>,
    results: &Results,
    experiment: &'static str,
    observer: &dyn RunObserver,
    spent: &mut Record,
) -> Result<usize> {
    jobs.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
    let threads = rayon::current_num_threads().min(jobs.len());
    let shared = Shared {
        next: AtomicUsize::new(0),
        jobs,
        results,
        experiment,
        models: Mutex::default(),
        state: Mutex::new((0, spent)),
        failed: OnceLock::new(),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| shared.work(observer));
        }
    });
    let (computed, _) = shared.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    match shared.failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(computed),
    }
}

type Model = Arc<OnceLock<Result<Loaded, String>>>;

struct Shared<'a> {
    next: AtomicUsize,
    jobs: Vec<Job>,
    results: &'a Results,
    experiment: &'static str,
    models: Mutex<HashMap<String, Model>>,
    /// Runs that were computed, and the time that they took.
    state: Mutex<(usize, &'a mut Record)>,
    failed: OnceLock<Error>,
}

impl Shared<'_> {
    fn work(&self, observer: &dyn RunObserver) {
        let outcome = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|error| Error::Thread { problem: error.to_string() })
            .and_then(|pool| pool.install(|| self.take_jobs(observer)));
        if let Err(error) = outcome {
            let _ = self.failed.set(error);
        }
    }

    fn take_jobs(&self, observer: &dyn RunObserver) -> Result<()> {
        while !observer.cancelled() && self.failed.get().is_none() {
            let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else { break };
            let (results, key) = (self.results, job.settings().key());
            let Some(claim) = results.claim(&key)? else { continue };
            // Another process may have finished it a moment ago.
            if results.has_now(self.experiment, &key)? {
                claim.done();
                observer.advance(job.cost());
                continue;
            }
            let model = self.model(job);
            let loaded = match model
                .get_or_init(|| job.problem.load(&results.models()).map_err(|e| e.to_string()))
            {
                Ok(loaded) => loaded,
                Err(problem) => {
                    let (model, problem) = (job.problem.name(), problem.clone());
                    return Err(Error::Model { model, problem });
                }
            };
            let clock = Instant::now();
            let Some(row) = job.run(loaded, &Silent(observer))? else { break };
            let seconds = clock.elapsed().as_secs_f64();
            results.add(self.experiment, &row)?;
            claim.done();
            // A thread that panicked is seen when all are joined.
            let Ok(mut state) = self.state.lock() else { break };
            state.0 += 1;
            state.1.count(&row.method, seconds);
            observer.advance(job.cost());
        }
        Ok(())
    }

    /// The model of a job, made by whoever needs it first.
    fn model(&self, job: &Job) -> Model {
        let name = format!("{} {}", job.problem.name(), job.problem.instance());
        let mut models = self.models.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        models.entry(name).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Stops after a number of runs.
    struct Impatient {
        patience: usize,
        done: AtomicUsize,
    }

    impl RunObserver for Impatient {
        fn advance(&self, _: f64) {
            self.done.fetch_add(1, Ordering::Relaxed);
        }

        fn cancelled(&self) -> bool {
            self.done.load(Ordering::Relaxed) >= self.patience
        }
    }

    fn run(folder: &Path, observer: &dyn RunObserver) -> (Outcome, Vec<Row>) {
        let experiment = Experiment::named("fig2").unwrap();
        let mut results = Results::open(folder).unwrap();
        let outcome = complete(experiment, &Scale::TINY, &mut results, observer).unwrap();
        (outcome, Results::open(folder).unwrap().rows("fig2").to_vec())
    }

    #[test]
    fn runs_are_kept_until_the_observer_stops_them() {
        let folder = tempfile::tempdir().unwrap();
        let patient = |patience| Impatient { patience, done: AtomicUsize::new(0) };
        let (outcome, rows) = run(folder.path(), &patient(0));
        assert!(outcome.stopped && outcome.computed == 0 && rows.is_empty());
        // With more threads, runs that go on when it stops may still be finished.
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (outcome, rows) = one_thread.install(|| run(folder.path(), &patient(1)));
        assert!(outcome.stopped && outcome.computed == 1 && rows.len() == 1);
        let (outcome, more) = one_thread.install(|| run(folder.path(), &patient(1)));
        assert_eq!((outcome.computed, outcome.present), (1, 2));
        assert!(more.len() == 2 && more.contains(&rows[0]));
    }
}
