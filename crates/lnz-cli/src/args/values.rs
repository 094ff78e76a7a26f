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
    fn counts_start_at_one() {
        assert_eq!(positive("1"), Ok(1));
        for bad in ["0", "-1", "1e3", "", "99999999999999999999"] {
            assert!(positive(bad).unwrap_err().contains("from 1 to 100000000"));
        }
    }
}
