//! The progress bar: an observer of long work that also carries Ctrl-C to it.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lnz::{Observer, Phase, Progress};
use lnz_app::numbers;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Redrawing more often than this costs time and tells nothing.
const BETWEEN_DRAWS_MS: u64 = 100;

/// Shows the progress of work on standard error, if that is a terminal.
pub(crate) struct Watch {
    /// `None` when nothing is to be shown.
    bar: Option<ProgressBar>,
    clock: Instant,
    /// When the bar was last drawn, in milliseconds of the clock: most calls end here.
    drawn: AtomicU64,
    phase: Mutex<Option<Phase>>,
}

impl Watch {
    /// Starts to listen for Ctrl-C, too.
    pub(crate) fn new(quiet: bool) -> Self {
        interrupt::listen();
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        Self { bar, clock: Instant::now(), drawn: AtomicU64::new(0), phase: Mutex::new(None) }
    }

    /// Names the next piece of work, where there are several.
    pub(crate) fn begin(&self, name: &str) {
        if let (Some(bar), Ok(mut phase)) = (&self.bar, self.phase.lock()) {
            *phase = None;
            bar.set_prefix(format!("{name}  "));
        }
    }

    /// Says how the work is doing, at the end of the bar.
    pub(crate) fn note(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }

    /// Removes the bar, so that the result stands alone.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn draw(&self, bar: &ProgressBar, progress: Progress) {
        // Another thread is drawing: its news are as good.
        let Ok(mut phase) = self.phase.try_lock() else { return };
        if *phase != Some(progress.phase) {
            *phase = Some(progress.phase);
            bar.set_style(style(progress.phase, progress.total));
            bar.set_length(progress.total);
            bar.set_message("");
            bar.reset();
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        // Threads report out of order.
        bar.set_position(progress.done.max(bar.position()));
        match (progress.log_z, progress.beta) {
            (Some(log_z), Some(beta)) if beta < 1.0 => {
                bar.set_message(format!("  log Z {log_z:.2} at beta {beta:.3}"));
            }
            (Some(log_z), _) => bar.set_message(format!("  log Z {log_z:.2} so far")),
            (None, Some(beta)) => bar.set_message(format!("  beta {beta:.3}")),
            (None, None) => {}
        }
    }
}

impl Observer for Watch {
    fn progress(&self, progress: Progress) {
        let Some(bar) = &self.bar else { return };
        let now = self.clock.elapsed().as_millis() as u64;
        let drawn = self.drawn.load(Ordering::Relaxed);
        // Work that is done at once shows no bar; of the threads that find one due, one draws it.
        if now >= drawn + BETWEEN_DRAWS_MS
            && self.drawn.compare_exchange(drawn, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.draw(bar, progress);
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

/// Shows the progress of many runs at a time, weighed by what they cost.
pub(crate) struct JobBar {
    bar: Option<ProgressBar>,
    /// Runs that are done and expected, and what one unit of the bar stands for.
    counts: Mutex<(usize, usize, f64)>,
}

/// Units of the whole bar.
const WHOLE: u64 = 1_000_000;

impl JobBar {
    /// Starts to listen for Ctrl-C, too.
    pub(crate) fn new(quiet: bool) -> Self {
        interrupt::listen();
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()));
        Self { bar, counts: Mutex::new((0, 0, 1.0)) }
    }

    /// Names the next piece of work.
    pub(crate) fn begin(&self, name: &str) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(name.to_owned());
        }
    }

    /// So many runs with this cost in all lie ahead.
    pub(crate) fn expect(&self, runs: usize, cost: f64) {
        let (Some(bar), Ok(mut counts)) = (&self.bar, self.counts.lock()) else { return };
        *counts = (0, runs, cost / WHOLE as f64);
        bar.set_style(with_keys("  {prefix}  {bar:20} {percent:>3}%  {msg}  {left} left"));
        bar.set_length(WHOLE);
        bar.reset();
        bar.set_message(format!("0 of {} runs", numbers::count(runs)));
        bar.enable_steady_tick(Duration::from_millis(200));
    }

    /// A run of this cost is done.
    pub(crate) fn advance(&self, cost: f64) {
        let (Some(bar), Ok(mut counts)) = (&self.bar, self.counts.lock()) else { return };
        counts.0 += 1;
        bar.inc((cost / counts.2) as u64);
        bar.set_message(format!(
            "{} of {} runs",
            numbers::count(counts.0),
            numbers::count(counts.1)
        ));
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar for a download, if standard error is a terminal; without a total it only counts.
pub(crate) fn bytes_bar(quiet: bool, name: &str, total: Option<u64>) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let template = match total {
        Some(_) => "  {prefix} {bar:20} {percent:>3}%  {decimal_bytes_per_sec}  {left} left",
        None => "  {prefix} {decimal_bytes}  {decimal_bytes_per_sec}",
    };
    bar.set_style(with_keys(template));
    bar.set_prefix(name.to_owned());
    bar
}

/// Work that is not counted in steps.
fn plain_style(name: &str) -> ProgressStyle {
    with_keys(&format!("  {{prefix}}{name} {{bar:20}} {{elapsed}}{{msg}}"))
}

fn style(phase: Phase, total: u64) -> ProgressStyle {
    let (name, unit) = match phase {
        Phase::Enumerate => ("summing", "states"),
        Phase::Bound => ("proving bounds", "passes"),
        Phase::Start => ("sampling means", "steps"),
        Phase::Anneal => ("annealing", "chain-steps"),
        Phase::Train => ("training", "examples"),
        Phase::Prepare => return plain_style("searching for modes and trying starts"),
        Phase::Round => return plain_style("annealing in rounds"),
        Phase::Score if total == 0 => {
            return with_keys("  {prefix}reading examples  {count} so far  {rate}/s");
        }
        Phase::Score => ("reading examples", "examples"),
        _ => ("working", "steps"),
    };
    with_keys(&format!(
        "  {{prefix}}{name} {{bar:20}} {{percent:>3}}%  {{rate}} {unit}/s  {{left}} left{{msg}}"
    ))
}

/// A style in which `rate`, `left` and `count` are said as elsewhere.
fn with_keys(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", numbers::short(state.per_sec()));
        })
        .with_key("count", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", numbers::count(state.pos() as usize));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", numbers::duration(state.eta().as_secs().max(1) as f64));
        })
}
