//! Progress on standard error: an observer of long work that also carries Ctrl-C to it.

mod jobs;
mod minutes;
mod patience;
mod style;
mod words;

pub(crate) use jobs::{JobBar, bytes_bar};

use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget};
use lnz::{Observer, Phase, Progress};
use minutes::Minutes;
use patience::Patience;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use words::Clock;

/// Redrawing more often than this costs time and tells nothing.
const BETWEEN_DRAWS_MS: u64 = 100;

/// Shows the progress of work: as a line that changes if standard error is a terminal, otherwise as a
/// line a minute.
pub(crate) struct Watch {
    /// `None` when there is no terminal, or nothing is to be shown.
    bar: Option<ProgressBar>,
    clock: Clock,
    /// When the bar was last drawn, in milliseconds of the clock: most calls end here.
    drawn: AtomicU64,
    phase: Mutex<Option<Phase>>,
    /// How the work is doing, where it says so itself.
    note: Mutex<String>,
    latest: Arc<Mutex<Option<Progress>>>,
    /// Ends its thread when it is dropped.
    minutes: Mutex<Option<Minutes>>,
    patience: Patience,
}

impl Watch {
    /// Of work without a limit of time. Starts to listen for Ctrl-C, too.
    pub(crate) fn new(quiet: bool) -> Self {
        Self::within(quiet, Instant::now(), None)
    }

    /// Of work that ends by itself when so many seconds have passed since it started.
    pub(crate) fn within(quiet: bool, started: Instant, limit: Option<f64>) -> Self {
        interrupt::listen();
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && is_terminal)
            .then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        let (clock, latest) = (Clock { started, limit }, Arc::new(Mutex::new(None)));
        let minutes = (!quiet && !is_terminal).then(|| Minutes::new(clock, Arc::clone(&latest)));
        let patience = Patience::new(started, limit, bar.clone());
        Self {
            bar,
            clock,
            drawn: AtomicU64::new(0),
            phase: Mutex::new(None),
            note: Mutex::default(),
            latest,
            minutes: Mutex::new(minutes),
            patience,
        }
    }

    /// Names the next piece of work, where there are several.
    pub(crate) fn begin(&self, name: &str) {
        self.patience.set_ended(false);
        if let (Some(bar), Ok(mut phase)) = (&self.bar, self.phase.lock()) {
            *phase = None;
            bar.set_prefix(format!("{name}  "));
        }
    }

    /// Says how the work is doing, beside the bar.
    pub(crate) fn note(&self, text: String) {
        if let Ok(mut note) = self.note.lock() {
            *note = text;
        }
    }

    /// The work has ended; removes the bar, so that the result stands alone.
    pub(crate) fn finish(&self) {
        self.patience.set_ended(true);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.minutes.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn draw(&self, bar: &ProgressBar, news: Progress) {
        // Another thread is drawing: its news are as good.
        let Ok(mut phase) = self.phase.try_lock() else { return };
        if *phase != Some(news.phase) {
            // The phases of the default method share one display: its clock goes on.
            let goes_on = phase.is_some_and(|before| words::is_timed(before, &self.clock))
                && words::is_timed(news.phase, &self.clock);
            *phase = Some(news.phase);
            if !goes_on {
                bar.set_style(style::of(
                    news.phase,
                    news.total,
                    self.clock,
                    !bar.prefix().is_empty(),
                ));
                bar.set_length(news.total);
                bar.reset();
                bar.set_message("");
            }
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        if words::is_timed(news.phase, &self.clock) {
            bar.set_message(words::of(&news));
            return;
        }
        // Threads report out of order.
        bar.set_position(news.done.max(bar.position()));
        // What a narrow terminal cuts off comes last.
        let (left, rate) = style::pace(bar, news.phase).map(|[left, rate]| (left, rate)).unzip();
        let note = self.note.lock().ok().map(|note| note.clone()).filter(|note| !note.is_empty());
        let said = [left, words::estimate(&news).or(note), rate];
        bar.set_message(said.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
}

impl Observer for Watch {
    fn progress(&self, news: Progress) {
        let Some(bar) = &self.bar else {
            if let Ok(mut latest) = self.latest.try_lock() {
                *latest = Some(news);
            }
            return;
        };
        let now = self.clock.started.elapsed().as_millis() as u64;
        let drawn = self.drawn.load(Ordering::Relaxed);
        // Work that is done at once shows no bar; of the threads that find one due, one draws it. An
        // estimate of the whole is rare, and always shown.
        if news.interval.is_some()
            || now >= drawn + BETWEEN_DRAWS_MS
                && self
                    .drawn
                    .compare_exchange(drawn, now, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
        {
            self.draw(bar, news);
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}
