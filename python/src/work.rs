//! Long work: without the interpreter lock, stopped by Ctrl-C, reporting to a function of Python.

use crate::errors::exception;
use lnz::{Observer, Phase, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at Ctrl-C and at the progress; a person takes half a second for at once.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How a call runs.
pub(crate) struct Call {
    /// Threads; all of the machine's without a number.
    pub(crate) threads: Option<usize>,
    /// Called with phase, done, total, log_z and beta.
    pub(crate) progress: Option<Py<PyAny>>,
}

/// Runs `work` on a pool of threads while this one looks after Python.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    call: &Call,
    work: impl FnOnce(&dyn Observer) -> lnz::Result<T> + Send,
) -> PyResult<T> {
    let pool = Pool::take(call.threads)?;
    let watch = Watch::default();
    let outcome = py.detach(|| {
        let (sender, receiver) = channel();
        let mut stopped_by = None;
        let result = pool.threads.in_place_scope(|scope| {
            scope.spawn(|_| {
                // The receiver is there until the scope ends.
                let _ = sender.send(work(&watch));
            });
            loop {
                match receiver.recv_timeout(BETWEEN_LOOKS) {
                    Ok(result) => return Some(result),
                    // The work has panicked; the scope passes that on.
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) if stopped_by.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| look(py, call, &watch)) {
                            watch.stop.store(true, Ordering::Relaxed);
                            stopped_by = Some(error);
                        }
                    }
                }
            }
        });
        match (stopped_by, result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => result.map_err(exception),
            (None, None) => Err(PyRuntimeError::new_err("the work ended without a result")),
        }
    });
    pool.put_back();
    outcome
}

/// Lets Python handle its signals and tells it about the progress; fails when one of them raises.
fn look(py: Python<'_>, call: &Call, watch: &Watch) -> PyResult<()> {
    py.check_signals()?;
    let news = watch.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(function), Some(news)) = (&call.progress, news) {
        let phase = match news.phase {
            Phase::Enumerate => "summing",
            Phase::Start => "sampling means",
            Phase::Anneal => "annealing",
            Phase::Prepare => "searching for modes and trying starts",
            Phase::Round => "annealing in rounds",
            _ => "working",
        };
        function.call1(py, (phase, news.done, news.total, news.log_z, news.beta))?;
    }
    Ok(())
}

/// Keeps the latest news for the thread that may call Python.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    latest: Mutex<Option<Progress>>,
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
