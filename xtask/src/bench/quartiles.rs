//! The middle of repeated measurements, and how far they spread.

/// Median, and the quartiles below and above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quartiles {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Quartiles {
    /// By linear interpolation between order statistics; `None` without values.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let below = place as usize;
            values[below] + (place - below as f64) * (values[(below + 1).min(last)] - values[below])
        };
        Some(Self { low: at(0.25), median: at(0.5), high: at(0.75) })
    }

    /// Of `top / bottom`, repetition by repetition: what slows the machine down for a while slows
    /// both, and drops out.
    pub(super) fn of_ratios(top: &[f64], bottom: &[f64]) -> Option<Self> {
        Self::of(top.iter().zip(bottom).map(|(top, bottom)| top / bottom))
    }

    /// Median and quartiles with three significant digits: `7.31 (7.25-7.40)`.
    pub(super) fn show(self) -> String {
        format!("{} ({}-{})", digits(self.median), digits(self.low), digits(self.high))
    }
}

/// Three significant digits, without exponents.
pub(super) fn digits(value: f64) -> String {
    let decimals = if value == 0.0 { 0 } else { 2 - value.abs().log10().floor() as i32 };
    format!("{value:.*}", decimals.clamp(0, 6) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_neighbours() {
        let q = Quartiles::of([4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((q.low, q.median, q.high), (1.75, 2.5, 3.25));
        assert_eq!(Quartiles::of([]), None);
        assert_eq!(Quartiles::of([2.0]).unwrap().show(), "2.00 (2.00-2.00)");
    }

    #[test]
    fn a_slow_spell_drops_out_of_ratios() {
        let q = Quartiles::of_ratios(&[2.0, 20.0, 2.0], &[1.0, 10.0, 1.0]).unwrap();
        assert_eq!((q.low, q.high), (2.0, 2.0));
    }

    #[test]
    fn three_digits_count() {
        assert_eq!(digits(1234.5), "1234");
        assert_eq!(digits(12.345), "12.3");
        assert_eq!(digits(0.012345), "0.0123");
    }
}
