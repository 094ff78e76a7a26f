//! Long work: without the interpreter lock, stopped by Ctrl-C, reporting to a function of Python.

use crate::crew::PythonCrew;
use crate::errors::exception;
use lnz::crew::Crew;
use lnz::{Observer, Phase, Progress};
use lnz_app::overtime::Overtime;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at Ctrl-C and at the progress; a person takes half a second for at once.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How long work may take to stop before it is left alone.
const PATIENCE: Duration = Duration::from_millis(250);

/// How a call runs.
pub(crate) struct Call {
    /// Threads; all of the machine's without a number.
    pub(crate) threads: Option<usize>,
    /// Called with phase, done, total, log_z, beta and interval.
    pub(crate) progress: Option<Py<PyAny>>,
    /// An executor that computes the orders.
    pub(crate) crew: Option<Py<PyAny>>,
}

/// So many seconds from a time on.
pub(crate) struct Limit {
    seconds: f64,
    over: Overtime,
}

impl Limit {
    pub(crate) fn since(started: Instant, seconds: f64) -> Self {
        Self { seconds, over: Overtime::after(started, seconds) }
    }

    /// Fails when work has gone on for too long after it.
    fn check(&mut self) -> PyResult<()> {
        match self.over.is_too_long() {
            false => Ok(()),
            true => Err(exception(lnz::Error::OutOfTime {
                allowed: self.seconds,
                reached: "while the model was prepared".into(),
            })),
        }
    }
}

/// Runs `work` on a pool of threads while this one looks after Python.
///
/// Work that does not stop soon after it was asked to (a decomposition of a large matrix cannot) is left
/// to end by itself; it owns all that it needs.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    call: &Call,
    work: impl FnOnce(&dyn Observer) -> lnz_app::Result<T> + Send + 'static,
) -> PyResult<T> {
    run_within(py, call, None, work)
}

/// The same for work that has a limit of time, and is left alone when it does not keep it.
pub(crate) fn run_within<T: Send + 'static>(
    py: Python<'_>,
    call: &Call,
    limit: Option<Limit>,
    work: impl FnOnce(&dyn Observer) -> lnz_app::Result<T> + Send + 'static,
) -> PyResult<T> {
    let pool = Pool::take(call.threads)?;
    let crew = call.crew.as_ref().map(|crew| PythonCrew(crew.clone_ref(py)));
    let watch = Arc::new(Watch { crew, ..Watch::default() });
    let (sender, receiver) = channel();
    let seen = Arc::clone(&watch);
    pool.threads.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&*seen)));
        // Nobody listens any more when the work was left alone.
        let _ = sender.send(result);
    });
    let watch = &*watch;
    match py.detach(move || wait(call, watch, &receiver, limit, Some(PATIENCE))) {
        End::Result(result) => {
            pool.put_back();
            result.unwrap_or_else(|panic| resume_unwind(panic)).map_err(exception)
        }
        End::Stopped(error) => {
            pool.put_back();
            Err(error)
        }
        // Its pool is busy, and ends when the work does.
        End::LeftAlone(error) => Err(error),
        End::Nothing => Err(PyRuntimeError::new_err("the work ended without a result")),
    }
}

/// The same for work that borrows, from arrays of numpy; it has to stop when it is asked to.
pub(crate) fn run_borrowing<T: Send>(
    py: Python<'_>,
    call: &Call,
    work: impl FnOnce(&dyn Observer) -> lnz_app::Result<T> + Send,
) -> PyResult<T> {
    let pool = Pool::take(call.threads)?;
    let watch = &Watch::default();
    let end = py.detach(|| {
        let (sender, receiver) = channel();
        pool.threads.in_place_scope(|scope| {
            // The receiver is there until the scope ends. A panic drops the sender, which ends the
            // wait, and comes out of the scope.
            scope.spawn(move |_| {
                let _ = sender.send(work(watch));
            });
            wait(call, watch, &receiver, None, None)
        })
    });
    pool.put_back();
    match end {
        End::Result(result) => result.map_err(exception),
        End::Stopped(error) | End::LeftAlone(error) => Err(error),
        End::Nothing => Err(PyRuntimeError::new_err("the work ended without a result")),
    }
}

