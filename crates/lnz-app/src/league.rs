//! The league: methods held against models of known log Z.

mod known;
mod suite;

pub use known::{Problem, problems};
pub use suite::SUITE;

use lnz::Verdict;
use serde::Serialize;

/// A factor that Z may be wrong by, beyond which an answer counts as none (Agrawal et al., 2021).
const TOLERATED: f64 = 32.0;

/// What a method said about a model.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// Its estimate.
    pub log_z: f64,
    /// Its 95% interval, if it has one.
    pub interval: Option<[f64; 2]>,
    /// Its verdict on itself, if it has one.
    pub verdict: Option<Verdict>,
    /// Time that it took, without reading the model.
    pub seconds: f64,
}

/// One method on one model.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The model.
    pub model: String,
    /// Visible units.
    pub visible: usize,
    /// Hidden units.
    pub hidden: usize,
    /// The known value.
    pub known: f64,
    /// The method.
    pub peer: String,
    /// What it said, or why it said nothing.
    pub answer: Result<Answer, String>,
    /// Its TAP score.
    pub tap: f64,
}

impl Row {
    /// Difference to the known value.
    pub fn error(&self) -> Option<f64> {
        self.answer.as_ref().ok().map(|answer| answer.log_z - self.known)
    }

    /// The interval holds the known value; the last digit of a published one is allowed for.
    pub fn covers(&self, digits: f64) -> Option<bool> {
        let [low, high] = self.answer.as_ref().ok()?.interval?;
        Some(low - digits <= self.known && self.known <= high + digits)
    }
}

/// The score of Agrawal, Pote and Meel (*Partition Function Estimation: A Quantitative Study*, IJCAI
/// 2021) for time and accuracy in one number, in seconds; less is better.
///
/// With the time t, the time limit T and the relative error R = max(Z, Z^) / min(Z, Z^) - 1 it is
/// `t + T R / 32` for R < 32 and `2T - (T - t) e^(32 - R)` beyond, 2T without an answer: an exact answer
/// costs its time, a useless one twice the limit. The two meet at R = 32.
pub fn tap(answer: Option<(f64, f64)>, limit: f64) -> f64 {
    let Some((error, seconds)) = answer.filter(|(_, seconds)| *seconds <= limit) else {
        return 2.0 * limit;
    };
    let relative = error.abs().exp_m1();
    if relative < TOLERATED {
        seconds + limit * relative / TOLERATED
    } else {
        2.0 * limit - (limit - seconds) * (TOLERATED - relative).exp()
    }
}

/// A method over all models.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// The method.
    pub peer: String,
    /// Models.
    pub models: usize,
    /// Models with an answer.
    pub answered: usize,
    /// Models with a Z that is right within a factor of 32.
    pub within_32: usize,
    /// Median of |error|, over the answers.
    pub median_error: Option<f64>,
    /// Largest |error|.
    pub largest_error: Option<f64>,
    /// Intervals, and those that hold the known value.
    pub intervals: usize,
    /// Intervals that hold the known value.
    pub covered: usize,
    /// Wrong by more than its interval says, and not called suspect by itself.
    pub confidently_wrong: usize,
    /// Time in all.
    pub seconds: f64,
    /// Mean TAP score.
    pub mean_tap: f64,
}

impl Standing {
    /// The rows of one method; `digits` is how far a known value itself may be off.
    pub fn of(peer: &str, rows: &[Row], digits: f64) -> Self {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.peer == peer).collect();
        let mut errors: Vec<f64> =
            rows.iter().filter_map(|row| row.error()).map(f64::abs).collect();
        errors.sort_by(f64::total_cmp);
        let covered: Vec<bool> = rows.iter().filter_map(|row| row.covers(digits)).collect();
        let is_confidently_wrong = |row: &&&Row| {
            let verdict = row.answer.as_ref().ok().and_then(|answer| answer.verdict);
            row.covers(digits) == Some(false) && verdict != Some(Verdict::Suspect)
        };
        let time = |row: &&Row| row.answer.as_ref().map_or(0.0, |answer| answer.seconds);
        Self {
            peer: peer.to_owned(),
            models: rows.len(),
            answered: errors.len(),
            within_32: errors.iter().filter(|error| **error <= TOLERATED.ln()).count(),
            median_error: errors.get(errors.len() / 2).copied(),
            largest_error: errors.last().copied(),
            intervals: covered.len(),
            covered: covered.iter().filter(|covers| **covers).count(),
            confidently_wrong: rows.iter().filter(is_confidently_wrong).count(),
            seconds: rows.iter().map(time).sum(),
            mean_tap: rows.iter().map(|row| row.tap).sum::<f64>() / rows.len().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_time_of_an_exact_answer_and_twice_the_limit_of_none() {
        assert_eq!(tap(Some((0.0, 7.0)), 100.0), 7.0);
        assert_eq!(tap(None, 100.0), 200.0);
        assert_eq!(tap(Some((0.0, 101.0)), 100.0), 200.0);
        assert_eq!(tap(Some((1e3, 7.0)), 100.0), 200.0);
        // Twice the true Z, or half of it: R = 1.
        for sign in [1.0, -1.0] {
            assert!((tap(Some((sign * 2f64.ln(), 4.0)), 64.0) - 6.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_two_halves_of_the_score_meet() {
        let at = |relative: f64| tap(Some((relative.ln_1p(), 5.0)), 100.0);
        assert!((at(32.0 - 1e-9) - 105.0).abs() < 1e-6);
        assert!((at(32.0 + 1e-9) - 105.0).abs() < 1e-6);
    }

    #[test]
    fn an_interval_that_misses_counts_as_confidently_wrong_unless_suspect() {
        let row = |error: f64, verdict| Row {
            model: "m".into(),
            visible: 1,
            hidden: 1,
            known: 10.0,
            peer: "p".into(),
            answer: Ok(Answer {
                log_z: 10.0 + error,
                interval: Some([9.9 + error, 10.1 + error]),
                verdict: Some(verdict),
                seconds: 2.0,
            }),
            tap: tap(Some((error, 2.0)), 60.0),
        };
        let rows = [
            row(0.0, Verdict::Consistent),
            row(-0.5, Verdict::Suspect),
            row(0.2, Verdict::Consistent),
            row(4.0, Verdict::Suspect),
        ];
        let standing = Standing::of("p", &rows, 1e-6);
        assert_eq!((standing.intervals, standing.covered, standing.confidently_wrong), (4, 1, 1));
        assert_eq!((standing.within_32, standing.seconds), (3, 8.0));
        assert_eq!(standing.largest_error, Some(4.0));
        assert_eq!(Standing::of("q", &rows, 1e-6).models, 0);
    }
}
