//! Carries out the runs of an experiment that are not there yet.

use super::Experiment;
use super::job::Job;
use super::problem::Loaded;
use super::record::Record;
use super::row::Row;
use super::scale::Scale;
use super::shelf::{Appender, Shelf};
use crate::interrupt;
use crate::progress::JobBar;
use anyhow::{Context, Result};
use lnz::Observer;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// What came of an experiment.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) computed: usize,
    pub(crate) present: usize,
    pub(crate) stopped: bool,
    /// Problems that this build does not have: instances and number of runs that were left out.
    pub(crate) missing: BTreeMap<String, (Vec<String>, usize)>,
}

/// Runs what is missing until the plan is fulfilled: later parts of a plan may depend on the results
/// of earlier ones.
pub(crate) fn complete(
    experiment: &Experiment,
    scale: &Scale,
    shelf: &mut Shelf,
    bar: &JobBar,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut record = Record::read(shelf, experiment.name);
    let clock = Instant::now();
    loop {
        let all: Vec<Job> = unique((experiment.plan)(scale, shelf));
        let models = shelf.models();
        let is_available = |job: &Job| job.problem.is_available(&models);
        outcome.missing = unavailable(all.iter().filter(|job| !is_available(job)));
        let plan: Vec<Job> = all.into_iter().filter(is_available).collect();
        let known = shelf.by_key();
        let mut rows: HashMap<String, Row> = HashMap::new();
        let mut missing = Vec::new();
        for job in &plan {
            let key = job.settings().key();
            match known.get(&key) {
                Some(row) => drop(rows.insert(key, (*row).clone())),
                None => missing.push(job.clone()),
            }
        }
        let done = missing.is_empty();
        if !done {
            let appender = shelf.appender(experiment.name)?;
            let found = run_all(missing, &models, appender, bar, &mut record)?;
            outcome.computed += found.len();
            rows.extend(found.into_iter().map(|row| (row.key(), row)));
        }
        outcome.present = rows.len();
        // In the order of the plan, whatever order they were finished in.
        let ordered: Vec<Row> =
            plan.iter().filter_map(|job| rows.remove(&job.settings().key())).collect();
        outcome.stopped = interrupt::requested();
        if ordered != shelf.rows(experiment.name) || done {
            std::fs::create_dir_all(shelf.folder())?;
            if !ordered.is_empty() {
                shelf.replace(experiment.name, ordered)?;
            }
        }
        if outcome.computed > 0 && (done || outcome.stopped) {
            record.finish(scale, clock.elapsed().as_secs_f64());
            record.write(shelf, experiment.name)?;
        }
        if done || outcome.stopped {
            return Ok(outcome);
        }
    }
}

fn unique(jobs: Vec<Job>) -> Vec<Job> {
    let mut seen = HashSet::new();
    jobs.into_iter().filter(|job| seen.insert(job.settings().key())).collect()
}

fn unavailable<'a>(jobs: impl Iterator<Item = &'a Job>) -> BTreeMap<String, (Vec<String>, usize)> {
    let mut missing: BTreeMap<String, (Vec<String>, usize)> = BTreeMap::new();
    for job in jobs {
        let (instances, runs) = missing.entry(job.problem.name()).or_default();
        let instance = job.problem.instance();
        if !instances.contains(&instance) {
            instances.push(instance);
        }
        *runs += 1;
    }
    missing
}

/// Only passes on Ctrl-C: many runs go on at the same time.
struct Silent;

impl Observer for Silent {
    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

/// Each thread takes whole runs, the longest first; a run has one thread, so that its time means
/// something.
fn run_all(
    mut jobs: Vec<Job>,
    folder: &Path,
    appender: Appender,
    bar: &JobBar,
    record: &mut Record,
) -> Result<Vec<Row>> {
    jobs.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
    bar.expect(jobs.len(), jobs.iter().map(Job::cost).sum());
    let threads = rayon::current_num_threads().min(jobs.len());
    let shared = Shared {
        next: AtomicUsize::new(0),
        jobs,
        folder,
        models: Mutex::default(),
        state: Mutex::new((appender, record, Vec::new())),
        failed: OnceLock::new(),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| shared.work(bar));
        }
    });
    let (_, _, rows) = shared.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    match shared.failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(rows),
    }
}

type Model = Arc<OnceLock<Result<Loaded, String>>>;

struct Shared<'a> {
    next: AtomicUsize,
    jobs: Vec<Job>,
    /// Of models that were trained for an experiment.
    folder: &'a Path,
    models: Mutex<HashMap<String, Model>>,
    state: Mutex<(Appender, &'a mut Record, Vec<Row>)>,
    failed: OnceLock<anyhow::Error>,
}

impl Shared<'_> {
    fn work(&self, bar: &JobBar) {
        let outcome = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .context("cannot start a thread")
            .and_then(|pool| pool.install(|| self.take_jobs(bar)));
        if let Err(error) = outcome {
            let _ = self.failed.set(error);
        }
    }

    fn take_jobs(&self, bar: &JobBar) -> Result<()> {
        while !interrupt::requested() && self.failed.get().is_none() {
            let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else { break };
            let model = self.model(job);
            let loaded = match model
                .get_or_init(|| job.problem.load(self.folder).map_err(|e| format!("{e:#}")))
            {
                Ok(loaded) => loaded,
                Err(problem) => anyhow::bail!("{}: {problem}", job.problem.name()),
            };
            let clock = Instant::now();
            let Some(row) = job.run(loaded, &Silent)? else { break };
            let seconds = clock.elapsed().as_secs_f64();
            let mut state =
                self.state.lock().map_err(|_| anyhow::anyhow!("another thread has failed"))?;
            state.0.add(&row)?;
            state.1.count(&row.method, seconds);
            state.2.push(row);
            bar.advance(job.cost());
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
