//! How the line of progress looks: a bar of work where its end is known, a bar of time where not.

use super::words::{self, Clock};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use lnz::Phase;
use lnz_app::numbers;
use std::fmt::Write;

/// Characters of a bar, and of one on a terminal with few columns.
const WIDTH: usize = 20;
const SHORT: usize = 8;
/// Columns of a terminal that has room for the whole bar.
const ROOMY: u16 = 70;

/// The style of a phase. What may be too long for the terminal comes last, and is cut.
/// On few columns, work that has a name of its own has no room for that of its phase.
pub(super) fn of(phase: Phase, total: u64, clock: Clock, is_named: bool) -> ProgressStyle {
    let (name, _) = words::name(phase);
    if words::is_timed(phase, &clock) {
        let template = match clock.limit {
            Some(_) => "  {prefix}{time_bar} {time}, {wide_msg}",
            None => "  {prefix}{time}, {wide_msg}",
        };
        return timed(template, clock);
    }
    with_keys(&match (phase, total) {
        (Phase::Score, 0) => "  {prefix}reading examples  {count} so far  {rate}/s".to_owned(),
        _ => {
            let name = if is_named && width() == SHORT { "" } else { name };
            format!("  {{prefix}}{name} {{bar:{}}} {{percent:>3}}%  {{wide_msg}}", width())
        }
    })
}

/// Characters of a bar on this terminal.
pub(super) fn width() -> usize {
    if console::Term::stderr().size().1 < ROOMY { SHORT } else { WIDTH }
}

/// `12 s left` and `1.2 M states/s`; nothing before there is something to tell them from.
pub(super) fn pace(bar: &ProgressBar, phase: Phase) -> Option<[String; 2]> {
    let (left, rate) = (bar.eta().as_secs_f64(), bar.per_sec());
    if bar.position() == 0 || rate <= 0.0 {
        return None;
    }
    let (_, unit) = words::name(phase);
    let left = numbers::duration(left.round().max(1.0));
    Some([format!("{left} left"), format!("{} {unit}/s", numbers::short(rate))])
}

fn timed(template: &str, clock: Clock) -> ProgressStyle {
    with_keys(template)
        .with_key("time", move |_: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", clock.words());
        })
        .with_key("time_bar", move |_: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", bar(clock.share().unwrap_or(0.0), width()));
        })
}

fn bar(share: f64, width: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * width as f64) as usize;
    let tip = if full < width { "╸" } else { "" };
    format!("{}{tip}{}", "━".repeat(full), " ".repeat((width - full).saturating_sub(1)))
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
            assert_eq!(bar(share, WIDTH).chars().count(), WIDTH, "{share}");
            assert_eq!(bar(share, SHORT).chars().count(), SHORT, "{share}");
        }
        assert!(bar(0.5, WIDTH).starts_with(&"━".repeat(10)));
    }

    #[test]
    fn a_pace_is_told_when_there_is_one() {
        let bar = ProgressBar::hidden();
        bar.set_length(10);
        assert_eq!(pace(&bar, Phase::Enumerate), None);
        bar.set_position(5);
        std::thread::sleep(std::time::Duration::from_millis(20));
        bar.set_position(6);
        let [left, rate] = pace(&bar, Phase::Enumerate).unwrap();
        assert!(left.ends_with(" left") && rate.ends_with(" states/s"), "{left}, {rate}");
    }
}
