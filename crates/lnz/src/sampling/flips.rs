//! How many units a Metropolis proposal flips.

use crate::{Error, Result};
use serde::Serialize;
use std::str::FromStr;

/// Number of distinct units that a Metropolis proposal flips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flips {
    /// So many units.
    Units(usize),
    /// This many per cent of the visible units, rounded, at least one; 100 flips them all.
    Percent(f64),
}

impl Flips {
    /// The number of units among `visible`, checked.
    pub fn count(self, visible: usize) -> Result<usize> {
        match self {
            Flips::Units(n) if (1..=visible).contains(&n) => Ok(n),
            Flips::Units(n) => {
                Err(Error::setting("flips", n, format!("1 to {visible}, the number of units")))
            }
            Flips::Percent(p) if p > 0.0 && p <= 100.0 => {
                Ok(((p / 100.0 * visible as f64).round() as usize).max(1))
            }
            Flips::Percent(p) => {
                Err(Error::setting("flips", format!("{p}%"), "more than 0% and at most 100%"))
            }
        }
    }
}

impl FromStr for Flips {
    type Err = &'static str;

    /// `3` units or `15%` of them.
    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let parsed = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(Flips::Percent).ok(),
            None => text.parse().map(Flips::Units).ok(),
        };
        parsed.ok_or("expected a number of units such as 3, or a share such as 15%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_units_or_per_cent() {
        assert_eq!("3".parse(), Ok(Flips::Units(3)));
        assert_eq!("12.5%".parse(), Ok(Flips::Percent(12.5)));
        assert!("3.5".parse::<Flips>().is_err());
        assert!("%".parse::<Flips>().is_err());
    }

    #[test]
    fn flips_are_counted_as_the_paper_does() {
        assert_eq!(Flips::Percent(100.0).count(20).unwrap(), 20);
        assert_eq!(Flips::Percent(15.0).count(20).unwrap(), 3);
        assert_eq!(Flips::Percent(1.0).count(20).unwrap(), 1);
        assert_eq!(Flips::Units(7).count(7).unwrap(), 7);
        for bad in [Flips::Units(0), Flips::Units(8), Flips::Percent(0.0), Flips::Percent(101.0)] {
            assert!(bad.count(7).is_err());
        }
        assert!(Flips::Percent(f64::NAN).count(7).is_err());
    }
}
