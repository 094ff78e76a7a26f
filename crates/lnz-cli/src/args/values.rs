//! Parses values on the command line that need more than a type.

/// Counts above this are typing errors, and would only exhaust the memory.
pub(crate) const LARGEST_COUNT: usize = 100_000_000;

/// More threads than this are refused by operating systems anyway.
const MOST_THREADS: usize = 1024;

/// A count of at least one.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    between(text, LARGEST_COUNT)
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    between(text, MOST_THREADS)
}

/// Seconds as a number, or a time with units: `90`, `1.5m`, `1h30m`, `500ms`.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().or_else(|| with_units(text)).ok_or_else(|| {
        "expected a number of seconds, or a time such as 90s, 5m or 1h30m".to_owned()
    })
}

/// Bytes as a number, or a size with a unit: `2e9`, `2GB`, `500 MB`, `1.5GiB`.
pub(crate) fn bytes(text: &str) -> Result<f64, String> {
    let units = [
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1024.0f64.powi(2)),
        ("gib", 1024.0f64.powi(3)),
        ("tib", 1024.0f64.powi(4)),
        ("b", 1.0),
        ("k", 1e3),
        ("m", 1e6),
        ("g", 1e9),
        ("t", 1e12),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let unit = units.iter().find_map(|&(unit, size)| Some((lower.strip_suffix(unit)?, size)));
    let (number, size) = unit.unwrap_or((&lower, 1.0));
    let number: Result<f64, _> = number.trim().parse();
    number
        .map(|number| number * size)
        .map_err(|_| "expected a number of bytes, or a size such as 500MB or 2GB".to_owned())
}

fn with_units(text: &str) -> Option<f64> {
    let (mut rest, mut sum) = (text.trim(), 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit.trim() {
            "ms" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * seconds;
        rest = after;
    }
    (!text.trim().is_empty()).then_some(sum)
}

/// A help text whose paragraphs are one line each, so that it is wrapped once, to the terminal of the
/// reader. Lines that begin with spaces are examples; they stay as they are where there is room for them.
pub(crate) fn prose(text: &str) -> String {
    let columns = console::Term::stdout().size_checked().map_or(usize::MAX, |(_, x)| x.into());
    prose_within(text, columns)
}

fn prose_within(text: &str, columns: usize) -> String {
    let fits = text.lines().all(|line| !line.starts_with(' ') || line.chars().count() <= columns);
    let mut joined = String::new();
    let mut before = "";
    for line in text.lines() {
        let continues = !line.is_empty() && !line.starts_with(' ');
        let is_prose = !before.is_empty() && !before.starts_with(' ') && !before.ends_with(':');
        if !joined.is_empty() {
            joined.push(if continues && is_prose { ' ' } else { '\n' });
        }
        match line.trim_start().split_once("  ").filter(|_| line.starts_with(' ') && !fits) {
            // What an example is for stands below it, further in.
            Some((command, about)) => joined += &format!("  {command}\n      {}", about.trim()),
            None => joined += line,
        }
        before = line;
    }
    joined
}

/// A finite number above zero.
pub(crate) fn positive_number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

fn between(text: &str, most: usize) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=most).contains(n))
        .ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_may_have_units() {
        let times = ["90", "1.5m", "1h30m", "500ms", "2 min", "1d", "0.5", "-1"];
        let seconds = times.map(|text| seconds(text).unwrap());
        assert_eq!(seconds, [90.0, 90.0, 5400.0, 0.5, 120.0, 86_400.0, 0.5, -1.0]);
        for bad in ["", "m", "5 parsecs", "1m 5", "1..5s", "soon"] {
            assert!(super::seconds(bad).unwrap_err().contains("1h30m"), "{bad}");
        }
    }

    #[test]
    fn sizes_may_have_units() {
        let sizes = ["4096", "2e9", "2GB", "500 mb", "1GiB", "3k", "8b"];
        let bytes = sizes.map(|text| bytes(text).unwrap());
        assert_eq!(bytes, [4096.0, 2e9, 2e9, 5e8, 1_073_741_824.0, 3000.0, 8.0]);
        for bad in ["", "GB", "2 parsecs", "much"] {
            assert!(super::bytes(bad).unwrap_err().contains("500MB"), "{bad}");
        }
    }

    #[test]
    fn paragraphs_are_one_line_and_examples_stay() {
        let text = "Examples:\n  lnz a   one\n  lnz b   two\n\nA text\nof two lines.\nAnd more.";
        let expected = "Examples:\n  lnz a   one\n  lnz b   two\n\nA text of two lines. And more.";
        assert_eq!(prose_within(text, 80), expected);
    }

    #[test]
    fn examples_that_do_not_fit_have_their_purpose_below() {
        let text = "Examples:\n  lnz a --b     a long purpose\n  lnz c\n\nA text.";
        let expected = "Examples:\n  lnz a --b\n      a long purpose\n  lnz c\n\nA text.";
        assert_eq!(prose_within(text, 20), expected);
    }

    #[test]
    fn counts_start_at_one() {
        assert_eq!(positive("1"), Ok(1));
        for bad in ["0", "-1", "1e3", "", "99999999999999999999"] {
            assert!(positive(bad).unwrap_err().contains("from 1 to 100000000"));
        }
    }
}