/// How a wait for work has ended.
enum End<R> {
    Result(R),
    /// Python has raised this, and the work has stopped.
    Stopped(PyErr),
    /// Python has raised this, and the work goes on for a while.
    LeftAlone(PyErr),
    Nothing,
}

/// Waits for the result of work and looks after Python meanwhile; after an exception, not for longer
/// than `patience`.
fn wait<R>(
    call: &Call,
    watch: &Watch,
    results: &Receiver<R>,
    mut limit: Option<Limit>,
    patience: Option<Duration>,
) -> End<R> {
    let error = loop {
        match results.recv_timeout(BETWEEN_LOOKS) {
            Ok(result) => return End::Result(result),
            Err(RecvTimeoutError::Disconnected) => return End::Nothing,
            Err(RecvTimeoutError::Timeout) => {
                let looked = Python::attach(|py| look(py, call, watch));
                if let Err(error) =
                    looked.and_then(|()| limit.as_mut().map_or(Ok(()), Limit::check))
                {
                    break error;
                }
            }
        }
    };
    watch.stop.store(true, Ordering::Relaxed);
    let stopped = match patience {
        Some(patience) => !matches!(results.recv_timeout(patience), Err(RecvTimeoutError::Timeout)),
        None => {
            let _ = results.recv();
            true
        }
    };
    if stopped { End::Stopped(error) } else { End::LeftAlone(error) }
}

/// Lets Python handle its signals and tells it about the progress; fails when one of them raises.
fn look(py: Python<'_>, call: &Call, watch: &Watch) -> PyResult<()> {
    py.check_signals()?;
    let news = watch.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(function), Some(news)) = (&call.progress, news) {
        let phase = match news.phase {
            Phase::Enumerate => "summing",
            Phase::Bound => "proving bounds",
            Phase::Start => "sampling means",
            Phase::Anneal => "annealing",
            Phase::Prepare => "searching for modes and trying starts",
            Phase::Round => "annealing in rounds",
            Phase::Train => "training",
            Phase::Score => "reading examples",
            _ => "working",
        };
        let interval = news.interval.map(|[low, high]| (low, high));
        function.call1(py, (phase, news.done, news.total, news.log_z, news.beta, interval))?;
    }
    Ok(())
}

/// Keeps the latest news for the thread that may call Python.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    latest: Mutex<Option<Progress>>,
    crew: Option<PythonCrew>,
}

impl Observer for Watch {
    fn progress(&self, progress: Progress) {
        // Another thread is telling: its news are as good.
        if let Ok(mut latest) = self.latest.try_lock() {
            *latest = Some(progress);
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn crew(&self) -> Option<&dyn Crew> {
        self.crew.as_ref().map(|crew| crew as &dyn Crew)
    }
}

/// A pool of threads that one call at a time has to itself.
struct Pool {
    threads: ThreadPool,
    size: usize,
    process: u32,
}

/// Pools that wait for the next call. It is only touched with the interpreter lock held, so that a
/// fork never copies it locked.
static IDLE: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

/// More are dropped: their threads would only take room.
const MOST_IDLE: usize = 4;

impl Pool {
    fn take(threads: Option<usize>) -> PyResult<Self> {
        let size = threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
        });
        let process = std::process::id();
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        // The threads of a pool from before a fork are not in this process, and cannot be ended.
        idle.extract_if(.., |pool| pool.process != process).for_each(std::mem::forget);
        if let Some(at) = idle.iter().position(|pool| pool.size == size) {
            return Ok(idle.swap_remove(at));
        }
        let threads = ThreadPoolBuilder::new().num_threads(size).build().map_err(|error| {
            PyRuntimeError::new_err(format!(
                "threads is {size}, but they cannot be started: {error}"
            ))
        })?;
        Ok(Self { threads, size, process })
    }

    fn put_back(self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(self);
        }
    }
}
