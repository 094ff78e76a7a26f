//! Ends the process when its work does not stop in time by itself.

use crate::{failure, interrupt};
use indicatif::ProgressBar;
use lnz::Error;
use lnz_app::overtime::Overtime;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at the clock and at signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A thread that watches over the work of this process.
pub(super) struct Patience {
    /// Whether the work has ended.
    ended: Arc<Mutex<bool>>,
    _end: Sender<()>,
}

impl Patience {
    /// With work that has `limit` seconds from `started` on, and may be interrupted at any time.
    pub(super) fn new(started: Instant, limit: Option<f64>, bar: Option<ProgressBar>) -> Self {
        let ended = Arc::new(Mutex::new(false));
        let (end, alive) = channel::<()>();
        let seen = Arc::clone(&ended);
        let allowed = limit.unwrap_or(f64::INFINITY);
        let mut over = Overtime::after(started, allowed);
        let mut interrupted: Option<Overtime> = None;
        std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = alive.recv_timeout(BETWEEN_LOOKS) {
                if interrupted.is_none() && interrupt::requested() {
                    interrupted = Some(Overtime::after(Instant::now(), 0.0));
                }
                let reached = "while the model was read or prepared".to_owned();
                if interrupted.as_mut().is_some_and(Overtime::is_too_long) {
                    exit_unless(&seen, bar.as_ref(), Error::Cancelled { reached });
                } else if over.is_too_long() {
                    exit_unless(&seen, bar.as_ref(), Error::OutOfTime { allowed, reached });
                }
            }
        });
        Self { ended, _end: end }
    }

    /// Work has begun, or has ended: what follows, such as writing files, takes the time that it takes.
    pub(super) fn set_ended(&self, ended: bool) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = ended;
    }
}

/// Ends the process with a sentence, unless the work has ended.
fn exit_unless(ended: &Mutex<bool>, bar: Option<&ProgressBar>, error: Error) {
    // Held until the end: the work cannot end meanwhile and print a result.
    let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
    if !*ended {
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        failure::exit(&anyhow::Error::new(error));
    }
}
