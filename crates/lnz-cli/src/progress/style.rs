//! How the line of progress looks: a bar of work where its end is known, a bar of time where not.

use super::words::{self, Clock};
use indicatif::{ProgressState, ProgressStyle};
use lnz::Phase;
use lnz_app::numbers;
use std::fmt::Write;

/// Characters of a bar.
const WIDTH: usize = 20;

/// The style of a phase. What may be too long for the terminal comes last, and is cut.
pub(super) fn of(phase: Phase, total: u64, clock: Clock) -> ProgressStyle {
    let (name, unit) = words::name(phase);
    if words::is_timed(phase, &clock) {
        let template = match clock.limit {
            Some(_) => "  {prefix}{time_bar} {time}, {wide_msg}",
            None => "  {prefix}{time}, {wide_msg}",
        };
        return timed(template, clock);
    }
    with_keys(&match (phase, total) {
        (Phase::Score, 0) => "  {prefix}reading examples  {count} so far  {rate}/s".to_owned(),
        _ => format!(
            "  {{prefix}}{name} {{bar:{WIDTH}}} {{percent:>3}}%  {{rate}} {unit}/s  {{left}} left  {{wide_msg}}"
        ),
    })
}

fn timed(template: &str, clock: Clock) -> ProgressStyle {
    with_keys(template)
        .with_key("time", move |_: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", clock.words());
        })
        .with_key("time_bar", move |_: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", bar(clock.share().unwrap_or(0.0)));
        })
}

fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * WIDTH as f64) as usize;
    let tip = if full < WIDTH { "╸" } else { "" };
    format!("{}{tip}{}", "━".repeat(full), " ".repeat((WIDTH - full).saturating_sub(1)))
}

/// A style in which `rate`, `left` and `count` are said as elsewhere.
pub(super) fn with_keys(template: &str) -> ProgressStyle {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_time_has_the_same_width_always() {
        for share in [0.0, 0.01, 0.5, 0.99, 1.0] {
            assert_eq!(bar(share).chars().count(), WIDTH, "{share}");
        }
        assert!(bar(0.5).starts_with(&"━".repeat(10)));
    }
}
