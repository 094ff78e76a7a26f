//! Small pictures in a line of text, for terminals.

use lnz_app::page::Trace;
use lnz_app::report::Line;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of a histogram.
const BINS: usize = 24;
/// Rounds that are shown, the last ones.
const MOST_ROUNDS: usize = 24;

/// A histogram of the log weights, and the estimate after each round.
pub(super) fn lines(trace: &Trace) -> Vec<Line> {
    let line = |label, text| Line { label, lead: None, text };
    let weights = histogram(&trace.log_weights).map(|text| line("weights", text));
    let rounds = rounds(&trace.rounds).map(|text| line("rounds", text));
    weights.into_iter().chain(rounds).collect()
}

/// `270.15 ▁▂▅█▇▃▁▁ 277.90`: how the log weights of the chains spread.
fn histogram(log_weights: &[f64]) -> Option<String> {
    let finite = || log_weights.iter().copied().filter(|weight| weight.is_finite());
    let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
    // Equal weights have no spread to show.
    let width = high - low;
    if width <= 1e-9 * low.abs().max(1.0) {
        return None;
    }
    let mut counts = [0.0; BINS];
    for weight in finite() {
        let bin = ((weight - low) / width * BINS as f64) as usize;
        counts[bin.min(BINS - 1)] += 1.0;
    }
    Some(format!("{low:.2} {} {high:.2}", blocks(&counts, 0.0)))
}

/// `275.10 ▁▅▇█ 275.69`: the estimate, round by round.
fn rounds(rounds: &[[f64; 4]]) -> Option<String> {
    let all: Vec<f64> = rounds.iter().map(|round| round[1]).filter(|z| z.is_finite()).collect();
    let values = &all[all.len().saturating_sub(MOST_ROUNDS)..];
    let [first, .., last] = values else { return None };
    let lowest = values.iter().copied().reduce(f64::min)?;
    Some(format!("{first:.2} {} {last:.2}", blocks(values, lowest)))
}

/// A block for each value; a value that is not the lowest can be told from it.
fn blocks(values: &[f64], lowest: f64) -> String {
    let highest = values.iter().copied().fold(lowest, f64::max);
    let block = |value: &f64| match highest > lowest {
        true => BLOCKS[((value - lowest) / (highest - lowest) * 7.0).ceil() as usize],
        false => BLOCKS[0],
    };
    values.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_is_seen() {
        let drawn = histogram(&[0.0, 0.0, 0.0, 1.0, f64::NEG_INFINITY]).unwrap();
        assert!(drawn.starts_with("0.00 █▁") && drawn.ends_with("▁▄ 1.00"), "{drawn}");
        assert_eq!(drawn.chars().count(), BINS + 10);
        for nothing in [&[][..], &[1.0; 5], &[f64::NAN]] {
            assert_eq!(histogram(nothing), None);
        }
    }

    #[test]
    fn rounds_rise_and_fall() {
        let round = |log_z: f64| [0.0, log_z, 0.0, 0.0];
        let drawn = rounds(&[round(1.0), round(3.0), round(2.0)]).unwrap();
        assert_eq!(drawn, "1.00 ▁█▅ 2.00");
        assert_eq!(rounds(&[round(1.0)]), None);
        assert_eq!(rounds(&[round(1.0), round(1.0)]).unwrap(), "1.00 ▁▁ 1.00");
    }
}
