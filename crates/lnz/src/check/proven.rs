//! An estimate held against bounds that were proven: outside them it is wrong.

use super::{Diagnosis, Warning};

impl Diagnosis {
    /// Suspect if the estimate is outside the bounds by more than three of its errors.
    pub(crate) fn hold_against(&mut self, [floor, ceiling]: [f64; 2], log_z: f64, error: f64) {
        let error = if error.is_finite() { error } else { 1.0 };
        if log_z + 3.0 * error < floor || log_z - 3.0 * error > ceiling {
            self.warnings.push(Warning::OutsideProvenBounds { log_z, floor, ceiling });
            *self = Self::new(std::mem::take(&mut self.warnings), "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn an_estimate_outside_proven_bounds_is_called_wrong() {
        let against = |log_z| {
            let mut diagnosis = Diagnosis::new(vec![], "the weights agree");
            diagnosis.hold_against([100.0, 102.0], log_z, 0.1);
            diagnosis
        };
        for log_z in [99.6, 102.4] {
            let diagnosis = against(log_z);
            assert_eq!(diagnosis.verdict, Verdict::Suspect);
            assert_eq!(diagnosis.warnings[0].kind(), "outside_proven_bounds");
            let message = diagnosis.warnings[0].message();
            assert!(message.ends_with("is wrong: log Z is proven to be between 100.00 and 102.00"));
        }
        for log_z in [99.8, 101.0, 102.2] {
            assert_eq!(against(log_z), Diagnosis::new(vec![], "the weights agree"));
        }
    }
}
