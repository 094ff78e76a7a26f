//! Progress of many runs at a time, and of downloads.

use super::style::{width, with_keys};
use crate::interrupt;
use indicatif::{ProgressBar, ProgressDrawTarget};
use lnz_app::numbers;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

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
        let template = format!("  {{prefix}}  {{bar:{}}} {{percent:>3}}%  {{wide_msg}}", width());
        bar.set_style(with_keys(&template));
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
        let left = numbers::duration(bar.eta().as_secs().max(1) as f64);
        let (done, all) = (numbers::count(counts.0), numbers::count(counts.1));
        bar.set_message(format!("{left} left, {done} of {all} runs"));
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
        Some(_) => {
            let bar = format!("{{bar:{}}} {{percent:>3}}%", width());
            format!("  {{prefix}} {bar}  {{left}} left  {{decimal_bytes_per_sec}}")
        }
        None => "  {prefix} {decimal_bytes}  {decimal_bytes_per_sec}".to_owned(),
    };
    bar.set_style(with_keys(&template));
    bar.set_prefix(name.to_owned());
    bar
}
