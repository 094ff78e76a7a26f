//! The inverse temperatures of an annealing run.

use crate::{Error, Result};

/// A validated list of inverse temperatures: rises from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule(Vec<f64>);

impl Schedule {
    /// `beta_k = k / intervals`, the paper's schedule; its N_beta is `intervals`.
    pub fn linear(intervals: usize) -> Result<Self> {
        if intervals == 0 {
            return Err(Error::setting("betas", 0, "at least 1 interval between 0 and 1"));
        }
        Ok(Self((0..=intervals).map(|k| k as f64 / intervals as f64).collect()))
    }

    /// Any strictly increasing list that starts at 0 and ends at 1.
    pub fn from_betas(betas: Vec<f64>) -> Result<Self> {
        let expected = "numbers that rise strictly from 0 to 1";
        if betas.len() < 2 {
            return Err(Error::setting("schedule", format!("{} values", betas.len()), expected));
        }
        if let Some(k) = (0..betas.len()).find(|&k| !betas[k].is_finite()) {
            return Err(Error::setting(
                "schedule",
                format!("{} at position {k}", betas[k]),
                expected,
            ));
        }
        if betas[0] != 0.0 {
            return Err(Error::setting("schedule", format!("{} at the start", betas[0]), expected));
        }
        let last = betas[betas.len() - 1];
        if last != 1.0 {
            return Err(Error::setting("schedule", format!("{last} at the end"), expected));
        }
        if let Some(k) = (1..betas.len()).find(|&k| betas[k] <= betas[k - 1]) {
            let found = format!("{} after {} at position {k}", betas[k], betas[k - 1]);
            return Err(Error::setting("schedule", found, expected));
        }
        Ok(Self(betas))
    }

    /// The inverse temperatures, 0 and 1 included.
    pub fn betas(&self) -> &[f64] {
        &self.0
    }

    /// Number of intervals, the paper's N_beta.
    pub fn intervals(&self) -> usize {
        self.0.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_has_the_given_number_of_intervals() {
        let schedule = Schedule::linear(4).unwrap();
        assert_eq!(schedule.betas(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(schedule.intervals(), 4);
    }

    #[test]
    fn lists_that_do_not_rise_from_zero_to_one_are_refused() {
        for betas in [
            vec![],
            vec![0.0],
            vec![0.1, 1.0],
            vec![0.0, 0.9],
            vec![0.0, 0.5, 0.5, 1.0],
            vec![0.0, f64::NAN, 1.0],
        ] {
            assert!(Schedule::from_betas(betas).is_err());
        }
        assert!(Schedule::linear(0).is_err());
        assert!(Schedule::from_betas(vec![0.0, 0.01, 1.0]).is_ok());
    }
}
