//! What a set of rows says: shares, medians, extremes of the relative error.

use crate::row::Row;

/// The paper's threshold of a suitable approximation.
pub(crate) const THRESHOLD: f64 = 0.05;

/// Relative errors of some runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors(Vec<f64>);

impl Errors {
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut errors: Vec<f64> = rows.into_iter().filter_map(|row| row.xi).collect();
        errors.sort_by(f64::total_cmp);
        Self(errors)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Share of runs with an error of at most `limit`, in per cent.
    pub(crate) fn within(&self, limit: f64) -> f64 {
        let good = self.0.iter().filter(|xi| **xi <= limit).count();
        100.0 * good as f64 / self.0.len().max(1) as f64
    }

    /// Share of runs above the paper's threshold, in per cent.
    pub(crate) fn above(&self) -> f64 {
        100.0 - self.within(THRESHOLD)
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.0)
    }

    /// The median of those above the paper's threshold.
    pub(crate) fn median_above(&self) -> f64 {
        let above: Vec<f64> = self.0.iter().copied().filter(|xi| *xi > THRESHOLD).collect();
        median(&above)
    }

    pub(crate) fn smallest(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn largest(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }
}

/// The middle of sorted values; zero without any.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// A relative error as people read it: `12%`, `0.03%`, `2e-9`.
pub(crate) fn per_cent(xi: f64) -> String {
    match 100.0 * xi {
        p if p.is_nan() => "–".into(),
        p if p >= 10.0 => format!("{p:.0}%"),
        p if p >= 0.1 => format!("{p:.1}%"),
        p if p >= 0.001 => format!("{p:.3}%"),
        p if p > 0.0 => format!("{:.0e}", p / 100.0),
        _ => "0".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_medians_of_known_errors() {
        let row = |xi| Row { xi: Some(xi), ..Row::default() };
        let rows = [row(0.5), row(0.001), row(0.04), row(0.06)];
        let errors = Errors::of(&rows);
        assert_eq!((errors.count(), errors.within(0.05), errors.above()), (4, 50.0, 50.0));
        assert_eq!((errors.median(), errors.largest()), (0.05, 0.5));
        assert_eq!(errors.median_above(), 0.28);
        assert_eq!(Errors::of(&[]).count(), 0);
        assert_eq!(per_cent(0.123), "12%");
        assert_eq!(per_cent(2e-9), "2e-9");
    }
}
