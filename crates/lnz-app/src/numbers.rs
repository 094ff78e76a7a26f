//! Formats numbers for people.

use lnz::MANY_DIGITS;

/// `1,048,576`.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `25.2 M`: three significant digits and a prefix.
pub fn short(value: f64) -> String {
    if value >= MANY_DIGITS {
        return format!("{value:.2e}");
    }
    let prefixes = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    match prefixes.into_iter().find(|(unit, _)| value >= *unit) {
        Some((unit, prefix)) => format!("{}{prefix}", three_digits(value / unit)),
        None => three_digits(value),
    }
}

/// `9.91 MB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1000 => plural(n as usize, "byte"),
        n => short(n as f64) + "B",
    }
}

fn three_digits(value: f64) -> String {
    let decimals = if value >= 100.0 || value.fract() == 0.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

/// `3 ms`, `4.2 s`, `48 s`, `2 min 5 s`; longer ones in words.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => "under 1 ms".into(),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 && s.fract() != 0.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{} min {} s", s as u64 / 60, s as u64 % 60),
        s => lnz::in_words(s),
    }
}

/// A prediction of time: `about 48 s`, but `under 1 ms`.
pub fn about(seconds: f64) -> String {
    match seconds < 0.001 {
        true => duration(seconds),
        false => format!("about {}", duration(seconds)),
    }
}

/// A log Z with as many decimals as two digits of its error have; `error` may be unknown (infinite).
pub fn with_decimals_of(error: f64, value: f64) -> String {
    if value.abs() >= MANY_DIGITS {
        return format!("{value:.11e}");
    }
    let decimals = decimals(error);
    format!("{value:.decimals$}")
}

/// An error with two digits; `under 0.000001` where six decimals would be zeros.
pub fn error(error: f64) -> String {
    match error < 5e-7 {
        true => "under 0.000001".to_owned(),
        false if error >= MANY_DIGITS => format!("{error:.1e}"),
        false => with_decimals_of(error, error),
    }
}

fn decimals(error: f64) -> usize {
    if !error.is_finite() {
        return 2;
    }
    if error == 0.0 {
        return 6;
    }
    (1.0 - error.log10().floor()).clamp(0.0, 6.0) as usize
}

/// Twelve significant digits, trailing zeros included: exact values can be checked against others'.
pub fn exact(value: f64) -> String {
    if value.abs() >= MANY_DIGITS {
        return format!("{value:.11e}");
    }
    let magnitude = value.abs().max(1.0).log10().floor() as usize;
    let decimals = 11usize.saturating_sub(magnitude);
    format!("{value:.decimals$}")
}

/// `one component`, `3 components`.
pub fn plural(n: usize, noun: &str) -> String {
    match n {
        1 => format!("one {noun}"),
        n => format!("{} {noun}s", count(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_048_576), "1,048,576");
    }

    #[test]
    fn short_numbers_have_three_digits() {
        assert_eq!(short(25_165_824.0), "25.2 M");
        assert_eq!(short(1_048_576.0), "1.05 M");
        assert_eq!(short(64.0), "64");
        assert_eq!(short(123_456.0), "123 k");
    }

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(9_912_422), "9.91 MB");
    }

    #[test]
    fn durations_are_said_in_the_unit_that_fits() {
        assert_eq!(duration(0.0004), "under 1 ms");
        assert_eq!(duration(0.0031), "3 ms");
        assert_eq!(duration(48.3), "48 s");
        assert_eq!(duration(125.0), "2 min 5 s");
        assert_eq!(duration(12_000.0), "3 hours");
        assert_eq!([about(0.0004), about(48.3)], ["under 1 ms", "about 48 s"]);
    }

    #[test]
    fn decimals_follow_the_error() {
        assert_eq!(with_decimals_of(0.16, 275.689_12), "275.69");
        assert_eq!(with_decimals_of(0.016, 275.689_12), "275.689");
        assert_eq!(with_decimals_of(f64::INFINITY, 275.689_12), "275.69");
        assert_eq!(with_decimals_of(0.0, 1.5), "1.500000");
        assert_eq!(
            [0.16, 4e-6, 4e-7, 0.0].map(error),
            ["0.16", "0.000004", "under 0.000001", "under 0.000001"]
        );
        assert_eq!(exact(275.707_512_345_678_9), "275.707512346");
        assert_eq!(exact(0.5), "0.50000000000");
        assert_eq!(exact(1.1e300), "1.10000000000e300");
        assert_eq!(with_decimals_of(0.01, -1.1e300), "-1.10000000000e300");
        assert_eq!((error(2.4e284), short(7.3e299)), ("2.4e284".into(), "7.30e299".into()));
    }
}
