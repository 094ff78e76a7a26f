//! What progress says: the phase, the estimate so far, and the time against its limit.

use lnz::{Phase, Progress};
use lnz_app::numbers::{duration, with_decimals_of};
use std::time::Instant;

/// When work began, and when it will end at the latest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) started: Instant,
    pub(super) limit: Option<f64>,
}

impl Clock {
    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// `12 s of at most 60 s`.
    pub(super) fn words(&self) -> String {
        let now = duration(self.seconds().floor().max(1.0));
        match self.limit {
            Some(limit) => format!("{now} of at most {}", duration(limit)),
            None => now,
        }
    }

    /// The part of the limit that has passed.
    pub(super) fn share(&self) -> Option<f64> {
        self.limit.map(|limit| (self.seconds() / limit).min(1.0))
    }
}

/// Phases whose end nobody knows: they show the time, and not a part of the work.
pub(super) fn is_timed(phase: Phase, clock: &Clock) -> bool {
    match phase {
        Phase::Prepare | Phase::Round => true,
        // Bounds are proven in the time that is left.
        Phase::Bound => clock.limit.is_some(),
        _ => false,
    }
}

/// What is being done, and in which units it is counted.
pub(super) fn name(phase: Phase) -> (&'static str, &'static str) {
    match phase {
        Phase::Enumerate => ("summing", "states"),
        Phase::Bound => ("proving bounds", "passes"),
        Phase::Start => ("sampling means", "steps"),
        Phase::Anneal => ("annealing", "chain-steps"),
        Phase::Train => ("training", "examples"),
        Phase::Score => ("reading examples", "examples"),
        Phase::Prepare => ("searching for modes and trying starts", "stages"),
        Phase::Round => ("annealing in rounds", "parts"),
        _ => ("working", "steps"),
    }
}

/// `annealing in rounds, log Z 275.69 [275.41, 276.02]`.
pub(super) fn of(news: &Progress) -> String {
    match estimate(news) {
        Some(estimate) => format!("{}, {estimate}", name(news.phase).0),
        None => name(news.phase).0.to_owned(),
    }
}

/// The estimate so far, where there is one.
pub(super) fn estimate(news: &Progress) -> Option<String> {
    Some(match (news.log_z, news.interval, news.beta) {
        (Some(log_z), Some([low, high]), _) => {
            let error = ((high - low) / 4.0).max(1e-4);
            let end = |end: f64| match end.is_finite() {
                true => with_decimals_of(error, end),
                false if end > 0.0 => "∞".to_owned(),
                false => "-∞".to_owned(),
            };
            format!("log Z {} [{}, {}]", with_decimals_of(error, log_z), end(low), end(high))
        }
        (Some(log_z), None, Some(beta)) if beta < 1.0 => {
            format!("log Z {log_z:.2} at beta {beta:.3}")
        }
        (Some(log_z), None, _) => format!("log Z {log_z:.2} so far"),
        (None, _, Some(beta)) => format!("beta {beta:.3}"),
        (None, _, None) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_has_the_digits_that_it_deserves() {
        let news = |interval| Progress {
            log_z: Some(275.6912),
            interval,
            ..Progress::new(Phase::Round, 1, 2)
        };
        assert_eq!(
            of(&news(Some([275.41, 276.02]))),
            "annealing in rounds, log Z 275.69 [275.41, 276.02]"
        );
        let open = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(estimate(&news(Some(open))).unwrap(), "log Z 275.69 [-∞, ∞]");
        assert_eq!(estimate(&news(None)).unwrap(), "log Z 275.69 so far");
        assert_eq!(
            of(&Progress::new(Phase::Prepare, 0, 5)),
            "searching for modes and trying starts"
        );
    }

    #[test]
    fn time_is_told_against_its_limit() {
        let clock = |limit| Clock { started: Instant::now(), limit };
        assert_eq!(clock(Some(60.0)).words(), "1 s of at most 60 s");
        assert_eq!(clock(None).words(), "1 s");
        assert_eq!(clock(None).share(), None);
        assert!(clock(Some(60.0)).share().unwrap() < 0.5);
    }
}
