//! Writes a duration in words.

/// A duration as a person would say it: `40 seconds`, `3 hours`, `2.1e9 years`.
pub fn in_words(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.25 * DAY;
    let (unit, name) = match seconds {
        f64::INFINITY => return "more than 1e300 years".into(),
        s if s < 0.95 => return "less than a second".into(),
        s if s < 1.5 * MINUTE => (1.0, "second"),
        s if s < 1.5 * HOUR => (MINUTE, "minute"),
        s if s < 1.5 * DAY => (HOUR, "hour"),
        s if s < 1.5 * YEAR => (DAY, "day"),
        _ => (YEAR, "year"),
    };
    let number = seconds / unit;
    match number.round() {
        1.0 => format!("1 {name}"),
        whole if whole < 10_000.0 => format!("{whole} {name}s"),
        _ => format!("{number:.1e} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn durations_read_as_words() {
        let cases = [
            (0.2, "less than a second"),
            (1.2, "1 second"),
            (40.3, "40 seconds"),
            (100.0, "2 minutes"),
            (3.1 * 3600.0, "3 hours"),
            (86_400.0 * 40.0, "40 days"),
            (3.2e7 * 350.0, "355 years"),
            (6.6e16, "2.1e9 years"),
            (f64::INFINITY, "more than 1e300 years"),
        ];
        for (seconds, words) in cases {
            assert_eq!(in_words(seconds), words);
        }
    }
}
